//! Operations one by one, each told to the caller as it ends: what a ping of
//! a storage needs. The engines, offsets, payload and clocks are those of a
//! trial; there is no thread, no interval and no histogram here.
//!
//! Time is read right before an operation is handed to the engine and right
//! after it has ended; drawing the offset and the payload lie outside.

mod own_file;

use std::cell::RefCell;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use fathom_model::workload::{CacheMode, EngineKind};
use fathom_model::{Job, OpKind, Target, Workload};

use self::own_file::OwnFile;
use crate::Error;
use crate::access::{AccessStream, Layout, TargetKind};
use crate::arena::Buffers;
use crate::clock::{Clock, HostClock, VirtualClock};
use crate::engine::{Broken, Completion, Engine, Op};
use crate::engines::{Null, Psync, SIM_ORIGIN_NS, SharedDrive, Simulated, Synchronous};
use crate::group::plan::GroupPlan;
use crate::open::WorkerFiles;
use crate::payload::{PayloadFacts, PayloadPool};
use crate::prepare::{PrepareHooks, Prepared, prepare};

/// Slots of an engine that has one operation in flight, and one to spare.
const SLOTS: u32 = 2;

/// One operation that has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Single {
    /// Read or write.
    pub kind: OpKind,
    /// Offset in the target, bytes.
    pub offset: u64,
    /// Bytes that were asked for.
    pub bytes: u32,
    /// When it was handed over, from the opening of the target, nanoseconds.
    pub started_ns: u64,
    /// From handing over to the end of the operation, or of its flush where
    /// each write is flushed, nanoseconds; at least 1.
    pub latency_ns: u64,
    /// The flush's part of that.
    pub flush_ns: Option<u64>,
    /// The errno with which the operation or its flush failed. 0 stands for
    /// an operation that moved fewer bytes than it should have.
    pub failed: Option<i32>,
}

/// What is known about an opened target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OneByOneFacts {
    /// What it is.
    pub kind: TargetKind,
    /// The accessed range, bytes.
    pub active_bytes: u64,
    /// Whether operations go past the page cache.
    pub direct: bool,
    /// What could not be had, and remarks about the data, in words.
    pub notes: Vec<String>,
    /// Share of the data that was never written, 0 to 1, where it is known.
    pub unwritten_permille: Option<u32>,
    /// The files or the device.
    pub files: Vec<PathBuf>,
}

impl OneByOneFacts {
    /// Those of objects in a store, which no page cache of this host holds.
    pub fn of_store(active_bytes: u64) -> OneByOneFacts {
        OneByOneFacts {
            kind: TargetKind::Null,
            active_bytes,
            direct: true,
            notes: Vec::new(),
            unwritten_permille: None,
            files: Vec::new(),
        }
    }
}

/// A target on which operations are carried out one at a time.
pub struct OneByOne {
    way: TimedEngine,
    stream: AccessStream,
    buffers: Buffers,
    payload: Option<PayloadPool>,
    flushes: bool,
    ended: Vec<Completion>,
    opened_ns: u64,
    facts: OneByOneFacts,
    /// While it lives, a device that is written to stays claimed.
    prepared: Option<Prepared>,
}

/// Real time or a simulated drive's.
enum TimedEngine {
    Null(Null, HostClock),
    Host(Synchronous<Psync>, HostClock),
    Virtual(Box<Simulated>, VirtualClock),
}

impl OneByOne {
    /// Makes the target of `job` ready and opens it. In a directory a file of
    /// the job's size is made and filled with random data; it has no name, so
    /// that nothing can leave it behind. Of the workload the mix, pattern,
    /// block, size, working set, cache mode, payload and
    /// `sync.every_writes` (0, or 1 for a flush after each write) count.
    ///
    /// # Errors
    /// Every reason why the target cannot be used so, in words.
    pub fn open(job: &Job, hooks: &mut dyn PrepareHooks) -> Result<OneByOne, Error> {
        match &job.target {
            Target::Path(path) if fathom_deadline::paths::is_dir(path) => {
                OneByOne::in_directory(job, hooks)
            }
            _ => OneByOne::on_given(job, hooks),
        }
    }

