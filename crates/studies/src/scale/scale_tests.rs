//! Studies of records whose truth is known.

use fathom_analysis::test_records::{RecordBuilder, run_of};
use fathom_model::fingerprint::Fingerprint;
use fathom_model::fleet::FleetHost;
use fathom_model::run::TrialRecord;

use super::*;
use crate::judge;

const NUMBERS: [u32; 3] = [1, 2, 4];

/// What one of so many hosts does, in a block.
fn run(rate: impl Fn(u32, u32) -> u64) -> RunRecord {
    let mut trials: Vec<TrialRecord> = Vec::new();
    for block in 0..3 {
        for (number, hosts) in (0..).zip(NUMBERS) {
            for host in 0..hosts {
                let mut builder = RecordBuilder::reads();
                builder.ops_per_second = rate(hosts, block);
                let mut trial = builder.trial();
                trial.spec.host = Some(host);
                trial.spec.together = Some(block * 3 + number);
                trial.spec.iteration = block;
                trial.spec.row = number * 4 + host;
                trial.spec.label = format!("rand by {hosts} on h{host}");
                if let Some(end) = &mut trial.end {
                    end.load_started_ns = Some(0);
                }
                trials.push(trial);
            }
        }
    }
    let mut record = run_of(trials, Fingerprint::default());
    let host = |place| FleetHost {
        name: format!("h{place}"),
        fingerprint: RecordBuilder::reads().host,
        ..FleetHost::default()
    };
    record.meta.hosts = (0..4).map(host).collect();
    record.meta.schedule.purpose = Purpose::Scale {
        numbers: NUMBERS.to_vec(),
        blocks: 3,
    };
    record
}

#[test]
fn hosts_that_share_a_bottleneck_follow_the_law_that_made_them() {
    // Contention of 20 %; every block a little faster.
    let record = run(|hosts, block| {
        let cost = 1.0 + 0.2 * (f64::from(hosts) - 1.0);
        ((10_000.0 + 500.0 * f64::from(block)) / cost) as u64
    });
    let judged = judge(&record);
    let study = judged.scale.unwrap();
    assert_eq!(study.operations.len(), 1);
    let reads = &study.operations[0];
    assert_eq!((reads.label.as_str(), reads.kind), ("rand", OpKind::Read));
    let hosts: Vec<u32> = reads.points.iter().map(|point| point.hosts).collect();
    assert_eq!(hosts, NUMBERS);
    let last = &reads.points[2];
    let efficiency = last.efficiency.value.unwrap();
    assert!((efficiency - 1.0 / 1.6).abs() < 0.01, "{efficiency}");
    assert!(last.speed_up.low <= last.speed_up.value);
    let law = reads.law.as_ref().unwrap();
    assert!((law.sigma.value.unwrap() - 0.2).abs() < 0.01, "{law:?}");
    assert!(law.kappa.value.unwrap().abs() < 0.005, "{law:?}");
    assert!((law.rate(2.0).unwrap() - 17_500.0).abs() < 300.0, "{law:?}");
    assert_eq!(reads.saturation.as_ref().unwrap().from_hosts, 4);
    assert!(
        study.answers[0].contains("4 hosts reach"),
        "{:?}",
        study.answers
    );
}

#[test]
fn hosts_that_share_nothing_are_not_called_saturated() {
    let judged = judge(&run(|_, _| 10_000));
    let study = judged.scale.unwrap();
    let reads = &study.operations[0];
    assert_eq!(reads.saturation, None);
    let efficiency = reads.points[2].efficiency.value.unwrap();
    assert!((efficiency - 1.0).abs() < 0.01, "{efficiency}");
}

#[test]
fn three_numbers_of_hosts_never_have_a_best_one() {
    // A curve with its maximum near two hosts, without scatter.
    let peaked = run(|hosts, _| {
        let n = f64::from(hosts);
        (10_000.0 / (1.0 + 0.1 * (n - 1.0) + 0.2 * n * (n - 1.0))) as u64
    });
    let study = judge(&peaked).scale.unwrap();
    let reads = &study.operations[0];
    assert_eq!(reads.law.as_ref().unwrap().peak_hosts, None);
    let said = study.answers.join("\n");
    assert!(said.contains("follows the scalability law"), "{said}");
    assert!(
        said.contains("needs 5 different numbers of hosts"),
        "{said}"
    );
    assert!(!said.contains("hosts are the best"), "{said}");
}

