//! The binary end to end, as its users call it. One test binary, so that it
//! is linked once.

// A test panics where it must, and prints why it was skipped.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

mod at_io_iops;
mod at_io_parallel;
mod bench;
mod commands;
mod compare;
mod crosscheck;
mod curve;
mod devices;
mod diagnose;
mod disks;
mod documents;
mod enumerate;
mod exam_real;
mod faults;
mod fio;
mod fio_clients;
mod fio_output;
mod fio_parsers;
mod fleet;
mod fleet_modes;
mod gateway;
mod gluster;
mod gosbench;
mod host;
mod io;
mod judge;
mod judge_warp;
mod lab;
mod lab_diagnosis;
mod launchers;
mod leftovers;
mod link;
mod meta;
mod metrics;
mod net;
mod notebook;
mod objects;
mod objects_everywhere;
mod objects_tls;
mod ping;
mod plans;
mod python;
mod quick;
mod record;
mod signals;
mod smallfile;
mod snia;
mod stack;
mod stolen;
mod store;
mod together;
