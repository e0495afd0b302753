use fathom_model::verdict::FindingStatus::{Info, Invalid, NotMeasured, Pass};
use fathom_model::verdict::Limiter;

use crate::test_records::RecordBuilder;

fn limited(facts: &[(&str, &str)]) -> RecordBuilder {
    RecordBuilder::reads().drive_facts(facts, &[])
}

#[test]
fn a_control_groups_limit_that_was_reached_is_named() {
    let reached = limited(&[
        ("cgroup_read_ops", "1000"),
        ("cgroup_read_ops_group", "/bench"),
    ]);
    let judged = crate::judge(&reached.run());
    let verdict = &judged.trials[0].verdict;
    assert_eq!(verdict.limiter, Limiter::Cap);
    for part in ["1,000 reads/s", "nvme0n1", "/bench"] {
        assert!(
            verdict.limiter_evidence.contains(part),
            "{}",
            verdict.limiter_evidence
        );
    }
    assert_eq!(reached.status("V38"), Some(Info));
    let bytes = limited(&[("cgroup_read_bytes", "4096000")]);
    assert_eq!(bytes.limiter(), Limiter::Cap);
}

#[test]
fn a_limit_that_is_met_goes_before_foreign_load() {
    let beside_others = |limit: &str| {
        limited(&[("cgroup_read_ops", limit)])
            .with(|b| b.foreign_read_bytes = 8_000_000)
            .edit(|t| {
                // The workload's own rate stays what the limit lets through.
                t.observations.iter_mut().for_each(|o| o.own = None);
            })
    };
    let met = beside_others("1000");
    assert_eq!(met.status("V30"), Some(Invalid));
    let judged = crate::judge(&met.run());
    let verdict = &judged.trials[0].verdict;
    assert_eq!(verdict.limiter, Limiter::Cap);
    for part in ["1,000 reads/s", "V30"] {
        let text = &verdict.limiter_evidence;
        assert!(text.contains(part), "{text}");
    }
    // Near is not met: the others may have taken the rest.
    assert_eq!(beside_others("1045").limiter(), Limiter::ForeignLoad);
    assert_eq!(beside_others("5000").limiter(), Limiter::ForeignLoad);
    // In four seconds one slice of the kernel's throttle is a fortieth.
    let short = beside_others("1045").with(|b| b.seconds = 4);
    assert_eq!(short.limiter(), Limiter::Cap);
}

#[test]
fn limits_that_do_not_bind_are_not_named() {
    for facts in [
        [("cgroup_read_ops", "1200")],
        [("cgroup_read_ops", "800")],
        [("cgroup_write_ops", "1000")],
        [("cgroup_read_bytes", "9000000")],
    ] {
        let trial = limited(&facts);
        assert_eq!(trial.limiter(), Limiter::Unknown, "{facts:?}");
        assert_eq!(trial.status("V38"), Some(Pass), "{facts:?}");
    }
    // Read-ahead moves more than the workload asks for.
    let buffered = limited(&[("cgroup_read_ops", "1000")]).buffered();
    assert_eq!(buffered.limiter(), Limiter::Unknown);
}

#[test]
fn a_cloud_volume_that_counts_its_time_at_the_limit_is_believed() {
    let name = "cloud_volume_iops_exceeded_us";
    let at_limit = |us: &str| RecordBuilder::reads().drive_facts(&[(name, "5")], &[(name, us)]);
    assert_eq!(at_limit("55000005").limiter(), Limiter::Cap);
    assert_eq!(
        at_limit("2000005").limiter(),
        Limiter::Unknown,
        "2 s of 60 s"
    );
    assert_eq!(at_limit("2000005").status("V38"), Some(Info));
    assert_eq!(at_limit("5").status("V38"), Some(Pass));
}

#[test]
fn without_facts_nothing_is_measured() {
    assert_eq!(RecordBuilder::reads().status("V38"), Some(Pass));
    let unknown = RecordBuilder::reads().with(|b| b.fingerprint = None);
    assert_eq!(unknown.status("V38"), Some(NotMeasured));
}