    fn in_directory(job: &Job, hooks: &mut dyn PrepareHooks) -> Result<OneByOne, Error> {
        let workload = &job.workload;
        let dir = job.target.path().unwrap_or(std::path::Path::new("."));
        let size_bytes = workload.data_set.size_bytes.unwrap_or(0);
        let layout = Layout::new(TargetKind::File, workload, size_bytes, |_| dir.to_owned())?;
        let stream = AccessStream::new(workload, &layout, 0, job.seed)?;
        let own = OwnFile::make(dir, size_bytes, workload.cache, job.seed, hooks)?;
        let mut notes = Vec::new();
        let wanted = workload.cache == CacheMode::Direct;
        if wanted && !own.direct {
            notes.push(refusal(dir));
        }
        let unit = u64::from(own.align_bytes);
        if own.direct && !workload.block.max_bytes().is_multiple_of(unit) {
            return Err(Error::Workload(format!(
                "direct I/O on this target needs multiples of {unit} bytes: change the size of \
                 the requests, or use the page cache"
            )));
        }
        let buffers = buffers(workload)?;
        let files = WorkerFiles {
            files: Arc::from([own.file]),
        };
        let engine = Synchronous::new(Psync::new(files, workload.sync.call), buffers.view());
        let facts = OneByOneFacts {
            kind: TargetKind::Directory,
            active_bytes: layout.active_bytes(),
            direct: own.direct,
            notes,
            unwritten_permille: Some(0),
            files: Vec::new(),
        };
        let way = TimedEngine::Host(engine, HostClock::new());
        Ok(OneByOne::assemble(job, way, stream, buffers, facts))
    }

    fn on_given(job: &Job, hooks: &mut dyn PrepareHooks) -> Result<OneByOne, Error> {
        let prepared = prepare(job, hooks)?;
        let plan = GroupPlan::new(job, &prepared)?;
        let workload = &job.workload;
        let stream = AccessStream::new(workload, &plan.layout, 0, job.seed)?;
        let buffers = buffers(workload)?;
        let way = match plan.engine {
            EngineKind::Sim => {
                let drive = prepared.drive.clone();
                let drive = drive.ok_or_else(Error::no_drive)?;
                let clock = VirtualClock::new(SIM_ORIGIN_NS);
                let shared = Rc::new(RefCell::new(SharedDrive::new(drive, 1)));
                let payload = PayloadFacts::new(&workload.payload, job.seed, 0);
                let engine = Simulated::new(shared, 0, clock.clone(), payload, SLOTS)
                    .opened(workload.sync.open);
                TimedEngine::Virtual(Box::new(engine), clock)
            }
            EngineKind::Null => TimedEngine::Null(Null::new(SLOTS), HostClock::new()),
            _ => {
                let files = plan.opener.open_for(&plan.layout, 0)?;
                let engine =
                    Synchronous::new(Psync::new(files, workload.sync.call), buffers.view());
                TimedEngine::Host(engine, HostClock::new())
            }
        };
        let mut notes = plan.fallbacks.clone();
        notes.extend(prepared.notes.iter().cloned());
        let share = prepared.data.unwritten_share;
        let facts = OneByOneFacts {
            kind: plan.layout.kind,
            active_bytes: plan.layout.active_bytes(),
            direct: plan.mode.direct,
            notes,
            unwritten_permille: share.map(|share| (share.clamp(0.0, 1.0) * 1000.0) as u32),
            files: plan.layout.files.iter().map(|f| f.path.clone()).collect(),
        };
        let mut one = OneByOne::assemble(job, way, stream, buffers, facts);
        one.prepared = Some(prepared);
        Ok(one)
    }

    fn assemble(
        job: &Job,
        way: TimedEngine,
        stream: AccessStream,
        buffers: Buffers,
        facts: OneByOneFacts,
    ) -> OneByOne {
        let workload = &job.workload;
        let writes = workload.mix.write_percent > 0;
        let mut one = OneByOne {
            way,
            stream,
            buffers,
            payload: writes.then(|| PayloadPool::new(&workload.payload, job.seed, 0)),
            flushes: writes && workload.sync.every_writes > 0,
            ended: Vec::with_capacity(SLOTS as usize),
            opened_ns: 0,
            facts,
            prepared: None,
        };
        one.opened_ns = one.clock_ns();
        one
    }

    /// What is known about the target.
    pub fn facts(&self) -> &OneByOneFacts {
        &self.facts
    }

    /// Whether time is a simulated drive's, which passes only by operations
    /// and [`OneByOne::rest_until`].
    pub fn is_simulated(&self) -> bool {
        matches!(self.way, TimedEngine::Virtual(..))
    }

    /// Time since the target was opened, nanoseconds.
    pub fn now_ns(&self) -> u64 {
        self.clock_ns().saturating_sub(self.opened_ns)
    }

    /// Lets a simulated drive rest until this time since the opening. Does
    /// nothing for real targets, whose caller waits.
    pub fn rest_until(&mut self, at_ns: u64) {
        if let TimedEngine::Virtual(_, clock) = &self.way {
            clock.advance_to(self.opened_ns.saturating_add(at_ns));
        }
    }

