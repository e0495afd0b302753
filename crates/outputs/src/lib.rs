//! The files that fathom writes: readable by their owner only, never written
//! through a symbolic link, never in the place of somebody else's file.
//!
//! Everything that creates a file or folder outside of a target goes through
//! this room, so that its rules hold everywhere: files have mode 0600 and
//! folders 0700 whatever the umask is, and what stands at a path that a user
//! named is looked at before the measurement begins.

mod digest;
mod mark;
mod output;
mod private;
mod signature;

pub use mark::Mark;
pub use output::{Output, Refused};
pub use private::{append, create_new, make_folder, replace, tighten};
