//! Whether a workload fits the target that it is to run on.

use fathom_model::Target;
use fathom_model::unit::bytes_exact;
use fathom_model::workload::{EngineKind, Workload};

use crate::diagnostic::{Problem, Problems, error};
use crate::node::Span;
use crate::rows::Row;
use crate::schedule::{ScheduleContext, TargetKind};
use crate::spelling::Spelling;

/// Checks one row on one target, as far as facts about it are known.
pub(crate) fn check(
    row: &Row,
    workload: &Workload,
    target: &Target,
    context: &ScheduleContext,
    spelling: Spelling,
    problems: &mut Problems,
) {
    engine(row, workload, target, spelling, problems);
    let facts = context.facts(target);
    let size_at = row.keys.size.as_ref().and_then(|s| s.span).or(row.entry);
    // The offset lies within the size.
    let needed = workload
        .data_set
        .size_bytes
        .unwrap_or(workload.data_set.offset_bytes);
    let room = match facts.kind {
        Some(TargetKind::Directory) => facts.free_bytes,
        Some(TargetKind::File | TargetKind::Device) => facts.size_bytes,
        None => None,
    };
    let Some(room) = room else { return };
    if facts.kind == Some(TargetKind::Directory) && needed > room {
        let short = Short {
            needed,
            room,
            is_folder: true,
        };
        short.tell(target, size_at, spelling, problems);
    } else if needed > room {
        let short = Short {
            needed,
            room,
            is_folder: false,
        };
        short.tell(target, size_at, spelling, problems);
    } else if room < workload.max_block_bytes() {
        let message = format!(
            "{target} has {}, less than one block of {}",
            bytes_exact(room),
            bytes_exact(workload.max_block_bytes())
        );
        let problem = Problem::error("size_below_block", size_at, message);
        problems.push(problem.help("name a folder: fathom makes a file of its own there"));
    }
}

/// Less room than the data set needs.
struct Short {
    needed: u64,
    room: u64,
    /// The room is what is free in a folder, else what a file or device has.
    is_folder: bool,
}

impl Short {
    fn tell(
        &self,
        target: &Target,
        span: Option<Span>,
        spelling: Spelling,
        problems: &mut Problems,
    ) {
        let room = fathom_model::unit::bytes(self.room);
        let has = match self.is_folder {
            true => format!("has {room} free"),
            false => format!("holds {room}"),
        };
        let needed = fathom_model::unit::bytes(self.needed);
        let message = format!("{target} {has}; {needed} are needed");
        let size = spelling.key("size");
        let help = match (self.is_folder, self.room) {
            (true, 0) => "name a folder on the storage that is to be measured".to_owned(),
            (true, _) => format!("lower {size}, or free space"),
            (false, _) => {
                format!("lower {size}, or name a folder: test files of its own are made there")
            }
        };
        problems.push(error("no_space", span, message).help(help));
    }
}

/// The null and simulated targets have engines of their own.
fn engine(
    row: &Row,
    workload: &Workload,
    target: &Target,
    spelling: Spelling,
    problems: &mut Problems,
) {
    let only = match target {
        Target::Null => EngineKind::Null,
        Target::Sim(_) => EngineKind::Sim,
        Target::Peer(_) => EngineKind::Net,
        Target::Bucket(_) => EngineKind::S3,
        Target::Path(_) if workload.engine == EngineKind::Sim => {
            let message = format!("the engine sim cannot reach {target}");
            let span = row.keys.engine.as_ref().and_then(|e| e.span).or(row.entry);
            problems.push(error("engine_target", span, message).help("use the target sim:MODEL"));
            return;
        }
        Target::Path(_) => return,
    };
    let on_files =
        *target == Target::Null && matches!(workload.engine, EngineKind::Meta | EngineKind::S3);
    if workload.engine != only && !on_files {
        let message = format!(
            "the engine {} cannot reach {target}",
            workload.engine.name()
        );
        let span = row.keys.engine.as_ref().and_then(|e| e.span).or(row.entry);
        let help = match workload.engine {
            // These follow from the command or the operations.
            EngineKind::Meta => "name a directory, as in /data".to_owned(),
            EngineKind::S3 => "name a bucket, as in s3://bucket/prefix".to_owned(),
            _ => format!(
                "leave {} out; it follows from the target",
                spelling.key("engine")
            ),
        };
        problems.push(error("engine_target", span, message).help(help));
    }
}
