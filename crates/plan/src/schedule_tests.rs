//! Tests of unrolling: order, labels, seeds, and what facts about targets do.

use super::*;
use crate::parse;
use fathom_model::rng::derive_seed;

fn plan(text: &str) -> Plan {
    parse("test.yaml", &format!("plan: 1\n{text}")).unwrap_or_else(|e| panic!("{e}"))
}

fn context(target: &str) -> ScheduleContext {
    ScheduleContext {
        targets: vec![target.parse().unwrap()],
        seed: 5,
        ..ScheduleContext::default()
    }
}

fn labels(schedule: &Schedule) -> Vec<&str> {
    schedule.trials.iter().map(|t| t.label.as_str()).collect()
}

const TWO_ROWS: &str =
    "iterations: 2\nmatrix: {iodepth: [1, 32]}\nworkloads:\n  - {name: a, rw: read, runtime: 9s}\n";

#[test]
fn interleaved_takes_rows_in_turn_and_fixed_does_not() {
    let rows = |text: &str| -> Vec<(u32, u32)> {
        let schedule = plan(text).schedule(&context("/mnt/a")).unwrap();
        schedule
            .trials
            .iter()
            .map(|t| (t.row, t.iteration))
            .collect()
    };
    assert_eq!(rows(TWO_ROWS), [(0, 0), (1, 0), (0, 1), (1, 1)]);
    let fixed = format!("order: fixed\n{TWO_ROWS}");
    assert_eq!(rows(&fixed), [(0, 0), (0, 1), (1, 0), (1, 1)]);
}

#[test]
fn labels_name_the_workload_and_what_varies() {
    let schedule = plan(
        "iterations: 1\nmatrix: {numjobs: [1, 4], bs: [4k, 128k]}\nworkloads:\n\
         \x20 - {rw: randread, iodepth: 32, runtime: 9s}\n\
         \x20 - {name: commits, rw: randwrite, runtime: 9s, matrix: {fsync: [1, 32]}}\n",
    );
    let schedule = schedule.schedule(&context("/mnt/a")).unwrap();
    assert_eq!(
        labels(&schedule),
        [
            "randread-4k q32 j1",
            "randread-128k q32 j1",
            "randread-4k q32 j4",
            "randread-128k q32 j4",
            "commits 4k j1 fsync=1",
            "commits 4k j1 fsync=32",
            "commits 128k j1 fsync=1",
            "commits 128k j1 fsync=32",
            "commits 4k j4 fsync=1",
            "commits 4k j4 fsync=32",
            "commits 128k j4 fsync=1",
            "commits 128k j4 fsync=32",
        ]
    );
}

#[test]
fn a_name_without_a_matrix_is_the_label() {
    let plan = plan("workloads: [{name: my row, rw: read, runtime: 9s}]");
    let schedule = plan.schedule(&context("/mnt/a")).unwrap();
    assert_eq!(labels(&schedule)[0], "my row");
}

#[test]
fn several_targets_are_rows_of_their_own() {
    let plan = plan("targets: [/a, /b]\nworkloads: [{name: x, rw: read, runtime: 9s}]");
    let schedule = plan.schedule(&ScheduleContext::default()).unwrap();
    assert_eq!(schedule.trials.len(), 6);
    assert_eq!(labels(&schedule)[..2], ["x on /a", "x on /b"]);
    assert_eq!(schedule.trials[1].row, 1);
}

#[test]
fn seeds_are_derived_and_repeatable() {
    let plan = plan(TWO_ROWS);
    let schedule = plan.schedule(&context("/mnt/a")).unwrap();
    assert_eq!(schedule.seed, 5);
    let mut seeds: Vec<u64> = schedule.trials.iter().map(|t| t.seed).collect();
    assert_eq!(seeds[0], derive_seed(derive_seed(5, 0), 0));
    assert_eq!(schedule, plan.schedule(&context("/mnt/a")).unwrap());
    seeds.sort_unstable();
    seeds.dedup();
    assert_eq!(seeds.len(), 4);
    // The order of the trials does not change what each of them does.
    let fixed = format!("order: fixed\n{TWO_ROWS}");
    let fixed = self::plan(&fixed).schedule(&context("/mnt/a")).unwrap();
    for trial in &schedule.trials {
        let same = |t: &&ScheduledTrial| (t.row, t.iteration) == (trial.row, trial.iteration);
        assert_eq!(fixed.trials.iter().find(same).unwrap().seed, trial.seed);
    }
}

