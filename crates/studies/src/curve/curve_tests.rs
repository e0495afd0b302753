//! Curves from records whose truth is known: points made without an engine.

use fathom_analysis::test_records::{RecordBuilder, run_of};
use fathom_model::conduct::{Conductor, Step};
use fathom_model::curve::{CurvePoint, Sweep};
use fathom_model::figure::Throughput;
use fathom_model::schedule::{Pause, Purpose, ScheduledTrial};
use fathom_model::verdict::Fit;
use fathom_model::view::AnswerValue;
use fathom_model::workload::Arrival;
use fathom_model::{JudgedRun, RunRecord, Target, TrialRecord};

use super::arrange::{default_block_sizes, default_working_sets};
use super::{CurveConductor, CurveOptions};

/// What a made-up target does with a trial: operations per second.
type Truth = fn(&ScheduledTrial) -> f64;

fn options(sweep: Sweep) -> CurveOptions {
    let mut base = RecordBuilder::reads().workload;
    base.queue_depth = 8;
    CurveOptions {
        sweep,
        target: Target::Path("/mnt/data".into()),
        base,
        seed: 3,
        pause: Pause {
            floor_ns: 0,
            ceiling_ns: 0,
            until_quiet: false,
        },
        most_depth: 256,
        bytes: Vec::new(),
        zone_bytes: 0,
        arrival: Arrival::Poisson,
    }
}

/// The trial that has just ended.
fn latest(trials: &[TrialRecord]) -> &[TrialRecord] {
    &trials[trials.len().saturating_sub(1)..]
}

/// Carries a curve out on a made-up target and judges the run.
fn carry_out(options: CurveOptions, truth: Truth) -> JudgedRun {
    let builder = RecordBuilder::reads();
    let sweep = options.sweep;
    let mut conductor = CurveConductor::new(options, builder.host.clone());
    let mut trials: Vec<TrialRecord> = Vec::new();
    while let Step::Run(spec) = conductor.next(latest(&trials)) {
        assert!(trials.len() < 200, "a curve must come to its end");
        let mut trial = builder
            .clone()
            .with(|b| {
                b.workload = spec.workload.clone();
                b.seconds = 12;
                b.ops_per_second = truth(&spec) as u64;
                b.observed = false;
            })
            .trial();
        trial.spec = *spec;
        trials.push(trial);
    }
    judged(trials, sweep)
}

fn judged(trials: Vec<TrialRecord>, sweep: Sweep) -> JudgedRun {
    let specs: Vec<ScheduledTrial> = trials.iter().map(|t| t.spec.clone()).collect();
    let mut run: RunRecord = run_of(trials, RecordBuilder::reads().host);
    for (trial, spec) in run.trials.iter_mut().zip(specs) {
        trial.spec = spec;
    }
    run.meta.schedule.purpose = Purpose::Curve {
        sweep: sweep.name().to_owned(),
        slo: None,
    };
    crate::judge(&run)
}

fn depths(points: &[CurvePoint]) -> Vec<u64> {
    points.iter().map(|p| p.depth).collect()
}

#[test]
fn a_depth_curve_ends_two_doublings_after_the_knee_and_names_it() {
    let truth: Truth = |spec| (100.0 * spec.workload.total_depth() as f64).min(3200.0);
    let run = carry_out(options(Sweep::Depth), truth);
    let curve = run.curve.unwrap();
    assert_eq!(depths(&curve.points), [1, 2, 4, 8, 16, 32, 64, 128]);
    let knee = curve.knee.unwrap();
    assert_eq!((knee.above_depth, knee.depth), (Some(16), 32));
    assert!((knee.asymptotes_cross_at - 32.0).abs() < 1.0, "{knee:?}");
    assert!(
        curve.answers[0].contains("knee at 32"),
        "{:?}",
        curve.answers
    );
}

#[test]
fn where_throughput_still_rises_no_knee_is_named() {
    let truth: Truth = |spec| 10.0 * spec.workload.total_depth() as f64;
    let mut options = options(Sweep::Depth);
    options.most_depth = 64;
    let curve = carry_out(options, truth).curve.unwrap();
    assert_eq!(curve.knee, None);
    assert!(
        curve.answers[0].starts_with("no knee seen up to 64 in"),
        "{:?}",
        curve.answers
    );
}

