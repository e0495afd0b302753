//! Sends each reply when its time has come: one thread that sleeps until
//! shortly before and then watches the clock. How much before is learnt from
//! how late it woke.

use std::cmp::Ordering as Order;
use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use fathom_model::OpKind;
use fuser::{Errno, ReplyData, ReplyEmpty, ReplyWrite};

use super::record::{Answered, Record};
use crate::punctual::{Priority, be_punctual};

/// Nothing is due.
const NEVER: u64 = u64::MAX;

/// Read buffers that are kept for reuse.
const SPARE_BUFFERS: usize = 64;

/// A way to answer, and what with.
#[derive(Debug)]
pub(super) enum Reply {
    Data(ReplyData, Vec<u8>),
    Written(ReplyWrite),
    Done(ReplyEmpty),
}

/// An operation whose reply waits for its time.
#[derive(Debug)]
pub(super) struct Pending {
    /// When to send the reply, nanoseconds since the mount.
    pub(super) send_at_ns: u64,
    pub(super) kind: OpKind,
    pub(super) offset: u64,
    /// Bytes moved, or the errno.
    pub(super) result: Result<u64, i32>,
    pub(super) arrived_ns: u64,
    /// How long the model says that it takes.
    pub(super) modelled_ns: u64,
    /// What sending the reply usually takes.
    pub(super) send_cost_ns: u64,
    /// What the way takes that the laboratory does not see.
    pub(super) unseen_ns: u64,
    pub(super) stuck: bool,
    pub(super) reply: Reply,
}

/// Earliest first, then in order of arrival.
struct Queued {
    order: u64,
    pending: Pending,
}

impl Ord for Queued {
    fn cmp(&self, other: &Queued) -> Order {
        let key = |queued: &Queued| (queued.pending.send_at_ns, queued.order);
        key(other).cmp(&key(self))
    }
}

impl PartialOrd for Queued {
    fn partial_cmp(&self, other: &Queued) -> Option<Order> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Queued {
    fn eq(&self, other: &Queued) -> bool {
        self.cmp(other) == Order::Equal
    }
}

impl Eq for Queued {}

struct Queue {
    heap: BinaryHeap<Queued>,
    /// When the model wants to go on.
    wake_ns: u64,
    order: u64,
    closed: bool,
    in_flight_max: u64,
}

impl Queue {
    fn new() -> Queue {
        Queue {
            heap: BinaryHeap::new(),
            wake_ns: NEVER,
            order: 0,
            closed: false,
            in_flight_max: 0,
        }
    }

    /// When something is to be done next. Once closed, at once.
    fn earliest_ns(&self) -> u64 {
        if self.closed {
            return 0;
        }
        let first = self.heap.peek();
        let first_ns = first.map_or(NEVER, |first| first.pending.send_at_ns);
        first_ns.min(self.wake_ns)
    }
}

/// The replies that wait, and the record of those that were sent.
pub(super) struct Delivery {
    origin: Instant,
    queue: Mutex<Queue>,
    changed: Condvar,
    earliest_ns: AtomicU64,
    pub(super) record: Mutex<Record>,
    spare: Mutex<Vec<Vec<u8>>>,
}

/// Locks even after a panic elsewhere: the data are counters and a queue.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Delivery {
    pub(super) fn new(capacity_bytes: u64) -> Delivery {
        Delivery {
            origin: Instant::now(),
            queue: Mutex::new(Queue::new()),
            changed: Condvar::new(),
            earliest_ns: AtomicU64::new(NEVER),
            record: Mutex::new(Record::new(capacity_bytes)),
            spare: Mutex::default(),
        }
    }

    /// Nanoseconds since the mount.
    pub(super) fn now_ns(&self) -> u64 {
        self.origin.elapsed().as_nanos() as u64
    }

    /// Replies that waited at once, at most.
    pub(super) fn in_flight_max(&self) -> u64 {
        lock(&self.queue).in_flight_max
    }

