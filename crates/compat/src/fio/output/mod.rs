//! Results in fio's formats, so that parsers and dashboards made for fio take
//! them: JSON and json+, the text of a terminal, terse lines, and logs.
//!
//! Input are the raw samples of a run and a [`FioView`]: the jobs as a user of
//! fio asked for them. Nothing of fathom's judgement is mixed in. fio's formats
//! are matched by behaviour (its `HOWTO`, and runs side by side with it).

mod buckets;
mod clients;
mod disk;
mod gather;
mod iolog;
mod json;
mod latency;
mod logs;
mod native;
mod normal;
mod number;
mod render;
mod series;
mod steady;
mod terse;
#[cfg(test)]
mod test_record;
mod tree;
mod version;
mod view;
mod when;

pub use iolog::{FioIoLog, iolog_names, iologs};
pub use logs::{FioLog, log_names, log_notes, logs};
pub use render::{json, normal, results, terse};
pub use view::{
    DEFAULT_PERCENTILES, DEFAULT_VERSION, FIO_PORT, FioHost, FioJob, FioLogs, FioView,
    LatencyTarget, PercentilesOf, Unified, WindowValue,
};
