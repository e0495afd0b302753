//! The command that would determine what could not be determined.

use fathom_model::workload::{BlockSizes, CacheMode, DataSet, OpMix, Pattern, SyncCall, Workload};
use fathom_model::{shell, unit};

use crate::trial::Trial;

/// The command that tells whether the operations in flight or the target set the
/// rate of a trial.
pub(crate) fn depth_command(trial: &Trial<'_>) -> String {
    let workload = trial.workload;
    let target = shell::word(&trial.record.spec.target.to_string());
    if workload.files_work().is_some() {
        let workers = workload.workers.saturating_mul(2);
        return format!("fathom meta {target} --threads {workers}");
    }
    if let Some(request) = workload.requests().and_then(|r| r.ops.first()) {
        return format!(
            "fathom curve depth {target} --request {}",
            request.kind.name()
        );
    }
    let words = block_words(trial);
    // A worker flushes what it wrote before it writes on: more depth is not in flight.
    if trial.engine().one_at_a_time() || workload.sync.every_writes > 0 {
        // One run with more of them could only ask the same again.
        let workers = workload.workers;
        let more = workers.saturating_mul(2);
        return format!("fathom ab {target} {words} --vary numjobs={workers},{more}");
    }
    format!("fathom curve depth {target} {words}")
}

/// The command that tells the two kinds of cap apart, by blocks of another size.
pub(crate) fn block_command(trial: &Trial<'_>) -> String {
    let target = shell::word(&trial.record.spec.target.to_string());
    let workload = Workload {
        block: BlockSizes::Fixed(other_block(trial.workload.max_block_bytes())),
        ..trial.workload.clone()
    };
    format!(
        "fathom io {target} {}{} --iodepth {}{}",
        shape_words(&workload),
        size_words(trial),
        workload.queue_depth,
        destructive(trial)
    )
}

/// The command that tells a cap from a device: the same workload for so long that a rate
/// which is held to a line shows.
pub(crate) fn line_command(trial: &Trial<'_>) -> String {
    use fathom_rules::method::held_by_a_cap::TELLING_SECONDS;
    format!(
        "fathom io {} {}{} --iodepth {} --runtime {TELLING_SECONDS}s{}",
        shell::word(&trial.record.spec.target.to_string()),
        shape_words(trial.workload),
        size_words(trial),
        trial.workload.queue_depth,
        destructive(trial)
    )
}

/// Sixteen times the block, or a sixteenth of a large one.
fn other_block(bytes: u64) -> u64 {
    use fathom_rules::method::hidden_cap::BLOCK_RATIO;
    match bytes >= unit::MIB / BLOCK_RATIO {
        true => (bytes / BLOCK_RATIO).max(512),
        false => bytes.saturating_mul(BLOCK_RATIO),
    }
}

fn block_words(trial: &Trial<'_>) -> String {
    let shape = shape_words(trial.workload);
    format!("{shape}{}{}", size_words(trial), destructive(trial))
}

/// As much of the target, where a command would take another part by itself.
fn size_words(trial: &Trial<'_>) -> String {
    let usual_bytes = match trial.kind {
        fathom_rules::TargetKind::Device => None,
        _ => DataSet::example().size_bytes,
    };
    match trial.workload.data_set.size_bytes {
        // Rounded down: it must fit.
        Some(bytes) if Some(bytes) != usual_bytes && bytes >= unit::MIB => {
            format!(" --size {}M", bytes / unit::MIB)
        }
        _ => String::new(),
    }
}

/// `--rw randread --bs 4K`.
fn shape_words(workload: &Workload) -> String {
    let OpMix {
        read_percent,
        write_percent,
        trim_percent,
    } = workload.mix;
    let random = match workload.pattern {
        Pattern::Random(_) => "rand",
        _ => "",
    };
    let kind = match (read_percent, write_percent, trim_percent) {
        (_, 0, 0) => "read",
        (0, _, 0) => "write",
        (0, 0, _) => "trim",
        _ => "rw",
    };
    let share = match kind {
        "rw" => format!(" --rwmixread {read_percent}"),
        _ => String::new(),
    };
    let block = unit::bytes_short(workload.max_block_bytes());
    let buffered = match workload.cache {
        CacheMode::Buffered => " --direct 0",
        CacheMode::Direct => "",
    };
    let flushes = match (workload.sync.every_writes, workload.sync.call) {
        (0, _) => String::new(),
        (writes, SyncCall::Fsync) => format!(" --fsync {writes}"),
        (writes, SyncCall::Fdatasync) => format!(" --fdatasync {writes}"),
    };
    format!("--rw {random}{kind}{share} --bs {block}{buffered}{flushes}")
}

/// Devices are written to on demand only.
fn destructive(trial: &Trial<'_>) -> &'static str {
    let device = trial.kind == fathom_rules::TargetKind::Device;
    match device && trial.workload.may_modify() {
        true => " --destructive",
        false => "",
    }
}

#[cfg(test)]
mod tests {
    use fathom_model::target::Target;

    use super::*;
    use crate::test_records::RecordBuilder;

    fn depth(builder: &RecordBuilder) -> String {
        let record = builder.trial();
        depth_command(&Trial::new(&record, &builder.host))
    }

    #[test]
    fn a_command_has_the_workload_and_the_target() {
        let reads = RecordBuilder::reads();
        assert_eq!(
            depth(&reads),
            "fathom curve depth /mnt/data --rw randread --bs 4K"
        );
        let writes = RecordBuilder::writes().with(|b| {
            b.workload.pattern = Pattern::Sequential;
            b.workload.block = BlockSizes::Fixed(1 << 20);
            b.target = Target::Path("/mnt/my data".into());
        });
        assert_eq!(
            depth(&writes),
            "fathom curve depth '/mnt/my data' --rw write --bs 1M"
        );
        let large = RecordBuilder::reads().with(|b| {
            b.workload.data_set.size_bytes = Some((8 << 40) + 5);
        });
        assert!(depth(&large).ends_with("--bs 4K --size 8388608M"));
        let record = reads.trial();
        let trial = Trial::new(&record, &reads.host);
        assert_eq!(
            block_command(&trial),
            "fathom io /mnt/data --rw randread --bs 64K --iodepth 32"
        );
        let synchronous =
            reads.with_end(|end| end.engine.used = Some(fathom_model::workload::EngineKind::Psync));
        let command = depth(&synchronous);
        assert!(command.ends_with("--vary numjobs=1,2"), "{command}");
        assert!(command.starts_with("fathom ab /mnt/data"), "{command}");
    }

    #[test]
    fn a_name_from_outside_is_one_word() {
        assert_eq!(shell::word("a'; rm -rf x"), r"'a'\''; rm -rf x'");
        assert_eq!(shell::word("sim:ssd?read_us=80"), "'sim:ssd?read_us=80'");
        assert_eq!(shell::word(""), "''");
    }
}
