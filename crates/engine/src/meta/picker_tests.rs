//! Which operations a phase or a mix consists of.

use fathom_model::workload::MetaTree;

use super::super::rank::Window;
use super::*;

fn work(kinds: &[(OpKind, u32)]) -> MetaWork {
    MetaWork::new(kinds.iter().copied(), MetaTree::flat(10, 0))
}

fn picker(work: &MetaWork) -> Picker {
    Picker::new(work, &Geometry::new(&work.tree, 2, 1), 1, 99)
}

/// Carries out all that is drawn, at most `most`.
fn run(work: &MetaWork, rank: &mut Rank, most: usize) -> Vec<Task> {
    let mut picker = picker(work);
    let mut tasks = Vec::new();
    while tasks.len() < most
        && let Some(task) = picker.next(rank)
    {
        note(&task, true, rank);
        tasks.push(task);
    }
    tasks
}

fn numbers(tasks: &[Task]) -> Vec<u64> {
    tasks.iter().map(|task| task.number).collect()
}

#[test]
fn phases_follow_on_one_another() {
    let mut rank = Rank::default();
    let all: Vec<u64> = (0..10).collect();
    for kind in [OpKind::Create, OpKind::Stat, OpKind::Rename] {
        assert_eq!(
            numbers(&run(&work(&[(kind, 1)]), &mut rank, 99)),
            all,
            "{kind:?}"
        );
    }
    assert_eq!(rank.round, 1);
    let removed = run(&work(&[(OpKind::Unlink, 1)]), &mut rank, 99);
    assert_eq!(numbers(&removed), all);
    assert!(
        removed.iter().all(|task| task.round == 1),
        "renamed files are removed"
    );
    assert_eq!(rank.files.count(), 0);
    assert!(run(&work(&[(OpKind::Stat, 1)]), &mut rank, 99).is_empty());
}

#[test]
fn a_phase_that_was_broken_off_leaves_the_rest_to_the_next() {
    let mut rank = Rank::default();
    run(&work(&[(OpKind::Create, 1)]), &mut rank, 4);
    assert_eq!(run(&work(&[(OpKind::ReadFile, 1)]), &mut rank, 99).len(), 4);
    run(&work(&[(OpKind::Unlink, 1)]), &mut rank, 3);
    assert_eq!(
        numbers(&run(&work(&[(OpKind::Stat, 1)]), &mut rank, 99)),
        [3]
    );
}

#[test]
fn at_random_each_is_visited_once_in_another_order() {
    let mut rank = Rank {
        files: Window {
            head: 5,
            tail: 1005,
        },
        ..Rank::default()
    };
    let mut work = work(&[(OpKind::Stat, 1)]);
    work.order = MetaOrder::Random;
    let mut seen = numbers(&run(&work, &mut rank, 99_999));
    let in_order: Vec<u64> = (5..1005).collect();
    assert_ne!(seen, in_order);
    seen.sort_unstable();
    assert_eq!(seen, in_order);
}

#[test]
fn a_repeated_phase_begins_anew_and_one_that_makes_does_not() {
    let mut rank = Rank::default();
    let mut work = work(&[(OpKind::Create, 1)]);
    work.repeat = true;
    assert_eq!(run(&work, &mut rank, 99).len(), 10);
    work.ops[0].kind = OpKind::Stat;
    assert_eq!(run(&work, &mut rank, 25).len(), 25);
    work.ops[0].kind = OpKind::Rename;
    assert_eq!(run(&work, &mut rank, 25).len(), 25);
    assert_eq!((rank.round, rank.moved), (2, 5));
}

#[test]
fn a_mix_keeps_to_its_weights_and_to_what_is_there() {
    let mut rank = Rank {
        files: Window { head: 0, tail: 10 },
        directories: Window { head: 0, tail: 10 },
        ..Rank::default()
    };
    let mix = [
        (OpKind::Create, 20),
        (OpKind::Stat, 50),
        (OpKind::Rename, 10),
        (OpKind::Unlink, 20),
        (OpKind::Rmdir, 1),
    ];
    let mut there: std::collections::BTreeMap<u64, u32> = (0..10).map(|n| (n, 0)).collect();
    let mut picker = picker(&work(&mix));
    let mut count = std::collections::BTreeMap::new();
    for _ in 0..100_000 {
        let task = picker.next(&rank).unwrap();
        *count.entry(task.kind).or_insert(0u32) += 1;
        match task.kind {
            OpKind::Create => assert_eq!(there.insert(task.number, task.round), None),
            OpKind::Unlink => assert_eq!(there.remove(&task.number), Some(task.round)),
            OpKind::Rename => *there.get_mut(&task.number).unwrap() += 1,
            OpKind::Stat => assert_eq!(there[&task.number], task.round),
            _ => {}
        }
        note(&task, true, &mut rank);
    }
    assert_eq!(count[&OpKind::Rmdir], 10, "only as many as there were");
    let stats = f64::from(count[&OpKind::Stat]) / 100_000.0;
    assert!((0.48..0.52).contains(&stats), "{count:?}");
}

#[test]
fn needs_are_what_the_operations_work_on() {
    let of = |kinds: &[(OpKind, u32)]| Needs::of(&work(kinds));
    assert_eq!(of(&[(OpKind::Create, 1)]).files, Some(false));
    assert_eq!(
        of(&[(OpKind::Create, 1), (OpKind::Stat, 1)]).files,
        Some(true)
    );
    assert_eq!(of(&[(OpKind::Mkdir, 1)]).files, None);
    assert_eq!(of(&[(OpKind::Rmdir, 1)]).directories, Some(true));
    assert!(of(&[(OpKind::Getxattr, 1)]).marks);
    let links = of(&[(OpKind::Link, 1)]);
    assert_eq!((links.files, links.links), (Some(true), Some(false)));
}

#[test]
fn ten_million_files_are_planned_in_no_memory() {
    let mut big = work(&[(OpKind::Stat, 1)]);
    big.tree.files = 10_000_000;
    big.order = MetaOrder::Random;
    let mut picker = picker(&big);
    let rank = Rank {
        files: Window {
            head: 0,
            tail: 10_000_000,
        },
        ..Rank::default()
    };
    let mut sum = 0;
    for _ in 0..1000 {
        sum += picker.next(&rank).unwrap().number;
    }
    assert!(sum > 0);
    assert!(size_of::<Picker>() + size_of::<Rank>() < 1024);
}
