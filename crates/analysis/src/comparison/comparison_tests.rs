//! Whole records compared.

use std::slice::from_ref;

use fathom_model::comparison::{
    Comparison, ComparisonDesign, ComparisonOutcome, ControlDesign, Difference, Metric, RowDesign,
    Standing,
};
use fathom_model::rng::Rng;
use fathom_model::run::{RunRecord, RunState, TrialRecord};
use fathom_model::schedule::{Purpose, TrialRole};
use fathom_model::verdict::FindingStatus;

use super::{CompareOptions, compare_runs};
use crate::judge;
use crate::statistics::noise::seeded;
use crate::test_records::{RecordBuilder, run_of};

/// Operations per second of the sound side.
const RATE: f64 = 1000.0;

/// A run in turns: side B gives `ratio` times what side A gives, the control
/// `control` times before the trials of B; 1 % noise from trial to trial.
struct Turns {
    pairs: u32,
    ratio: f64,
    control: f64,
    edit_b: fn(&mut TrialRecord),
}

impl Turns {
    fn new(ratio: f64) -> Turns {
        Turns {
            pairs: 6,
            ratio,
            control: 1.0,
            edit_b: |_| {},
        }
    }

    fn record(&self) -> RunRecord {
        let mut noise = seeded(11);
        let mut trials = Vec::new();
        for pair in 0..self.pairs {
            let order = match pair % 2 {
                0 => [TrialRole::A, TrialRole::B],
                _ => [TrialRole::B, TrialRole::A],
            };
            for role in order {
                let (row, rate, control) = match role {
                    TrialRole::B => (1, RATE * self.ratio, self.control),
                    _ => (0, RATE, 1.0),
                };
                let mut both = [
                    trial(RATE * control * (1.0 + 0.002 * noise.normal())),
                    trial(rate * (1.0 + 0.01 * noise.normal())),
                ];
                let roles = [(TrialRole::Control, 2), (role, row)];
                for (trial, (role, row)) in both.iter_mut().zip(roles) {
                    (trial.spec.role, trial.spec.row) = (role, row);
                    trial.spec.iteration = pair;
                    if role == TrialRole::B {
                        (self.edit_b)(trial);
                    }
                }
                trials.extend(both);
            }
        }
        let rows: Vec<u32> = trials.iter().map(|t| t.spec.row).collect();
        let mut run = run_of(trials, RecordBuilder::reads().host.clone());
        for (trial, row) in run.trials.iter_mut().zip(rows) {
            trial.spec.row = row;
        }
        run.meta.schedule.purpose = Purpose::Comparison {
            margin_percent: 3.0,
            design: Box::new(design(self.pairs)),
        };
        run
    }

    fn compare(&self) -> Comparison {
        judge(&self.record()).comparison.unwrap()
    }
}

fn design(pairs: u32) -> ComparisonDesign {
    ComparisonDesign {
        pairs,
        rows: vec![RowDesign {
            label: "randread".to_owned(),
            a_row: 0,
            b_row: 1,
        }],
        control: Some(ControlDesign {
            target: "null:".to_owned(),
            why: "it knows nothing of the storage".to_owned(),
        }),
        ..ComparisonDesign::default()
    }
}

fn trial(rate: f64) -> TrialRecord {
    let builder = RecordBuilder::reads().with(|b| {
        b.ops_per_second = rate as u64;
        b.seconds = 12;
        b.noise = 0.0;
        b.workload.bounds.time_ns = Some(12_000_000_000);
    });
    builder.trial()
}

fn status(comparison: &Comparison, id: &str) -> FindingStatus {
    let finding = comparison.findings.iter().find(|f| f.id == id);
    finding.unwrap().status
}

