//! The binary end to end, as its users call it. One test binary, so that it
//! is linked once.

// A test panics where it must, and prints why it was skipped.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

mod bench;
mod commands;
mod compare;
mod crosscheck;
mod curve;
mod documents;
mod exam_real;
mod faults;
mod io;
mod judge;
mod lab;
mod plans;
mod quick;
mod signals;
mod snia;
mod store;