#[test]
fn a_negative_cost_never_follows_the_law() {
    // Two and four hosts do more than twice and four times as much as one.
    let study = judge(&run(|hosts, _| match hosts {
        1 => 10_000,
        2 => 14_000,
        _ => 20_000,
    }));
    let study = study.scale.unwrap();
    let reads = &study.operations[0];
    assert_eq!(reads.law, None);
    let said = study.answers.join("\n");
    assert!(said.contains("a cost cannot be negative"), "{said}");
    assert!(!said.contains("follows"), "{said}");
}

#[test]
fn a_cost_that_may_be_nothing_is_not_called_a_law() {
    let study = judge(&run(|_, block| 10_000 + 40 * u64::from(block)));
    let said = study.scale.unwrap().answers.join("\n");
    let negative = said.contains("contention -") || said.contains("coherency -");
    assert!(!(negative && said.contains("follows")), "{said}");
}

#[test]
fn a_block_in_which_a_host_was_lost_does_not_count() {
    let mut record = run(|_, _| 10_000);
    let lost = record.trials.iter_mut();
    let mut lost = lost.filter(|t| t.spec.iteration == 1 && t.spec.label.contains("by 4"));
    lost.next().unwrap().state = RunState::Interrupted;
    let study = judge(&record).scale.unwrap();
    let last = &study.operations[0].points[2];
    let known: Vec<bool> = last.of_blocks.iter().map(Option::is_some).collect();
    assert_eq!(known, [true, false, true]);
    assert!(study.operations[0].law.is_some());
}

#[test]
fn nothing_measured_is_said() {
    let mut record = run(|_, _| 1);
    record.trials.clear();
    let study = judge(&record).scale.unwrap();
    assert_eq!(study.answers, ["nothing was measured"]);
}

#[test]
fn rates_that_any_cost_fits_give_no_law() {
    let study = judge(&run(|hosts, block| match (block % 2, hosts) {
        (0, 2) => 30,
        (0, 4) => 90_000,
        (1, 2) => 90_000,
        (1, 4) => 30,
        _ => 10_000,
    }));
    let study = study.scale.unwrap();
    let reads = &study.operations[0];
    assert_eq!(reads.law, None);
    let said = study.answers.join("\n");
    assert!(
        said.contains("scatter too much for a scalability law"),
        "{said}"
    );
    let text = serde_json::to_string(&study).unwrap();
    assert!(
        !text.contains("\"low\":null,\"high\":null,\"reason\":null"),
        "{text}"
    );
}

#[test]
fn agents_on_one_machine_are_not_counted_as_hosts() {
    let mut record = run(|hosts, _| 10_000 / u64::from(hosts));
    for host in &mut record.meta.hosts {
        let facts = &mut host.fingerprint.facts;
        facts.insert(BOOT_ID.to_owned(), "one kernel".to_owned());
    }
    let study = judge(&record).scale.unwrap();
    assert_eq!(study.machines, Some(1));
    let points = &study.operations[0].points;
    assert_eq!(points[0].speed_up.value, Some(1.0));
    assert_eq!(
        (points[2].speed_up.value, points[2].efficiency.value),
        (None, None)
    );
    assert_eq!(
        (&study.operations[0].law, &study.operations[0].saturation),
        (&None, &None)
    );
    let said = study.answers.join("\n");
    assert!(said.starts_with("the agents ran on one machine"), "{said}");
    assert!(
        said.contains("4 agents reach") && !said.contains("efficiency"),
        "{said}"
    );
    // Each on a machine of its own.
    for (place, host) in record.meta.hosts.iter_mut().enumerate() {
        let facts = &mut host.fingerprint.facts;
        facts.insert(BOOT_ID.to_owned(), format!("kernel {place}"));
    }
    let study = judge(&record).scale.unwrap();
    assert_eq!(study.machines, None);
    assert!(study.operations[0].points[2].speed_up.value.is_some());
}

#[test]
fn a_speed_up_that_could_be_anything_is_not_printed() {
    let study = judge(&run(|hosts, block| match (hosts, block) {
        (1, 0) => 10_000,
        (1, _) => 20_000,
        (_, 1) => 45_000,
        _ => 30_000,
    }));
    let study = study.scale.unwrap();
    let point = &study.operations[0].points[1];
    assert_eq!(point.speed_up.value, None, "{point:?}");
    assert!(point.speed_up.reason.as_ref().unwrap().contains("--blocks"));
    assert!(!study.answers.join("\n").contains("efficiency"));
}
