//! Hostile and random input: reading always ends, never panics, and what was
//! read is written and read back unchanged.

use proptest::prelude::*;

use crate::diagnostic::Problems;
use crate::keys::{PlanKeys, WorkloadKeys};
use crate::node::{Node, NodeKind, Out};
use crate::section::{self, Key, Section};
use crate::{CostAssumptions, ScheduleContext, cost, parse, schema, templates, yaml};

/// Reads, and does with the result all that a caller would.
fn exercise(text: &str) {
    match parse("any.yaml", text) {
        Ok(plan) => {
            let again = parse("any.yaml", &plan.to_yaml());
            assert_eq!(again.unwrap_or_else(|e| panic!("{e}\n{text}")), plan);
            let context = ScheduleContext {
                targets: vec!["/mnt/a".parse().unwrap()],
                ..ScheduleContext::default()
            };
            assert!(!plan.lint(&context).has_errors());
            match plan.schedule(&context) {
                Ok(schedule) => {
                    let cost = cost(&schedule, &CostAssumptions::default());
                    assert!(cost.bytes_written_min <= cost.bytes_written_max);
                }
                Err(told) => assert!(!told.render(true).is_empty()),
            }
        }
        Err(told) => {
            assert!(told.has_errors());
            assert!(!told.render(false).is_empty());
        }
    }
}

#[test]
fn bombs_are_refused() {
    let mut laughs = String::from("a: &a [x, x, x, x, x, x, x, x, x, x]\n");
    for (level, before) in ('b'..='k').zip('a'..='j') {
        let items = vec![format!("*{before}"); 10].join(", ");
        laughs.push_str(&format!("{level}: &{level} [{items}]\n"));
    }
    let merges: String = (0..2000)
        .map(|n| format!("k{n}: &k{n} {{<<: *k{}}}\n", n.max(1) - 1))
        .collect();
    let wide = format!(
        "plan: 1\nmatrix: {{bs: [{}]}}\nworkloads: [{{rw: read}}]",
        vec!["4k"; 40_000].join(",")
    );
    let keys: String = (0..40_000).map(|n| format!("key{n}: {n}\n")).collect();
    for bomb in [
        laughs,
        merges,
        wide,
        keys,
        "[".repeat(100_000),
        "{a: ".repeat(5_000),
        "- ".repeat(100_000),
        "a: ".repeat(10_000),
        "? ".repeat(10_000),
        "x".repeat(2 << 20),
        "\u{0}".to_owned(),
        format!("plan: 1\nname: {}", "é".repeat(100_000)),
        format!("plan: 1\nname: \"{}\"", "\\x41".repeat(200_000)),
        "plan: 1\nworkloads: &w [*w]".to_owned(),
        "%YAML 9.9\n---\n--- \n...\n---\n".to_owned(),
    ] {
        let told = parse("bomb.yaml", &bomb).expect_err("a bomb is not a plan");
        assert!(told.items().len() <= 100);
        let longest = told.items().iter().map(|d| d.message.len()).max();
        assert!(longest < Some(10_000), "{longest:?}");
    }
}

#[test]
fn a_matrix_is_bounded_before_it_is_made() {
    let values: Vec<String> = (1..=256).map(|n| n.to_string()).collect();
    let values = values.join(", ");
    let text = format!(
        "plan: 1\nmatrix:\n  numjobs: [{values}]\n  iodepth: [{values}]\n  batch: [{values}]\n\
         \x20 nrfiles: [{values}]\n  fsync: [{values}]\n  number_ios: [{values}]\n\
         workloads:\n  - rw: randwrite\n"
    );
    let told = parse("matrix.yaml", &text).unwrap_err();
    assert_eq!(told.items()[0].id, "too_many_trials", "{told}");
    assert_eq!(told.items()[0].place.unwrap().line, 3, "{told}");
}

/// Values as they may stand in a plan file, for a key of any kind.
fn values(key: &Key) -> Vec<String> {
    let more: &[&str] = match key.kind {
        "size" => &["0", "1", "2300", "64k", "1.5MiB", "20GB", "'1T'"],
        "time" => &["1ns", "1500us", "90s", "1h30m", "2d"],
        "number" => &["0", "7", "100k", "18446744073709551615"],
        "percentage" => &["0", "33", "100%"],
        "switch" => &["yes", "off", "1", "'0'"],
        "block size" => &["512", "4k-64k", "{4k: 1, 8k: 99}", "4k/70:64k/30", "2300"],
        "rate" => &["0.5/s", "12345B/s", "1.5GiB/s", "2k iops/s"],
        "mix" => &["{read: 1, write: 98, trim: 1}", "70/30", "{trim: 100}"],
        "distribution" => &["uniform", "hot:80/20", "pareto:0.25", "each-once"],
        "pattern" => &["random", "strided:68k", "seq"],
        "CPU list" => &["3", "[1, 5]", "0-3,8"],
        "content" => &["zeros", "0xdeadbeef", "'text:a: b #c'"],
        "name" => &[
            "'null'",
            "'1e3'",
            "'on'",
            "a b",
            "'- x: [y] #'",
            "'ünï ☃'",
            "'\"'",
            "'0x1'",
        ],
        "target" => &[
            "['null:', 'sim:ssd']",
            ".",
            "'/mnt/a: b'",
            "[/a, /b]",
            "'~'",
            "'12'",
        ],
        "engine" => &["null", "'null'", "io_uring"],
        _ => &[],
    };
    more.iter()
        .copied()
        .chain([key.example])
        .map(str::to_owned)
        .collect()
}

