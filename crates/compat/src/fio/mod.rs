//! fio: what it is asked to do, a schedule as its job file, and a run in its
//! formats.

pub mod help;
pub mod job_file;
pub mod on_hosts;
pub mod output;
mod own_files;
pub mod request;
mod request_view;
pub mod results;

pub use own_files::{DESTRUCTIVE_VARIABLE, mark_own_files};
pub use request_view::request_view;
