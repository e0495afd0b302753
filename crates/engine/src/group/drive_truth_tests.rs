//! Each model of a simulated drive against its own truth, through the real loop
//! under the virtual clock.

use fathom_drives::{Latency, Truth, models};
use fathom_model::workload::{BlockSizes, Bounds, EngineKind, OpMix, Pattern};
use fathom_model::{Histogram, Job, OpKind, Phase, Target, Workload};

use super::{Group, GroupEnd};
use crate::prepare::{NoHooks, prepare};

pub(super) const SECOND: u64 = 1_000_000_000;
pub(super) const MIB: f64 = 1_048_576.0;

/// What a trial measured, and what is true.
pub(super) struct Measured {
    pub(super) end: GroupEnd,
    pub(super) truth: Truth,
}

pub(super) fn measure(target: &str, change: impl FnOnce(&mut Workload)) -> Measured {
    let mut workload = Workload::example("sim");
    workload.engine = EngineKind::Sim;
    workload.data_set.size_bytes = None;
    workload.bounds = time(10);
    change(&mut workload);
    let job = Job {
        workload,
        target: Target::Sim(target.to_owned()),
        seed: 11,
        run_tag: 2,
        destructive: false,
        keep_files: false,
        file_prefix: "test".to_owned(),
    };
    let prepared = prepare(&job, &mut NoHooks).unwrap();
    let mut group = Group::start(&job, &prepared).unwrap();
    group.go();
    let end = group.finish();
    let truth = end.simulated.as_ref().unwrap().truth.clone();
    Measured { end, truth }
}

pub(super) fn time(seconds: u64) -> Bounds {
    Bounds {
        time_ns: Some(seconds * SECOND),
        bytes: None,
        ops: None,
    }
}

pub(super) fn writes(w: &mut Workload) {
    w.mix = OpMix {
        read_percent: 0,
        write_percent: 100,
        ..w.mix
    };
}

pub(super) fn sequential(w: &mut Workload, block_bytes: u64) {
    w.pattern = Pattern::Sequential;
    w.block = BlockSizes::Fixed(block_bytes);
    w.align_bytes = block_bytes;
}

impl Measured {
    fn seconds(&self) -> impl Iterator<Item = &fathom_model::Sample> {
        let samples = self.end.samples.iter();
        samples.filter(|s| s.phase == Phase::Measure && s.duration_ns == SECOND)
    }

    /// Operations and bytes of each whole second.
    pub(super) fn rates(&self) -> Vec<(f64, f64)> {
        let all = self.seconds();
        all.map(|s| {
            let data = s.ops.iter().filter(|o| o.kind.is_data());
            data.fold((0.0, 0.0), |(ops, bytes), o| {
                (ops + o.ops as f64, bytes + o.bytes as f64)
            })
        })
        .collect()
    }

    pub(super) fn iops(&self) -> f64 {
        let rates = self.rates();
        rates.iter().map(|r| r.0).sum::<f64>() / rates.len() as f64
    }

    pub(super) fn bytes_per_second(&self) -> f64 {
        let rates = self.rates();
        rates.iter().map(|r| r.1).sum::<f64>() / rates.len() as f64
    }

    pub(super) fn latency(&self, kind: OpKind) -> Histogram {
        let mut all = Histogram::new();
        for sample in &self.end.samples {
            if let Some(op) = sample.op(kind) {
                all.merge(&op.service);
            }
        }
        all
    }

    /// Bytes before the rate fell, from the seconds alone.
    pub(super) fn cliff_bytes(&self) -> f64 {
        let rates: Vec<f64> = self.rates().iter().map(|r| r.1).collect();
        let (fast, slow) = (rates[1], rates[rates.len() - 1]);
        let mixed = rates.iter().position(|r| *r < 0.98 * fast).unwrap();
        let share = ((rates[mixed] - slow) / (fast - slow)).clamp(0.0, 1.0);
        rates[..mixed].iter().sum::<f64>() + share * fast
    }
}

#[track_caller]
pub(super) fn near(value: f64, wanted: f64, tolerance: f64) {
    assert!(
        (value / wanted - 1.0).abs() <= tolerance,
        "{value} is not within {tolerance} of {wanted}"
    );
}

fn is(latency: Option<Latency>, seen: &Histogram) {
    let latency = latency.unwrap();
    near(seen.quantile(0.5).unwrap() as f64, latency.median_ns, 0.03);
    near(seen.quantile(0.99).unwrap() as f64, latency.p99_ns, 0.03);
}

