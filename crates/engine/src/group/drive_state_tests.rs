//! More models of drives against their truth: those whose speed depends on what
//! was written before, on credits, on content or on temperature.

use fathom_model::OpKind;
use fathom_model::workload::{BlockSizes, Payload, SyncOpen, SyncPolicy};

use super::drive_truth_tests::{MIB, SECOND, measure, near, sequential, time, writes};

#[test]
fn an_enterprise_drive_slows_down_until_it_is_steady() {
    let fill = |model: &str, seconds: u64, random: bool| {
        measure(model, |w| {
            writes(w);
            if !random {
                sequential(w, 1 << 20);
            }
            w.queue_depth = 256;
            w.block = BlockSizes::Fixed(1 << 20);
            w.align_bytes = 1 << 20;
            w.bounds = time(seconds);
        })
    };
    let fresh = fill("enterprise?size=64GB,tail=0", 600, true);
    let expected = fresh.truth.expected.clone();
    let rates = fresh.rates();
    near(rates[5].1, expected.write_bytes_per_second.unwrap(), 0.02);
    let steady = expected.late_write_bytes_per_second.unwrap();
    let late: f64 = rates[400..].iter().map(|r| r.1).sum::<f64>() / (rates.len() - 400) as f64;
    near(late, steady, 0.02);
    let amplification = expected.steady_write_amplification.unwrap();
    assert!((1.5..3.0).contains(&amplification), "{amplification}");
    // The first collection comes when capacity and spare have been written once.
    let cliff = fresh.truth.inside.cliff_at_bytes.unwrap() as f64;
    near(cliff, 64e9 * 1.28, 0.03);
    let old = fill("enterprise?size=64GB,tail=0,preconditioned=1", 60, true);
    near(old.bytes_per_second(), steady, 0.02);
    let sequential = fill("enterprise?size=64GB,tail=0", 200, false);
    near(sequential.bytes_per_second(), rates[5].1, 0.02);
    // Little spare costs much.
    let little = fill("enterprise?size=64GB,tail=0,spare_percent=7", 1, true);
    assert!(little.truth.expected.steady_write_amplification.unwrap() > 2.0 * amplification);
}

#[test]
fn a_cloud_volume_holds_its_caps_and_spends_its_credits() {
    let m = measure("cloud?iops=3000", |w| w.queue_depth = 64);
    near(m.iops(), m.truth.expected.cap_iops.unwrap(), 0.01);
    // Queueing, not service, sets the latency: depth over cap.
    let p50 = m.latency(OpKind::Read).quantile(0.5).unwrap() as f64;
    near(p50, 64.0 / 3000.0 * 1e9, 0.03);
    let m = measure("cloud?mibs=125", |w| {
        w.block = BlockSizes::Fixed(1 << 18);
        w.align_bytes = 1 << 18;
        w.queue_depth = 64;
        w.bounds = time(30);
    });
    near(
        m.bytes_per_second(),
        m.truth.expected.cap_bytes_per_second.unwrap(),
        0.01,
    );
    assert!(m.truth.inside.throttled_ns > 29 * SECOND);
    let m = measure(
        "cloud?iops=500,credit_ops=50000,burst_iops=3000,mibs=1000",
        |w| {
            writes(w);
            w.queue_depth = 64;
            w.bounds = time(60);
        },
    );
    let rates = m.rates();
    near(rates[5].0, m.truth.expected.burst_iops.unwrap(), 0.01);
    near(rates[40].0, m.truth.expected.cap_iops.unwrap(), 0.01);
    // 50,000 credits last for 20 s at 2,500 a second more than are earned.
    near(m.cliff_bytes(), 60_000.0 * 4096.0, 0.03);
    near(
        m.truth.inside.cliff_at_bytes.unwrap() as f64,
        60_000.0 * 4096.0,
        0.03,
    );
}

#[test]
fn a_write_to_what_is_opened_for_durable_writes_waits_for_a_flush() {
    let with = |sync: SyncPolicy| {
        let m = measure("volatile", |w| {
            writes(w);
            w.queue_depth = 1;
            w.sync = sync;
            w.bounds = time(20);
        });
        m.iops()
    };
    let flushed = with(SyncPolicy {
        every_writes: 1,
        ..SyncPolicy::default()
    });
    for open in [SyncOpen::Dsync, SyncOpen::Sync] {
        let opened = with(SyncPolicy {
            open,
            ..SyncPolicy::default()
        });
        near(opened, flushed, 0.05);
    }
    assert!(with(SyncPolicy::default()) > 10.0 * flushed);
}

#[test]
fn a_thin_volume_is_slow_once_and_too_fast_where_nothing_is() {
    let model = "thin?size=4GiB,alloc_us=800,hole_us=8,tail=0";
    let m = measure(model, |_| ());
    near(
        m.latency(OpKind::Read).quantile(0.5).unwrap() as f64,
        8000.0,
        0.01,
    );
    assert_eq!(
        m.truth.inside.hole_reads,
        m.truth.kind(OpKind::Read).unwrap().ops
    );
    let m = measure(model, |w| {
        writes(w);
        sequential(w, 1 << 20);
        w.queue_depth = 4;
    });
    let rates = m.rates();
    near(rates[1].0, 1250.0, 0.02);
    near(
        rates[8].1,
        m.truth.expected.write_bytes_per_second.unwrap(),
        0.02,
    );
    assert_eq!(m.truth.inside.allocations, 4096);
}

