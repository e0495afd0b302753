use fathom_model::cluster::{BrickLoad, SizeCount};
use fathom_model::gluster::GlusterCalls;

use super::*;

fn brick(name: &str, lookup_ns: f64, write_ns: f64) -> BrickLoad {
    let calls = |name: &str, calls: u64, mean: f64| GlusterCalls {
        name: name.to_owned(),
        calls,
        time_ns: mean * calls as f64,
    };
    BrickLoad {
        name: name.to_owned(),
        calls: vec![
            calls("LOOKUP", 900, lookup_ns),
            calls("WRITE", 100, write_ns),
        ],
        writes: vec![
            SizeCount {
                from_bytes: 32,
                count: 90,
            },
            SizeCount {
                from_bytes: 131_072,
                count: 10,
            },
        ],
    }
}

fn rules(look: &ClusterLook) -> Vec<&str> {
    look.findings
        .iter()
        .map(|finding| finding.rule.as_str())
        .collect()
}

#[test]
fn a_slow_brick_lookups_and_small_writes_are_named() {
    let mut bricks: Vec<BrickLoad> = (0..5)
        .map(|n| brick(&format!("h{n}:/b"), 1e5 + f64::from(n) * 1e3, 1e6))
        .collect();
    bricks.push(brick("h9:/b", 8e5, 8e6));
    let look = judge_bricks(vec!["profile".to_owned()], &bricks);
    assert_eq!(
        rules(&look),
        ["lookup-share", "small-writes", "slow-member"]
    );
    assert!(
        look.findings[2].found.starts_with("h9:/b takes 7."),
        "{}",
        look.findings[2].found
    );
    let operations: f64 = look.operations.iter().map(|one| one.time_share).sum();
    assert!((operations - 1.0).abs() < 1e-9);
    assert_eq!(look.members.iter().filter(|member| member.slow).count(), 1);
    bricks.pop();
    assert!(!rules(&judge_bricks(Vec::new(), &bricks)).contains(&"slow-member"));
    assert!(!judge_bricks(Vec::new(), &[]).notes.is_empty());
}

#[test]
fn dumps_of_a_healthy_cluster_say_nothing_against_it() {
    let text = include_str!("../../tests/fixtures/ceph/status.json");
    let status = parse_ceph(text).unwrap();
    assert_eq!(status.source(), "ceph status");
    let health = parse_ceph(include_str!("../../tests/fixtures/ceph/health.json")).unwrap();
    let perf = parse_ceph(include_str!("../../tests/fixtures/ceph/osd-perf.json")).unwrap();
    let look = judge_ceph(&[status.clone(), health, perf]);
    assert!(look.findings.is_empty(), "{:?}", look.findings);
    assert_eq!(look.members[0].name, "osd.0");
    let objects = ceph_readings(&status);
    assert!(
        objects
            .iter()
            .any(|r| r.quantity == "cluster_chunks" && r.value == 4250.0)
    );
}

#[test]
fn slow_operations_recovery_and_a_slow_osd_are_named() {
    let text = include_str!("../../tests/fixtures/ceph/status.json");
    let mut value: serde_json::Value = serde_json::from_str(text).unwrap();
    value["health"]["checks"] = serde_json::json!({"SLOW_OPS": {"severity": "HEALTH_WARN",
        "summary": {"message": "12 slow ops, oldest one blocked for 34 sec", "count": 12}}});
    value["pgmap"]["pgs_by_state"] = serde_json::json!([
        {"state_name": "active+clean", "count": 70},
        {"state_name": "active+recovering+degraded", "count": 8},
        {"state_name": "active+clean+scrubbing+deep", "count": 3}]);
    let status = parse_ceph(&value.to_string()).unwrap();
    let latencies = [2.0, 3.0, 2.0, 2.5, 40.0].iter().enumerate();
    let infos: Vec<_> = latencies
        .map(|(id, ms)| serde_json::json!({"id": id, "perf_stats": {"commit_latency_ms": ms}}))
        .collect();
    let perf = serde_json::json!({"osd_perf_infos": infos}).to_string();
    let readings = ceph_readings(&status);
    let of = |name: &str| readings.iter().find(|r| r.quantity == name).unwrap().value;
    assert_eq!((of("slow_operations"), of("recovery")), (12.0, 11.0));
    let look = judge_ceph(&[status, parse_ceph(&perf).unwrap()]);
    assert_eq!(
        rules(&look),
        ["slow-operations", "slow-member", "work-of-its-own"]
    );
    assert!(
        look.findings[1].found.starts_with("osd.4 commits in 40"),
        "{:?}",
        look.findings
    );
    assert!(look.findings[2].found.contains("8 recovering, 3 scrubbing"));
}

#[test]
fn historic_operations_say_where_they_waited() {
    let text = include_str!("../../tests/fixtures/ceph/historic-ops.json");
    let look = judge_ceph(&[parse_ceph(text).unwrap()]);
    assert!(look.steps[0].share > 0.3, "{:?}", look.steps);
    // One event of that version claims to last four billion seconds.
    assert!(
        look.steps.iter().all(|step| step.time_ns < 60e9),
        "{:?}",
        look.steps
    );
    assert_eq!(rules(&look), ["queue-wait"], "{:?}", look.steps);
}

#[test]
fn counters_of_an_osd_are_operations_by_share() {
    let text = include_str!("../../tests/fixtures/ceph/perf-dump.json");
    let look = judge_ceph(&[parse_ceph(text).unwrap()]);
    assert_eq!(look.operations[0].name, "write");
    assert_eq!(look.operations[0].calls, 31_697);
    assert!(look.operations[0].time_share > 0.99);
    assert!((look.operations[0].mean_ns / 42.155e6 - 1.0).abs() < 0.01);
}

proptest::proptest! {
    #[test]
    fn any_json_is_survived(text in "\\{(\"(ops|osd_perf_infos|nodes|checks|status|pgmap|health|osd)\": ?(\\[\\]|\\{\\}|null|-?[0-9]{1,20}|\\[\\{\"id\": [0-9]\\}\\]),?){0,4}\\}") {
        if let Some(dump) = parse_ceph(&text) {
            let _ = ceph_readings(&dump);
            proptest::prop_assert_eq!(judge_ceph(&[dump]).kind, "ceph");
        }
    }
}
