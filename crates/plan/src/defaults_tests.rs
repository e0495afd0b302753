//! The documented defaults and examples are the real ones.

use crate::diagnostic::Problems;
use crate::keys::{PauseKeys, PayloadKeys, PlanKeys, WorkloadKeys};
use crate::node::Node;
use crate::resolve::{TargetShape, resolve};
use crate::section::Section;
use crate::spelling::Spelling;
use crate::yaml;
use fathom_model::Workload;

fn resolved(key: &str, value: &str) -> Workload {
    let mut problems = Problems::default();
    let mut keys = WorkloadKeys::default();
    // A rate, so that the way of arrival shows.
    keys.set("rate_iops", &Node::flag("10"), &mut problems);
    keys.set(key, &Node::flag(value), &mut problems);
    let shape = TargetShape::Directory;
    resolve(&keys, "x", shape, Spelling::Plan, &mut Problems::default())
}

/// A key that is set to its documented default changes nothing.
#[test]
fn documented_defaults_are_what_holds_without_the_key() {
    let mut tested = Vec::new();
    let without = resolved("", "");
    for key in WorkloadKeys::keys() {
        let literal = (key.check)(key.default).is_ok();
        if !literal || matches!(key.name, "name" | "rate" | "rate_iops" | "replay") {
            continue;
        }
        assert_eq!(resolved(key.name, key.default), without, "{}", key.name);
        tested.push(key.name);
    }
    for key in [
        "rw",
        "bs",
        "iodepth",
        "size",
        "deadline",
        "arrival",
        "distribution",
        "verify",
    ] {
        assert!(
            tested.contains(&key),
            "{key} has no literal default: {tested:?}"
        );
    }
    assert!(tested.len() >= 25, "{tested:?}");
}

fn examples_are_right<S: Section>() {
    for key in S::keys() {
        let mut problems = Problems::default();
        let node = yaml::read(key.example).unwrap_or_else(|e| panic!("{}: {e:?}", key.name));
        S::default().set(key.name, &node, &mut problems);
        assert!(!problems.has_errors(), "{}: {problems:?}", key.name);
        assert!(
            !key.default.is_empty() && !key.text().is_empty(),
            "{}",
            key.name
        );
    }
}

#[test]
fn documented_examples_are_right() {
    examples_are_right::<PlanKeys>();
    examples_are_right::<PauseKeys>();
    examples_are_right::<WorkloadKeys>();
    examples_are_right::<PayloadKeys>();
}

fn names_are_unique<S: Section>() {
    let mut seen = std::collections::BTreeSet::new();
    for key in S::keys() {
        for name in std::iter::once(&key.name).chain(key.aliases) {
            assert!(seen.insert(*name), "{name} twice in {}", S::TITLE);
            assert!(
                crate::foreign::lookup(name).is_none(),
                "{name} is both a key and foreign"
            );
        }
    }
}

#[test]
fn a_name_means_one_key() {
    names_are_unique::<PlanKeys>();
    names_are_unique::<PauseKeys>();
    names_are_unique::<WorkloadKeys>();
    names_are_unique::<PayloadKeys>();
}