#[test]
fn a_true_difference_is_named_by_what_is_better() {
    let slower = Turns::new(0.9).compare();
    assert_eq!(slower.outcome, ComparisonOutcome::Slower);
    assert_eq!(slower.standing, Standing::Proven, "{:?}", slower.reasons);
    let metrics = &slower.rows[0].metrics;
    assert_eq!(metrics[0].metric, Metric::OpsPerSecond);
    let ratio = metrics[0].ratio.value.unwrap();
    assert!((ratio - 0.9).abs() < 0.01, "{ratio}");
    // Latency went up: that is slower too.
    let p50 = metrics.iter().find(|m| m.metric == Metric::LatencyP50);
    let p50 = p50.unwrap();
    assert!(p50.ratio.value.unwrap() > 1.05);
    assert_eq!(p50.outcome, ComparisonOutcome::Slower);
    assert_eq!(metrics[0].pairs.len(), 6);
    assert_eq!(
        metrics[0]
            .pairs
            .iter()
            .map(|p| p.b_first)
            .collect::<Vec<_>>(),
        [false, true, false, true, false, true]
    );
    assert_eq!(metrics[0].p_sign_flip, Some(2.0 / 64.0));
    assert_eq!(Turns::new(1.1).compare().outcome, ComparisonOutcome::Faster);
}

#[test]
fn equal_sides_are_equivalent_and_every_check_passes() {
    let comparison = Turns::new(1.0).compare();
    assert_eq!(comparison.outcome, ComparisonOutcome::Equivalent);
    for id in ["V50", "V51", "V52", "V53"] {
        assert_eq!(status(&comparison, id), FindingStatus::Pass, "{id}");
    }
    let text = serde_json::to_string(&comparison).unwrap();
    let back: Comparison = serde_json::from_str(&text).unwrap();
    assert_eq!(back.rows.len(), comparison.rows.len());
}

#[test]
fn a_control_that_moves_leaves_it_unproven() {
    let moved = Turns {
        control: 0.95,
        ..Turns::new(0.9)
    };
    let comparison = moved.compare();
    assert_eq!(comparison.standing, Standing::Unproven);
    assert_eq!(status(&comparison, "V52"), FindingStatus::Invalid);
    assert!(comparison.control.unwrap().moved);
}

#[test]
fn few_pairs_say_nothing_and_how_many_more() {
    let comparison = Turns {
        pairs: 4,
        ..Turns::new(0.9)
    }
    .compare();
    assert_eq!(comparison.outcome, ComparisonOutcome::Inconclusive);
    assert_eq!(status(&comparison, "V51"), FindingStatus::Caveat);
    assert_eq!(comparison.rows[0].metrics[0].more_pairs, Some(2));
}

#[test]
fn a_half_pair_is_left_out_of_the_pairs() {
    let mut record = Turns::new(0.9).record();
    record.trials.truncate(18);
    record.trials.last_mut().unwrap().state = RunState::Interrupted;
    record.meta.state = RunState::Interrupted;
    let comparison = judge(&record).comparison.unwrap();
    assert_eq!(comparison.rows[0].metrics[0].pairs.len(), 4);
    assert_eq!(comparison.outcome, ComparisonOutcome::Inconclusive);
}

#[test]
fn what_differs_beyond_the_plans_is_listed() {
    let turned = Turns {
        edit_b: |trial| {
            let target = trial.target_before.as_mut().unwrap();
            target.devices[0].scheduler = Some("bfq".to_owned());
            target.devices[0]
                .facts
                .insert("health_x".to_owned(), "1".to_owned());
        },
        ..Turns::new(0.9)
    };
    let comparison = turned.compare();
    assert_eq!(status(&comparison, "V53"), FindingStatus::Caveat);
    let fields: Vec<&str> = comparison
        .undeclared
        .iter()
        .map(|d| d.field.as_str())
        .collect();
    assert_eq!(fields, ["device.scheduler"]);
    let mut record = turned.record();
    if let Purpose::Comparison { design, .. } = &mut record.meta.schedule.purpose {
        design.b.before = Some("echo bfq > /sys/block/x/queue/scheduler".to_owned());
    }
    let hooked = judge(&record).comparison.unwrap();
    assert_eq!(hooked.undeclared, [], "the hook declares it");
    assert_eq!(hooked.declared[0].field, "device.scheduler");
}

#[test]
fn trials_that_are_not_trusted_prove_nothing() {
    let turned = Turns {
        edit_b: |trial| {
            let end = trial.end.as_mut().unwrap();
            end.data.unwritten_share = Some(0.9);
        },
        ..Turns::new(0.9)
    };
    let comparison = turned.compare();
    assert_eq!(comparison.standing, Standing::Unproven);
    assert!(
        comparison.reasons[0].contains("6 of 12"),
        "{:?}",
        comparison.reasons
    );
}

