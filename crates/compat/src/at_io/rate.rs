//! The result line: what was done over the time that it took.

use super::AtIoIopsUnit;
use fathom_model::run::TrialRecord;
use fathom_model::{OpKind, Phase};

const MIB: f64 = 1048576.0;

/// The result.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    seconds: f64,
    per_second: f64,
}

impl Rate {
    /// What was done in a second, in the unit of the test.
    pub fn per_second(&self) -> f64 {
        self.per_second
    }

    /// As the tool prints it.
    pub fn line(&self, unit: AtIoIopsUnit) -> String {
        let Rate {
            seconds,
            per_second,
        } = self;
        let unit = unit.name();
        format!("time: {seconds:.6} sec; rate: {{ {per_second:.5} }} {unit};")
    }
}

/// The rate of a trial: its work over the time of the load and, where it was
/// waited for, the sync at the end. `None` when nothing was measured.
pub fn rate(trial: &TrialRecord, unit: AtIoIopsUnit) -> Option<Rate> {
    let samples = trial.samples.iter().filter(|s| s.phase == Phase::Measure);
    let (mut time_ns, mut work) = (0u64, 0f64);
    for sample in samples {
        time_ns += sample.duration_ns;
        work += match unit {
            AtIoIopsUnit::MegabytesPerSecond => sample.data_bytes() as f64 / MIB,
            AtIoIopsUnit::OperationsPerSecond => sample.data_ops() as f64,
            AtIoIopsUnit::SyncsPerSecond => {
                let syncs = sample.ops.iter().filter(|op| op.kind == OpKind::Sync);
                syncs.map(|op| op.ops).sum::<u64>() as f64
            }
        };
    }
    let flush_ns = trial.end.as_ref().and_then(|end| end.final_flush_ns);
    let seconds = (time_ns + flush_ns.unwrap_or(0)) as f64 / 1e9;
    (seconds > 0.0).then(|| Rate {
        seconds,
        per_second: work / seconds,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_find_the_number_in_the_sixth_field() {
        let rate = Rate {
            seconds: 30.400_923,
            per_second: 12.828_56,
        };
        let line = rate.line(AtIoIopsUnit::SyncsPerSecond);
        assert_eq!(line, "time: 30.400923 sec; rate: { 12.82856 } sync/s;");
        assert_eq!(line.split(' ').nth(5), Some("12.82856"));
    }
}
