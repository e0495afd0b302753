//! Dumps of clusters with drawn values: what stands out, and what strangers may read of it.

use std::fmt::Write as _;

use fathom_diagnose::cluster::{
    CephDump, anonymised_cluster, ceph_readings, judge_bricks, judge_ceph, parse_ceph,
};
use fathom_model::cluster::{BrickLoad, ClusterLook, SizeCount};
use fathom_model::gluster::GlusterCalls;
use serde_json::{Value, json};

use crate::draw::Draw;
use crate::kept::{is_as_kept, of_document, of_text};

const STATUS: &str = include_str!("../fixtures/ceph/status.json");
const COUNTERS: &str = include_str!("../fixtures/ceph/perf-dump.json");
const OPERATIONS: &str = include_str!("../fixtures/ceph/historic-ops.json");

fn fixture(text: &str) -> Value {
    serde_json::from_str(text).expect("a fixture is JSON")
}

fn checks(draw: &mut Draw) -> Value {
    let mut checks = json!({});
    let messages = [
        "12 slow ops, oldest one blocked for 34 sec",
        "slow ops on osd.3, host rack7 and pool 'hr'",
        "mon.ceph1 at 10.0.0.7:6789 is down; fs archive, mds.abc and xhost yard too, pool 12",
    ];
    for name in ["SLOW_OPS", "OSD_DOWN", "POOL_FULL"] {
        if draw.one_in(2) {
            checks[name] = match draw.maybe(&messages) {
                Some(message) => json!({"summary": {"message": message}}),
                None => json!({"summary": {}}),
            };
        }
    }
    checks
}

fn status(draw: &mut Draw) -> Value {
    let mut status = fixture(STATUS);
    let states = [
        "active+clean",
        "active+recovering+degraded",
        "active+recovery_wait",
        "active+backfilling",
        "active+remapped+backfill_wait",
        "active+clean+scrubbing+deep",
        "active+clean+scrubbing",
    ];
    let states = states.iter().filter(|_| draw.one_in(2));
    let states: Vec<&&str> = states.collect();
    let states = states.into_iter().map(|name| match draw.one_in(6) {
        true => json!({"state_name": name}),
        false => json!({"state_name": name, "count": draw.pick(&[0, 1, 7])}),
    });
    status["pgmap"]["pgs_by_state"] = states.collect();
    status["pgmap"]["num_objects"] = json!(draw.maybe(&[4250, 10_000_001]));
    status["quorum_names"] = json!(["ceph1", "ceph2"]);
    status["mgrmap"]["active_name"] = json!("ceph1.xyzabc");
    status["monmap"]["mons"] = json!([{"name": "ceph3"}]);
    status["health"]["checks"] = checks(draw);
    status
}

fn osd_perf(draw: &mut Draw) -> Value {
    let usual = draw.pick(&[0.0, 2.0, 50.0, 100.0, 100.1, 250.0]);
    let count = 1 + draw.below(6);
    let mut infos = Vec::new();
    for id in 0..count {
        let times = draw.pick(&[1.0, 1.0, 1.0, 1.05, 0.95, 2.0, 2.1, 9.0]);
        let ms = usual * times;
        let stats = match draw.below(8) {
            0 => json!({}),
            1..4 => json!({"commit_latency_ms": ms}),
            _ => json!({"commit_latency_ms": 1.0, "commit_latency_ns": ms * 1e6}),
        };
        infos.push(json!({"id": id, "perf_stats": stats}));
    }
    match draw.one_in(2) {
        true => json!({"osd_perf_infos": infos}),
        false => json!({"osdstats": {"osd_perf_infos": infos}}),
    }
}

fn osd_df(draw: &mut Draw) -> Value {
    let nodes = (0..4).map(|id| {
        let used = draw.pick(&[0.0, 40.0, 79.9, 80.0, 80.1, 97.0]);
        json!({"id": id, "name": format!("osd.{id}"), "utilization": used})
    });
    json!({"nodes": nodes.collect::<Vec<Value>>()})
}

fn df(draw: &mut Draw) -> Value {
    let pools = (0..draw.below(3)).map(|id| {
        let objects = draw.maybe(&[7, 10_000_000]);
        json!({"name": format!("pay{id}"), "id": id, "stats": {"objects": objects}})
    });
    let pools: Vec<Value> = pools.collect();
    let used = draw.maybe(&[0.5, 0.8, 0.81]);
    json!({"stats": {"total_bytes": 1, "total_used_raw_ratio": used}, "pools": pools})
}