#[test]
fn an_ideal_drive_is_what_queueing_theory_says() {
    for depth in [1, 4, 64] {
        let m = measure("ideal?latency_us=200,parallel=16", |w| {
            w.queue_depth = depth;
        });
        let most = m.truth.expected.most_read_iops.unwrap();
        near(m.iops(), (f64::from(depth) * 5000.0).min(most), 0.02);
        // What the drive knows is what the loop measured.
        let done = m.truth.kind(OpKind::Read).unwrap();
        let known = done.latency.histogram().unwrap();
        assert_eq!(known.count(), done.ops);
        near(
            m.latency(OpKind::Read).quantile(0.5).unwrap() as f64,
            known.quantile(0.5).unwrap() as f64,
            0.01,
        );
        assert_eq!(done.bytes, done.ops * 4096);
    }
}

#[test]
fn latencies_have_their_median_and_tail() {
    for model in [
        "ssd",
        "ssd?tail=0.6,read_us=300,write_us=90",
        "slc",
        "enterprise",
        "cloud",
    ] {
        let m = measure(model, |w| w.bounds = time(20));
        is(m.truth.expected.read_4k, &m.latency(OpKind::Read));
        let m = measure(model, |w| {
            writes(w);
            w.bounds = time(20);
        });
        is(m.truth.expected.write_4k, &m.latency(OpKind::Write));
    }
    let m = measure("volatile?cache=64GiB", writes);
    is(m.truth.expected.write_4k, &m.latency(OpKind::Write));
    for model in ["ssd", "hdd", "hdd?size=1TB,rpm=5400,seek_max_ms=25"] {
        let m = measure(model, |w| w.bounds = time(60));
        near(
            m.iops(),
            1e9 / m.truth.expected.random_read_mean_ns.unwrap(),
            0.02,
        );
    }
}

#[test]
fn a_disk_has_its_zones() {
    for model in ["hdd?size=1TB", "hdd?size=1TB,zones=12"] {
        let rate = |offset_bytes: u64| {
            let m = measure(model, |w| {
                sequential(w, 1 << 20);
                w.data_set.offset_bytes = offset_bytes;
                w.data_set.size_bytes = Some(offset_bytes + (20 << 30));
                w.queue_depth = 4;
            });
            let zones = m.truth.expected.zones;
            let (first, last) = (zones[0], zones[zones.len() - 1]);
            let rates = m.end.samples.iter();
            let bytes: u64 = rates
                .filter_map(|s| s.op(OpKind::Read))
                .map(|o| o.bytes)
                .sum();
            (bytes as f64 / 10.0, first, last)
        };
        let (outer, first, last) = rate(0);
        let (inner, ..) = rate((1_000_000_000_000 >> 20 << 20) - (20 << 30));
        near(outer, first.bytes_per_second, 0.02);
        near(
            outer / inner,
            first.bytes_per_second / last.bytes_per_second,
            0.03,
        );
    }
}

#[test]
fn a_disk_that_may_choose_does_more_and_forgets_nobody() {
    let all = |ncq: u32| {
        let m = measure(&format!("hdd?ncq={ncq}"), |w| {
            w.queue_depth = 32;
            w.workers = 2;
            w.bounds = time(60);
        });
        let seen = m.latency(OpKind::Read);
        assert_eq!(seen.count(), m.truth.kind(OpKind::Read).unwrap().ops);
        (m.iops(), seen.max().unwrap())
    };
    let (in_order, _) = all(1);
    let (chosen, longest_ns) = all(32);
    assert!(chosen > 1.7 * in_order, "{in_order} {chosen}");
    assert!(longest_ns < 3 * SECOND, "{longest_ns}");
}

#[test]
fn a_disk_with_a_cache_takes_writes_at_once_and_pays_at_flush() {
    let m = measure("hdd?cache=64MiB,ncq=32", |w| {
        writes(w);
        w.sync.every_writes = 100;
        w.bounds = time(60);
    });
    let write = m.latency(OpKind::Write);
    near(write.quantile(0.5).unwrap() as f64, 37_000.0, 0.05);
    // A hundred random places take most of a second.
    let sync = m.latency(OpKind::Sync).mean().unwrap();
    assert!((0.3e9..1.2e9).contains(&sync), "{sync}");
    let done = m.truth.kind(OpKind::Write).unwrap();
    assert!(m.truth.inside.media_write_bytes.unwrap() + m.truth.inside.dirty_bytes >= done.bytes);
    // Without flushes the cache fills, and then the head sets the pace.
    let m = measure("hdd?cache=1MiB", |w| {
        writes(w);
        w.queue_depth = 8;
        w.bounds = time(60);
    });
    let rates = m.rates();
    assert!(rates[50].0 < 400.0 && rates[50].0 > 80.0, "{:?}", rates[50]);
}

