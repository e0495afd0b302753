//! Requests to a store one by one, each told to the caller as it ends: what a
//! ping of a bucket needs.
//!
//! A few small objects are made below a prefix of the run and are asked for, or
//! put again, in turns, over one connection that stays open. Time is read as
//! it is under load: right before the first byte is sent, and after the last
//! byte of the answer.

use std::path::Path;

use fathom_model::workload::ObjectStore;
use fathom_model::{Job, OpKind, Target};
use fathom_s3::{ConnectionPool, Fault, FaultKind};

use super::advice;
use super::ask::{Ask, Asker};
use super::picker::Task;
use super::prepare::prepare;
use super::reach::Reached;
use super::remove::remove_objects_of_run;
use super::work::StoreWork;
use crate::Error;
use crate::clock::{Clock, HostClock};
use crate::one_by_one::Single;
use crate::prepare::{CreationRefused, Hurry, PrepareHooks, PrepareProgress};

const LONGEST_WAIT_NS: u64 = 100_000_000;

/// A bucket that is asked one request at a time.
pub struct ObjectProbe {
    work: StoreWork,
    pool: ConnectionPool,
    asker: Asker,
    clock: HostClock,
    opened_ns: u64,
    kind: OpKind,
    number: u64,
    bytes: u32,
    fault: Option<String>,
    store: ObjectStore,
    target: String,
    run_tag: u64,
}

impl ObjectProbe {
    /// Makes the objects of a job on a bucket, whose work is one kind of request
    /// on objects of one size, and connects.
    ///
    /// # Errors
    /// Every reason why the bucket cannot be used so, in words.
    pub fn open(job: &Job, hooks: &mut dyn PrepareHooks) -> Result<ObjectProbe, Error> {
        let workload = &job.workload;
        let (Some(object), Some(store), Target::Bucket(target)) =
            (workload.requests(), workload.store(), &job.target)
        else {
            return Err(Error::Workload("this is not work on a bucket".to_owned()));
        };
        let kind = object.phase().unwrap_or(OpKind::Get);
        let bytes = u32::try_from(object.sizes.max_bytes()).unwrap_or(u32::MAX);
        let mut noting = Noting {
            hooks,
            makes: false,
        };
        Reached::default().check(job)?;
        let work = match prepare(job, &mut noting) {
            Ok(ready) => ready.work,
            Err(error) if noting.makes => return Err(undone(job, target, error)),
            Err(error) => return Err(error),
        };
        let mut pool = ConnectionPool::single(&work.access)?;
        if let Err(error) = pool.connect_all(&|| noting.stop_requested()) {
            return Err(undone(job, target, error.into()));
        }
        let clock = HostClock::new();
        Ok(ObjectProbe {
            opened_ns: clock.now(),
            clock,
            work,
            pool,
            asker: Asker::default(),
            kind,
            number: 0,
            bytes,
            fault: None,
            store: store.clone(),
            target: target.clone(),
            run_tag: job.run_tag,
        })
    }

    /// Time since the bucket was opened, nanoseconds.
    pub fn now_ns(&self) -> u64 {
        self.clock.now().saturating_sub(self.opened_ns)
    }

    /// Bytes of all objects together.
    pub fn active_bytes(&self) -> u64 {
        self.work.work.objects.saturating_mul(u64::from(self.bytes))
    }

    /// What the store or the connection said of the last request that failed.
    pub fn take_fault(&mut self) -> Option<String> {
        self.fault.take()
    }

    /// Sends the next request and waits for the end of its answer.
    #[allow(clippy::should_implement_trait)] // It never ends: an Option would be noise.
    pub fn next(&mut self) -> Single {
        let number = self.number % self.work.work.objects.max(1);
        self.number += 1;
        let task = Task {
            kind: self.kind,
            number,
            count: 1,
            version: 0,
        };
        let pool = &mut self.pool;
        self.asker
            .make(&self.work, 0, &task, &Ask::Whole, |request| {
                let _ = pool.make_ready(0, request);
            });
        let start_ns = self.clock.now();
        self.pool.start(0, start_ns);
        let mut ended = Vec::with_capacity(1);
        while ended.is_empty() {
            self.pool.poll(Some(LONGEST_WAIT_NS), false, &mut ended);
        }
        let end_ns = ended.first().map_or(start_ns, |end| end.end_ns);
        let fault = ended.pop().and_then(|end| end.outcome.err());
        let failed = fault.as_ref().map(errno);
        self.fault = fault.map(|fault| advice::told(&fault));
        Single {
            kind: self.kind,
            offset: number,
            bytes: self.bytes,
            started_ns: start_ns.saturating_sub(self.opened_ns),
            latency_ns: end_ns.saturating_sub(start_ns).max(1),
            flush_ns: None,
            failed,
        }
    }