fn counters(draw: &mut Draw) -> Value {
    let mut dump = fixture(COUNTERS);
    for key in [
        "op_latency",
        "op_r_latency",
        "op_w_latency",
        "op_rw_latency",
    ] {
        let count = draw.pick(&[0, 1, 1000]);
        let sum = draw.pick(&[0.0, 1.0, 2.0, 130.0]);
        dump["osd"][key] = match draw.one_in(6) {
            true => json!({"avgcount": count}),
            false => json!({"avgcount": count, "sum": sum}),
        };
    }
    let waited = draw.pick(&[0.0, 0.49, 0.5, 0.51, 1.0, 65.0, 66.0, 120.0]);
    dump["osd"]["op_before_dequeue_op_lat"] = json!({"avgcount": 5, "sum": waited});
    dump["bluefs"]["slow_used_bytes"] = json!(draw.pick(&[0, 1, 1 << 30]));
    dump["bluefs"]["db_total_bytes"] = json!(draw.pick(&[0, 1, 1 << 30]));
    if draw.one_in(2) {
        dump["rgw"]["get_initial_lat"] = json!({"avgcount": draw.below(2), "sum": 6.0});
        dump["rgw"]["put_initial_lat"] = json!({"avgcount": 4, "sum": draw.pick(&[0.0, 9.0])});
    }
    dump
}

fn operations(draw: &mut Draw) -> Value {
    let mut dump = fixture(OPERATIONS);
    let factor = draw.pick(&[0.0, 1.0, 10.0]);
    let stretch = draw.below(3);
    for operation in dump["ops"].as_array_mut().into_iter().flatten() {
        operation["duration"] = json!(factor * draw.pick(&[0.1, 2.9, 3.0, 3.1]));
        let Some(events) = operation["type_data"]["events"].as_array_mut() else {
            continue;
        };
        for event in events.iter_mut() {
            let name = event["event"].as_str().unwrap_or("").to_owned();
            // Later from the queue on, so that the wait there is a larger share.
            let after = stretch * u64::from(name.contains("reached_pg"));
            let second = 10 + after + draw.below(2);
            event["time"] = match draw.below(5) {
                0 => json!(format!("2026-11-21 12:55:{second}.25")),
                1 => json!("soon"),
                _ => json!(format!("2026-11-21T12:55:{second}.622244+0000")),
            };
            if draw.one_in(4) {
                event["event"] = json!("waiting for subops from 3,7");
            }
        }
    }
    if draw.one_in(3) {
        dump["Ops"] = dump["ops"].take();
        if let Some(dump) = dump.as_object_mut() {
            dump.remove("ops");
        }
    }
    dump
}

fn dump(draw: &mut Draw, kind: u64) -> CephDump {
    match kind {
        0 => CephDump::Status(status(draw)),
        1 => CephDump::Health(json!({"status": "HEALTH_WARN", "checks": checks(draw)})),
        2 => CephDump::OsdPerf(osd_perf(draw)),
        3 => CephDump::OsdDf(osd_df(draw)),
        4 => CephDump::Df(df(draw)),
        5 => CephDump::Operations(operations(draw)),
        _ => CephDump::Counters(counters(draw)),
    }
}

fn push(said: &mut String, title: &str, look: &ClusterLook, dumps: &[CephDump], in_words: bool) {
    let readings: Vec<_> = dumps.iter().flat_map(ceph_readings).collect();
    let unnamed = anonymised_cluster(look.clone(), dumps);
    let digests = [
        of_document(look),
        of_document(&readings),
        of_document(&unnamed),
    ];
    let _ = writeln!(said, "{title}: {}", digests.join(" "));
    for (finding, unnamed) in look.findings.iter().zip(&unnamed.findings) {
        if in_words {
            let _ = writeln!(
                said,
                "  {} {}: {}",
                finding.severity, finding.rule, finding.found
            );
            let _ = writeln!(said, "    {}", unnamed.found);
        }
    }
    for note in look.notes.iter().filter(|_| in_words) {
        let _ = writeln!(said, "  + {note}");
    }
}

