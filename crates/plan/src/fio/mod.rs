//! fio's job files and command lines.
//!
//! They are read with fio's own rules ([`read_fio`]), mapped to trials, and
//! every option that they use is accounted for by name: run, mapped, ignored
//! with a reason, or refused with what to do instead. Syntax and meaning follow
//! fio's `HOWTO` and its behaviour; names are data ([`fio_options`]).

mod account;
mod arithmetic;
mod command_line;
mod jobs;
mod lines;
mod place;
mod substitute;
mod surroundings;
mod switches;
mod table;
mod value;

pub use account::{FioAccount, FioEntry, Outcome};
pub use command_line::{FioRequest, read_fio};
pub use jobs::{FioJob, FioJobs, FioSetting};
pub use place::{FioPlace, FioProblem, FioProblems};
pub use surroundings::{FioPath, FioSurroundings, FixedSurroundings};
pub use switches::{FioAction, FioEta, FioFormat, FioRun};
pub use table::{FioFate, FioKind, FioOption, fio_option, fio_options};
