//! What a volume can give, and how much of it a load used.

use fathom_model::diagnosis::{CeilingUse, DiskLoad};

use crate::load::{self, Samples};
use crate::recording::Recording;
use crate::series::Series;

/// Blocks that differ by more are another workload.
const SAME_BLOCK: f64 = 4.0;
/// At the ceiling from here on.
pub(crate) const AT_CEILING: f64 = 0.9;

/// Operations per second that a volume gives, and how that is known.
#[derive(Debug, Clone, PartialEq)]
pub struct Ceiling {
    /// In words: `the limit of the volume, as given`.
    pub source: String,
    /// Reads and writes per second, above 0.
    pub operations: f64,
    /// Bytes of a mean operation, where they were measured.
    pub block_bytes: Option<f64>,
    /// Mean time of an operation there, in milliseconds.
    pub wait_ms: Option<f64>,
}

impl Ceiling {
    /// From a recording of a test load: the rate that the volume held for at
    /// least a twentieth of it. Nothing when the device is not in it.
    pub fn of_test(test: &Recording, disk: &str) -> Option<Ceiling> {
        let all = load::by_disk(test);
        let samples = all.get(disk)?;
        let rates: Series = samples.iter().map(|(d, s)| (d.operations(), *s)).collect();
        let operations = rates.quantile(0.95).filter(|rate| *rate > 0.0)?;
        let under_test = samples
            .iter()
            .filter(|(d, _)| d.operations() >= AT_CEILING * operations);
        let mean = |value: &dyn Fn(&crate::recording::DiskMoment) -> Option<f64>| {
            let weighed = under_test
                .clone()
                .filter_map(|(d, s)| Some((value(d)?, s * d.operations())));
            weighed.collect::<Series>().mean()
        };
        Some(Ceiling {
            source: "the test load of the second recording".to_owned(),
            operations,
            block_bytes: mean(&|d| Some(d.bytes() / d.operations())).filter(|bytes| *bytes > 0.0),
            wait_ms: mean(&crate::recording::DiskMoment::mean_wait_ms),
        })
    }

    /// How much of it a load used.
    pub(crate) fn used(&self, load: &DiskLoad, samples: &Samples<'_>) -> CeilingUse {
        let rates: Series = samples.iter().map(|(d, s)| (d.operations(), *s)).collect();
        let ratio = self
            .block_bytes
            .zip(load.block_bytes)
            .map(|(a, b)| if a > b { a / b } else { b / a });
        CeilingUse {
            source: self.source.clone(),
            operations: self.operations,
            block_bytes: self.block_bytes,
            peak_share: load.operations_peak / self.operations,
            time_at_ceiling: rates.share_from(AT_CEILING * self.operations),
            comparable: ratio.is_none_or(|ratio| ratio <= SAME_BLOCK),
        }
    }
}