#[test]
fn a_volatile_cache_pays_at_flush_or_lies() {
    let flushed = |lies: u8| {
        let model = format!("volatile?commit_us=1500,background_percent=0,tail=0,lies={lies}");
        measure(&model, |w| {
            writes(w);
            w.sync.every_writes = 10;
        })
    };
    let honest = flushed(0);
    // Ten times 20 µs and 4 KiB at 400 MiB/s, then 1.5 ms.
    let wanted_ns = 1.5e6 + 10.0 * (20_000.0 + 4096.0 / (400.0 * MIB) * 1e9);
    near(
        honest.latency(OpKind::Sync).quantile(0.5).unwrap() as f64,
        wanted_ns,
        0.01,
    );
    assert_eq!(honest.truth.inside.lies, 0);
    let liar = flushed(1);
    assert!(liar.latency(OpKind::Sync).max().unwrap() < 20_000);
    assert_eq!(
        liar.truth.inside.lies,
        liar.truth.kind(OpKind::Sync).unwrap().ops
    );
}

#[test]
fn part_of_a_block_is_read_first() {
    let at = |block: u64, misalign: u64| {
        measure("rmw?tail=0,read_us=80,write_us=20,penalty_us=40", |w| {
            writes(w);
            w.block = BlockSizes::Fixed(block);
            w.align_bytes = block;
            w.misalign_bytes = misalign;
        })
    };
    let aligned = at(4096, 0).latency(OpKind::Write).quantile(0.5).unwrap() as f64;
    let small = at(512, 0);
    let crossing = at(4096, 512);
    let penalty = 80_000.0 + 40_000.0 + 4096.0 / (3200.0 * MIB) * 1e9;
    near(aligned, 20_000.0 + 4096.0 / (2400.0 * MIB) * 1e9, 0.01);
    near(
        small.latency(OpKind::Write).quantile(0.5).unwrap() as f64,
        20_000.0 + penalty,
        0.01,
    );
    near(
        crossing.latency(OpKind::Write).quantile(0.5).unwrap() as f64,
        20_000.0 + penalty,
        0.02,
    );
    let (inside, done) = (small.truth.inside, small.truth.kind(OpKind::Write).unwrap());
    assert_eq!(inside.read_modify_writes, done.ops);
    assert_eq!(inside.media_write_bytes, Some(8 * done.bytes));
}

#[test]
fn an_array_is_as_fast_as_its_data_allow() {
    let late = |payload: Payload| {
        let m = measure("dedup?buffer=1GiB,media_mibs=100", |w| {
            writes(w);
            sequential(w, 1 << 17);
            w.queue_depth = 16;
            w.payload = payload;
            w.bounds = time(60);
        });
        (m.rates()[58].1 / MIB, m.truth.inside)
    };
    let of = |compress_percent, duplicate_percent| Payload {
        compress_percent,
        duplicate_percent,
        ..Payload::default()
    };
    near(late(of(0, 0)).0, 100.0, 0.02);
    near(late(of(50, 0)).0, 200.0, 0.02);
    let (rate, inside) = late(of(0, 75));
    near(rate, 400.0, 0.02);
    assert!(inside.duplicates > 0);
    let zeros = Payload {
        content: fathom_model::workload::Content::Zeros,
        ..Payload::default()
    };
    near(late(zeros).0, 2400.0, 0.02);
}

#[test]
fn a_second_pass_comes_from_the_cache() {
    let m = measure("array?cache=4GiB,media_read_mibs=200,tail=0", |w| {
        sequential(w, 1 << 17);
        w.data_set.size_bytes = Some(2 << 30);
        w.queue_depth = 8;
        w.bounds = time(20);
    });
    let rates = m.rates();
    near(
        rates[3].1,
        m.truth.expected.read_bytes_per_second.unwrap(),
        0.02,
    );
    near(rates[15].1, 3200.0 * MIB, 0.02);
    assert!(m.truth.inside.cache_misses > 0 && m.truth.inside.cache_hits > 0);
}

#[test]
fn a_hot_drive_throttles_and_recovers() {
    let m = measure("thermal?tail=0", |w| {
        writes(w);
        sequential(w, 1 << 20);
        w.queue_depth = 16;
        w.bounds = time(600);
    });
    let expected = &m.truth.expected;
    let rates = m.rates();
    let full = expected.write_bytes_per_second.unwrap();
    near(rates[10].1, full, 0.02);
    // 35 °C + 0.21 °C/GiB × rate × 120 s × (1 − e^(−t/120)) reaches 75 °C.
    let rise = 0.21 * full / 1_073_741_824.0 * 120.0;
    let at_s = -120.0 * (1.0 - 40.0 / rise).ln();
    let slow = rates.iter().position(|r| r.1 < 0.9 * full).unwrap();
    near(slow as f64, at_s, 0.03);
    near(
        rates[slow + 2].1,
        expected.late_write_bytes_per_second.unwrap(),
        0.02,
    );
    assert!(
        rates[slow + 60..].iter().any(|r| r.1 > 0.98 * full),
        "it recovers"
    );
    assert!(m.truth.inside.throttle_events > 1);
    let throttled = rates.iter().filter(|r| r.1 < 0.5 * full).count();
    let known = m.truth.inside.throttled_ns as f64 / 1e9;
    assert!(
        (throttled as f64 - known).abs() < 12.0,
        "{throttled} {known}"
    );
}
