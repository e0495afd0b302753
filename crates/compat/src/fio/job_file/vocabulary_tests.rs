//! Words that are fio's own, and files that are named.

use fathom_model::Workload;
use fathom_model::workload::{
    Arrival, Between, BlockSizes, Distribution, Flow, LatencyTarget, NamedFiles, OpMix, Pattern,
    RangeSync, Rate, RateUnit, Replay, SteadyFill, Work, Zone, ZoneSize, ZoneWalk,
};

use super::tests::{on, value};

/// The values of some options, with a space between them.
fn text(change: &dyn Fn(&mut Workload), names: &[&str]) -> String {
    let done = on("/data/file", |w| change(w)).unwrap();
    let of = |name: &&str| value(&done, name).unwrap_or_else(|| "-".to_owned());
    names.iter().map(of).collect::<Vec<String>>().join(" ")
}

#[test]
fn words_that_are_fios_own_are_written_as_they_are() {
    let rate = |per_second| {
        Some(Rate {
            per_second,
            unit: RateUnit::Ops,
            arrival: Arrival::Constant,
        })
    };
    let zones = |w: &mut Workload| {
        w.zone_walk = Some(ZoneWalk {
            zone_bytes: 1 << 20,
            stay_bytes: 1 << 16,
            skip_bytes: 4096,
        });
    };
    let names = ["zonemode", "zonesize", "zonerange", "zoneskip"];
    assert_eq!(text(&zones, &names), "strided 65536 1048576 4096");
    let by_kind = |w: &mut Workload| {
        (w.mix.read_percent, w.mix.write_percent) = (50, 50);
        w.block_by_kind.write = Some(BlockSizes::Fixed(65_536));
        w.rate_by_kind.read = rate(100.0);
        w.rate_by_kind.write = rate(200.0);
    };
    assert_eq!(
        text(&by_kind, &["bs", "rate_iops"]),
        "4096,65536,4096 100,200"
    );
    let bounded = |w: &mut Workload| {
        w.each_worker.bytes = Some(1 << 20);
        w.each_worker.passes = Some(3);
    };
    assert_eq!(
        text(&bounded, &["io_size", "loops", "time_based"]),
        "1048576 3 -"
    );
    let runs = |w: &mut Workload| {
        w.sequencer.draw_every_ops = 8;
        w.sequencer.between = Between::Again;
        w.sequencer.random_percent.read = Some(80);
    };
    assert_eq!(
        text(&runs, &["rw", "rw_sequencer", "percentage_random"]),
        "randread:8 identical 80,100,100"
    );
}

#[test]
fn zones_lists_and_latencies_are_written() {
    let zoned = |w: &mut Workload| {
        let zone = |access_percent, size| Zone {
            access_percent,
            size: ZoneSize::Percent(size),
        };
        let zones = vec![zone(60.0, 10.0), zone(40.0, 90.0)];
        w.pattern = Pattern::Random(Distribution::Zoned(zones));
    };
    assert_eq!(text(&zoned, &["random_distribution"]), "zoned:60/10:40/90");
    let filling = |w: &mut Workload| {
        w.pattern = Pattern::Random(Distribution::SteadyFill(SteadyFill {
            over_provisioning_percent: 25.0,
            regions: 400,
            later: false,
        }));
    };
    let names = ["sprandom", "spr_op", "spr_num_regions", "spr_cs"];
    assert_eq!(text(&filling, &names), "1 0.25 400 -");
    let replayed = |w: &mut Workload| {
        w.work = Work::recorded(Replay {
            shrink: 4,
            skip_writes: true,
            ..Replay::of("/var/app.iolog".into())
        });
    };
    assert_eq!(
        text(
            &replayed,
            &[
                "read_iolog",
                "replay_scale",
                "replay_skip",
                "replay_redirect"
            ]
        ),
        "/var/app.iolog 4 write /data/file"
    );
    let kept = |w: &mut Workload| {
        w.flow = Some(Flow {
            id: 1,
            weight: 8,
            pause_ns: 0,
        });
        w.latency_target = Some(LatencyTarget {
            latency_ns: 2_000_000,
            window_ns: 5_000_000_000,
            percentile: 99.0,
            goes_on: true,
        });
    };
    let names = [
        "flow",
        "latency_target",
        "latency_window",
        "latency_percentile",
        "latency_run",
    ];
    assert_eq!(text(&kept, &names), "8 2ms 5s 99 1");
}

#[test]
fn ranges_that_are_written_back_are_no_flush() {
    let ranges = |w: &mut Workload| {
        w.mix = OpMix::WRITE;
        w.sync.ranges = Some(RangeSync {
            every_writes: 8,
            wait_before: true,
            write: true,
            wait_after: false,
        });
    };
    let names = ["sync_file_range", "fsync", "fdatasync"];
    assert_eq!(text(&ranges, &names), "wait_before,write:8 - -");
}

#[test]
fn named_files_are_written_by_their_names() {
    let named = |w: &mut Workload| {
        w.data_set.named = Some(NamedFiles {
            paths: vec!["/data/a".into(), "/data/b:c".into()],
            create: true,
            ours: true,
        });
        w.data_set.files.count = 2;
        w.data_set.size_bytes = Some(2 << 20);
    };
    let done = on("/data", named).unwrap();
    assert_eq!(value(&done, "filename").unwrap(), "/data/a:/data/b\\:c");
    assert_eq!(value(&done, "size").unwrap(), "2097152");
    let apart = on("/data", |w| {
        named(w);
        (w.workers, w.data_set.files.count) = (2, 1);
    });
    assert_eq!(apart.unwrap().sections.len(), 2);
}