#[test]
fn points_that_are_not_trusted_carry_no_knee() {
    let mut run = carry_out(options(Sweep::Depth), |spec| {
        (100.0 * spec.workload.total_depth() as f64).min(800.0)
    });
    for row in &mut run.rows {
        row.verdict.validity = fathom_model::Validity::NotTrusted;
    }
    super::judge::draw(&mut run);
    let curve = run.curve.unwrap();
    assert_eq!(curve.knee, None);
    assert!(
        curve.answers[0].contains("no point is trusted"),
        "{:?}",
        curve.answers
    );
    assert!(
        curve
            .answers
            .last()
            .unwrap()
            .contains("carry no conclusion")
    );
}

#[test]
fn a_load_curve_measures_its_ceiling_and_offers_shares_of_it() {
    let truth: Truth = |spec| {
        let offered = spec.workload.rate.map_or(f64::MAX, |rate| rate.per_second);
        offered
            .min(400.0 * spec.workload.total_depth() as f64)
            .min(1600.0)
    };
    let curve = carry_out(options(Sweep::Load), truth).curve.unwrap();
    let ceiling = curve.ceiling.unwrap();
    assert_eq!(ceiling.depth, 4);
    assert!(
        (ceiling.ops_per_second - 1600.0).abs() < 20.0,
        "{ceiling:?}"
    );
    let open: Vec<&CurvePoint> = curve
        .points
        .iter()
        .filter(|p| p.offered_per_second.is_some())
        .collect();
    assert_eq!(open.len(), 12);
    assert!(open.iter().all(|p| p.depth == 64), "room for bursts");
    let first = open[0].offered_per_second.unwrap();
    assert!((first / ceiling.ops_per_second - 0.1).abs() < 1e-9);
    let saturated: Vec<bool> = open.iter().map(|p| p.saturated).collect();
    assert!(saturated[11] && !saturated[9], "{saturated:?}");
    assert!(curve.answers.iter().any(|a| a.contains("saturated from")));
}

/// 64 slots: the latency of the made-up trials is 64 over the rate, so that
/// less load means more latency; the target here is one on the rate instead.
#[test]
fn the_search_brackets_the_highest_load_that_holds() {
    let truth: Truth = |spec| match spec.workload.rate {
        // Above 1,234 ops/s the target falls short of what is offered.
        Some(rate) if rate.per_second > 1234.0 => rate.per_second * 0.9,
        Some(rate) => rate.per_second,
        None => 1600.0,
    };
    let mut options = options(Sweep::Load);
    options.base.slo = Some("iops>100 and p99<10s".parse().unwrap());
    let run = carry_out(options, truth);
    let curve = run.curve.unwrap();
    let holds = &curve.holds[0];
    let (held, failed) = (
        holds.held_per_second.unwrap(),
        holds.failed_per_second.unwrap(),
    );
    assert!(held <= 1234.0 && failed > 1234.0, "{holds:?}");
    assert!(failed / held <= 1.021, "{holds:?}");
    assert!(holds.confirmed);
    assert_eq!(run.verdict.fitness.unwrap().outcome, Fit::Met);
}

#[test]
fn a_target_that_nothing_holds_is_said_so() {
    let mut options = options(Sweep::Load);
    options.base.slo = Some("max<1ns".parse().unwrap());
    let truth: Truth = |spec| spec.workload.rate.map_or(1600.0, |rate| rate.per_second);
    let run = carry_out(options, truth);
    let holds = &run.curve.unwrap().holds[0];
    assert_eq!(holds.held_per_second, None);
    assert!(holds.failed_per_second.unwrap() <= 32.0, "{holds:?}");
    assert_eq!(run.verdict.fitness.unwrap().outcome, Fit::NotMet);
}

