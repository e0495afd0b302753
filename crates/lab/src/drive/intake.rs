//! Takes operations from the kernel, asks the model what happens to them, and
//! hands them to [`Delivery`].

use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use fathom_engine::sim::{Drive, SimEnd, SimOp};
use fathom_model::OpKind;
use fuser::{ReplyData, ReplyEmpty, ReplyWrite};

use super::delivery::{Delivery, Pending, Reply, be_punctual, lock};
use super::path_cost::PathCost;
use super::store::Store;

/// A longer trim is several for the model.
const TRIM_BYTES_MAX: u64 = 1 << 30;

thread_local! {
    /// Made at the first operation that a thread takes.
    static PUNCTUAL: () = be_punctual();
}

/// The model behind the file.
pub(super) struct Intake {
    model: Mutex<Box<dyn Drive>>,
    pub(super) capacity_bytes: u64,
    pub(super) store: Store,
    pub(super) delivery: Arc<Delivery>,
    pub(super) path_cost: OnceLock<PathCost>,
    hang: Option<Duration>,
}

/// What the model said to an operation.
struct Said {
    arrived_ns: u64,
    end: SimEnd,
}

impl Intake {
    pub(super) fn new(
        model: Box<dyn Drive>,
        store: Store,
        delivery: Arc<Delivery>,
        hang: Option<Duration>,
    ) -> Intake {
        Intake {
            capacity_bytes: model.capacity_bytes(),
            model: Mutex::new(model),
            store,
            delivery,
            path_cost: OnceLock::new(),
            hang,
        }
    }

    pub(super) fn read(&self, offset: u64, size: u32, reply: ReplyData) {
        let room = self.capacity_bytes.saturating_sub(offset);
        let bytes = u64::from(size).min(room) as u32;
        let mut said = self.ask(&[(OpKind::Read, offset, bytes)]);
        let mut data = self.delivery.buffer(bytes as usize);
        if let Err(error) = self.store.read(offset, &mut data) {
            said.end.result = Err(error.raw_os_error().unwrap_or(libc::EIO));
        }
        let moved = said.end.result.map(u64::from);
        self.answer(OpKind::Read, offset, &said, moved, Reply::Data(reply, data));
    }

    /// `durable`: the write is over only when it is on stable media.
    pub(super) fn write(&self, offset: u64, data: &[u8], durable: bool, reply: ReplyWrite) {
        let room = self.capacity_bytes.saturating_sub(offset);
        if room == 0 {
            return reply.error(fuser::Errno::ENOSPC);
        }
        let bytes = (data.len() as u64).min(room) as u32;
        let write = (OpKind::Write, offset, bytes);
        let mut said = if durable {
            self.ask(&[write, (OpKind::Sync, 0, 0)])
        } else {
            self.ask(&[write])
        };
        // What failed is not stored, what fell short only as far as it came.
        if let Ok(moved) = said.end.result
            && let Err(error) = self.store.write(offset, &data[..moved as usize])
        {
            said.end.result = Err(error.raw_os_error().unwrap_or(libc::EIO));
        }
        let moved = said.end.result.map(u64::from);
        self.answer(OpKind::Write, offset, &said, moved, Reply::Written(reply));
    }

    pub(super) fn sync(&self, reply: ReplyEmpty) {
        let said = self.ask(&[(OpKind::Sync, 0, 0)]);
        let result = said.end.result.map(|_| 0);
        self.answer(OpKind::Sync, 0, &said, result, Reply::Done(reply));
    }

    pub(super) fn trim(&self, offset: u64, bytes: u64, reply: ReplyEmpty) {
        let bytes = bytes.min(self.capacity_bytes.saturating_sub(offset));
        let parts = bytes.div_ceil(TRIM_BYTES_MAX).max(1);
        let ops: Vec<_> = (0..parts)
            .map(|n| {
                let start = n * TRIM_BYTES_MAX;
                let part = (bytes - start).min(TRIM_BYTES_MAX);
                (OpKind::Trim, offset + start, part as u32)
            })
            .collect();
        let mut said = self.ask(&ops);
        if said.end.result.is_ok()
            && bytes > 0
            && let Err(error) = self.store.trim(offset, bytes)
        {
            said.end.result = Err(error.raw_os_error().unwrap_or(libc::EIO));
        }
        let result = said.end.result.map(|_| bytes);
        self.answer(OpKind::Trim, offset, &said, result, Reply::Done(reply));
    }

    /// Submits operations that are one to the program: over with the last,
    /// with the result of the first, or the first error.
    fn ask(&self, ops: &[(OpKind, u64, u32)]) -> Said {
        PUNCTUAL.with(|()| ());
        let mut model = lock(&self.model);
        // Inside the lock, so that the model's time never goes back.
        let arrived_ns = self.delivery.now_ns();
        let mut whole: Option<SimEnd> = None;
        for &(kind, offset, bytes) in ops {
            let end = model.submit(
                arrived_ns,
                &SimOp {
                    kind,
                    offset,
                    bytes,
                },
            );
            whole = Some(match whole {
                None => end,
                Some(before) => SimEnd {
                    at_ns: before.at_ns.max(end.at_ns),
                    result: before.result.and_then(|b| end.result.map(|_| b)),
                },
            });
        }
        let nothing = SimEnd {
            at_ns: arrived_ns,
            result: Ok(0),
        };
        Said {
            arrived_ns,
            end: whole.unwrap_or(nothing),
        }
    }

    fn answer(
        &self,
        kind: OpKind,
        offset: u64,
        said: &Said,
        result: Result<u64, i32>,
        reply: Reply,
    ) {
        let arrived_ns = said.arrived_ns;
        let stuck = said.end.at_ns == u64::MAX;
        let cost = self.path_cost.get().copied().unwrap_or_default();
        let bytes = result.unwrap_or(0);
        let whole_ns = cost.whole_ns(kind, bytes);
        let send_cost_ns = cost.send_ns(kind, bytes).min(whole_ns);
        let (end_ns, result) = match (stuck, self.hang) {
            (false, _) => (said.end.at_ns.max(arrived_ns), result),
            (true, Some(hang)) => (arrived_ns + hang.as_nanos() as u64, Err(libc::EIO)),
            (true, None) => (u64::MAX - 1, Err(libc::EIO)),
        };
        self.delivery.push(Pending {
            send_at_ns: end_ns.saturating_sub(whole_ns).max(arrived_ns),
            kind,
            offset,
            result,
            arrived_ns,
            modelled_ns: end_ns - arrived_ns,
            send_cost_ns,
            unseen_ns: whole_ns - send_cost_ns,
            stuck,
            reply,
        });
    }
}
