//! fio: what it is asked to do, a schedule as its job file, and a run in its
//! formats.

pub mod help;
pub mod job_file;
pub mod output;
pub mod request;
mod request_view;
pub mod results;

pub use request_view::request_view;
