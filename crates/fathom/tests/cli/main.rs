//! The binary end to end, as its users call it. One test binary, so that it
//! is linked once.

mod bench;
mod commands;
mod documents;
mod faults;
mod io;
mod plans;
mod quick;
mod signals;
mod store;
