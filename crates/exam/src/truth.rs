//! What fathom measured, held against what the drive did, under the virtual
//! clock: simulated drives with parameters drawn by seed, measured by the
//! engine's own loop, judged as any run is, and compared with the drive's own
//! record or with the parameter that was set.

use fathom_drives::{Truth, Zone};
use fathom_model::judged::{JudgedRun, OpSummary};
use fathom_model::op::OpKind;
use fathom_model::rng::{Rng, derive_seed};
use fathom_model::verdict::Limiter;
use fathom_model::workload::{Bounds, DataSet, OpMix, Workload};
use fathom_stats::median::median;

use crate::bench::{self, CaseError};
use crate::case::Case;
use crate::scenarios::{Draw, random_reads, sequential};

const MIB: f64 = 1_048_576.0;
const GIB: u64 = 1 << 30;
/// Share of a disk at either end whose rates are compared.
const END_SHARE: f64 = 0.02;

/// A figure whose truth is known.
struct Quantity {
    name: &'static str,
    truth: &'static str,
    bar: f64,
    draw: fn(&mut Draw) -> Case,
    measured: fn(&JudgedRun) -> Option<f64>,
    true_value: fn(&Truth) -> Option<f64>,
}

/// How far one figure was from its truth over all drawn cases.
#[derive(Debug, Clone, PartialEq)]
pub struct TruthRow {
    /// What was measured.
    pub name: &'static str,
    /// What it was held against.
    pub truth: &'static str,
    /// The largest error that is promised, as a share.
    pub bar: f64,
    /// Relative errors, one per case that gave a figure.
    pub errors: Vec<f64>,
    /// Cases in which fathom gave no figure, or the drive no truth.
    pub without: u32,
    /// Cases that could not be carried out: faults of the rig.
    pub broken: Vec<String>,
}

impl TruthRow {
    /// Largest error.
    pub fn worst(&self) -> f64 {
        self.errors.iter().map(|e| e.abs()).fold(0.0, f64::max)
    }

    /// Error in the middle of all, without its sign.
    pub fn median(&self) -> f64 {
        let sizes: Vec<f64> = self.errors.iter().map(|e| e.abs()).collect();
        median(&sizes).unwrap_or(0.0)
    }

    /// Whether every case gave a figure within the bar.
    pub fn kept(&self) -> bool {
        let whole = self.without == 0 && self.broken.is_empty();
        whole && !self.errors.is_empty() && self.worst() <= self.bar
    }
}

/// Measures every quantity on `cases` drawn drives.
pub fn held_against_truth(seed: u64, cases: u32) -> Vec<TruthRow> {
    let rows = quantities().into_iter().enumerate();
    rows.map(|(number, quantity)| {
        let label = |case: u32| 0x7472 << 40 | (number as u64) << 32 | u64::from(case);
        let mut row = TruthRow {
            name: quantity.name,
            truth: quantity.truth,
            bar: quantity.bar,
            errors: Vec::new(),
            without: 0,
            broken: Vec::new(),
        };
        for case in 0..cases {
            match error_of(&quantity, derive_seed(seed, label(case))) {
                Ok(Some(error)) => row.errors.push(error),
                Ok(None) => row.without += 1,
                Err(why) => row.broken.push(why.to_string()),
            }
        }
        row
    })
    .collect()
}

fn error_of(quantity: &Quantity, seed: u64) -> Result<Option<f64>, CaseError> {
    let case = (quantity.draw)(&mut Draw::new(Rng::new(seed)));
    let (record, truth) = bench::run_and_ask(&case, seed)?;
    let judged = fathom_analysis::judge(&record);
    let pair = (quantity.measured)(&judged).zip((quantity.true_value)(&truth));
    Ok(pair.map(|(measured, truth)| measured / truth - 1.0))
}

