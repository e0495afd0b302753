//! What shows that the devices are not at their end.

use fathom_model::diagnosis::{DiskLoad, Shortage};
use fathom_rules::diagnosis;
use fathom_rules::diagnosis::room::{
    ALWAYS_ONE, ONE_IN_FLIGHT, QUIET_QUEUE, RARELY_BUSY, RARELY_WAITED, SLOWER, THRESHOLD as ROOM,
    USED_QUEUE,
};
use fathom_rules::diagnosis::slow_flush::{FEW_WAIT, SHARE_OF_TIME, THRESHOLD as SLOW_FLUSH_MS};

use super::{Facts, HALF, IO_WAIT, LASTING, per_second, three};
use crate::load;
use crate::recording::{DiskMoment, Moment};
use crate::stalled;

impl Facts<'_> {
    /// The volume has room, as its ceiling shows.
    pub(super) fn room(&self) -> Option<String> {
        let (disk, used) = (self.disk?, self.ceiling.as_ref()?);
        let slow = self.slower_than_test.is_some_and(|ratio| ratio > SLOWER)
            || self.queues_at_a_slow_device();
        (used.comparable && used.peak_share <= ROOM && !slow).then(|| {
            // Begins with the words of the ceiling: what shows both leaves those out.
            format!(
                "{}, {:.0} reads and {:.0} writes per second at most; ceiling: {}",
                used.words, disk.reads_peak, disk.writes_peak, used.source,
            )
        })
    }

    /// Any proof that the device is not what work waits for, the best one first.
    pub(super) fn room_in_words(&self) -> Option<String> {
        self.room()
            .or_else(|| self.alike.clone())
            .or_else(|| self.little())
            .or_else(|| self.hardly_busy())
    }

    /// Operations queue at a device that needs long for each: it may give less than
    /// its ceiling at present. Where neither is known, that work waits is enough.
    fn queues_at_a_slow_device(&self) -> bool {
        let queues = self
            .disk
            .and_then(|disk| disk.queue)
            .map(|queue| queue >= 1.0);
        match (self.is_slow(), queues) {
            (Some(slow), queues) => slow && queues != Some(false),
            (None, Some(queues)) => queues,
            (None, None) => self.waits() == Some(true),
        }
    }

    /// At times it may give what it can. A ceiling that is contradicted says nothing.
    fn reaches_its_ceiling(&self) -> bool {
        let used = self.ceiling.as_ref();
        used.is_some_and(|used| !used.contradicted) && self.may_reach_ceiling
    }

    /// Whether an operation takes long on average, where its time is known.
    fn is_slow(&self) -> Option<bool> {
        let wait_ms = self.disk?.wait_ms?;
        Some(wait_ms >= diagnosis::slow_device::THRESHOLD)
    }

    /// That the devices were not at their end while something else was short.
    pub(super) fn not_at_its_end(&self, shortage: Shortage) -> Option<String> {
        let Some(disk) = self.disk else {
            return self.little().or_else(|| self.nobody_blocked());
        };
        // What waits for a full network is not at a device.
        if shortage != Shortage::Network && self.more_wait_than_are_in_flight() {
            return None;
        }
        let few = || {
            let p95 = self.queue_p95.filter(|p95| *p95 <= ONE_IN_FLIGHT)?;
            (!self.reaches_its_ceiling()).then(|| few_in_flight(disk, p95))
        };
        let alike = || self.alike.clone();
        self.room()
            .or_else(|| self.little())
            .or_else(alike)
            .or_else(few)
            .or_else(|| self.hardly_stalled(disk))
    }

    /// Bursts that nobody waits for, such as write-back, at a device that is
    /// mostly empty.
    fn hardly_stalled(&self, disk: &DiskLoad) -> Option<String> {
        let stalled = load::series(self.recording, |m| m.io_pressure_some).mean()?;
        let usual = self.queue_median.filter(|queue| *queue < HALF)?;
        (stalled < LASTING).then(|| {
            format!(
                "{}: {} operations in flight half of the time or fewer; some task was stalled on I/O \
                 for {:.0} % of the time",
                disk.name,
                three(usual),
                100.0 * stalled
            )
        })
    }

    /// The device had nothing to do nearly all the time, and hardly any work waited: storage
    /// that takes no time at all would be worth no more than that.
    pub(super) fn hardly_busy(&self) -> Option<String> {
        let disk = self.disk?;
        let busy = disk.util.filter(|util| *util <= RARELY_BUSY)?;
        let waited = self.waited_at_most()?;
        (waited <= RARELY_WAITED).then(|| {
            format!(
                "{}: something to do for {:.0} % of the time, and work waited for I/O for {:.0} % of it \
                 at most",
                disk.name,
                100.0 * busy,
                100.0 * waited
            )
        })
    }

    /// Share of the time in which some task waited for I/O, at most. Without pressure
    /// stall: idle time with such a task, which several tasks that wait at once count
    /// several times, and the time in which no CPU was idle.
    fn waited_at_most(&self) -> Option<f64> {
        let stalled = load::series(self.recording, |m| m.io_pressure_some).mean();
        let cpus = f64::from(self.recording.host.cpus.unwrap_or(0));
        let of_cpus = || {
            let cpu = self.cpu.filter(|_| cpus > 0.0)?;
            Some((cpus * cpu.iowait? + cpu.busy?).min(1.0))
        };
        stalled.or_else(of_cpus)
    }

    /// Hardly any task waited for a device, where no device was recorded.
    fn nobody_blocked(&self) -> Option<String> {
        let blocked = load::series(self.recording, |m| m.blocked).mean();
        let blocked = blocked.filter(|tasks| *tasks < 1.0)?;
        Some(format!("{blocked:.1} tasks waited for a device on average"))
    }

    /// Tasks wait for I/O that no device has: somebody holds it back before.
    fn more_wait_than_are_in_flight(&self) -> bool {
        let blocked = load::series(self.recording, |m| m.blocked).mean();
        let in_flight = load::series(self.recording, |m| {
            Some(m.disks.iter().filter_map(DiskMoment::in_flight).sum())
        });
        blocked.is_some_and(|tasks| tasks >= 1.0 + in_flight.mean().unwrap_or(0.0))
    }

    /// The devices are hardly used.
    pub(super) fn little(&self) -> Option<String> {
        // Where waiting was not recorded, it may have been for anything.
        let (waited, _) = self.waited?;
        let Some(disk) = self.disk else {
            let mut disks = self.recording.moments.iter().flat_map(|m| &m.disks);
            let counted = disks.any(|disk| disk.queue.is_some() || disk.util.is_some());
            return (counted && waited < IO_WAIT).then(|| "no device did anything".to_owned());
        };
        let p95 = self.queue_p95?;
        let below = |queue: f64, wait: f64| p95 < queue && waited < wait;
        (below(QUIET_QUEUE, IO_WAIT) || below(HALF, HALF)).then(|| few_in_flight(disk, p95))
    }

    /// About one operation in flight, hardly ever more: whoever asks waits for
    /// each before the next, and the device could do more at once.
    pub(super) fn one_by_one(&self) -> Option<Vec<String>> {
        let disk = self.disk?;
        // What is known to have room is waited for only where one is in flight nearly
        // all the time: otherwise the load has a pace of its own.
        let has_room = self.alike.is_some() || self.room().is_some();
        let least = if has_room { ALWAYS_ONE } else { USED_QUEUE };
        let usual = self.queue_median.is_some_and(|queue| queue >= least);
        let never = self.queue_p95.is_some_and(|queue| queue <= ONE_IN_FLIGHT);
        // A device that needs this long for one operation is what is slow.
        let quick = self.is_slow() == Some(false);
        (usual && never && quick && !self.reaches_its_ceiling()).then(|| {
            vec![
                format!(
                    "{}: about one operation in flight, {} or fewer 95 % of the time: each waits for the \
                     one before",
                    disk.name,
                    three(self.queue_p95.unwrap_or(0.0))
                ),
                format!(
                    "each takes {} ms: shorter times or more operations at once would help, a device with \
                     more IOPS would not",
                    three(disk.wait_ms.unwrap_or(0.0))
                ),
            ]
        })
    }

    /// What is made durable one by one waits for flushes that take long: programs cannot
    /// ask for several at once there, and quicker storage would help.
    pub(super) fn slow_flushes(&self) -> Option<String> {
        let name = &self.disk?.name;
        let of_disk = |m: &Moment| m.disks.iter().position(|disk| disk.name == *name);
        let in_flight = load::series(self.recording, |m| {
            let [flushes, _] = m.disks[of_disk(m)?].others();
            Some(flushes.in_flight())
        });
        let rate = load::series(self.recording, |m| {
            let [flushes, _] = m.disks[of_disk(m)?].others();
            Some(flushes.rate)
        });
        let stalled = load::series(self.recording, |m| {
            stalled::most_of_any(m, &m.disks[of_disk(m)?], self.recording.host.cpus)
        });
        let (in_flight, rate) = (in_flight.mean()?, rate.mean()?);
        let each_ms = 1000.0 * in_flight / rate.max(f64::MIN_POSITIVE);
        let few = self.queue_p95? <= FEW_WAIT;
        let waited_for = few && in_flight >= SHARE_OF_TIME && stalled.mean()? >= HALF;
        (waited_for && each_ms >= SLOW_FLUSH_MS).then(|| {
            format!(
                "{name}: a flush takes {} ms, and one is in progress for {:.0} % of the time: what is \
                 made durable waits for it",
                three(each_ms),
                100.0 * in_flight.min(1.0)
            )
        })
    }
}

fn few_in_flight(disk: &DiskLoad, p95: f64) -> String {
    let peak = per_second(disk.operations_peak);
    let few = three(p95);
    if few.parse::<f64>() == Ok(0.0) {
        return format!("{}: idle for 95 % of the time, {peak} at most", disk.name);
    }
    format!(
        "{}: no more than {} operations in flight for 95 % of the time, {peak} at most",
        disk.name, few
    )
}

#[cfg(test)]
#[path = "room_tests.rs"]
mod tests;