#[test]
fn a_mix_map_stops_at_each_ceiling() {
    let truth: Truth = |spec| {
        let reads = f64::from(spec.workload.mix.read_percent) / 100.0;
        let most = 400.0 + 1200.0 * reads;
        spec.workload
            .rate
            .map_or(most, |rate| rate.per_second.min(most))
    };
    let curve = carry_out(options(Sweep::Mix), truth).curve.unwrap();
    let of = |mix: u8| {
        let points = curve.points.iter().filter(move |p| p.read_percent == mix);
        points.filter(|p| p.offered_per_second.is_some()).count()
    };
    assert_eq!((of(100), of(0)), (8, 3), "160, 320 and 560 of 400 ops/s");
}

#[test]
fn sweeps_there_and_back_give_each_point_two_trials() {
    let mut options = options(Sweep::WorkingSet);
    options.bytes = default_working_sets(64 << 20, 4096);
    let truth: Truth = |spec| match spec.workload.data_set.working_set_bytes {
        Some(bytes) if bytes <= 8 << 20 => 2000.0,
        _ => 200.0,
    };
    let mut run = carry_out(options, truth);
    assert!(run.rows.iter().all(|row| row.trials.len() == 2));
    // The records' data set is not what the workload accesses.
    for trial in &mut run.trials {
        trial.summary.active_bytes = trial.workload.data_set.working_set_bytes.unwrap();
    }
    super::judge::draw(&mut run);
    let curve = run.curve.unwrap();
    let ends: Vec<u64> = curve.levels.iter().map(|l| l.to_bytes >> 20).collect();
    assert_eq!(ends, [8, 64]);
    assert!(
        curve.answers[0].starts_with("up to 8 MiB at"),
        "{:?}",
        curve.answers
    );
}

#[test]
fn default_sweeps_are_what_the_target_takes() {
    assert_eq!(default_block_sizes(512, 8192), [512, 4096, 8192]);
    assert_eq!(default_block_sizes(4096, 4096), [4096]);
    let sets = default_working_sets(1 << 30, 4096);
    assert_eq!((sets[0], sets.len()), (1 << 20, 11));
    assert!(default_working_sets(0, 4096).is_empty());
}

#[test]
fn a_view_has_a_row_for_each_point_and_both_units() {
    let truth: Truth = |spec| (100.0 * spec.workload.total_depth() as f64).min(3200.0);
    let run = carry_out(options(Sweep::Depth), truth);
    let view = run.view.unwrap();
    let table = &view.tables[0];
    assert_eq!(table.rows.len(), run.curve.unwrap().points.len());
    assert!(table.rows.iter().all(|r| r.len() == table.columns.len()));
    let rate = &table.columns[2].head;
    assert_eq!(rate.shown(Throughput::Binary), "MiB/s");
    assert_eq!(rate.shown(Throughput::Decimal), "MB/s");
    let titles: Vec<&str> = view.charts.iter().map(|c| c.title.as_str()).collect();
    assert_eq!(
        titles,
        [
            "Throughput by queue depth",
            "Service latency by queue depth"
        ]
    );
    assert!(view.map.is_none() && view.says_fitness);
}

#[test]
fn the_map_of_a_view_is_empty_beyond_saturation() {
    let truth: Truth = |spec| {
        spec.workload
            .rate
            .map_or(400.0, |r| r.per_second.min(400.0))
    };
    let map = carry_out(options(Sweep::Mix), truth)
        .view
        .unwrap()
        .map
        .unwrap();
    assert_eq!(map.rows, ["100 %", "75 %", "50 %", "25 %", "0 %"]);
    for cells in &map.cells {
        assert_eq!(cells.len(), map.columns.len());
        let saturated = cells
            .iter()
            .position(|c| c.as_ref().is_some_and(|c| c.saturated));
        let measured = cells.iter().rposition(Option::is_some);
        assert!(saturated.is_some() && saturated == measured, "{cells:?}");
    }
}