fn quantities() -> Vec<Quantity> {
    let quantity = |name, truth, bar, draw, measured, true_value| Quantity {
        name,
        truth,
        bar,
        draw,
        measured,
        true_value,
    };
    let record = "the drive's record";
    let set = "the parameter";
    vec![
        quantity("IOPS, random reads", record, 0.02, reads, iops, done_iops),
        quantity(
            "throughput, sequential writes",
            record,
            0.02,
            writes,
            throughput,
            done_throughput,
        ),
        quantity(
            "throughput, sequential writes",
            set,
            0.02,
            writes,
            throughput,
            set_throughput,
        ),
        quantity("p50, random reads", record, 0.03, reads, p50, |t| {
            quantile(t, 0.5)
        }),
        quantity("p99, random reads", record, 0.03, reads, p99, |t| {
            quantile(t, 0.99)
        }),
        quantity("p50, one read at a time", set, 0.03, one_by_one, p50, |t| {
            Some(t.expected.read_4k?.median_ns)
        }),
        quantity("p99, one read at a time", set, 0.03, one_by_one, p99, |t| {
            Some(t.expected.read_4k?.p99_ns)
        }),
        quantity(
            "end of the SLC cache, bytes",
            record,
            0.03,
            slc,
            cliff,
            |t| Some(t.inside.cliff_at_bytes? as f64),
        ),
        quantity("end of the SLC cache, bytes", set, 0.03, slc, cliff, |t| {
            t.expected.cliff_bytes
        }),
        quantity(
            "cap, named as the limiter",
            set,
            0.01,
            capped,
            named_cap,
            |t| t.expected.cap_iops,
        ),
        quantity(
            "outer over inner tracks",
            set,
            0.03,
            disk,
            zone_ratio,
            |t| set_zone_ratio(&t.expected.zones, t.capacity_bytes),
        ),
    ]
}

fn ssd(d: &mut Draw) -> String {
    format!(
        "ssd?read_us={:.1},write_us={:.1},units={},tail={:.2},write_mibs={:.0}",
        d.log(120.0, 800.0),
        d.log(30.0, 120.0),
        d.one_of(&[4, 8, 16]),
        d.even(0.1, 0.5),
        d.log(200.0, 1_500.0),
    )
}

fn reads(d: &mut Draw) -> Case {
    let depth = d.one_of(&[1, 8, 32]);
    Case::new(ssd(d), random_reads(depth, d.whole(20, 40)))
}

fn one_by_one(d: &mut Draw) -> Case {
    Case::new(ssd(d), random_reads(1, d.whole(40, 60)))
}

fn writes(d: &mut Draw) -> Case {
    let depth = d.one_of(&[8, 16]);
    Case::new(ssd(d), sequential(OpMix::WRITE, depth, d.whole(20, 40)))
}

fn slc(d: &mut Draw) -> Case {
    let fast = d.log(800.0, 2_500.0);
    let cache = d.log(8e9, 40e9);
    let drive = format!(
        "slc?write_mibs={fast:.0},cache={cache:.0},drain_mibs={:.0},units=64",
        fast * d.even(0.1, 0.5),
    );
    let fill_s = cache / (fast * MIB);
    let seconds = (fill_s * d.even(2.5, 4.0)) as u64 + 20;
    let workload = Workload {
        data_set: DataSet {
            size_bytes: Some(400 * GIB),
            ..sequential(OpMix::WRITE, 8, seconds).data_set
        },
        ..sequential(OpMix::WRITE, 8, seconds)
    };
    Case::new(drive, workload)
}

fn capped(d: &mut Draw) -> Case {
    let iops = d.one_of(&[500, 1_000, 2_000, 3_000, 5_000, 7_500]);
    let latency = d.log(300.0, 900.0);
    let drive = format!("cloud?iops={iops},mibs=1000,latency_us={latency:.0}");
    let workload = random_reads(d.one_of(&[16, 32, 64]), d.whole(30, 60));
    Case::new(drive, workload).on(|host| host.virtualization = "kvm".to_owned())
}

fn disk(d: &mut Draw) -> Case {
    let outer = d.even(160.0, 280.0);
    let drive = format!(
        "hdd?size=64GiB,zones=20,outer_mibs={outer:.0},inner_mibs={:.0}",
        outer * d.even(0.42, 0.6)
    );
    let workload = Workload {
        bounds: Bounds {
            bytes: Some(64 * GIB),
            ..Bounds::default()
        },
        data_set: DataSet {
            size_bytes: Some(64 * GIB),
            ..sequential(OpMix::READ, 2, 0).data_set
        },
        ..sequential(OpMix::READ, 2, 0)
    };
    Case::new(drive, workload).on(|host| host.device.rotational = Some(true))
}