    /// A buffer for `bytes` of data, with whatever is in it.
    pub(super) fn buffer(&self, bytes: usize) -> Vec<u8> {
        let mut buffer = lock(&self.spare).pop().unwrap_or_default();
        buffer.resize(bytes, 0);
        buffer
    }

    /// Sends a reply at its time; after [`Delivery::close`] at once, as EIO.
    pub(super) fn push(&self, pending: Pending) {
        if pending.stuck {
            lock(&self.record).stuck(pending.kind);
        }
        let mut queue = lock(&self.queue);
        if queue.closed {
            drop(queue);
            return self.send(gone(pending));
        }
        let order = queue.order;
        queue.order += 1;
        queue.heap.push(Queued { order, pending });
        queue.in_flight_max = queue.in_flight_max.max(queue.heap.len() as u64);
        self.note_earliest(&queue);
    }

    /// Calls the model when it wants to go on; `None` is not at all.
    pub(super) fn wake_at(&self, wake_ns: Option<u64>) {
        let mut queue = lock(&self.queue);
        queue.wake_ns = wake_ns.unwrap_or(NEVER);
        self.note_earliest(&queue);
    }

    /// Ends all service: what waits is answered with EIO, as when a drive is
    /// pulled out, and so is what still comes.
    pub(super) fn close(&self) {
        let mut queue = lock(&self.queue);
        queue.closed = true;
        self.note_earliest(&queue);
    }

    /// The thread's work, until [`Delivery::close`]; `wake` lets the model go on.
    pub(super) fn run(&self, wake: impl Fn()) {
        be_punctual(Priority::Delivery);
        let mut alarm = Alarm::default();
        let mut due = Vec::new();
        while self.wait(&mut alarm) {
            let now_ns = self.now_ns();
            let mut queue = lock(&self.queue);
            while let Some(first) = queue.heap.peek() {
                if first.pending.send_at_ns > now_ns {
                    break;
                }
                due.extend(queue.heap.pop().map(|queued| queued.pending));
            }
            let woken = queue.wake_ns <= now_ns;
            if woken {
                queue.wake_ns = NEVER;
            }
            self.note_earliest(&queue);
            drop(queue);
            for pending in due.drain(..) {
                self.send(pending);
            }
            if woken {
                wake();
            }
        }
        let left = std::mem::take(&mut lock(&self.queue).heap);
        for queued in left.into_sorted_vec().into_iter().rev() {
            self.send(gone(queued.pending));
        }
    }

    /// Tells the thread, when it would wake too late.
    fn note_earliest(&self, queue: &Queue) {
        let earliest_ns = queue.earliest_ns();
        let before_ns = self.earliest_ns.swap(earliest_ns, Ordering::AcqRel);
        if earliest_ns < before_ns {
            self.changed.notify_one();
        }
    }