/// Names of the figures of a run's answer, each with its number where that is plain text.
fn figures(run: &JudgedRun) -> Vec<(String, String)> {
    let figures = run.view.as_ref().unwrap().figures.iter();
    let shown = figures.map(|figure| {
        let number = match &figure.value {
            AnswerValue::Text(text) => text.clone(),
            AnswerValue::Estimate(estimate) => {
                format!("{:.0}", estimate.value.unwrap_or(f64::NAN))
            }
        };
        (figure.name.clone(), number)
    });
    shown.collect()
}

#[test]
fn the_figures_of_an_answer_are_its_knee_and_its_maximum() {
    let truth: Truth = |spec| (100.0 * spec.workload.total_depth() as f64).min(3200.0);
    let shown = figures(&carry_out(options(Sweep::Depth), truth));
    let names: Vec<&str> = shown.iter().map(|figure| figure.0.as_str()).collect();
    let latencies = ["p99 at the knee", "p50 at a depth of 1"];
    assert_eq!(names[..2], ["Knee at a depth of", "Maximum"]);
    assert_eq!(names[2..], latencies);
    assert_eq!(shown[0].1, "32");
    let rising: Truth = |spec| 10.0 * spec.workload.total_depth() as f64;
    let mut deep = options(Sweep::Depth);
    deep.most_depth = 64;
    let shown = figures(&carry_out(deep, rising));
    let none = ("No knee up to a depth of".to_owned(), "64".to_owned());
    assert_eq!(shown[0], none);
}

#[test]
fn the_figures_of_a_load_say_up_to_where_the_target_holds() {
    let truth: Truth = |spec| match spec.workload.rate {
        Some(rate) if rate.per_second > 1234.0 => rate.per_second * 0.9,
        Some(rate) => rate.per_second,
        None => 1600.0,
    };
    let mut load = options(Sweep::Load);
    load.base.slo = Some("iops>100 and p99<10s".parse().unwrap());
    let run = carry_out(load, truth);
    let holds = &run.curve.as_ref().unwrap().holds[0];
    let text = |rate: Option<f64>| format!("{} IOPS", fathom_model::unit::count(rate.unwrap()));
    let shown = figures(&run);
    let target = &holds.target;
    let expected = [
        (format!("Holds {target} up to"), text(holds.held_per_second)),
        ("Breaks at".to_owned(), text(holds.failed_per_second)),
    ];
    assert_eq!(shown[..2], expected);
    assert_eq!(shown[2].0, "Closed loop");
    let mut nothing = options(Sweep::Load);
    nothing.base.slo = Some("max<1ns".parse().unwrap());
    let truth: Truth = |spec| spec.workload.rate.map_or(1600.0, |rate| rate.per_second);
    let shown = figures(&carry_out(nothing, truth));
    assert_eq!(shown[0], ("Holds max<1ns at".to_owned(), "none".to_owned()));
}

#[test]
fn each_sweep_has_figures_of_its_own() {
    let steps: Truth = |spec| match spec.workload.data_set.working_set_bytes {
        Some(bytes) if bytes <= 8 << 20 => 2000.0,
        _ => 200.0,
    };
    let mut sets = options(Sweep::WorkingSet);
    sets.bytes = default_working_sets(64 << 20, 4096);
    let mut blocks = options(Sweep::Block);
    blocks.bytes = default_block_sizes(4096, 1 << 20);
    let slower: Truth = |spec| 2e6 / (20.0 + spec.workload.block.max_bytes() as f64 / 4096.0);
    let names = |options, truth| {
        let shown = figures(&carry_out(options, truth));
        shown.into_iter().map(|figure| figure.0).collect::<Vec<_>>()
    };
    let of_sets = names(sets, steps);
    assert!(of_sets.len() >= 2, "{of_sets:?}");
    assert_eq!(
        names(blocks, slower),
        [
            "Highest rate",
            "Highest throughput",
            "95 % of that from blocks of",
            "Half of that from blocks of"
        ]
    );
    let mix: Truth = |spec| {
        spec.workload
            .rate
            .map_or(400.0, |r| r.per_second.min(400.0))
    };
    let of_mixes = names(options(Sweep::Mix), mix);
    assert_eq!(of_mixes[0], "Closed loop, 100 % reads");
}
