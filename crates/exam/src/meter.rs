//! What the kernel would count of a simulated drive: completed requests,
//! bytes, and requests in flight over time.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use fathom_drives::{Counters, Drive, SimAnswer, SimEnd, SimOp, Truth};
use fathom_model::OpKind;
use fathom_model::observation::DeviceActivity;

/// Length of a bin. Observations are made of whole bins.
pub(crate) const BIN_NS: u64 = 100_000_000;

/// Counts of one bin.
#[derive(Debug, Clone, Copy, Default)]
struct Bin {
    reads: u64,
    read_bytes: u64,
    read_time_ns: u64,
    writes: u64,
    write_bytes: u64,
    write_time_ns: u64,
    flushes: u64,
    flush_time_ns: u64,
    queue_time_ns: u64,
    /// Of the bytes read, the neighbour's.
    foreign_bytes: u64,
}

/// The counters of a drive, in bins of its own time.
#[derive(Debug, Clone, Default)]
pub(crate) struct Meter {
    bins: Arc<Mutex<Vec<Bin>>>,
}

/// A drive whose operations are counted, the neighbour's with them.
pub(crate) struct Metered {
    drive: Box<dyn Drive>,
    meter: Meter,
    /// Operations whose end is not known yet: when they came, and what they are.
    open: HashMap<u64, (u64, SimOp)>,
    /// The bin up to which the neighbour has been counted, and his totals then.
    neighbour: (u64, u64, u64),
}

impl Metered {
    pub(crate) fn new(drive: Box<dyn Drive>) -> (Metered, Meter) {
        let meter = Meter::default();
        let metered = Metered {
            drive,
            meter: meter.clone(),
            open: HashMap::new(),
            neighbour: (0, 0, 0),
        };
        (metered, meter)
    }

    fn count_neighbour(&mut self, now_ns: u64) {
        let (bin, ops, bytes) = self.neighbour;
        if now_ns / BIN_NS == bin {
            return;
        }
        let counters = self.drive.counters(now_ns);
        self.meter.count_foreign(
            bin,
            counters.foreign_ops - ops,
            counters.foreign_bytes - bytes,
        );
        self.neighbour = (
            now_ns / BIN_NS,
            counters.foreign_ops,
            counters.foreign_bytes,
        );
    }
}

impl Drive for Metered {
    fn submit(&mut self, now_ns: u64, op: &SimOp) -> SimAnswer {
        self.count_neighbour(now_ns);
        let answer = self.drive.submit(now_ns, op);
        match answer {
            SimAnswer::Ends(end) => self.meter.count(now_ns, op, &end),
            SimAnswer::Later(number) => {
                self.open.insert(number, (now_ns, *op));
            }
        }
        answer
    }

    fn wake_ns(&self) -> Option<u64> {
        self.drive.wake_ns()
    }

    fn advance(&mut self, now_ns: u64, known: &mut Vec<(u64, SimEnd)>) {
        let old = known.len();
        self.drive.advance(now_ns, known);
        for (number, end) in &known[old..] {
            if let Some((came_ns, op)) = self.open.remove(number) {
                self.meter.count(came_ns, &op, end);
            }
        }
    }

    fn capacity_bytes(&self) -> u64 {
        self.drive.capacity_bytes()
    }

    fn truth(&self) -> Truth {
        self.drive.truth()
    }

    fn counters(&self, now_ns: u64) -> Counters {
        self.drive.counters(now_ns)
    }
}

impl Meter {
    fn count_foreign(&self, bin: u64, ops: u64, bytes: u64) {
        let mut bins = self.bins.lock().unwrap_or_else(PoisonError::into_inner);
        let bin = bin as usize;
        if bins.len() <= bin {
            bins.resize(bin + 1, Bin::default());
        }
        // Which of them were reads is of no interest to anybody.
        bins[bin].reads += ops / 2;
        bins[bin].read_bytes += bytes / 2;
        bins[bin].writes += ops - ops / 2;
        bins[bin].write_bytes += bytes - bytes / 2;
        bins[bin].foreign_bytes += bytes / 2;
    }

    fn count(&self, now_ns: u64, op: &SimOp, end: &SimEnd) {
        if end.at_ns == u64::MAX {
            return;
        }
        let mut bins = self.bins.lock().unwrap_or_else(PoisonError::into_inner);
        let last = (end.at_ns / BIN_NS) as usize;
        if bins.len() <= last {
            bins.resize(last + 1, Bin::default());
        }
        let mut from_ns = now_ns;
        for bin in &mut bins[(now_ns / BIN_NS) as usize..=last] {
            let until_ns = ((from_ns / BIN_NS + 1) * BIN_NS).min(end.at_ns);
            bin.queue_time_ns += until_ns - from_ns;
            from_ns = until_ns;
        }
        let took_ns = end.at_ns - now_ns;
        let bin = &mut bins[last];
        let moved = u64::from(end.result.unwrap_or(0));
        match op.kind {
            OpKind::Read => {
                bin.reads += 1;
                bin.read_bytes += moved;
                bin.read_time_ns += took_ns;
            }
            OpKind::Write => {
                bin.writes += 1;
                bin.write_bytes += moved;
                bin.write_time_ns += took_ns;
            }
            OpKind::Trim => {}
            _ => {
                bin.flushes += 1;
                bin.flush_time_ns += took_ns;
                // The kernel counts it as the write that asked for it as well.
                bin.queue_time_ns += took_ns;
            }
        }
    }

    /// Bytes that the neighbour read in `[from, from + count)` bins.
    pub(crate) fn foreign_read_bytes(&self, from: i64, count: u64) -> u64 {
        let bins = self.bins.lock().unwrap_or_else(PoisonError::into_inner);
        (from..from.saturating_add_unsigned(count))
            .filter_map(|index| bins.get(usize::try_from(index).ok()?))
            .map(|bin| bin.foreign_bytes)
            .sum()
    }

    /// What a device of this name did in `[from, from + count)` bins. Bins
    /// before the drive's birth are empty.
    pub(crate) fn activity(&self, name: &str, from: i64, count: u64) -> DeviceActivity {
        let bins = self.bins.lock().unwrap_or_else(PoisonError::into_inner);
        let mut activity = DeviceActivity {
            name: name.to_owned(),
            leaf: true,
            discards: Some(0),
            discard_bytes: Some(0),
            flushes: Some(0),
            flush_time_ns: Some(0),
            ..DeviceActivity::default()
        };
        let range = (from..from.saturating_add_unsigned(count))
            .filter_map(|index| bins.get(usize::try_from(index).ok()?));
        for bin in range {
            activity.reads += bin.reads;
            activity.read_bytes += bin.read_bytes;
            activity.read_time_ns += bin.read_time_ns;
            activity.writes += bin.writes;
            activity.write_bytes += bin.write_bytes;
            activity.write_time_ns += bin.write_time_ns;
            activity.queue_time_ns += bin.queue_time_ns;
            activity.flushes = activity.flushes.map(|n| n + bin.flushes);
            activity.flush_time_ns = activity.flush_time_ns.map(|n| n + bin.flush_time_ns);
        }
        activity
    }
}
