//! What requests to a bucket or a host are made of.

use fathom_model::workload::{EngineKind, ObjectOrder, ObjectSizes, ObjectWork, OpMix, Work};
use fathom_model::{Job, OpKind, Target, Workload};

use super::Ping;
use crate::exit::CommandError;
use crate::{pipeline, run_identity};

/// Objects that are asked for in turns.
const OBJECTS: u64 = 16;

/// What requests to a bucket are made of.
pub(super) fn on_bucket(ping: &Ping, target: Target) -> Result<Job, CommandError> {
    let stray = [
        ("--working-set", ping.working_set.is_some()),
        ("--cached", ping.cached),
        ("--direct", ping.direct),
        ("--sync", ping.sync),
        ("--sequential", ping.sequential),
    ];
    if let Some((flag, _)) = stray.iter().find(|(_, given)| *given) {
        let problem = format!("{flag} has no meaning on a bucket; leave it out");
        return Err(CommandError::Usage(problem));
    }
    let kind = if ping.write { OpKind::Put } else { OpKind::Get };
    let requests = ObjectWork {
        order: ObjectOrder::AsMade,
        repeat: true,
        ..ObjectWork::new([(kind, 1)], OBJECTS, ObjectSizes::Fixed(ping.size))
    };
    let workload = Workload {
        engine: EngineKind::S3,
        mix: OpMix::NONE,
        workers: 1,
        queue_depth: 1,
        work: Work::objects(ping.reached.store(), requests),
        ..Workload::example("ping")
    };
    Ok(Job {
        workload,
        target,
        seed: run_identity::fresh_seed(),
        run_tag: run_identity::fresh_seed(),
        destructive: ping.destructive,
        keep_files: false,
        file_prefix: pipeline::FILE_PREFIX.to_owned(),
    })
}

/// What requests to a host are made of.
pub(super) fn on_host(ping: &Ping, target: Target) -> Result<Job, CommandError> {
    let stray = [
        ("--working-set", ping.working_set.is_some()),
        ("--cached", ping.cached),
        ("--direct", ping.direct),
        ("--write", ping.write),
        ("--sequential", ping.sequential),
    ];
    if let Some((flag, _)) = stray.iter().find(|(_, given)| *given) {
        let problem = format!("{flag} has no meaning on a host; leave it out");
        return Err(CommandError::Usage(problem));
    }
    Ok(Job {
        workload: Workload::example("ping"),
        target,
        seed: run_identity::fresh_seed(),
        run_tag: run_identity::fresh_seed(),
        destructive: false,
        keep_files: false,
        file_prefix: pipeline::FILE_PREFIX.to_owned(),
    })
}
