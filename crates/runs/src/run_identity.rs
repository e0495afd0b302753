//! What tells runs apart: the id, the tag of their blocks and files, and the seed;
//! and what is known of each when it begins.

use anyhow::Context;
use fathom_model::rng::splitmix64;
use fathom_model::secret::{masked, masked_arguments};
use fathom_model::{RunMeta, RunState, Schedule};
use fathom_observe::{Sysroot, unix_now_ns};

/// A sortable id: the start in UTC and four characters against collisions.
pub fn run_id(started_unix_ns: u64) -> anyhow::Result<String> {
    let start = jiff::Timestamp::from_nanosecond(i128::from(started_unix_ns))
        .context("the system clock is set to an impossible time")?;
    let stamp = start.strftime("%Y%m%d-%H%M%S");
    let mut random = splitmix64(started_unix_ns ^ u64::from(std::process::id()).rotate_left(32));
    let suffix: String = (0..4)
        .map(|_| {
            let digit = (random % 36) as u32;
            random /= 36;
            char::from_digit(digit, 36).unwrap_or('0')
        })
        .collect();
    Ok(format!("{stamp}-{suffix}"))
}

/// A fresh seed for a plan that names none. It is stored with the run.
pub fn fresh_seed() -> u64 {
    // 53 bits survive every JSON reader.
    splitmix64(unix_now_ns() ^ u64::from(std::process::id())) >> 11
}

/// A run of this schedule on this host that begins now, from what was typed.
/// Secrets are masked.
pub fn begin(id: String, schedule: Schedule) -> RunMeta {
    RunMeta {
        id,
        started_unix_ns: unix_now_ns(),
        ended_unix_ns: None,
        state: RunState::Running,
        reason: None,
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        command_line: masked_arguments(
            std::env::args_os().map(|word| word.to_string_lossy().into_owned()),
        ),
        plan_yaml: String::new(),
        label: None,
        schedule: Schedule {
            name: masked(&schedule.name),
            ..schedule
        },
        host: fathom_observe::host_fingerprint(&Sysroot::host()),
        hosts: Vec::new(),
        matrix_figures: None,
    }
}