#[test]
fn the_plans_own_seed_wins() {
    let plan = plan(&format!("seed: 77\n{TWO_ROWS}"));
    assert_eq!(plan.schedule(&context("/mnt/a")).unwrap().seed, 77);
}

#[test]
fn a_plan_without_target_says_so() {
    let told = plan(TWO_ROWS)
        .schedule(&ScheduleContext::default())
        .unwrap_err();
    assert_eq!(told.items()[0].id, "no_target");
}

#[test]
fn the_engine_follows_from_the_target() {
    use fathom_model::workload::EngineKind;
    for (target, engine) in [
        ("null:", EngineKind::Null),
        ("sim:ssd", EngineKind::Sim),
        ("/mnt/a", EngineKind::Uring),
    ] {
        let schedule = plan(TWO_ROWS).schedule(&context(target)).unwrap();
        assert_eq!(schedule.trials[0].workload.engine, engine);
    }
    let psync = plan("workloads: [{rw: read, engine: psync, runtime: 9s}]");
    let told = psync.schedule(&context("null:")).unwrap_err();
    assert_eq!(told.items()[0].id, "engine_target");
    let sim = plan("workloads: [{rw: read, engine: sim, runtime: 9s}]");
    assert!(sim.schedule(&context("/mnt/a")).is_err());
}

#[test]
fn what_has_a_size_of_its_own_is_used_whole() {
    let size = |context: &ScheduleContext| {
        let schedule = plan(TWO_ROWS).schedule(context).unwrap();
        schedule.trials[0].workload.data_set.size_bytes
    };
    assert_eq!(size(&context("/mnt/a")), Some(1 << 30));
    assert_eq!(size(&context("/dev/sdb")), None);
    let mut file = context("/mnt/a");
    let facts = TargetFacts {
        kind: Some(TargetKind::File),
        ..TargetFacts::default()
    };
    file.facts.insert(file.targets[0].clone(), facts);
    assert_eq!(size(&file), None);
}

#[test]
fn a_data_set_larger_than_its_target_is_refused() {
    for (kind, size, free) in [
        (TargetKind::Directory, None, Some(1 << 20)),
        (TargetKind::Device, Some(1 << 20), None),
    ] {
        let mut context = context("/mnt/a");
        let facts = TargetFacts {
            kind: Some(kind),
            size_bytes: size,
            free_bytes: free,
            rotational: None,
        };
        context.facts.insert(context.targets[0].clone(), facts);
        let plan = plan("workloads: [{rw: read, size: 1g, runtime: 9s}]");
        let told = plan.schedule(&context).unwrap_err();
        assert_eq!(told.items()[0].id, "no_space", "{told}");
        assert_eq!(told.items()[0].place.unwrap().line, 2);
    }
}

#[test]
fn too_many_targets_and_iterations_are_refused() {
    let plan = plan("iterations: 1000\nworkloads: [{rw: read, runtime: 9s}]");
    let mut context = context("/mnt/0");
    context.targets = (0..11)
        .map(|n| format!("/mnt/{n}").parse().unwrap())
        .collect();
    let told = plan.schedule(&context).unwrap_err();
    assert_eq!(told.items()[0].id, "too_many_trials");
}

#[test]
fn pauses_follow_what_is_given() {
    let pause = |text: &str| {
        let plan = plan(&format!("{text}\n{TWO_ROWS}"));
        let schedule = plan.schedule(&context("/mnt/a")).unwrap();
        let pause = schedule.trials[0].pause;
        (pause.floor_ns / 1_000_000, pause.ceiling_ns / 1_000_000)
    };
    assert_eq!(pause("name: x"), (1000, 3_000));
    assert_eq!(pause("pause: {floor: 5s}"), (5000, 5000));
    assert_eq!(pause("pause: {floor: 45s}"), (45_000, 45_000));
    assert_eq!(pause("pause: {ceiling: 500ms}"), (500, 500));
}
