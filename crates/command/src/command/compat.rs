//! `fathom compat`: command lines and files of other tools. Each is also a command
//! of its own name, which scripts call.

use clap::Subcommand;

use super::Command;
use super::{at_io_iops, at_io_parallel, crosscheck, fio, gosbench, judge, smallfile};

/// Run command lines and files of other tools, and judge their results.
#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples:
  fathom compat fio job.fio              The same as `fathom fio job.fio`
  fathom compat smallfile --operation create --files 1000 --top /data")]
pub(crate) enum Compat {
    Fio(fio::Fio),
    Judge(judge::Judge),
    Crosscheck(Box<crosscheck::Crosscheck>),
    Smallfile(smallfile::SmallfileCommand),
    Gosbench(Box<gosbench::GosbenchCommand>),
    #[command(name = "at_io_iops")]
    AtIoIops(Box<at_io_iops::AtIoIopsCommand>),
    #[command(name = "at_io_parallel")]
    AtIoParallel(Box<at_io_parallel::AtIoParallelCommand>),
}

/// The command of the same name.
impl From<Compat> for Command {
    fn from(compat: Compat) -> Command {
        match compat {
            Compat::Fio(command) => Command::Fio(command),
            Compat::Judge(command) => Command::Judge(command),
            Compat::Crosscheck(command) => Command::Crosscheck(command),
            Compat::Smallfile(command) => Command::Smallfile(command),
            Compat::Gosbench(command) => Command::Gosbench(command),
            Compat::AtIoIops(command) => Command::AtIoIops(command),
            Compat::AtIoParallel(command) => Command::AtIoParallel(command),
        }
    }
}