#[test]
fn a_write_cache_ends_in_a_cliff_where_the_truth_says() {
    for model in [
        "slc?cache=20GB,drain_mibs=150,tail=0.1",
        "slc?cache=12GB,folded_mibs=400,drain_mibs=1000",
        "volatile?cache=8GiB,media_mibs=300,tail=0",
        "array?buffer=6GiB,media_mibs=200",
    ] {
        let m = measure(model, |w| {
            writes(w);
            sequential(w, 1 << 20);
            w.queue_depth = 16;
            w.bounds = time(60);
        });
        let expected = &m.truth.expected;
        near(m.cliff_bytes(), expected.cliff_bytes.unwrap(), 0.03);
        let inside = m.truth.inside.cliff_at_bytes.unwrap();
        near(inside as f64, expected.cliff_bytes.unwrap(), 0.03);
        let rates = m.rates();
        near(rates[1].1, expected.write_bytes_per_second.unwrap(), 0.02);
        near(
            rates[58].1,
            expected.late_write_bytes_per_second.unwrap(),
            0.02,
        );
    }
}

#[test]
fn every_model_gives_the_same_trial_from_the_same_seed() {
    for model in models() {
        let trial = || {
            let text = format!(
                "{}?noise_cv=0.1,hiccup_every_s=0.3,neighbour_iops=20",
                model.name
            );
            measure(&text, |w| {
                w.workers = 2;
                w.queue_depth = 4;
                w.mix = OpMix {
                    read_percent: 50,
                    write_percent: 50,
                    ..w.mix
                };
                w.sync.every_writes = 50;
                w.on_error = fathom_model::workload::OnError::Continue;
                w.bounds = time(2);
            })
        };
        let (one, two) = (trial(), trial());
        assert_eq!(one.end.samples, two.end.samples, "{}", model.name);
        assert_eq!(one.end.simulated, two.end.simulated, "{}", model.name);
        let done = one.truth.kind(OpKind::Read).unwrap();
        let ended = one.latency(OpKind::Read).count();
        // What is under way at the end counts in the settle phase.
        assert!(ended > 0 && ended <= done.ops, "{}", model.name);
        let seconds = &one.end.simulated.as_ref().unwrap().seconds;
        assert!(seconds.len() >= 2 && seconds[0].reads < seconds[1].reads);
        assert!(seconds[1].foreign_ops > 0 && seconds[1].busy_ns <= 2 * SECOND);
    }
}

#[test]
fn a_day_of_writing_passes_in_seconds() {
    let mut workload = Workload::example("day");
    workload.engine = EngineKind::Sim;
    workload.data_set.size_bytes = None;
    writes(&mut workload);
    sequential(&mut workload, 16 << 20);
    workload.bounds = time(86_400);
    let job = Job {
        workload,
        target: Target::Sim("slc?drain_mibs=150".to_owned()),
        seed: 1,
        run_tag: 2,
        destructive: false,
        keep_files: false,
        file_prefix: "test".to_owned(),
    };
    let prepared = prepare(&job, &mut NoHooks).unwrap();
    let mut group = Group::start(&job, &prepared).unwrap();
    group.go();
    let (mut samples, mut bytes) = (0, 0);
    let mut take = |drained: &[fathom_model::Sample]| {
        samples += drained.len();
        let ops = drained.iter().filter_map(|s| s.op(OpKind::Write));
        bytes += ops.map(|op| op.bytes).sum::<u64>();
    };
    while !group.is_finished() {
        take(&group.drain());
        std::thread::yield_now();
    }
    let end = group.finish();
    take(&end.samples);
    let simulated = end.simulated.unwrap();
    assert!(samples >= 86_400 && simulated.seconds.len() >= 86_399);
    // The cache once, and what it empties in a day.
    near(bytes as f64, 24e9 + 86_400.0 * 150.0 * MIB, 0.001);
    near(
        simulated.truth.kind(OpKind::Write).unwrap().bytes as f64,
        bytes as f64,
        0.001,
    );
}
