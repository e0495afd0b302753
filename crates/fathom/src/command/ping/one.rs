//! What is pinged: blocks of a path, objects of a bucket, or a host.

use fathom_engine::prepare::PrepareHooks;
use fathom_engine::{Error, OneByOne, OneByOneFacts, Single, object::ObjectProbe};
use fathom_model::workload::{EngineKind, ObjectOrder, ObjectSizes, ObjectWork, OpMix, Work};
use fathom_model::{Job, OpKind, Target, Workload};

use super::Ping;
use super::host::HostProbe;
use crate::exit::CommandError;
use crate::{pipeline, run_identity};

/// Objects that are asked for in turns.
const OBJECTS: u64 = 16;

/// One request at a time.
pub(super) enum One {
    Blocks(Box<OneByOne>),
    Objects(Box<ObjectProbe>),
    Host(HostProbe),
}

impl One {
    pub(super) fn open(job: &Job, hooks: &mut dyn PrepareHooks) -> Result<One, Error> {
        match &job.target {
            Target::Bucket(_) => {
                ObjectProbe::open(job, hooks).map(|probe| One::Objects(Box::new(probe)))
            }
            Target::Peer(_) => HostProbe::open(&job.target).map(One::Host),
            _ => OneByOne::open(job, hooks).map(|one| One::Blocks(Box::new(one))),
        }
    }

    pub(super) fn facts(&self) -> OneByOneFacts {
        match self {
            One::Blocks(one) => one.facts().clone(),
            One::Objects(probe) => OneByOneFacts::of_store(probe.active_bytes()),
            One::Host(probe) => probe.facts(),
        }
    }

    /// The next request, and what was said of its failure.
    pub(super) fn next(&mut self) -> (Single, Option<String>) {
        match self {
            One::Blocks(one) => (one.next(), None),
            One::Host(probe) => (probe.next(), None),
            One::Objects(probe) => {
                let single = probe.next();
                (single, probe.take_fault())
            }
        }
    }

    pub(super) fn now_ns(&self) -> u64 {
        match self {
            One::Blocks(one) => one.now_ns(),
            One::Objects(probe) => probe.now_ns(),
            One::Host(probe) => probe.now_ns(),
        }
    }

    pub(super) fn is_simulated(&self) -> bool {
        matches!(self, One::Blocks(one) if one.is_simulated())
    }

    pub(super) fn rest_until(&mut self, at_ns: u64) {
        if let One::Blocks(one) = self {
            one.rest_until(at_ns);
        }
    }

    /// Removes what was made in a bucket.
    pub(super) fn finish(self, hooks: &mut dyn PrepareHooks) -> Result<(), Error> {
        match self {
            One::Blocks(_) | One::Host(_) => Ok(()),
            One::Objects(probe) => probe.finish(hooks),
        }
    }
}

/// What requests to a bucket are made of.
pub(super) fn job_on_bucket(ping: &Ping, target: Target) -> Result<Job, CommandError> {
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
