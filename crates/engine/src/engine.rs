//! What an engine is: the way by which operations reach a target.
//!
//! The shape is that of fio's I/O engines, cut to what one loop needs: ops are
//! queued, handed over, and reaped. An engine knows nothing of patterns, rates,
//! histograms or clocks; the worker loop knows nothing of system calls. A new
//! engine is one file under `engines/`, its construction there and its row in
//! [`EngineKind`](fathom_model::workload::EngineKind), and is accepted when the
//! conformance suite passes.

use fathom_model::OpKind;
use fathom_model::workload::SyncCall;

/// Largest number of operations that one worker may have in flight.
pub(crate) const MAX_DEPTH: u32 = 4096;

/// Largest block: Linux moves at most 2 GiB less one page in one call.
pub(crate) const MAX_BLOCK_BYTES: u64 = 1 << 30;

/// One operation as an engine sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Op {
    /// Which of the worker's slots it occupies.
    pub(crate) slot: u32,
    /// Read, write, trim or sync. Never a commit, which is derived.
    pub(crate) kind: OpKind,
    /// Index of the file among the worker's files.
    pub(crate) file: u32,
    /// Offset within the file, bytes. The top bits of a sync's say how it is made,
    /// and the rest is 0, or where its range starts.
    pub(crate) offset: u64,
    /// Length, bytes; 0 for a sync of a whole file, or from the offset to its end.
    pub(crate) len: u32,
}

impl Op {
    /// Added to the offset of a sync that is made with the other call than the
    /// usual one.
    pub(crate) const OTHER_CALL: u64 = 1 << 63;
    /// Added to the offset of a sync beside which writes may be in flight.
    pub(crate) const UNDRAINED: u64 = 1 << 62;
    /// Below these bits is where a range starts; the three of them are the flags
    /// of `sync_file_range`.
    const RANGE_SHIFT: u32 = 59;

    /// Offset and length of a sync of the bytes from `first` to `end` with the
    /// flags of `sync_file_range`. A range that does not fit becomes longer.
    pub(crate) fn of_range(flags: u32, first: u64, end: u64) -> (u64, u32) {
        let how = u64::from(flags & 7) << Op::RANGE_SHIFT | Op::UNDRAINED;
        match (first >> Op::RANGE_SHIFT, u32::try_from(end - first)) {
            (0, Ok(len)) => (how | first, len),
            (0, Err(_)) => (how | first, 0),
            _ => (how, 0),
        }
    }

    /// Start of the range and flags of a sync that is made by `sync_file_range`.
    #[inline]
    pub(crate) fn range(&self) -> Option<(u64, u32)> {
        let flags = (self.offset >> Op::RANGE_SHIFT) as u32 & 7;
        let start = self.offset & ((1 << Op::RANGE_SHIFT) - 1);
        (self.kind == OpKind::Sync && flags != 0).then_some((start, flags))
    }

    /// The call of a sync, `usual` being that of the workload.
    #[inline]
    pub(crate) fn sync_call(&self, usual: SyncCall) -> SyncCall {
        match (self.offset & Op::OTHER_CALL != 0, usual) {
            (false, usual) => usual,
            (true, SyncCall::Fsync) => SyncCall::Fdatasync,
            (true, SyncCall::Fdatasync) => SyncCall::Fsync,
        }
    }
}

/// One operation that has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Completion {
    /// The slot of the operation.
    pub(crate) slot: u32,
    /// Bytes moved, or a negated errno.
    pub(crate) result: i32,
}

/// The result of an operation that was given up because the other end of its
/// connection has ended, or because the load has: neither work nor a failure.
pub(crate) const ENDED: i32 = i32::MIN;

/// Answer to [`Engine::queue`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Queued {
    /// The engine has taken the operation.
    Yes,
    /// There is no room; reap first, then try again.
    Busy,
}

/// What an engine can do on the files that it was opened with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Capabilities {
    /// Operations that it can have in flight.
    pub(crate) max_depth: u32,
    /// It can discard ranges.
    pub(crate) trim: bool,
    /// Operations go on while the worker does something else, and `reap` can
    /// return early at a timeout while they are in flight.
    pub(crate) timed_reap: bool,
}

/// An engine that could not go on at all: not the failure of one operation,
/// but of the interface itself. Carries the system call and its errno.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Broken {
    /// The system call that failed.
    pub(crate) call: &'static str,
    /// Its errno.
    pub(crate) errno: i32,
}

/// The way by which operations reach a target. One instance per worker.
///
/// The worker takes the time right before [`submit`](Engine::submit) or
/// [`reap`](Engine::reap), whichever hands an operation over, and right after
/// `reap`; an engine must therefore do no work on an operation in
/// [`queue`](Engine::queue) that belongs into its service latency.
pub(crate) trait Engine {
    /// Whether operations may wait for ever for somebody else, and
    /// [`abandon`](Engine::abandon) ends them once the load is over.
    const ABANDONS: bool = false;

    /// What the engine can do.
    fn capabilities(&self) -> Capabilities;

    /// Notes one operation for the next hand-over. The buffer with this index,
    /// which only reads and writes have, belongs to the engine from here until
    /// the operation has been reaped.
    fn queue(&mut self, op: &Op, buffer: u32) -> Queued;

    /// Hands over what is queued without waiting for anything that can be
    /// waited for elsewhere. (A synchronous engine carries it out here.)
    fn submit(&mut self) -> Result<(), Broken>;

    /// Hands over what is still queued, waits until `min` operations have
    /// ended or `timeout_ns` has passed, and appends all that have ended to
    /// `out`. May return early with less than `min`. With `min` 0 it only
    /// looks, by a system call only where nothing else would tell.
    fn reap(
        &mut self,
        min: u32,
        timeout_ns: Option<u64>,
        out: &mut Vec<Completion>,
    ) -> Result<(), Broken>;

    /// Gives up what is in flight, with the result [`ENDED`].
    fn abandon(&mut self, _out: &mut Vec<Completion>) {}

    /// Releases what the kernel holds for it. Nothing may be in flight.
    fn close(&mut self);
}
