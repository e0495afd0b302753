//! `fathom quick`: the usual grid and durable writes, with no configuration.

use std::path::Path;

use fathom_model::Target;
use fathom_plan::quick::{QuickOptions, quick_plan};

use crate::cli::Quick;
use crate::command::run::execute_plan;
use crate::exit::Exit;
use crate::{pipeline, present, surroundings};

/// The test file unless the user asks for another size: what people know from
/// other tools.
const DEFAULT_SIZE_BYTES: u64 = 1 << 30;

/// A test file takes at most this share of the free space.
const FREE_SHARE: u64 = 4;

/// Smaller files say nothing about a disk.
const SIZE_BYTES_MIN: u64 = 16 << 20;

pub(crate) fn run(quick: Quick) -> anyhow::Result<Exit> {
    let target: Target = match quick.target.parse() {
        Ok(target) => target,
        Err(error) => {
            present::complain(&format!("{error}"));
            return Ok(Exit::Usage);
        }
    };
    let size_bytes = match (quick.size, target.path()) {
        (Some(size), _) => size,
        (None, Some(path)) => default_size(path),
        (None, None) => DEFAULT_SIZE_BYTES,
    };
    if size_bytes < SIZE_BYTES_MIN {
        present::complain(&format!(
            "a test file of {} is too small to say anything; use at least {}",
            fathom_model::unit::bytes_exact(size_bytes),
            fathom_model::unit::bytes_exact(SIZE_BYTES_MIN),
        ));
        return Ok(Exit::Usage);
    }
    let options = QuickOptions {
        target,
        seconds: quick.seconds,
        size_bytes,
        sustained: quick.sustained,
        destructive: quick.destructive,
        seed: pipeline::fresh_seed(),
    };
    let label = if quick.sustained {
        "sustained"
    } else {
        "burst"
    };
    execute_plan(quick_plan(&options), Some(label.to_owned()), quick.output)
}

/// 1 GiB, or a quarter of the free space when that is less.
fn default_size(path: &Path) -> u64 {
    let Ok(space) = rustix::fs::statvfs(path) else {
        return DEFAULT_SIZE_BYTES;
    };
    let available = space.f_bavail.saturating_mul(space.f_frsize);
    let share = available / FREE_SHARE;
    DEFAULT_SIZE_BYTES
        .min(share - share % SIZE_BYTES_MIN)
        .max(SIZE_BYTES_MIN)
}
