//! Schedules spread over hosts.

use fathom_model::host_mode::HostTurns;
use fathom_model::schedule::{Purpose, TrialRole};
use fathom_model::workload::{OpMix, Work};

use super::*;

fn trial(index: u32, together: Option<u32>, follows: Option<u32>) -> ScheduledTrial {
    ScheduledTrial {
        index,
        row: index,
        label: format!("t{index}"),
        seed: 7,
        together,
        follows,
        host: None,
        ..crate::test_trial::trial(fathom_model::Target::Null)
    }
}

fn schedule(trials: Vec<ScheduledTrial>) -> Schedule {
    Schedule {
        name: "test".to_owned(),
        seed: 7,
        destructive: false,
        keep_files: false,
        purpose: Purpose::Measure,
        trials,
        depth_probe: true,
        host_mode: HostMode::default(),
    }
}

fn host(name: &str) -> FleetHost {
    FleetHost {
        name: name.to_owned(),
        ..FleetHost::default()
    }
}

#[test]
fn a_missing_host_gets_no_trials() {
    let mut hosts = ["a", "b", "c"].map(host);
    hosts[1].lost = Some("it does not answer".to_owned());
    let spread = on_hosts(&schedule(vec![trial(0, None, None)]), &hosts).unwrap();
    let places: Vec<_> = spread.trials.iter().map(|t| (t.index, t.host)).collect();
    assert_eq!(places, [(0, Some(0)), (1, Some(2))]);
}

#[test]
fn each_trial_becomes_a_set_and_each_set_a_larger_one() {
    let alone = trial(0, None, None);
    let (first, second) = (trial(1, Some(4), None), trial(2, Some(4), Some(1)));
    let hosts = ["a", "b"].map(host);
    let spread = on_hosts(&schedule(vec![alone, first, second]), &hosts).unwrap();
    let facts: Vec<_> = spread
        .trials
        .iter()
        .map(|t| (t.index, t.label.as_str(), t.host, t.together, t.follows))
        .collect();
    assert_eq!(
        facts,
        [
            (0, "t0 on a", Some(0), Some(0), None),
            (1, "t0 on b", Some(1), Some(0), None),
            (2, "t1 on a", Some(0), Some(1), None),
            (3, "t2 on a", Some(0), Some(1), Some(2)),
            (4, "t1 on b", Some(1), Some(1), None),
            (5, "t2 on b", Some(1), Some(1), Some(4)),
        ]
    );
    let mut rows: Vec<u32> = spread.trials.iter().map(|t| t.row).collect();
    rows.sort_unstable();
    assert_eq!(rows, [0, 1, 2, 3, 4, 5]);
    assert_ne!(spread.trials[0].seed, spread.trials[1].seed);
    assert!(!spread.depth_probe);
}

#[test]
fn a_set_has_its_limit() {
    let hosts = vec![host("a"); MAX_TOGETHER + 1];
    let error = on_hosts(&schedule(vec![trial(0, None, None)]), &hosts)
        .unwrap_err()
        .to_string();
    assert!(error.contains("limit"), "{error}");
}

/// Reads, writes, or does both.
fn phase(index: u32, mix: OpMix) -> ScheduledTrial {
    let mut spec = trial(index, None, None);
    spec.workload.mix = mix;
    spec
}

fn hosts(count: usize) -> Vec<FleetHost> {
    (0..count).map(|n| host(&format!("h{n}"))).collect()
}

fn in_mode(trials: Vec<ScheduledTrial>, data: HostData, turns: HostTurns) -> Schedule {
    Schedule {
        host_mode: HostMode { data, turns },
        ..schedule(trials)
    }
}

#[test]
fn parts_of_one_data_set_are_numbered_among_those_who_work() {
    let mut hosts = hosts(3);
    hosts[0].lost = Some("away".to_owned());
    let plan = in_mode(
        vec![trial(0, None, None)],
        HostData::Divided,
        HostTurns::Together,
    );
    let spread = on_hosts(&plan, &hosts).unwrap();
    let parts = spread.trials.iter().map(|t| t.part.unwrap());
    let parts: Vec<_> = parts
        .map(|p| (p.whose, p.number, p.of, p.divided))
        .collect();
    assert_eq!(parts, [(1, 0, 2, true), (2, 1, 2, true)]);
}

#[test]
fn one_by_one_is_a_set_for_each_host_and_the_same_rows() {
    let plan = in_mode(
        vec![trial(0, None, None), trial(1, None, None)],
        HostData::Own,
        HostTurns::OneByOne,
    );
    let spread = on_hosts(&plan, &hosts(2)).unwrap();
    let facts = spread.trials.iter();
    let facts: Vec<_> = facts.map(|t| (t.together, t.host, t.row)).collect();
    let expected = [(0, 0, 0), (1, 1, 1), (2, 0, 2), (3, 1, 3)];
    let expected = expected.map(|(set, host, row)| (Some(set), Some(host), row));
    assert_eq!(facts, expected);
}