fn first(judged: &JudgedRun) -> Option<&OpSummary> {
    judged.rows.first()?.ops.first()
}

fn iops(judged: &JudgedRun) -> Option<f64> {
    first(judged)?.ops_per_second.value
}

fn throughput(judged: &JudgedRun) -> Option<f64> {
    first(judged)?.bytes_per_second.value
}

fn percentile(judged: &JudgedRun, percent: f64) -> Option<f64> {
    let mut all = first(judged)?.service.percentiles.iter();
    all.find(|p| p.percent == percent)?.latency_ns.value
}

fn p50(judged: &JudgedRun) -> Option<f64> {
    percentile(judged, 50.0)
}

fn p99(judged: &JudgedRun) -> Option<f64> {
    percentile(judged, 99.0)
}

fn cliff(judged: &JudgedRun) -> Option<f64> {
    let steadiness = judged.trials.first()?.steadiness.as_ref()?;
    steadiness.burst_bytes.map(|bytes| bytes as f64)
}

/// The rate at a cap, where the cap is what fathom says set it.
fn named_cap(judged: &JudgedRun) -> Option<f64> {
    let named = judged.rows.first()?.verdict.limiter == Limiter::Cap;
    iops(judged).filter(|_| named)
}

fn zone_ratio(judged: &JudgedRun) -> Option<f64> {
    let steadiness = judged.trials.first()?.steadiness.as_ref()?;
    steadiness.zones.as_ref()?.outer_over_inner.value
}

fn done(truth: &Truth) -> Option<(f64, f64)> {
    let kind = |kind| {
        truth
            .kind(kind)
            .map(|done| (done.ops as f64, done.bytes as f64))
    };
    let (ops, bytes) = kind(OpKind::Read).or_else(|| kind(OpKind::Write))?;
    let seconds = truth.elapsed_ns as f64 / 1e9;
    (seconds > 0.0).then_some((ops / seconds, bytes / seconds))
}

fn done_iops(truth: &Truth) -> Option<f64> {
    done(truth).map(|(iops, _)| iops)
}

fn done_throughput(truth: &Truth) -> Option<f64> {
    done(truth).map(|(_, throughput)| throughput)
}

fn set_throughput(truth: &Truth) -> Option<f64> {
    truth.expected.write_bytes_per_second
}

fn quantile(truth: &Truth, share: f64) -> Option<f64> {
    let latencies = truth.kind(OpKind::Read)?.latency.histogram()?;
    latencies.quantile(share).map(|ns| ns as f64)
}

/// The ratio of the mean rates over the first and the last part of the disk.
pub(crate) fn set_zone_ratio(zones: &[Zone], capacity: u64) -> Option<f64> {
    let capacity = capacity as f64;
    let end = capacity * END_SHARE;
    Some(
        mean_rate(zones, 0.0, end, capacity)?
            / mean_rate(zones, capacity - end, capacity, capacity)?,
    )
}

fn mean_rate(zones: &[Zone], from: f64, to: f64, capacity: f64) -> Option<f64> {
    let ends = zones.iter().skip(1).map(|z| z.start_byte as f64);
    let seconds: f64 = zones
        .iter()
        .zip(ends.chain([capacity]))
        .map(|(zone, end)| {
            let inside = end.min(to) - (zone.start_byte as f64).max(from);
            inside.max(0.0) / zone.bytes_per_second
        })
        .sum();
    (seconds > 0.0).then(|| (to - from) / seconds)
}

#[cfg(test)]
mod tests {
    use super::held_against_truth;

    #[test]
    fn what_is_measured_is_what_the_drives_did() {
        for row in held_against_truth(0x7EA1, 2) {
            assert!(row.broken.is_empty(), "{row:?}");
            assert!(row.kept(), "{row:?}");
        }
    }
}
