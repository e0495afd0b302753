//! Calls on what fathom does not own, each with a deadline.
//!
//! A file system whose server is gone, a drive that no longer answers and a
//! name service behind a dead link keep a system call for as long as they like,
//! and many of those calls cannot even be interrupted. A command that examines
//! a host must not wait for them: not answering is what it has to report.
//!
//! * [`ask`] runs one call on a helper thread and gives up after a while. What
//!   did not answer is remembered by name until the call comes back, so the next
//!   forty questions about it cost nothing and hold no further thread. A helper
//!   that is held is never joined.
//! * [`MountTable`] knows by text alone on which mount a path lies. A mount that
//!   needs somebody else for its answers (a server, a user process), and a device,
//!   is asked by a child process first: a process that ends must wait for its threads, also for
//!   one that the kernel holds, but not for its children.
//! * [`paths`] are the calls on files, made of both; a [`BoundedFile`] is read with them.
//! * [`MountWatch`] asks such mounts again and again, beside a long command.
//! * [`ChangeWatch`] tells while changes of a file system are held up.
//! * [`output_of`] runs programs of others, [`host_addresses`] asks the name service.

mod bounded_call;
mod bounded_file;
mod change_watch;
mod device;
mod mount;
mod mount_table;
mod mount_watch;
mod names;
pub mod paths;
mod pipe;
mod probe;
mod program;
mod starved;

pub use bounded_call::{NotResponding, PATIENCE, Unasked, ask, ask_within};
pub use bounded_file::BoundedFile;
pub use change_watch::ChangeWatch;
pub use device::{device_patience, tell_of_waiting, tell_when_waiting};
pub use mount::{Mount, mount_of, parse_mountinfo};
pub use mount_table::MountTable;
pub use mount_watch::{MountAnswer, MountWatch};
pub use names::{addresses_of, host_addresses};
pub use pipe::interrupt_waits;
pub use probe::{MountSpace, ask_device, ask_mount, ask_mounts, not_responding};
pub use program::{
    ProgramAnswer, answer_of, answer_with_errors_of, command, find_program, output_of,
};
