//! `fathom stack`: the layers under a path or device.

use std::path::PathBuf;

use clap::Args;
use fathom_diagnose::judge_stack;
use fathom_observe::Sysroot;
use fathom_observe::stack::read_stack;
use fathom_report::stack;

use crate::exit::Exit;
use crate::present;

/// Columns of the tree.
const WIDTH: usize = 80;

/// Show the layers under a path or device, and what is wrong with them.
///
/// From the mount down: file system, LVM, LUKS, thin pools, multipath, arrays,
/// bcache, loop devices, partitions, drives and their controllers, with the
/// settings that matter at each, and the server of a network mount. Alignment is
/// followed through all of them. Only reads; as root it also reads the
/// superblock and device mapper's tables. The rules are in docs/stack.md.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  fathom stack /var/lib/postgresql     What is under this folder?
  fathom stack /dev/md0                What is under this array?
  fathom stack /mnt/nas --json         For programs (schema fathom.stack/1)")]
pub(crate) struct Stack {
    /// A file, a folder (also one that is yet to be made) or a block device.
    #[arg(default_value = ".")]
    path: PathBuf,
    /// Print JSON (schema fathom.stack/1, docs/stack.schema.json).
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(command: &Stack) -> anyhow::Result<Exit> {
    let mut found = read_stack(&Sysroot::host(), &command.path);
    judge_stack(&mut found);
    let shown = match command.json {
        true => stack::json(&found)?,
        false => stack::text(&found, WIDTH),
    };
    present::write_stdout(&shown)?;
    Ok(Exit::Success)
}
