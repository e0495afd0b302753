//! What is pinged: blocks of a path, objects of a bucket, or a host.

use fathom_model::{Job, Target};

use super::host::HostProbe;
use crate::error::Error;
use crate::object::ObjectProbe;
use crate::one_by_one::{OneByOne, OneByOneFacts, Single};
use crate::prepare::PrepareHooks;

/// One request at a time.
pub(crate) enum One {
    Blocks(Box<OneByOne>),
    Objects(Box<ObjectProbe>),
    Host(HostProbe),
}

impl One {
    pub(crate) fn open(job: &Job, hooks: &mut dyn PrepareHooks) -> Result<One, Error> {
        match &job.target {
            Target::Bucket(_) => {
                ObjectProbe::open(job, hooks).map(|probe| One::Objects(Box::new(probe)))
            }
            Target::Peer(_) => HostProbe::open(&job.target).map(One::Host),
            _ => OneByOne::open(job, hooks).map(|one| One::Blocks(Box::new(one))),
        }
    }

    pub(crate) fn facts(&self) -> OneByOneFacts {
        match self {
            One::Blocks(one) => one.facts().clone(),
            One::Objects(probe) => OneByOneFacts::of_store(probe.active_bytes()),
            One::Host(probe) => probe.facts(),
        }
    }

    /// The next request, and what was said of its failure.
    pub(crate) fn next(&mut self) -> (Single, Option<String>) {
        match self {
            One::Blocks(one) => (one.next(), None),
            One::Host(probe) => (probe.next(), None),
            One::Objects(probe) => {
                let single = probe.next();
                (single, probe.take_fault())
            }
        }
    }

    pub(crate) fn now_ns(&self) -> u64 {
        match self {
            One::Blocks(one) => one.now_ns(),
            One::Objects(probe) => probe.now_ns(),
            One::Host(probe) => probe.now_ns(),
        }
    }

    pub(crate) fn is_simulated(&self) -> bool {
        matches!(self, One::Blocks(one) if one.is_simulated())
    }

    pub(crate) fn rest_until(&mut self, at_ns: u64) {
        if let One::Blocks(one) = self {
            one.rest_until(at_ns);
        }
    }

    /// Removes what was made in a bucket.
    pub(crate) fn finish(self, hooks: &mut dyn PrepareHooks) -> Result<(), Error> {
        match self {
            One::Blocks(_) | One::Host(_) => Ok(()),
            One::Objects(probe) => probe.finish(hooks),
        }
    }
}
