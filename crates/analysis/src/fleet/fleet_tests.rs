//! Hosts beside one another.

use fathom_model::fingerprint::{FilesystemFacts, Fingerprint, TargetFingerprint};
use fathom_model::fleet::{FleetHost, HostClock, StartReport};
use fathom_model::host_load::{HostLoad, LinkLoad};
use fathom_model::run::TrialRecord;
use fathom_model::verdict::Finding;

use super::*;
use crate::judge;
use crate::test_records::{RecordBuilder, run_of};

/// A run of one workload on hosts with these rates.
fn run(rates: &[u64], edit: impl Fn(usize, &mut TrialRecord)) -> RunRecord {
    let trials = rates.iter().enumerate().map(|(place, rate)| {
        let mut builder = RecordBuilder::reads();
        builder.ops_per_second = *rate;
        let mut trial = builder.trial();
        trial.spec.host = Some(place as u32);
        trial.spec.together = Some(0);
        trial.spec.label = format!("randread on h{place}");
        if let Some(end) = &mut trial.end {
            end.load_started_ns = Some(0);
            end.start = Some(StartReport {
                lateness_ns: 40_000 * place as u64,
                clock: Some(HostClock {
                    offset_ns: 5_000_000_000,
                    uncertainty_ns: 30_000,
                    wall_offset_ns: 0,
                }),
            });
        }
        edit(place, &mut trial);
        trial
    });
    let mut record = run_of(trials.collect(), Fingerprint::default());
    let host = |place| FleetHost {
        name: format!("h{place}"),
        fingerprint: RecordBuilder::reads().host,
        ..FleetHost::default()
    };
    record.meta.hosts = (0..rates.len()).map(host).collect();
    record
}

fn finding(run: &JudgedRun, id: &str) -> Finding {
    let mut findings = run.verdict.findings.iter();
    findings.find(|f| f.id == id).unwrap().clone()
}

#[test]
fn hosts_that_work_alike_pass() {
    let judged = judge(&run(&[50_000; 4], |_, _| {}));
    let fleet = judged.fleet.as_ref().unwrap();
    assert_eq!(fleet.workloads.len(), 1);
    let workload = &fleet.workloads[0];
    assert_eq!(workload.label, "randread");
    assert_eq!(workload.hosts.len(), 4);
    assert!(workload.hosts.iter().all(|host| host.slow.is_none()));
    let turn = &workload.turns[0];
    assert_eq!(turn.start_skew_ns, Some(120_000));
    assert_eq!(turn.clock_uncertainty_ns, 30_000);
    assert_eq!(turn.common_share, Some(1.0));
    let (first, last) = (turn.first_finisher.unwrap(), turn.last_finisher.unwrap());
    assert_eq!((first.ops, first.after_ns), (last.ops, last.after_ns));
    let sum = judged.sets[0].sum.as_ref().unwrap();
    let all: u64 = sum.ops.iter().map(|op| op.ops).sum();
    assert_eq!(first.ops, all);
    for id in ["V40", "V41", "V43", "V46"] {
        let found = finding(&judged, id);
        assert_eq!(found.status, FindingStatus::Pass, "{found:?}");
    }
}

#[test]
fn a_slow_host_is_named_with_what_it_says_of_itself() {
    let judged = judge(&run(&[50_000, 50_000, 20_000], |place, trial| {
        for observation in &mut trial.observations {
            if let (2, Some(pressure)) = (place, &mut observation.pressure) {
                pressure.io_some_ns = observation.duration_ns / 2;
            }
        }
    }));
    let found = finding(&judged, "V41");
    assert_eq!(found.status, FindingStatus::Caveat);
    assert!(
        found.evidence.starts_with("h2: 40 % of the median"),
        "{found:?}"
    );
    assert!(found.evidence.contains("waited for I/O 50 %"), "{found:?}");
    assert_ne!(judged.verdict.validity, Validity::Trusted);
}

