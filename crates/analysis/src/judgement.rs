//! The parts of a judgement, for figures that are not those of a run (findings by
//! the table, and verdicts of them) and for the answers of studies.

pub use crate::checks::evidence::missing as missing_evidence;
pub use crate::checks::is_rate_not_reached;
pub use crate::checks::sort;
pub use crate::company::turns;
pub use crate::fitness::sum as sum_of_kinds;
pub use crate::fold::{Source, fold, validity};
pub use crate::judge::{judge_with_roles, over_trials};
pub use crate::outcome::Outcome;
pub use crate::set_sum::sum as sum_of_turns;
pub use crate::statistics::ratio::is_too_wide;
pub use crate::steadiness::snia::evaluate as steady_window;
pub use crate::steadiness::{Logged, of_log};
pub use crate::summary::data_latency;
pub use crate::trial::{Second, Total, Trial, add, data_kinds};
