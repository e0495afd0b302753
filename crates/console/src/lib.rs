//! How a program of this project starts, whatever the shell allows, and speaks to
//! its user: text on standard output, complaints on standard error without
//! secrets, files at the paths that were named, and exit statuses with one
//! meaning each.

mod address_space;
pub mod consent;
mod exit;
mod files;
mod stack;
mod streams;

pub use address_space::{NoRoom, has_room, share_one_arena_under_a_limit};
pub use exit::{Exit, is_wrong_name};
pub use files::{admit, allow_overwriting, may_overwrite, write_file};
pub use stack::with_enough_stack;
pub use streams::{
    columns, complain, fail, has_complained_about, is_reader_gone, reader_is_gone, rewrite_line,
    speak_as, terminal_columns, write_names, write_stderr, write_stdout, write_styled_stderr,
};