    /// Removes what was made.
    ///
    /// # Errors
    /// When the store refuses; `fathom clean` tries again.
    pub fn finish(self, hooks: &mut dyn PrepareHooks) -> Result<(), Error> {
        remove_objects_of_run(&self.store, &self.target, self.run_tag, hooks).map(|_| ())
    }
}

/// Removes what was made before an error; the error, and what could not be
/// removed.
fn undone(job: &Job, target: &str, error: Error) -> Error {
    let Some(store) = job.workload.store() else {
        return error;
    };
    match remove_objects_of_run(store, target, job.run_tag, &mut Hurried) {
        Ok(_) => error,
        Err(left) => Error::Workload(format!("{error}; {left}")),
    }
}

/// Somebody waits for the end.
struct Hurried;

impl PrepareHooks for Hurried {
    fn progress(&mut self, _: PrepareProgress<'_>) {}

    fn creating(&mut self, _: &Path) -> Result<(), CreationRefused> {
        Ok(())
    }

    fn removed(&mut self, _: &Path) {}

    fn stop_requested(&self) -> bool {
        false
    }

    fn hurries(&self) -> Hurry {
        Hurry::Awaited
    }
}

/// Takes note of whether anything was made.
struct Noting<'h> {
    hooks: &'h mut dyn PrepareHooks,
    makes: bool,
}

impl PrepareHooks for Noting<'_> {
    fn progress(&mut self, progress: PrepareProgress<'_>) {
        self.hooks.progress(progress);
    }

    fn creating(&mut self, path: &Path) -> Result<(), CreationRefused> {
        self.hooks.creating(path)
    }

    fn removed(&mut self, path: &Path) {
        self.hooks.removed(path);
    }

    fn making_objects(&mut self) {
        self.makes = true;
        self.hooks.making_objects();
    }

    fn stop_requested(&self) -> bool {
        self.hooks.stop_requested()
    }
}

/// The errno that comes nearest.
fn errno(fault: &Fault) -> i32 {
    match (fault.kind, fault.status) {
        (FaultKind::Timeout, _) => libc::ETIMEDOUT,
        (FaultKind::SlowDown, _) => libc::EAGAIN,
        (_, 404) => libc::ENOENT,
        (_, 401 | 403) => libc::EACCES,
        (_, 400..=499) => libc::EINVAL,
        (_, 500..) => libc::EIO,
        _ => libc::ECONNRESET,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{job, object, server};
    use super::*;
    use crate::prepare::NoHooks;
    use fathom_model::workload::ObjectSizes;

    #[test]
    fn requests_come_one_by_one_and_nothing_stays() {
        for (kind, script) in [(OpKind::Get, "GET:503@4"), (OpKind::Put, "PUT:404@9")] {
            let server = server(script);
            let mut job = job(&server, 200, &[(kind, 1)]);
            job.workload.workers = 1;
            object(&mut job).objects = 3;
            object(&mut job).sizes = ObjectSizes::Fixed(4096);
            // The listings that look at the bucket are GETs, too.
            let mut probe = ObjectProbe::open(&job, &mut NoHooks).unwrap();
            let all: Vec<Single> = (0..9).map(|_| probe.next()).collect();
            assert!(
                all.iter()
                    .all(|one| one.latency_ns > 0 && one.bytes == 4096)
            );
            let failed: Vec<i32> = all.iter().filter_map(|one| one.failed).collect();
            match kind {
                OpKind::Get => assert_eq!(failed, [libc::EAGAIN; 2]),
                _ => assert_eq!(failed, [libc::ENOENT]),
            }
            assert!(
                all.windows(2)
                    .all(|pair| pair[0].started_ns < pair[1].started_ns)
            );
            assert_eq!(server.keys().len(), 3);
            probe.finish(&mut NoHooks).unwrap();
            assert!(server.keys().is_empty());
        }
    }
}
