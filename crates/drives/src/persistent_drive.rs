//! A drive that outlives a trial: what one trial wrote, warmed up or used up
//! is there for the next, as it is on a real drive.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fathom_model::OpKind;

use super::{Counters, Drive, SimAnswer, SimEnd, SimOp};

/// Largest write of a fill.
const FILL_BYTES: u64 = 1 << 20;
/// Writes of a fill between two questions whether it goes on: some milliseconds.
const ASK_AFTER: u64 = 256;

/// A drive and its age in virtual time. Clones are the same drive.
#[derive(Clone)]
pub struct PersistentDrive {
    drive: Arc<Mutex<DriveUnderLoad>>,
}

/// The drive of a [`PersistentDrive`], for as long as one load uses it. Its time
/// starts at 0 with every load.
pub struct DriveUnderLoad {
    drive: Box<dyn Drive>,
    /// Virtual time of the drive at the start of the load.
    age_ns: u64,
    /// Latest time of the load at which it was asked or had work.
    latest_ns: u64,
}

impl PersistentDrive {
    /// Keeps a drive.
    pub fn new(drive: Box<dyn Drive>) -> PersistentDrive {
        PersistentDrive {
            drive: Arc::new(Mutex::new(DriveUnderLoad {
                drive,
                age_ns: 0,
                latest_ns: 0,
            })),
        }
    }

    /// Size of the drive.
    pub fn capacity_bytes(&self) -> u64 {
        self.lock().drive.capacity_bytes()
    }

    /// Age of the drive, in virtual time.
    pub fn age_ns(&self) -> u64 {
        self.lock().age_ns
    }

    /// Lets the drive rest for so much virtual time.
    pub fn rest(&self, nanoseconds: u64) {
        let mut drive = self.lock();
        drive.age_ns = drive.age_ns.saturating_add(nanoseconds);
    }

    /// Writes all of a range in order, one write at a time, as a fill before a load
    /// does. The time that it takes passes for the drive. A drive that hangs is left
    /// as it is.
    ///
    /// `goes_on` is told from time to time how many bytes are written, and ends it by
    /// `false`.
    pub fn fill(&self, start: u64, bytes: u64, mut goes_on: impl FnMut(u64) -> bool) {
        let mut drive = self.lock();
        let end = start.saturating_add(bytes);
        let (mut now_ns, mut at) = (0, start);
        while at < end {
            let length = (end - at).min(FILL_BYTES);
            let op = SimOp::new(OpKind::Write, at, length as u32);
            let Some(ended_ns) = drive.ended(now_ns, &op) else {
                break;
            };
            (now_ns, at) = (ended_ns, at + length);
            let done = at - start;
            if done.is_multiple_of(FILL_BYTES * ASK_AFTER) && !goes_on(done) {
                break;
            }
        }
        drive.load_ended(now_ns);
    }

    /// Makes durable what earlier loads left in its cache. The time that it takes passes for
    /// the drive. A drive that hangs is left as it is.
    pub fn flush(&self) {
        let mut drive = self.lock();
        if let Some(ended_ns) = drive.ended(0, &SimOp::new(OpKind::Sync, 0, 0)) {
            drive.load_ended(ended_ns);
        }
    }

    /// Asks the drive itself, for example for its truth.
    pub fn with<T>(&self, ask: impl FnOnce(&dyn Drive) -> T) -> T {
        ask(self.lock().drive.as_ref())
    }

    /// The drive for operations of one load. Nobody else reaches it meanwhile.
    pub fn lock(&self) -> MutexGuard<'_, DriveUnderLoad> {
        // A model that panicked in an earlier trial is a fault of the model;
        // the drive is still the one that there is.
        self.drive.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for PersistentDrive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PersistentDrive").finish_non_exhaustive()
    }
}

impl DriveUnderLoad {
    /// Takes an operation at time `now_ns` of the load.
    pub fn submit(&mut self, now_ns: u64, op: &SimOp) -> SimAnswer {
        self.latest_ns = self.latest_ns.max(now_ns);
        let answer = self.drive.submit(self.age_ns.saturating_add(now_ns), op);
        match answer {
            SimAnswer::Ends(end) => SimAnswer::Ends(self.of_load(end)),
            later @ SimAnswer::Later(_) => later,
        }
    }

    /// When the drive wants to be asked, in the time of the load.
    pub fn wake_ns(&self) -> Option<u64> {
        let wake_ns = self.drive.wake_ns()?;
        Some(wake_ns.saturating_sub(self.age_ns))
    }

    /// Appends what has become known at time `now_ns` of the load.
    pub fn advance(&mut self, now_ns: u64, known: &mut Vec<(u64, SimEnd)>) {
        let old = known.len();
        self.drive
            .advance(self.age_ns.saturating_add(now_ns), known);
        for (_, end) in &mut known[old..] {
            *end = self.of_load(*end);
        }
    }

    /// The drive's statistics, over its whole life, at time `now_ns` of the load.
    pub fn counters(&self, now_ns: u64) -> Counters {
        self.drive.counters(self.age_ns.saturating_add(now_ns))
    }

    /// Submits an operation alone and says when it ends; `None` where it never does.
    fn ended(&mut self, now_ns: u64, op: &SimOp) -> Option<u64> {
        let number = match self.submit(now_ns, op) {
            SimAnswer::Ends(end) => return (end.at_ns != u64::MAX).then_some(end.at_ns),
            SimAnswer::Later(number) => number,
        };
        let mut known = Vec::new();
        while let Some(wake_ns) = self.wake_ns() {
            self.advance(wake_ns, &mut known);
            if let Some((_, end)) = known.iter().find(|(n, _)| *n == number) {
                return (end.at_ns != u64::MAX).then_some(end.at_ns);
            }
        }
        None
    }

    fn of_load(&mut self, mut end: SimEnd) -> SimEnd {
        if end.at_ns != u64::MAX {
            end.at_ns = end.at_ns.saturating_sub(self.age_ns);
            self.latest_ns = self.latest_ns.max(end.at_ns);
        }
        end
    }

    /// The load is over: the next one begins where this one ended.
    pub fn load_ended(&mut self, now_ns: u64) {
        let elapsed_ns = self.latest_ns.max(now_ns);
        self.age_ns = self.age_ns.saturating_add(elapsed_ns);
        self.latest_ns = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::open_drive;

    #[test]
    fn the_next_load_finds_the_drive_as_the_last_one_left_it() {
        let fill = |drive: &PersistentDrive| {
            let mut drive = drive.lock();
            let mut now_ns = 0;
            for block in 0..64 {
                let op = SimOp::new(OpKind::Write, block << 20, 1 << 20);
                let SimAnswer::Ends(end) = drive.submit(now_ns, &op) else {
                    panic!("flash knows at once");
                };
                now_ns = end.at_ns;
            }
            drive.load_ended(now_ns);
            now_ns
        };
        let model = "slc?cache=64MiB,drain_mibs=10,tail=0";
        let drive = PersistentDrive::new(open_drive(model, 1).unwrap());
        let fresh_ns = fill(&drive);
        let full_ns = fill(&drive);
        assert!(full_ns > 10 * fresh_ns, "{full_ns} after {fresh_ns}");
        // 64 MiB at 10 MiB/s are gone after 6.4 s.
        drive.rest(10_000_000_000);
        let rested_ns = fill(&drive);
        assert!(rested_ns < 2 * fresh_ns, "{rested_ns} after {fresh_ns}");
    }
}
