//! Takes operations from the kernel, asks the model what happens to them, and
//! hands them to [`Delivery`].

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use fathom_drives::{Drive, SimAnswer, SimContent, SimEnd, SimOp, Truth};
use fathom_model::OpKind;
use fuser::{ReplyData, ReplyEmpty, ReplyWrite};

use super::content::content_of;
use super::delivery::{Delivery, Pending, Reply, lock};
use super::path_cost::PathCost;
use super::store::Store;
use crate::punctual::{Priority, be_punctual};

/// A longer trim is several for the model.
const TRIM_BYTES_MAX: u64 = 1 << 30;

thread_local! {
    /// Made at the first operation that a thread takes.
    static PUNCTUAL: () = be_punctual(Priority::Intake);
}

/// An operation of a program that the model is busy with. It may be several to
/// the model: it ends with the last, with the result of the first, or the first
/// error.
struct UnderWay {
    kind: OpKind,
    offset: u64,
    /// Bytes that it moves when all goes well, where that is not what the
    /// model's first operation moves.
    bytes: Option<u64>,
    arrived_ns: u64,
    parts_left: usize,
    end: Option<SimEnd>,
    reply: Reply,
}

/// The model, and what it has not answered yet.
struct Mind {
    drive: Box<dyn Drive>,
    under_way: HashMap<u64, UnderWay>,
    next: u64,
    /// Operation by the number that the model gave.
    open: HashMap<u64, u64>,
    found: Vec<(u64, SimEnd)>,
    /// The model's time, which never goes back.
    now_ns: u64,
}

/// The model behind the file.
pub(super) struct Intake {
    mind: Mutex<Mind>,
    pub(super) capacity_bytes: u64,
    pub(super) store: Store,
    pub(super) delivery: Arc<Delivery>,
    pub(super) path_cost: OnceLock<PathCost>,
    hang: Option<Duration>,
    /// Whether the model's speed depends on what is written.
    looks_inside: bool,
}

impl Intake {
    pub(super) fn new(
        drive: Box<dyn Drive>,
        store: Store,
        delivery: Arc<Delivery>,
        hang: Option<Duration>,
    ) -> Intake {
        Intake {
            capacity_bytes: drive.capacity_bytes(),
            looks_inside: super::content::matters_to(&drive.truth().model),
            mind: Mutex::new(Mind {
                drive,
                under_way: HashMap::new(),
                next: 0,
                open: HashMap::new(),
                found: Vec::new(),
                now_ns: 0,
            }),
            store,
            delivery,
            path_cost: OnceLock::new(),
            hang,
        }
    }

    /// What the model says of itself.
    pub(super) fn model_truth(&self) -> Truth {
        lock(&self.mind).drive.truth()
    }

    pub(super) fn read(&self, offset: u64, size: u32, reply: ReplyData) {
        let room = self.capacity_bytes.saturating_sub(offset);
        let bytes = u64::from(size).min(room) as u32;
        let arrived_ns = self.delivery.now_ns();
        let mut data = self.delivery.buffer(bytes as usize);
        if let Err(error) = self.store.read(offset, &mut data) {
            return reply.error(error.into());
        }
        let read = SimOp::new(OpKind::Read, offset, bytes);
        self.submit(&[read], None, arrived_ns, Reply::Data(reply, data));
    }

    /// `durable`: the write is over only when it is on stable media.
    pub(super) fn write(&self, offset: u64, data: &[u8], durable: bool, reply: ReplyWrite) {
        let room = self.capacity_bytes.saturating_sub(offset);
        if room == 0 {
            return reply.error(fuser::Errno::ENOSPC);
        }
        let arrived_ns = self.delivery.now_ns();
        let data = &data[..data.len().min(usize::try_from(room).unwrap_or(usize::MAX))];
        // A write that the model lets fail may leave its data, as a real one may.
        if let Err(error) = self.store.write(offset, data) {
            return reply.error(error.into());
        }
        let mut write = SimOp::new(OpKind::Write, offset, data.len() as u32);
        write.content = if self.looks_inside {
            content_of(data)
        } else {
            SimContent::default()
        };
        let sync = SimOp::new(OpKind::Sync, 0, 0);
        let ops = [write, sync];
        let ops = if durable { &ops[..] } else { &ops[..1] };
        self.submit(ops, None, arrived_ns, Reply::Written(reply));
    }

    pub(super) fn sync(&self, reply: ReplyEmpty) {
        let sync = SimOp::new(OpKind::Sync, 0, 0);
        let arrived_ns = self.delivery.now_ns();
        self.submit(&[sync], Some(0), arrived_ns, Reply::Done(reply));
    }

