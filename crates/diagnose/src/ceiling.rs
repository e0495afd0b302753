//! What a volume can give, and how much of it a load used.

use fathom_model::diagnosis::{Calibration, CeilingUse, DiskLoad};
use fathom_model::unit;
use fathom_rules::diagnosis;
use fathom_rules::diagnosis::at_ceiling::{
    LEAST_SECONDS, MIX_WEIGHT, SAME_BLOCK, SAME_MIX, THRESHOLD as AT_CEILING,
};
use fathom_rules::method::observed::PEAK_QUANTILE;

use crate::flushes::{LimitBetween, limit_between, operations_with_data};
use crate::load::{self, Samples};
use crate::recording::Recording;
use crate::series::Series;

/// The source of a ceiling that somebody typed.
const AS_GIVEN: &str = "the limit of the volume, as given";

/// Whether somebody named it as the limit of the volume, and nobody measured it.
pub(crate) fn is_given(source: &str) -> bool {
    source == AS_GIVEN
}

/// Operations per second that a volume gives, and how that is known.
#[derive(Debug, Clone, PartialEq)]
pub struct Ceiling {
    /// In words: `the limit of the volume, as given`.
    pub source: String,
    /// Reads and writes per second, above 0.
    pub operations: f64,
    /// Bytes of a mean operation, where they were measured.
    pub block_bytes: Option<f64>,
    /// Of all operations, 0 to 1, where it is known.
    pub read_share: Option<f64>,
    /// Mean time of an operation there, in milliseconds.
    pub wait_ms: Option<f64>,
}

impl Ceiling {
    /// A limit that somebody gives in operations per second.
    pub fn given(operations: f64) -> Ceiling {
        Ceiling {
            source: AS_GIVEN.to_owned(),
            operations,
            block_bytes: None,
            read_share: None,
            wait_ms: None,
        }
    }

    /// What a calibration found.
    pub fn of_calibration(found: &Calibration) -> Ceiling {
        Ceiling {
            source: format!("calibrated by run {}", found.run),
            operations: found.operations,
            block_bytes: Some(found.block_bytes as f64),
            read_share: Some(found.read_share),
            wait_ms: found.wait_ms,
        }
    }

