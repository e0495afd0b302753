//! One file a command. Each is thin: it turns flags into calls of the rooms
//! below and their answers into text.

pub(crate) mod ab;
pub(crate) mod agent;
pub(crate) mod alarms;
pub(crate) mod at_io_iops;
pub(crate) mod at_io_parallel;
pub(crate) mod clean;
pub(crate) mod compare;
pub(crate) mod crosscheck;
pub(crate) mod curve;
pub(crate) mod diagnose;
pub(crate) mod disks;
pub(crate) mod doctor;
pub(crate) mod enumerate;
pub(crate) mod explain;
pub(crate) mod export;
pub(crate) mod fio;
pub(crate) mod fleet;
pub(crate) mod gate;
pub(crate) mod gluster;
pub(crate) mod gosbench;
pub(crate) mod io;
pub(crate) mod judge;
pub(crate) mod meta;
pub(crate) mod net;
pub(crate) mod ping;
pub(crate) mod plan;
pub(crate) mod quick;
pub(crate) mod record;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod runs;
pub(crate) mod s3;
pub(crate) mod scale;
pub(crate) mod size;
pub(crate) mod smallfile;
pub(crate) mod snia;
pub(crate) mod stack;
pub(crate) mod use_table;
pub(crate) mod watch;

pub(crate) use fathom_runs::{collect, hosts};