#[test]
fn growing_takes_more_hosts_and_other_rows_each_time() {
    let plan = in_mode(
        vec![trial(0, None, None)],
        HostData::Own,
        HostTurns::Growing,
    );
    let spread = on_hosts(&plan, &hosts(3)).unwrap();
    let sets: Vec<_> = spread.trials.iter().map(|t| t.together.unwrap()).collect();
    assert_eq!(sets, [0, 1, 1, 2, 2, 2]);
    let mut rows: Vec<u32> = spread.trials.iter().map(|t| t.row).collect();
    rows.dedup();
    assert_eq!(rows.len(), 6);
    assert_eq!(spread.trials[2].label, "t0 by 2 on h1");
}

#[test]
fn readers_before_any_writer_get_files_that_others_made() {
    let plan = in_mode(
        vec![phase(0, OpMix::READ)],
        HostData::Rotated,
        HostTurns::Together,
    );
    let spread = on_hosts(&plan, &hosts(2)).unwrap();
    let facts = spread.trials.iter();
    let facts: Vec<_> = facts
        .map(|t| (t.role, t.host.unwrap(), t.part.unwrap().whose))
        .collect();
    let (layout, measure) = (TrialRole::Precondition, TrialRole::Measure);
    assert_eq!(
        facts,
        [
            (layout, 0, 0),
            (layout, 1, 1),
            (measure, 0, 1),
            (measure, 1, 0)
        ]
    );
    let alone = on_hosts(&plan, &hosts(1)).unwrap_err().to_string();
    assert!(alone.contains("two hosts"), "{alone}");
}

#[test]
fn blocks_hold_every_number_once_and_differ_in_order() {
    let plan = schedule(vec![trial(0, None, None), trial(1, None, None)]);
    let numbers = [1, 2, 4, 8, 16];
    let spread = scaled(&plan, &hosts(16), &numbers, 6).unwrap();
    let mut orders = Vec::new();
    for block in 0..6 {
        let of_block = spread.trials.iter().filter(|t| t.iteration == block);
        let mut by_set: Vec<(u32, usize)> = Vec::new();
        for spec in of_block.filter(|t| t.label.starts_with("t0")) {
            match by_set.last_mut() {
                Some((set, count)) if Some(*set) == spec.together => *count += 1,
                _ => by_set.push((spec.together.unwrap(), 1)),
            }
        }
        let order: Vec<usize> = by_set.iter().map(|(_, count)| *count).collect();
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, numbers);
        orders.push(order);
    }
    orders.dedup();
    assert!(orders.len() > 2, "{orders:?}");
}

mod properties {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn nobody_reads_what_it_was_the_last_to_write(
            kinds in prop::collection::vec(0u8..3, 1..12),
            count in 2usize..7,
            alone in any::<bool>(),
        ) {
            let mixes = [OpMix::READ, OpMix::WRITE, OpMix { read_percent: 50, ..OpMix::WRITE }];
            let trials = kinds.iter().zip(0..).map(|(kind, index)| {
                let mut mix = mixes[usize::from(*kind)];
                mix.write_percent = 100 - mix.read_percent;
                phase(index, mix)
            });
            let turns = if alone { HostTurns::OneByOne } else { HostTurns::Together };
            let plan = in_mode(trials.collect(), HostData::Rotated, turns);
            let spread = on_hosts(&plan, &hosts(count)).unwrap();
            // Whose data were last written by whom.
            let mut writers: BTreeMap<u32, u32> = BTreeMap::new();
            let mut before = writers.clone();
            let mut set = None;
            for spec in &spread.trials {
                if set != spec.together {
                    before = writers.clone();
                    set = spec.together;
                }
                let (host, whose) = (spec.host.unwrap(), spec.part.unwrap().whose);
                if spec.role == TrialRole::Precondition {
                    writers.insert(whose, host);
                    continue;
                }
                if spec.workload.may_do(fathom_model::OpKind::Read) {
                    prop_assert_ne!(before.get(&whose), Some(&host));
                    prop_assert!(before.contains_key(&whose));
                }
                if spec.workload.may_modify() {
                    writers.insert(whose, host);
                }
            }
        }
    }
}

#[test]
fn of_those_that_wait_for_files_the_first_makes_them() {
    use fathom_model::OpKind;
    use fathom_model::workload::{MetaTree, MetaWork};

    let mut waits = trial(0, None, None);
    let work = MetaWork::new([(OpKind::AwaitCreate, 1)], MetaTree::flat(10, 100));
    waits.workload.work = Work::files(work);
    let mut hosts = ["a", "b", "c"].map(host);
    hosts[0].lost = Some("it does not answer".to_owned());
    let spread = on_hosts(&schedule(vec![waits.clone()]), &hosts).unwrap();
    let facts: Vec<_> = spread
        .trials
        .iter()
        .map(|t| {
            let meta = t.workload.files_work().unwrap();
            assert!(meta.stamped);
            let paced = t.workload.rate.is_some();
            (t.host, meta.phase(), paced, t.part.map(|part| part.whose))
        })
        .collect();
    assert_eq!(
        facts,
        [
            (Some(1), Some(OpKind::Create), true, None),
            (Some(2), Some(OpKind::AwaitCreate), false, Some(1)),
        ]
    );
    let alone = on_hosts(&schedule(vec![waits]), &hosts[1..2])
        .unwrap_err()
        .to_string();
    assert!(alone.contains("needs two hosts"), "{alone}");
}
