//! How a program of this project speaks to its user: text on standard output,
//! complaints on standard error without secrets, files at the paths that were
//! named, and exit statuses with one meaning each.

mod exit;
mod files;
mod streams;

pub use exit::{Exit, is_wrong_name};
pub use files::{admit, allow_overwriting, write_file};
pub use streams::{
    complain, has_complained_about, is_reader_gone, reader_is_gone, speak_as, write_stderr,
    write_stdout,
};
