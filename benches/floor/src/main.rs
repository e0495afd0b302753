//! The floor: the same system calls as a load generator's, and nothing else.
//!
//! What a generator costs above this is its own share. There is no clock, no
//! histogram, no schedule here; offsets come from one multiplication.
//!
//! - `floor uring FILE BLOCK DEPTH OPS SIZE [DIRECT]`: one ring, everything
//!   registered, as many operations per call as have completed; `DIRECT` 1
//!   opens the file with `O_DIRECT`
//! - `floor psync FILE BLOCK 1 OPS SIZE`: `pread` in a loop
//! - `floor run COMMAND…`: runs a command and prints the CPU time that it used

#![allow(clippy::print_stdout)]

mod psync;
mod uring;

use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::process::{Command, ExitCode, Stdio};

/// What is to be done.
struct Load {
    file: File,
    block: u64,
    depth: u32,
    ops: u64,
    /// Blocks in the file, a power of two.
    blocks: u64,
}

impl Load {
    fn from(arguments: &[String]) -> Option<Load> {
        let number = |at: usize| arguments.get(at)?.parse::<u64>().ok();
        let (block, size) = (number(1)?, number(4)?);
        let blocks = size / block.max(1);
        let mut options = OpenOptions::new();
        options.read(true);
        if number(5) == Some(1) {
            options.custom_flags(libc::O_DIRECT);
        }
        Some(Load {
            file: options.open(arguments.first()?).ok()?,
            block,
            depth: number(2)? as u32,
            ops: number(3)?,
            blocks: 1 << blocks.checked_ilog2()?,
        })
    }

    /// The offset of operation `n`: the high bits of a multiplication.
    #[inline]
    fn offset(&self, n: u64) -> u64 {
        (n.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20 & (self.blocks - 1)) * self.block
    }
}

fn cpu_ns(whose: i32) -> (u64, u64) {
    // SAFETY: zero is a valid value of every field of the C structure.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: `usage` is a valid place to write to.
    unsafe { libc::getrusage(whose, &raw mut usage) };
    let ns = |t: libc::timeval| t.tv_sec as u64 * 1_000_000_000 + t.tv_usec as u64 * 1000;
    (ns(usage.ru_utime), ns(usage.ru_stime))
}

/// Runs a command without its output; user and system time in nanoseconds.
fn run(command: &[String]) -> Option<(u64, u64)> {
    let (program, arguments) = command.split_first()?;
    let status = Command::new(program)
        .args(arguments)
        .stdout(Stdio::null())
        .status()
        .ok()?;
    status.success().then(|| cpu_ns(libc::RUSAGE_CHILDREN))
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((what, rest)) = arguments.split_first() else {
        return ExitCode::FAILURE;
    };
    let done = match (what.as_str(), Load::from(rest)) {
        ("run", _) => run(rest),
        ("uring", Some(load)) => uring::run(&load).ok().map(|()| cpu_ns(libc::RUSAGE_SELF)),
        ("psync", Some(load)) => psync::run(&load).ok().map(|()| cpu_ns(libc::RUSAGE_SELF)),
        _ => None,
    };
    let Some((user_ns, system_ns)) = done else {
        println!("failed: {arguments:?}");
        return ExitCode::FAILURE;
    };
    println!("{user_ns} {system_ns}");
    ExitCode::SUCCESS
}
