//! What was written is read again within the load, and checked.

use super::Worker;
use crate::access::Access;
use crate::engine::Op;
use fathom_model::OpKind;

impl Worker {
    /// Whether an operation reads what a write that is still in flight is
    /// writing: it has to wait for it, or nothing could be asked of it.
    pub(crate) fn reads_what_is_being_written(&self, op: &Op) -> bool {
        if !self.reads_back || op.kind != OpKind::Read {
            return false;
        }
        let table = &self.visible.in_flight;
        let started = table.older_than(u64::MAX).map(|outstanding| outstanding.op);
        let staged = self.staged.iter().map(|slot| table.op(*slot));
        let mut others = started.chain(staged);
        others.any(|other| {
            other.kind == OpKind::Write
                && other.file == op.file
                && other.offset < op.offset + u64::from(op.len)
                && op.offset < other.offset + u64::from(other.len)
        })
    }

    /// The worker has come to its own bound: what it has not read back yet is
    /// read now. False when there is nothing to do, or this has been done.
    #[cold]
    pub(crate) fn begin_closing(&mut self) -> bool {
        if !self.reads_back || self.closing {
            return false;
        }
        self.closing = true;
        let undone = self.ready.take().map(|ready| {
            self.cancel(&ready.op);
            self.access_of(&ready.op)
        });
        let undone: Option<Access> = undone.filter(|access| access.kind == OpKind::Write);
        self.stream.close(undone.as_ref());
        true
    }
}
