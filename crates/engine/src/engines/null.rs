//! The engine that does nothing: every operation succeeds at once. What a
//! trial costs on it is the cost of fathom itself.

use crate::engine::{Broken, Capabilities, Completion, Engine, MAX_DEPTH, Op, Queued};

/// Completes every operation in full.
#[derive(Debug)]
pub(crate) struct Null {
    queued: Vec<Completion>,
    depth: usize,
    /// `reap` gives back no more than it was asked for, so that operations
    /// stay in flight as on a device.
    hold: bool,
}

impl Null {
    /// A null engine with room for `depth` operations.
    pub(crate) fn new(depth: u32) -> Null {
        Null {
            queued: Vec::with_capacity(depth as usize),
            depth: depth as usize,
            hold: false,
        }
    }

    /// A null engine that keeps operations in flight until they are asked for.
    #[cfg(test)]
    pub(crate) fn holding(depth: u32) -> Null {
        Null {
            hold: true,
            ..Null::new(depth)
        }
    }
}

impl Engine for Null {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            max_depth: MAX_DEPTH,
            trim: true,
            timed_reap: false,
        }
    }

    #[inline]
    fn queue(&mut self, op: &Op, _buffer: u32) -> Queued {
        if self.queued.len() == self.depth {
            return Queued::Busy;
        }
        self.queued.push(Completion {
            slot: op.slot,
            result: op.len as i32,
        });
        Queued::Yes
    }

    #[inline]
    fn submit(&mut self) -> Result<(), Broken> {
        Ok(())
    }

    #[inline]
    fn reap(
        &mut self,
        min: u32,
        _timeout_ns: Option<u64>,
        out: &mut Vec<Completion>,
    ) -> Result<(), Broken> {
        if self.hold {
            let count = self.queued.len().min(min as usize);
            out.extend(self.queued.drain(..count));
        } else if out.is_empty() && out.capacity() >= self.depth {
            std::mem::swap(out, &mut self.queued);
        } else {
            out.append(&mut self.queued);
        }
        Ok(())
    }

    fn close(&mut self) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_model::OpKind;

    #[test]
    fn a_holding_engine_gives_back_what_was_asked_for() {
        let mut engine = Null::holding(2);
        let op = |slot| Op {
            slot,
            kind: OpKind::Read,
            file: 0,
            offset: 0,
            len: 512,
        };
        assert_eq!(engine.queue(&op(0), 0), Queued::Yes);
        assert_eq!(engine.queue(&op(1), 0), Queued::Yes);
        assert_eq!(engine.queue(&op(2), 0), Queued::Busy);
        let mut out = Vec::new();
        engine.reap(1, None, &mut out).unwrap();
        let slots: Vec<_> = out.iter().map(|c| (c.slot, c.result)).collect();
        assert_eq!(slots, [(0, 512)]);
    }
}