/// Some keys of a section with some of their values.
fn section_text<S: Section>() -> impl Strategy<Value = Vec<(&'static str, String)>> {
    let keys: Vec<&'static Key> = S::keys().iter().collect();
    let count = keys.len();
    proptest::sample::subsequence(keys, 0..count).prop_flat_map(|keys| {
        keys.into_iter()
            .map(|key| (Just(key.name), proptest::sample::select(values(key))))
            .collect::<Vec<_>>()
    })
}

fn read_keys<S: Section>(entries: &[(&'static str, String)]) -> S {
    let mut problems = Problems::default();
    let nodes = entries.iter().map(|(key, value)| {
        let value = yaml::read(value).unwrap_or_else(|e| panic!("{value}: {e:?}"));
        (Node::flag(key), value)
    });
    let node = Node {
        span: None,
        kind: NodeKind::Map(nodes.collect()),
    };
    let keys = section::read(&node, &mut problems);
    assert!(!problems.has_errors(), "{entries:?}: {problems:?}");
    keys
}

fn written_and_read<S: Section>(keys: &S) -> S {
    let text = yaml::write(&Out::Map(keys.entries()));
    let node = yaml::read(&text).unwrap_or_else(|e| panic!("{text}: {e:?}"));
    let mut problems = Problems::default();
    let read = section::read(&node, &mut problems);
    assert!(!problems.has_errors(), "{text}: {problems:?}");
    read
}

/// A template with a few pieces cut out, doubled or replaced.
fn mutated() -> impl Strategy<Value = String> {
    let texts: Vec<&'static str> = templates().iter().map(|t| t.text).collect();
    let edit = (
        any::<prop::sample::Index>(),
        0..12usize,
        "[ -~\\n]{0,6}|[:{}\\[\\],&*#é]",
    );
    let edits = prop::collection::vec(edit, 1..6);
    (proptest::sample::select(texts), edits).prop_map(|(text, edits)| {
        let mut text: Vec<char> = text.chars().collect();
        for (at, length, new) in edits {
            let at = at.index(text.len().max(1)).min(text.len());
            let end = (at + length).min(text.len());
            text.splice(at..end, new.chars());
        }
        text.into_iter().collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_text_is_read_without_panic(text in "\\PC{0,200}|[ -~\\n\\t]{0,400}") {
        exercise(&text);
    }

    #[test]
    fn any_damage_to_a_plan_is_survived(text in mutated()) {
        exercise(&text);
    }

    #[test]
    fn workload_keys_are_read_back_as_written(entries in section_text::<WorkloadKeys>()) {
        let keys: WorkloadKeys = read_keys(&entries);
        prop_assert_eq!(written_and_read(&keys), keys);
    }

    #[test]
    fn plan_keys_are_read_back_as_written(entries in section_text::<PlanKeys>()) {
        let keys: PlanKeys = read_keys(&entries);
        prop_assert_eq!(written_and_read(&keys), keys);
    }

    /// Whatever keys are combined, the answer is a plan or a message.
    #[test]
    fn any_combination_of_keys_is_answered(entries in section_text::<WorkloadKeys>()) {
        let keys: WorkloadKeys = read_keys(&entries);
        let list = Out::List(vec![Out::Map(keys.entries())]);
        let plan = [("plan".to_owned(), Out::Number(1)), ("workloads".to_owned(), list)];
        exercise(&yaml::write(&Out::Map(plan.to_vec())));
    }
}

/// The list of problems is bounded, but an error is never lost to it.
#[test]
fn many_warnings_do_not_hide_an_error() {
    let workloads = "  - {rw: read, runtime: 30s, time_based: 1}\n".repeat(150);
    let text = format!("plan: 1\nworkloads:\n{workloads}  - {{rw: raed, runtime: 30s}}\n");
    let told = parse("many.yaml", &text).unwrap_err();
    assert!(told.items().iter().any(|d| d.id == "bad_value"), "{told}");
    assert_eq!(told.items().len(), 100);
}

#[test]
fn the_schema_is_json() {
    let value: serde_json::Value = serde_json::from_str(&schema()).unwrap();
    assert!(value["properties"]["workloads"].is_object());
}