#[test]
fn what_is_said_of_drawn_dumps_of_ceph_is_as_kept() {
    let mut said = String::new();
    for case in 0..260 {
        let mut draw = Draw::of(0xCE94, case);
        let mut dumps = vec![dump(&mut draw, case % 7)];
        // Dumps of one cluster are judged together.
        if draw.one_in(3) {
            let kind = draw.below(7);
            dumps.push(dump(&mut draw, kind));
        }
        for dump in &dumps {
            let text = of_text(&format!("{dump:?}"));
            let _ = writeln!(said, "{} {text}", dump.source());
            if case < 70 && !matches!(dump, CephDump::Operations(_)) {
                recognised(dump);
            }
        }
        let look = judge_ceph(&dumps);
        push(&mut said, &format!("case {case}"), &look, &dumps, case < 42);
    }
    is_as_kept("ceph.txt", &said);
}

/// Text of a dump is recognised as what it is.
fn recognised(dump: &CephDump) {
    let (CephDump::Status(value)
    | CephDump::Health(value)
    | CephDump::OsdPerf(value)
    | CephDump::OsdDf(value)
    | CephDump::Df(value)
    | CephDump::Operations(value)
    | CephDump::Counters(value)) = dump;
    let found = parse_ceph(&format!("\u{feff} {value}"));
    assert_eq!(found.map(|found| found.source()), Some(dump.source()));
}

#[test]
fn dumps_are_told_apart_by_what_is_in_them() {
    let source = |value: Value| parse_ceph(&value.to_string()).map(|dump| dump.source());
    assert_eq!(source(json!({"pgmap": {}})), None);
    assert_eq!(source(json!({"health": {}})), None);
    assert_eq!(source(json!({"checks": {}})), None);
    assert_eq!(source(json!({"status": ""})), None);
    assert_eq!(source(json!({"stats": {"total_bytes": 1}})), None);
    assert_eq!(source(json!({"pools": []})), None);
    let health = json!({"checks": {}, "status": "HEALTH_OK"});
    assert_eq!(source(health), Some("ceph health detail"));
    let gateway = json!({"rgw": {"get_initial_lat": {}}});
    assert_eq!(source(gateway), Some("perf dump"));
    let osd = json!({"osd": {"op_latency": {}}});
    assert_eq!(source(osd), Some("perf dump"));
    for key in ["ops", "Ops"] {
        let mut dump = json!({});
        dump[key] = json!([{"initiated_at": ""}]);
        assert_eq!(source(dump), Some("dump_historic_ops"));
    }
    assert_eq!(parse_ceph("[]"), None);
    assert_eq!(parse_ceph("{"), None);
}

#[test]
fn a_dump_that_would_fill_the_memory_is_none() {
    let of = |count: usize| {
        let many = vec![r#"{"":0}"#; count].join(",");
        let text = format!(r#"{{"checks": {{}}, "status": [{many}]}}"#);
        parse_ceph(&text).is_some()
    };
    assert!(of(1000));
    assert!(!of(300_000));
}

fn brick(draw: &mut Draw, number: u64) -> BrickLoad {
    let slow = draw.pick(&[1.0, 1.0, 1.0, 1.02, 0.97, 2.0, 2.2, 8.0]);
    let mut calls = Vec::new();
    for (name, mean_ns) in [("LOOKUP", 1e5), ("WRITE", 1e6), ("READ", 3e5)] {
        let count = draw.pick(&[0, 1, 99, 100, 101, 1000, 1100]);
        let mean_ns = if draw.one_in(8) { 0.0 } else { slow * mean_ns };
        if !draw.one_in(6) {
            calls.push(GlusterCalls {
                name: name.to_owned(),
                calls: count,
                time_ns: mean_ns * count as f64,
            });
        }
    }
    let sizes = [32, 2048, 4096, 131_072].iter().map(|bytes| SizeCount {
        from_bytes: *bytes,
        count: draw.pick(&[0, 1, 50]),
    });
    BrickLoad {
        name: format!("filer{number}:/export/b{number}"),
        writes: sizes.collect(),
        calls,
    }
}

#[test]
fn what_is_said_of_drawn_bricks_is_as_kept() {
    let mut said = String::new();
    for case in 0..200 {
        let mut draw = Draw::of(0x6105, case);
        let count = draw.below(7);
        let bricks = (0..count).map(|number| brick(&mut draw, number));
        let bricks: Vec<BrickLoad> = bricks.collect();
        let sources = vec!["volume profile /home/me/b.txt".to_owned()];
        let look = judge_bricks(sources, &bricks);
        push(&mut said, &format!("case {case}"), &look, &[], case < 25);
    }
    is_as_kept("gluster.txt", &said);
}
