use fathom_model::ScheduledTrial;

use crate::{ScheduleContext, parse};

fn trials(text: &str) -> Vec<ScheduledTrial> {
    let plan = parse("p.yaml", text).expect("a right plan");
    plan.schedule(&ScheduleContext::default())
        .expect("a schedule")
        .trials
}

fn error(text: &str) -> String {
    parse("p.yaml", text).expect_err("a wrong plan").to_string()
}

const MIXED: &str = "
plan: 1
targets: 'null:'
iterations: 2
defaults: {runtime: 1}
workloads:
  - {name: alone}
  - {name: reader, together: mixed, rw: randread}
  - {name: writer, together: mixed, rw: randwrite, start_delay: 5s}
";

#[test]
fn consecutive_workloads_of_one_name_are_a_set_in_every_iteration() {
    let trials = trials(MIXED);
    let sets: Vec<Option<u32>> = trials.iter().map(|t| t.together).collect();
    let set = |at: usize| {
        assert!(sets[at].is_some() && sets[at] == sets[at + 1]);
        sets[at]
    };
    assert_eq!((sets.len(), sets[0], sets[3]), (6, None, None));
    assert_ne!(set(1), set(4), "each iteration is a set of its own");
    let rows: Vec<u32> = trials.iter().map(|t| t.row).collect();
    assert_eq!(rows, [0, 1, 2, 0, 1, 2]);
    let delays: Vec<u64> = trials.iter().map(|t| t.start_delay_ns).collect();
    assert_eq!(delays[..3], [0, 0, 5_000_000_000]);
    let files: Vec<u32> = trials.iter().map(|t| t.file_set).collect();
    assert_eq!(files, [0, 0, 1, 0, 0, 1]);
}

#[test]
fn the_matrix_of_the_plan_and_its_targets_repeat_the_set_as_a_whole() {
    let text = MIXED
        .replace("targets: 'null:'", "targets: ['null:', 'sim:ssd']")
        .replace("iterations: 2", "iterations: 1\nmatrix: {iodepth: [1, 8]}");
    let trials = trials(&text);
    assert_eq!(trials.len(), 3 * 2 * 2);
    let sets: Vec<&[ScheduledTrial]> = trials
        .chunk_by(|a, b| a.together.is_some() && a.together == b.together)
        .filter(|set| set.len() > 1)
        .collect();
    assert_eq!(sets.len(), 4);
    for set in sets {
        assert_eq!(set.len(), 2);
        assert_eq!(set[0].workload.queue_depth, set[1].workload.queue_depth);
        assert_eq!(set[0].target, set[1].target);
    }
    let mut indexes = trials.iter().map(|t| t.index);
    assert!((0..12).all(|index| indexes.next() == Some(index)));
}

#[test]
fn a_set_that_cannot_be_is_refused_with_a_way_out() {
    let uneven = MIXED.replace("rw: randread", "matrix: {bs: [4k, 8k]}");
    let text = error(&uneven);
    assert!(text.contains("2 and 1 combinations"), "{text}");
    assert!(text.contains("matrix of the plan"), "{text}");
    let apart = MIXED.replace(
        "workloads:",
        "workloads:\n  - {name: first, together: mixed}",
    );
    let text = error(&apart);
    assert!(text.contains("do not follow one another"), "{text}");
}
