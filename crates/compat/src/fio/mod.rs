//! fio: what it is asked to do, and a schedule as its job file.

pub mod job_file;
pub mod output;
pub mod request;
