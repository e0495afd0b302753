//! What is recorded beyond counts and latency histograms of each second.
//!
//! All of it is off unless asked for: each part costs the generator a few
//! instructions an operation, and `submission` a system call a batch.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Length of an interval unless a shorter one is asked for.
pub const FULL_INTERVAL_NS: u64 = 1_000_000_000;

/// Shortest interval.
pub const LEAST_INTERVAL_NS: u64 = 10_000_000;

/// Most operations that the log of a trial holds, over all workers.
pub const MOST_LOGGED_OPS: u32 = 1 << 20;

/// What is recorded beyond counts and latency histograms of each second.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Recording {
    /// Service latency is split where the submitting call returns. An
    /// asynchronous engine then submits by a call of its own instead of
    /// together with waiting. Synchronous engines have no such moment.
    pub submission: bool,
    /// How deep the queue was at each submission, how large the batches were,
    /// and exact standard deviations.
    pub distributions: bool,
    /// This many operations are logged one by one, over all workers, at most
    /// [`MOST_LOGGED_OPS`]; 0 is none.
    pub op_log: u32,
    /// Length of an interval, [`LEAST_INTERVAL_NS`] to [`FULL_INTERVAL_NS`];
    /// `None` is a full second. Shorter ones are joined to seconds before
    /// anything is judged.
    pub interval_ns: Option<u64>,
}

impl Recording {
    /// Whether anything is recorded operation by operation.
    pub fn is_detailed(&self) -> bool {
        self.submission || self.distributions || self.op_log > 0
    }

    /// Length of an interval, within its limits.
    pub fn interval_ns(&self) -> u64 {
        self.interval_ns
            .unwrap_or(FULL_INTERVAL_NS)
            .clamp(LEAST_INTERVAL_NS, FULL_INTERVAL_NS)
    }

    /// The longest interval from which windows of all these lengths can be put
    /// together: the greatest common divisor, at most a second. Windows whose
    /// divisor is below [`LEAST_INTERVAL_NS`] come out rounded.
    pub fn interval_for(windows_ns: &[u64]) -> Option<u64> {
        let whole = windows_ns.iter().copied().filter(|ns| *ns > 0);
        let interval_ns = whole.fold(FULL_INTERVAL_NS, divisor);
        (interval_ns < FULL_INTERVAL_NS).then(|| interval_ns.max(LEAST_INTERVAL_NS))
    }
}

fn divisor(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// How deep the queue was and how large the batches were, in the measure
/// phase. Class 0 of `at_submission` is depth 1, then 2 to 3, 4 to 7 and so on
/// to 64 and more. Class 0 of the batches is an empty one, then 1 to 4, 5 to 8,
/// 9 to 16 and so on to more than 64.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DepthCounts {
    /// Operations by how many were in flight when they were submitted,
    /// themselves included.
    pub at_submission: [u64; 7],
    /// Calls that submitted, by how many operations.
    pub submitted: [u64; 7],
    /// Looks for completions, by how many there were.
    pub completed: [u64; 7],
}

impl DepthCounts {
    /// The class of a depth.
    pub fn depth_class(depth: u32) -> usize {
        (depth.max(1).ilog2() as usize).min(6)
    }

    /// The class of a batch.
    pub fn batch_class(batch: u32) -> usize {
        match batch {
            0 => 0,
            1..=4 => 1,
            _ => ((batch - 1).ilog2() as usize).min(6),
        }
    }

    /// Adds the counts of `other`.
    pub fn merge(&mut self, other: &DepthCounts) {
        let add = |mine: &mut [u64; 7], theirs: &[u64; 7]| {
            for (mine, theirs) in mine.iter_mut().zip(theirs) {
                *mine += theirs;
            }
        };
        add(&mut self.at_submission, &other.at_submission);
        add(&mut self.submitted, &other.submitted);
        add(&mut self.completed, &other.completed);
    }
}

/// What threads used of the scheduler and of memory (`getrusage`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadUse {
    /// Times that a thread waited for something.
    pub voluntary_switches: u64,
    /// Times that a thread was taken off its CPU.
    pub involuntary_switches: u64,
    /// Page faults that needed I/O.
    pub major_faults: u64,
    /// Page faults that did not.
    pub minor_faults: u64,
}

impl ThreadUse {
    /// Adds the counts of `other`.
    pub fn add(&mut self, other: &ThreadUse) {
        self.voluntary_switches += other.voluntary_switches;
        self.involuntary_switches += other.involuntary_switches;
        self.major_faults += other.major_faults;
        self.minor_faults += other.minor_faults;
    }

    /// What was used since `before` was read.
    pub fn since(&self, before: &ThreadUse) -> ThreadUse {
        ThreadUse {
            voluntary_switches: self
                .voluntary_switches
                .saturating_sub(before.voluntary_switches),
            involuntary_switches: self
                .involuntary_switches
                .saturating_sub(before.involuntary_switches),
            major_faults: self.major_faults.saturating_sub(before.major_faults),
            minor_faults: self.minor_faults.saturating_sub(before.minor_faults),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_hold_what_they_are_named_after() {
        let depths: Vec<_> = [1, 2, 3, 4, 7, 8, 31, 32, 63, 64, 4096]
            .map(DepthCounts::depth_class)
            .to_vec();
        assert_eq!(depths, [0, 1, 1, 2, 2, 3, 4, 5, 5, 6, 6]);
        let batches: Vec<_> = [0, 1, 4, 5, 8, 9, 16, 17, 32, 33, 64, 65, 4096]
            .map(DepthCounts::batch_class)
            .to_vec();
        assert_eq!(batches, [0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6]);
    }

    #[test]
    fn an_interval_divides_every_window() {
        let ms = |ms: &[u64]| {
            let ns: Vec<u64> = ms.iter().map(|ms| ms * 1_000_000).collect();
            Recording::interval_for(&ns).map(|ns| ns / 1_000_000)
        };
        assert_eq!(ms(&[]), None);
        assert_eq!(ms(&[0, 1000, 5000]), None);
        assert_eq!(ms(&[500]), Some(500));
        assert_eq!(ms(&[500, 1500, 2000]), Some(500));
        assert_eq!(ms(&[250, 100]), Some(50));
        assert_eq!(ms(&[7]), Some(10), "rounded");
    }

    #[test]
    fn old_records_are_read_with_everything_off() {
        let recording: Recording = serde_json::from_str("{}").unwrap();
        assert_eq!(recording, Recording::default());
        assert!(!recording.is_detailed());
        assert_eq!(recording.interval_ns(), FULL_INTERVAL_NS);
    }
}
