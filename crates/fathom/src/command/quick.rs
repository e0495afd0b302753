//! `fathom quick`: the usual grid and durable writes, with no configuration.

use std::path::Path;

use fathom_model::{Target, unit};
use fathom_plan::QuickOptions;

use crate::cli::Quick;
use crate::command::run::execute_labelled_on;
use crate::exit::{Exit, NothingMeasured};
use crate::{pipeline, present, surroundings};

/// The test file unless the user asks for another size: what people know from
/// other tools.
const DEFAULT_SIZE_BYTES: u64 = 1 << 30;

/// A test file takes at most this share of the free space.
const FREE_SHARE: u64 = 4;

/// The deepest row has eight blocks of 1 MiB in flight; a smaller file would
/// be the same few blocks over and over.
const SIZE_BYTES_MIN: u64 = 32 << 20;

/// A sustained test is larger than any cache that the host could have.
const SUSTAINED_MEMORY_MULTIPLE: u64 = 2;

pub(crate) fn run(quick: Quick) -> anyhow::Result<Exit> {
    let target: Target = match quick.target.parse() {
        Ok(target) => target,
        Err(error) => {
            present::complain(&format!("{error}"));
            return Ok(Exit::Usage);
        }
    };
    if matches!(target, Target::Bucket(_)) && (quick.sustained || quick.size.is_some()) {
        present::complain(
            "--size and --sustained are about test files; for a bucket say what is measured with \
             `fathom s3 put --objects N --object-size SIZE`",
        );
        return Ok(Exit::Usage);
    }
    if matches!(target, Target::Bucket(_)) && quick.read_only {
        present::complain(
            "--read-only is for files and devices; to read the objects of a bucket use \
             `fathom s3 get --existing`",
        );
        return Ok(Exit::Usage);
    }
    let size_bytes = quick.size.unwrap_or_else(|| match quick.hosts.are_given() {
        // What is free here says nothing about other hosts.
        true => DEFAULT_SIZE_BYTES,
        false => default_size(target.path(), quick.sustained),
    });
    if quick.sustained && quick.hosts.are_given() && quick.size.is_none() {
        present::complain("--sustained needs --size with --hosts: say twice the memory of a host");
        return Ok(Exit::Usage);
    }
    if size_bytes < SIZE_BYTES_MIN {
        present::complain(&format!(
            "a test file of {} is too small to say anything; use at least {}",
            unit::bytes_exact(size_bytes),
            unit::bytes_exact(SIZE_BYTES_MIN),
        ));
        return Ok(Exit::Usage);
    }
    let mut plan = fathom_plan::quick(&QuickOptions {
        target,
        seconds: quick.seconds,
        size_bytes,
        sustained: quick.sustained,
        read_only: quick.read_only,
        seed: pipeline::fresh_seed(),
    });
    plan.reach(&quick.reached);
    plan.set_destructive(quick.destructive);
    plan.set_keep_files(quick.keep_files);
    let label = if quick.sustained {
        "sustained"
    } else {
        "burst"
    };
    execute_labelled_on(&quick.hosts, plan, Some(label.to_owned()), quick.output)
        .map_err(offer_reading)
}

/// A target that must not be overwritten can still be read.
fn offer_reading(error: anyhow::Error) -> anyhow::Error {
    let nothing = error.downcast_ref::<NothingMeasured>();
    match nothing.is_some_and(|nothing| nothing.is_partial) {
        true => error.context("nothing was measured; --read-only measures the read rows alone"),
        false => error,
    }
}

/// 1 GiB, or for a sustained test twice the memory, but never more than a
/// quarter of the free space of a directory, or than a file or device holds.
pub(crate) fn default_size(path: Option<&Path>, sustained: bool) -> u64 {
    let wanted = match surroundings::memory_bytes() {
        Some(memory) if sustained => {
            DEFAULT_SIZE_BYTES.max(memory.saturating_mul(SUSTAINED_MEMORY_MULTIPLE))
        }
        _ => DEFAULT_SIZE_BYTES,
    };
    let share = match path.and_then(surroundings::fixed_bytes) {
        Some(bytes) => bytes,
        None => path
            .and_then(surroundings::free_bytes)
            .map_or(wanted, |free_bytes| free_bytes / FREE_SHARE),
    };
    let size = wanted.min(share);
    (size - size % SIZE_BYTES_MIN).max(SIZE_BYTES_MIN)
}