    /// From a recording of a test load: the rate that the volume held for at
    /// least a twentieth of it. Nothing when the device is not in it.
    pub fn of_test(test: &Recording, disk: &str) -> Option<Ceiling> {
        let all = load::by_disk(test);
        let samples = all.get(disk)?;
        let rates: Series = samples.iter().map(|(d, s)| (d.operations(), *s)).collect();
        let operations = rates.quantile(PEAK_QUANTILE).filter(|rate| *rate > 0.0)?;
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
            read_share: None,
            block_bytes: mean(&|d| Some(d.bytes() / d.operations())).filter(|bytes| *bytes > 0.0),
            wait_ms: mean(&crate::recording::DiskMoment::mean_wait_ms),
        })
    }

    /// Of what several measurements reached, that of the workload most like the
    /// load: by block size and mix, and among equals the highest rate.
    pub fn nearest(measured: Vec<Ceiling>, load: &DiskLoad) -> Option<Ceiling> {
        let far = |ceiling: &Ceiling| {
            let octaves = ceiling.block_ratio(load).map_or(0.0, f64::log2);
            // Half an octave is the same block.
            (2.0 * octaves).round() + MIX_WEIGHT * ceiling.mix_difference(load).unwrap_or(0.0)
        };
        let order = |a: &Ceiling, b: &Ceiling| {
            let nearer = far(a).total_cmp(&far(b));
            nearer.then(b.operations.total_cmp(&a.operations))
        };
        measured
            .into_iter()
            .filter(|ceiling| ceiling.operations > 0.0)
            .min_by(order)
    }

    /// The larger block over the smaller one.
    fn block_ratio(&self, load: &DiskLoad) -> Option<f64> {
        let (a, b) = self.block_bytes.zip(load.block_bytes)?;
        Some(if a > b { a / b } else { b / a })
    }

    fn mix_difference(&self, load: &DiskLoad) -> Option<f64> {
        let (a, b) = self.read_share.zip(load.read_share)?;
        Some((a - b).abs())
    }

    /// The highest rate of the load, where it is one that a volume with this
    /// ceiling cannot give, wherever the ceiling is from. What may be flushes does not
    /// contradict it.
    fn contradiction(&self, load: &DiskLoad, samples: &Samples<'_>) -> Option<f64> {
        let whole = samples
            .iter()
            .filter(|(_, seconds)| *seconds >= LEAST_SECONDS);
        let rates: Series = whole.map(|(d, s)| (operations_with_data(d), *s)).collect();
        let usual = match samples.iter().any(|(disk, _)| disk.flushes > 0.0) {
            true => 0.0,
            false => load.operations_p95,
        };
        let peak = rates.most().unwrap_or(0.0).max(usual);
        (peak > diagnosis::ceiling_contradicted::THRESHOLD * self.operations).then_some(peak)
    }

    /// Whether load and measurement are alike.
    fn is_alike(&self, load: &DiskLoad) -> bool {
        self.block_ratio(load).is_none_or(|r| r <= SAME_BLOCK)
            && self.mix_difference(load).is_none_or(|d| d <= SAME_MIX)
    }

    /// Why it judges nothing, where that is so.
    pub(crate) fn doubt(&self, load: &DiskLoad, samples: &Samples<'_>) -> Option<String> {
        let Ceiling { source, .. } = self;
        let Some(peak) = self.contradiction(load, samples) else {
            return (!self.is_alike(load)).then(|| {
                format!(
                    "the ceiling ({source}) is of other blocks or another mix than the load's: it \
                     judges nothing"
                )
            });
        };
        let peak = unit::count(peak);
        Some(match is_given(source) {
            true => format!(
                "--ceiling-iops {} is contradicted by a peak of {peak}; ignored",
                self.operations
            ),
            false => format!(
                "the ceiling of {} IOPS ({source}) is contradicted by a peak of {peak}; \
                 ignored: the load was of another kind (in sequence, from a cache), or the volume \
                 was another",
                unit::count(self.operations)
            ),
        })
    }

    /// `peaks at 240 of 1,000 IOPS (24 %)`, with the mix where it is known.
    fn words(&self, load: &DiskLoad, contradicted: bool, with_flushes: bool) -> String {
        if contradicted {
            return format!(
                "{} peaks at {} IOPS, which contradicts {}: ignored",
                load.name,
                unit::count(load.operations_peak),
                unit::count(self.operations)
            );
        }
        let share = 100.0 * load.operations_peak / self.operations;
        let digits = usize::from(share < 10.0);
        let block = self.block_bytes.map(|bytes| {
            let block = match bytes.round() as u64 {
                whole if whole.is_multiple_of(1024) => unit::bytes_exact(whole),
                odd => unit::bytes(odd).to_string(),
            };
            let mix = self
                .read_share
                .map_or(String::new(), |s| format!(" and {:.0} % reads", 100.0 * s));
            format!(" at {block}{mix}")
        });
        let flushes = match with_flushes {
            true => ", flushes among them",
            false => "",
        };
        format!(
            "{} peaks at {} of {} IOPS ({share:.digits$} %){}{flushes}",
            load.name,
            unit::count(load.operations_peak),
            unit::count(self.operations),
            block.unwrap_or_default()
        )
    }

    /// The load that it holds, where that depends on whether it counts flushes.
    pub(crate) fn between(&self, samples: &Samples<'_>) -> Option<LimitBetween> {
        limit_between(samples, self.operations).filter(|_| is_given(&self.source))
    }

    /// Whether the load reaches it at times, where all that the kernel counts is meant.
    pub(crate) fn may_be_reached(&self, samples: &Samples<'_>) -> bool {
        let least = AT_CEILING * self.operations;
        samples.iter().any(|(disk, _)| disk.operations() >= least)
    }

    /// How much of it a load used.
    pub(crate) fn used(&self, load: &DiskLoad, samples: &Samples<'_>) -> CeilingUse {
        let rates = samples.iter().map(|(d, s)| (operations_with_data(d), *s));
        let rates: Series = rates.collect();
        let between = self.between(samples);
        let contradicted = self.contradiction(load, samples).is_some();
        CeilingUse {
            source: self.source.clone(),
            operations: self.operations,
            block_bytes: self.block_bytes,
            peak_share: load.operations_peak / self.operations,
            time_at_ceiling: rates
                .share_from(AT_CEILING * self.operations)
                .max(between.map_or(0.0, |held| held.time_share)),
            comparable: self.is_alike(load) && !contradicted,
            contradicted,
            words: self.words(load, contradicted, between.is_some()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::DiskMoment;

    fn load(block_bytes: f64, read_share: f64) -> DiskLoad {
        DiskLoad {
            name: "sda".to_owned(),
            operations: 100.0,
            read_share: Some(read_share),
            operations_p95: 200.0,
            reads_peak: 150.0,
            writes_peak: 90.0,
            operations_peak: 240.0,
            bytes: 100.0 * block_bytes,
            block_bytes: Some(block_bytes),
            wait_ms: None,
            wait_peak_ms: None,
            queue: None,
            queue_peak: None,
            util: None,
            series: Vec::new(),
        }
    }

    fn measured(source: &str, operations: f64, block_bytes: f64, read_share: f64) -> Ceiling {
        Ceiling {
            source: source.to_owned(),
            operations,
            block_bytes: Some(block_bytes),
            read_share: Some(read_share),
            wait_ms: None,
        }
    }

    #[test]
    fn the_measurement_most_like_the_load_counts() {
        let all = || {
            vec![
                measured("large reads", 400.0, 1e6, 1.0),
                measured("slow small reads", 900.0, 4096.0, 1.0),
                measured("small reads", 1000.0, 4096.0, 1.0),
                measured("small writes", 700.0, 4096.0, 0.0),
                measured("nothing", 0.0, 4096.0, 1.0),
            ]
        };
        let nearest = |load: &DiskLoad| Ceiling::nearest(all(), load).map(|c| c.source);
        assert_eq!(nearest(&load(4000.0, 0.9)).as_deref(), Some("small reads"));
        assert_eq!(nearest(&load(8192.0, 0.1)).as_deref(), Some("small writes"));
        assert_eq!(nearest(&load(5e5, 1.0)).as_deref(), Some("large reads"));
        assert_eq!(Ceiling::nearest(Vec::new(), &load(4096.0, 1.0)), None);
    }

    #[test]
    fn a_load_that_did_more_was_of_another_kind() {
        let mut sequential = load(4096.0, 1.0);
        let ceiling = measured("random reads", 1000.0, 4096.0, 1.0);
        let used = ceiling.used(&sequential, &Samples::new());
        assert!(used.comparable);
        assert_eq!(
            used.words,
            "sda peaks at 240 of 1,000 IOPS (24 %) at 4 KiB and 100 % reads"
        );
        sequential.operations_p95 = 1_200.0;
        assert!(!ceiling.used(&sequential, &Samples::new()).comparable);
        assert!(ceiling.used(&sequential, &Samples::new()).contradicted);
    }

    #[test]
    fn no_ceiling_is_believed_that_the_load_exceeds() {
        let second = |reads: f64| DiskMoment {
            name: "sda".to_owned(),
            reads,
            ..DiskMoment::default()
        };
        let (calm, peak) = (second(100.0), second(30_100.0));
        let mut samples: Samples<'_> = vec![(&calm, 1.0); 99];
        samples.push((&peak, 1.0));
        let load = DiskLoad {
            operations_peak: 30_100.0,
            ..load(4096.0, 1.0)
        };
        let given = Ceiling::given(1_000.0);
        let used = given.used(&load, &samples);
        assert!(used.contradicted && !used.comparable);
        assert_eq!(
            used.words,
            "sda peaks at 30,100 IOPS, which contradicts 1,000: ignored"
        );
        assert_eq!(
            given.doubt(&load, &samples).as_deref(),
            Some("--ceiling-iops 1000 is contradicted by a peak of 30,100; ignored")
        );
        let run = measured("job a of fio", 1_000.0, 4096.0, 1.0);
        let doubt = run.doubt(&load, &samples).expect("a doubt");
        assert!(
            doubt.starts_with(
                "the ceiling of 1,000 IOPS (job a of fio) is contradicted by a peak of 30,100"
            ),
            "{doubt}"
        );
        // A tenth more is the counters'; a moment of a tenth of a second is too short.
        let (tenth, short) = (second(1_100.0), second(3_000.0));
        let near: Samples<'_> = vec![(&tenth, 1.0), (&short, 0.1)];
        assert!(!given.used(&load, &near).contradicted);
        assert_eq!(given.doubt(&load, &near), None);
    }

    #[test]
    fn another_block_or_mix_is_no_comparison() {
        let ceiling = measured("small reads", 1000.0, 4096.0, 1.0);
        let comparable = |load: DiskLoad| ceiling.used(&load, &Samples::new()).comparable;
        assert!(comparable(load(8192.0, 0.8)));
        assert!(!comparable(load(65_536.0, 1.0)));
        assert!(!comparable(load(4096.0, 0.5)));
    }
}
