//! fio's job files and command lines.
//!
//! They are read with fio's own rules ([`read_fio`]), mapped to trials, and
//! every option that they use is accounted for by name: run, mapped, ignored
//! with a reason, or refused with what to do instead. Syntax and meaning follow
//! fio's `HOWTO` and its behaviour; names are data ([`fio_options`]).

mod account;
mod arithmetic;
mod clients;
mod command_line;
mod debug;
mod jobs;
mod lines;
mod map;
mod page;
mod place;
mod substitute;
mod surroundings;
mod switches;
mod table;
mod value;

pub use account::{FioAccount, FioEntry, OptionOutcome};
pub use command_line::{FioRequest, read_fio};
pub use debug::{fio_random_words, fio_steady_words};
pub use jobs::{FioJob, FioJobs, FioSetting};
pub use map::http::FioKeys;
pub use map::{FioMapped, FioMappedJob, map_fio};
pub use page::fio_page;
pub use place::{FioPlace, FioProblem, FioProblems};
pub use surroundings::{FioListed, FioPath, FioReadError, FioSurroundings, FixedSurroundings};
pub use switches::{FioAction, FioEta, FioFormat, FioRun};
pub use table::{FioFate, FioKind, FioOption, fio_option, fio_options};

/// Whether the value of an option is a secret, which is never shown.
pub fn is_secret(option: &str) -> bool {
    map::http::SECRETS.contains(&option)
}

/// Every engine that fio documents: its name, what becomes of it (`run`,
/// `mapped`, `refused`), and a remark.
pub fn fio_engines() -> Vec<(&'static str, &'static str, String)> {
    let row = |name: &'static str| {
        let (how, remark) = map::engine::described(name);
        (name, how, remark)
    };
    map::engine::ENGINES.into_iter().map(row).collect()
}

#[cfg(test)]
mod map_tests;
#[cfg(test)]
mod net_tests;
#[cfg(test)]
mod pace_tests;
#[cfg(test)]
mod robustness_tests;