    pub(super) fn trim(&self, offset: u64, bytes: u64, reply: ReplyEmpty) {
        let arrived_ns = self.delivery.now_ns();
        let bytes = bytes.min(self.capacity_bytes.saturating_sub(offset));
        if bytes > 0
            && let Err(error) = self.store.trim(offset, bytes)
        {
            return reply.error(error.into());
        }
        let parts = bytes.div_ceil(TRIM_BYTES_MAX).max(1);
        let ops: Vec<_> = (0..parts)
            .map(|n| {
                let start = n * TRIM_BYTES_MAX;
                let part = (bytes - start).min(TRIM_BYTES_MAX);
                SimOp::new(OpKind::Trim, offset + start, part as u32)
            })
            .collect();
        self.submit(&ops, Some(bytes), arrived_ns, Reply::Done(reply));
    }

    /// Asks the model about `ops`, which are one operation to the program, of
    /// the kind and at the offset of the first.
    fn submit(&self, ops: &[SimOp], bytes: Option<u64>, arrived_ns: u64, reply: Reply) {
        PUNCTUAL.with(|()| ());
        let Some(first) = ops.first() else {
            return;
        };
        let mut ended = Vec::new();
        let mut mind = lock(&self.mind);
        // For the model it arrives when it came in, not when its data were stored.
        mind.advance(arrived_ns, &mut ended);
        mind.now_ns = mind.now_ns.max(arrived_ns);
        let now_ns = mind.now_ns;
        let id = mind.next;
        mind.next += 1;
        let mut op = UnderWay {
            kind: first.kind,
            offset: first.offset,
            bytes,
            arrived_ns,
            parts_left: ops.len(),
            end: None,
            reply,
        };
        for part in ops {
            match mind.drive.submit(now_ns, part) {
                SimAnswer::Ends(end) => op.part_ends(end),
                SimAnswer::Later(number) => {
                    mind.open.insert(number, id);
                }
            }
        }
        if op.parts_left == 0 {
            ended.push(op);
        } else {
            mind.under_way.insert(id, op);
        }
        self.delivery.wake_at(mind.drive.wake_ns());
        drop(mind);
        for op in ended {
            self.answer(op);
        }
    }

    /// Lets the model go on at the time for which it asked.
    pub(super) fn wake(&self) {
        let mut ended = Vec::new();
        let mut mind = lock(&self.mind);
        let now_ns = self.delivery.now_ns();
        mind.advance(now_ns, &mut ended);
        self.delivery.wake_at(mind.drive.wake_ns());
        drop(mind);
        for op in ended {
            self.answer(op);
        }
    }

    fn answer(&self, op: UnderWay) {
        let arrived_ns = op.arrived_ns;
        let end = op.end.unwrap_or(SimEnd {
            at_ns: arrived_ns,
            result: Ok(0),
        });
        let stuck = end.at_ns == u64::MAX;
        let result = end.result.map(|moved| op.bytes.unwrap_or(u64::from(moved)));
        let cost = self.path_cost.get().copied().unwrap_or_default();
        let whole_ns = cost.whole_ns(op.kind, result.unwrap_or(0));
        let send_cost_ns = cost.send_ns(op.kind, result.unwrap_or(0)).min(whole_ns);
        let (end_ns, result) = match (stuck, self.hang) {
            (false, _) => (end.at_ns.max(arrived_ns), result),
            (true, Some(hang)) => (arrived_ns + hang.as_nanos() as u64, Err(libc::EIO)),
            (true, None) => (u64::MAX - 1, Err(libc::EIO)),
        };
        self.delivery.push(Pending {
            send_at_ns: end_ns.saturating_sub(whole_ns).max(arrived_ns),
            kind: op.kind,
            offset: op.offset,
            result,
            arrived_ns,
            modelled_ns: end_ns.saturating_sub(arrived_ns),
            send_cost_ns,
            unseen_ns: whole_ns - send_cost_ns,
            stuck,
            reply: op.reply,
        });
    }
}

impl UnderWay {
    fn part_ends(&mut self, end: SimEnd) {
        self.parts_left = self.parts_left.saturating_sub(1);
        self.end = Some(match self.end {
            None => end,
            Some(before) => SimEnd {
                at_ns: before.at_ns.max(end.at_ns),
                result: before.result.and_then(|moved| end.result.map(|_| moved)),
            },
        });
    }
}

impl Mind {
    /// Lets the model go on to each time that it asked for up to `now_ns`, and
    /// appends the operations that have their end by then.
    fn advance(&mut self, now_ns: u64, ended: &mut Vec<UnderWay>) {
        while let Some(wake_ns) = self.drive.wake_ns().filter(|wake_ns| *wake_ns <= now_ns) {
            self.now_ns = self.now_ns.max(wake_ns);
            self.drive.advance(self.now_ns, &mut self.found);
            // A model that asks for the same time again would be asked forever.
            let again = self.drive.wake_ns() == Some(wake_ns);
            if again && self.found.is_empty() {
                break;
            }
            for (number, end) in self.found.drain(..) {
                let Some(id) = self.open.remove(&number) else {
                    continue;
                };
                let Some(op) = self.under_way.get_mut(&id) else {
                    continue;
                };
                op.part_ends(end);
                if op.parts_left == 0 {
                    ended.extend(self.under_way.remove(&id));
                }
            }
        }
    }
}