#[test]
fn a_host_that_ends_early_shortens_the_window() {
    let judged = judge(&run(&[50_000, 50_000], |place, trial| {
        if place == 1 {
            trial.samples.truncate(30);
        }
    }));
    let turn = &judged.fleet.as_ref().unwrap().workloads[0].turns[0];
    assert_eq!(turn.common_share, Some(0.5));
    let (first, last) = (turn.first_finisher.unwrap(), turn.last_finisher.unwrap());
    assert_eq!((first.host, first.after_ns), (1, 30_000_000_000));
    assert_eq!((last.host, last.after_ns), (0, 60_000_000_000));
    assert!(first.ops_per_second > last.ops_per_second * 1.2);
    assert_eq!(finding(&judged, "V40").status, FindingStatus::Caveat);
}

#[test]
fn a_late_start_is_a_caveat_of_its_own() {
    let judged = judge(&run(&[50_000, 50_000], |place, trial| {
        let start = trial.end.as_mut().and_then(|end| end.start.as_mut());
        if let (1, Some(start)) = (place, start) {
            start.lateness_ns = 15_000_000;
        }
    }));
    let found = finding(&judged, "V40");
    assert_eq!(found.status, FindingStatus::Caveat);
    assert!(found.evidence.contains("within 15.0 ms"), "{found:?}");
}

#[test]
fn different_hosts_and_different_places_are_told() {
    let mut record = run(&[50_000; 3], |place, trial| {
        let filesystem = FilesystemFacts {
            kind: if place == 2 { "ext4" } else { "nfs4" }.to_owned(),
            source: "server:/export".to_owned(),
            ..FilesystemFacts::default()
        };
        trial.target_before = Some(TargetFingerprint {
            filesystem: Some(filesystem),
            ..TargetFingerprint::default()
        });
    });
    record.meta.hosts[1].fingerprint.kernel = "6.1.0-odd".to_owned();
    let judged = judge(&record);
    let differ = finding(&judged, "V46");
    assert_eq!(differ.status, FindingStatus::Caveat);
    assert!(differ.evidence.contains("6.1.0-odd on h1"), "{differ:?}");
    let place = finding(&judged, "V43");
    assert_eq!(place.status, FindingStatus::Invalid);
    assert!(
        place
            .evidence
            .contains("nfs4 from server:/export on h0, h1"),
        "{place:?}"
    );
    assert_eq!(judged.verdict.validity, Validity::NotTrusted);
}

#[test]
fn a_link_that_is_full_is_the_limit_and_other_links_are_a_difference() {
    let with_links = |bytes: u64| {
        let mut record = run(&[50_000, 50_000], |place, trial| {
            let Some(end) = &mut trial.end else {
                return;
            };
            let link = LinkLoad {
                interface: "eth0".to_owned(),
                speed_bits: Some(10_000_000_000),
                received_bytes: if place == 1 { bytes } else { 1_000 },
                lost_frames: place as u64 * 7,
                ..LinkLoad::default()
            };
            end.host = Some(HostLoad {
                duration_ns: 10_000_000_000,
                links: vec![link],
                ..HostLoad::default()
            });
        });
        for (host, mtu) in record.meta.hosts.iter_mut().zip(["MTU 9000", "MTU 1500"]) {
            let facts = &mut host.fingerprint.facts;
            facts.insert("links".to_owned(), mtu.to_owned());
        }
        judge(&record)
    };
    let full = with_links(11_800_000_000);
    let found = finding(&full, "V42");
    assert_eq!(found.status, FindingStatus::Caveat, "{found:?}");
    assert!(
        found
            .evidence
            .contains("h1: eth0 received 9.44 of 10.00 Gbit/s (94 %)"),
        "{found:?}"
    );
    assert!(
        found.evidence.contains("h1: eth0 lost 7 frames"),
        "{found:?}"
    );
    let differ = finding(&full, "V46");
    assert!(
        differ
            .evidence
            .contains("network: MTU 1500 on h1, MTU 9000 on h0"),
        "{differ:?}"
    );
    let idle = with_links(1_000_000);
    assert_eq!(finding(&idle, "V42").status, FindingStatus::Pass);
}

#[test]
fn devices_of_the_same_name_on_two_hosts_are_two() {
    let judged = judge(&run(&[50_000, 50_000], |_, _| {}));
    // Each device delivers what its own trial reads, not the sum of both.
    for trial in &judged.trials {
        let bytes = trial
            .verdict
            .findings
            .iter()
            .find(|f| f.id == "V01")
            .unwrap();
        assert_eq!(bytes.status, FindingStatus::Pass, "{bytes:?}");
    }
}