    /// Carries out the next operation, and its flush. Blocks until it ends.
    #[allow(clippy::should_implement_trait)] // It never ends: an Option would be noise.
    pub fn next(&mut self) -> Single {
        let access = self.stream.next();
        let writes = access.kind == OpKind::Write;
        if writes && let Some(payload) = &mut self.payload {
            payload.fill(access.offset, self.buffers.block(0, access.bytes));
        }
        let op = Op {
            slot: 0,
            kind: access.kind,
            file: 0,
            offset: access.offset,
            len: access.bytes,
        };
        let (started_ns, ended_ns, result) = self.carry_out(&op);
        let mut single = Single {
            kind: access.kind,
            offset: access.offset,
            bytes: access.bytes,
            started_ns: started_ns.saturating_sub(self.opened_ns),
            latency_ns: ended_ns.saturating_sub(started_ns).max(1),
            flush_ns: None,
            failed: failure(result, access.bytes),
        };
        if writes && self.flushes && single.failed.is_none() {
            let flush = Op {
                kind: OpKind::Sync,
                offset: 0,
                len: 0,
                ..op
            };
            let (flush_started_ns, flushed_ns, result) = self.carry_out(&flush);
            single.flush_ns = Some(flushed_ns.saturating_sub(flush_started_ns).max(1));
            single.latency_ns = flushed_ns.saturating_sub(started_ns).max(1);
            single.failed = failure(result, 0);
        }
        single
    }

    fn clock_ns(&self) -> u64 {
        match &self.way {
            TimedEngine::Null(_, clock) | TimedEngine::Host(_, clock) => clock.now(),
            TimedEngine::Virtual(_, clock) => clock.now(),
        }
    }

    /// Start, end and result of one operation.
    fn carry_out(&mut self, op: &Op) -> (u64, u64, i32) {
        self.ended.clear();
        let ended = &mut self.ended;
        let (started_ns, ended_ns, done) = match &mut self.way {
            TimedEngine::Null(engine, clock) => on_host(engine, clock, op, ended),
            TimedEngine::Host(engine, clock) => on_host(engine, clock, op, ended),
            TimedEngine::Virtual(engine, clock) => in_virtual_time(engine, clock, op, ended),
        };
        let result = match done {
            Ok(()) => ended.first().map_or(-libc::EIO, |end| end.result),
            Err(broken) => -broken.errno.abs(),
        };
        (started_ns, ended_ns, result)
    }
}

fn on_host<E: Engine>(
    engine: &mut E,
    clock: &HostClock,
    op: &Op,
    ended: &mut Vec<Completion>,
) -> (u64, u64, Result<(), Broken>) {
    engine.queue(op, 0);
    let started_ns = clock.now();
    let done = engine.submit().and_then(|()| engine.reap(1, None, ended));
    (started_ns, clock.now(), done)
}

fn in_virtual_time(
    engine: &mut Simulated,
    clock: &VirtualClock,
    op: &Op,
    ended: &mut Vec<Completion>,
) -> (u64, u64, Result<(), Broken>) {
    engine.queue(op, 0);
    let started_ns = clock.now();
    loop {
        if let Err(broken) = engine.reap(1, None, ended) {
            return (started_ns, clock.now(), Err(broken));
        }
        if !ended.is_empty() {
            return (started_ns, clock.now(), Ok(()));
        }
        match engine.next_event_ns() {
            Some(at_ns) if at_ns < u64::MAX => clock.advance_to(at_ns.max(clock.now() + 1)),
            _ => {
                let broken = Broken {
                    call: "the simulated drive",
                    errno: libc::ETIMEDOUT,
                };
                return (started_ns, clock.now(), Err(broken));
            }
        }
    }
}

/// The errno of a result; 0 where less was moved than asked for.
fn failure(result: i32, bytes: u32) -> Option<i32> {
    match u32::try_from(result) {
        Ok(moved) if moved >= bytes => None,
        Ok(_) => Some(0),
        Err(_) => Some(result.saturating_neg()),
    }
}

fn refusal(path: &std::path::Path) -> String {
    format!(
        "{} refuses O_DIRECT: the page cache is used",
        path.display()
    )
}

fn buffers(workload: &Workload) -> Result<Buffers, Error> {
    let block_bytes = workload.block.max_bytes();
    let (buffers, _) = Buffers::new(1, block_bytes, false).map_err(|error| {
        Error::Workload(format!(
            "no memory for a block of {block_bytes} bytes ({error})"
        ))
    })?;
    Ok(buffers)
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