    /// Waits until a reply is due; false when the service has ended.
    fn wait(&self, alarm: &mut Alarm) -> bool {
        let mut queue = lock(&self.queue);
        loop {
            if queue.closed {
                return false;
            }
            let earliest_ns = self.earliest_ns.load(Ordering::Acquire);
            if earliest_ns == NEVER {
                queue = self
                    .changed
                    .wait(queue)
                    .unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            let ahead_ns = earliest_ns.saturating_sub(self.now_ns());
            if ahead_ns <= alarm.early_ns() {
                break;
            }
            let wake_ns = earliest_ns - alarm.early_ns();
            let sleep = Duration::from_nanos(ahead_ns - alarm.early_ns());
            let (woken, timeout) = self
                .changed
                .wait_timeout(queue, sleep)
                .unwrap_or_else(PoisonError::into_inner);
            queue = woken;
            if timeout.timed_out() {
                alarm.learn(self.now_ns().saturating_sub(wake_ns));
            }
        }
        drop(queue);
        // An operation that comes now may be due earlier: it lowers the mark.
        while self.now_ns() < self.earliest_ns.load(Ordering::Acquire) {
            std::hint::spin_loop();
        }
        true
    }

    fn send(&self, pending: Pending) {
        match (pending.reply, pending.result) {
            (Reply::Data(reply, data), Ok(bytes)) => {
                reply.data(&data[..data.len().min(bytes as usize)]);
                self.keep(data);
            }
            (Reply::Data(reply, _), Err(errno)) => reply.error(Errno::from_i32(errno)),
            (Reply::Written(reply), Ok(bytes)) => {
                reply.written(u32::try_from(bytes).unwrap_or(u32::MAX));
            }
            (Reply::Written(reply), Err(errno)) => reply.error(Errno::from_i32(errno)),
            (Reply::Done(reply), Ok(_)) => reply.ok(),
            (Reply::Done(reply), Err(errno)) => reply.error(Errno::from_i32(errno)),
        }
        let sent_ns = self.now_ns();
        let usual_ns = pending.send_at_ns.saturating_add(pending.send_cost_ns);
        let seen_ns = sent_ns.saturating_sub(pending.arrived_ns);
        lock(&self.record).add(&Answered {
            kind: pending.kind,
            offset: pending.offset,
            result: pending.result,
            arrived_ns: pending.arrived_ns,
            modelled_ns: pending.modelled_ns,
            late_ns: sent_ns.saturating_sub(usual_ns),
            delivered_ns: seen_ns.saturating_add(pending.unseen_ns),
            sent_ns,
            stuck: pending.stuck,
        });
    }

    fn keep(&self, buffer: Vec<u8>) {
        let mut spare = lock(&self.spare);
        if spare.len() < SPARE_BUFFERS {
            spare.push(buffer);
        }
    }
}

/// A reply as it is when the drive is taken away.
fn gone(pending: Pending) -> Pending {
    Pending {
        result: Err(libc::EIO),
        send_at_ns: pending.send_at_ns.min(pending.arrived_ns),
        stuck: true,
        ..pending
    }
}

/// How much before its time the thread has itself woken.
#[derive(Debug)]
struct Alarm {
    early_ns: f64,
}

impl Default for Alarm {
    fn default() -> Alarm {
        Alarm { early_ns: 50_000.0 }
    }
}

impl Alarm {
    /// At most this long the clock is watched before a reply.
    const MOST_NS: f64 = 150_000.0;
    const LEAST_NS: f64 = 5_000.0;
    const STEP_NS: f64 = 2_000.0;
    /// The share of wakings that shall be early enough.
    const SHARE: f64 = 0.95;

    fn early_ns(&self) -> u64 {
        self.early_ns as u64
    }

    /// Moves towards the quantile of how late the thread woke.
    fn learn(&mut self, late_ns: u64) {
        let step = if late_ns as f64 > self.early_ns {
            Self::SHARE
        } else {
            Self::SHARE - 1.0
        };
        let moved = self.early_ns + step * Self::STEP_NS;
        self.early_ns = moved.clamp(Self::LEAST_NS, Self::MOST_NS);
    }
}

#[cfg(test)]
mod tests {
    use super::Alarm;

    #[test]
    fn the_alarm_settles_where_nearly_all_wakings_are_early_enough() {
        let mut alarm = Alarm::default();
        // Every twentieth waking is 40 µs late, the others 10 µs.
        for n in 0..20_000u64 {
            alarm.learn(if n % 10 == 0 { 40_000 } else { 10_000 });
        }
        assert!(
            (38_000..45_000).contains(&alarm.early_ns()),
            "{}",
            alarm.early_ns()
        );
        for _ in 0..20_000 {
            alarm.learn(10_000);
        }
        assert!(
            (9_000..14_000).contains(&alarm.early_ns()),
            "{}",
            alarm.early_ns()
        );
    }
}