/// A plain run of so many iterations around a rate.
fn plain(rates: &[f64], change: impl Fn(&mut RunRecord)) -> fathom_model::JudgedRun {
    let mut run = run_of(
        rates.iter().map(|r| trial(*r)).collect(),
        RecordBuilder::reads().host.clone(),
    );
    for (i, trial) in run.trials.iter_mut().enumerate() {
        (trial.spec.row, trial.spec.iteration) = (0, i as u32);
    }
    change(&mut run);
    judge(&run)
}

fn options() -> CompareOptions {
    CompareOptions {
        margin_percent: 3.0,
        decides: None,
        declared: Vec::new(),
    }
}

#[test]
fn stored_runs_are_indicative_at_best_and_their_differences_listed() {
    let a = plain(&[1000.0, 1005.0, 995.0, 1002.0], |_| {});
    let b = plain(&[900.0, 905.0, 895.0, 902.0], |run| {
        run.meta.host.kernel = "6.13.0".to_owned();
    });
    let comparison = compare_runs(from_ref(&a), from_ref(&b), &options());
    assert_eq!(comparison.standing, Standing::Indicative);
    assert_eq!(comparison.outcome, ComparisonOutcome::Slower);
    assert_eq!(status(&comparison, "V50"), FindingStatus::Caveat);
    let kernel = Difference {
        field: "host.kernel".to_owned(),
        a: "6.12.0".to_owned(),
        b: "6.13.0".to_owned(),
    };
    assert_eq!(comparison.undeclared, from_ref(&kernel));
    let meant = CompareOptions {
        declared: vec!["kernel".to_owned()],
        ..options()
    };
    let comparison = compare_runs(from_ref(&a), &[b], &meant);
    assert_eq!(
        (comparison.declared, comparison.undeclared),
        (vec![kernel], vec![])
    );
    let same = compare_runs(from_ref(&a), from_ref(&a), &options());
    assert_eq!(same.outcome, ComparisonOutcome::Equivalent);
}

#[test]
fn several_runs_a_side_show_how_much_runs_differ() {
    let run = |rate: f64| plain(&[rate, rate * 1.001, rate * 0.999], |_| {});
    let a = [run(1000.0), run(1100.0), run(950.0)];
    let b = [run(1040.0), run(930.0), run(1010.0)];
    let one = compare_runs(&a[1..2], &b[1..2], &options());
    assert_eq!(
        one.outcome,
        ComparisonOutcome::Slower,
        "within a session it looks sure"
    );
    let all = compare_runs(&a, &b, &options());
    assert_eq!(all.outcome, ComparisonOutcome::Inconclusive);
    assert!(all.rows[0].metrics[0].more_pairs > Some(3));
}

#[test]
fn rows_of_one_side_only_are_named() {
    let a = plain(&[1000.0, 1001.0], |_| {});
    let b = plain(&[1000.0, 1001.0], |run| {
        for trial in &mut run.trials {
            trial.spec.label = "another".to_owned();
        }
    });
    let comparison = compare_runs(&[a], &[b], &options());
    assert_eq!(comparison.outcome, ComparisonOutcome::Inconclusive);
    assert_eq!(
        comparison.unmatched,
        [
            "randread on /mnt/data (only in A)",
            "another on /mnt/data (only in B)"
        ]
    );
}

#[test]
fn any_damage_to_a_record_still_compares() {
    let mut rng = Rng::new(3);
    for _ in 0..20 {
        let mut record = Turns::new(1.0).record();
        for _ in 0..8 {
            let at = rng.below(record.trials.len() as u64) as usize;
            match rng.below(5) {
                0 => record.trials[at].samples.clear(),
                1 => record.trials[at].spec.role = TrialRole::B,
                2 => record.trials[at].spec.iteration = rng.below(9) as u32,
                3 => record.trials[at].end = None,
                _ => drop(record.trials.remove(at)),
            }
        }
        let comparison = judge(&record).comparison.unwrap();
        let text = serde_json::to_string(&comparison).unwrap();
        assert!(
            !text.contains("\"a\":null") && comparison.rows.len() == 1,
            "{text}"
        );
    }
}
