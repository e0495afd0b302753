//! Plans that code writes: the keys of a plan file with their values as text.
//!
//! Who builds a plan here says what a user would write, and meets the same
//! checks.

use fathom_model::{PLAN_SCHEMA, Target};

use crate::diagnostic::{Diagnostics, Problems, Source};
use crate::keys::PlanKeys;
use crate::node::{Located, Node, NodeKind};
use crate::plan::Plan;
use crate::section;
use crate::spelling::Spelling;
use crate::value::Targets;

/// A plan under construction. Keys and values are those of a plan file.
#[derive(Debug, Clone)]
pub struct PlanBuilder {
    targets: Vec<Target>,
    keys: Vec<(Node, Node)>,
    workloads: Vec<Node>,
}

impl PlanBuilder {
    /// A plan of this name, without workloads.
    pub fn new(name: &str) -> PlanBuilder {
        let builder = PlanBuilder {
            targets: Vec::new(),
            keys: Vec::new(),
            workloads: Vec::new(),
        };
        builder.set("plan", PLAN_SCHEMA).set("name", name)
    }

    /// What is measured.
    #[must_use]
    pub fn targets(mut self, targets: impl IntoIterator<Item = Target>) -> PlanBuilder {
        self.targets.extend(targets);
        self
    }

    /// Sets a key of the plan.
    #[must_use]
    pub fn set(mut self, key: &str, value: impl ToString) -> PlanBuilder {
        self.keys.push(entry(key, value));
        self
    }

    /// Waits between trials from `floor` to `ceiling`, as times are written, or
    /// until the devices are quiet.
    #[must_use]
    pub fn pause(mut self, floor: &str, ceiling: &str, until_quiet: bool) -> PlanBuilder {
        let keys = vec![
            entry("floor", floor),
            entry("ceiling", ceiling),
            entry("until_quiet", until_quiet),
        ];
        self.keys.push((Node::flag("pause"), map(keys)));
        self
    }

    /// Adds a workload by its keys.
    #[must_use]
    pub fn workload<'k>(
        mut self,
        keys: impl IntoIterator<Item = (&'k str, String)>,
    ) -> PlanBuilder {
        let keys = keys.into_iter().map(|(key, value)| entry(key, value));
        self.workloads.push(map(keys.collect()));
        self
    }

    /// The plan, if nothing is wrong with it. Messages name keys as flags.
    ///
    /// # Errors
    /// Every key that is unknown, every value that does not fit its key, and every
    /// combination that cannot run.
    pub fn build(self) -> Result<Plan, Diagnostics> {
        let mut root = self.keys;
        let workloads = Node {
            span: None,
            kind: NodeKind::List(self.workloads),
        };
        root.push((Node::flag("workloads"), workloads));
        let mut problems = Problems::default();
        let mut keys: PlanKeys = section::read(&map(root), &mut problems);
        // A path is kept as it is, also where it is no text.
        let targets = self.targets.into_iter().map(Located::new).collect();
        keys.targets = Some(Located::new(Targets(targets)));
        let source = Source::new("command line", "");
        Plan::checked(keys, source, Spelling::Flags, problems)
    }
}

fn entry(key: &str, value: impl ToString) -> (Node, Node) {
    (Node::flag(key), Node::flag(&value.to_string()))
}

fn map(entries: Vec<(Node, Node)>) -> Node {
    Node {
        span: None,
        kind: NodeKind::Map(entries),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn builder(keys: &[(&'static str, &str)]) -> PlanBuilder {
        let keys = keys.iter().map(|(key, value)| (*key, (*value).to_owned()));
        PlanBuilder::new("built")
            .targets([Target::Null])
            .set("iterations", 2)
            .pause("0s", "1s", false)
            .workload(keys)
    }

    #[test]
    fn a_plan_from_code_is_that_of_a_file() {
        let built = builder(&[("rw", "randread"), ("bs", "4k"), ("runtime", "5s")]);
        let text = "plan: 1\nname: built\ntargets: 'null:'\niterations: 2\n\
            pause: {floor: 0s, ceiling: 1s, until_quiet: false}\n\
            workloads:\n- {rw: randread, bs: 4k, runtime: 5s}\n";
        assert_eq!(built.build().unwrap(), crate::parse("x", text).unwrap());
    }

    #[test]
    fn what_is_wrong_is_reported() {
        let told = |keys: &[(&'static str, &str)]| {
            let problems = builder(keys).build().unwrap_err();
            problems.render(false)
        };
        assert!(told(&[("iodpeth", "4")]).contains("iodepth"));
        assert!(told(&[("iodepth", "many")]).contains("many"));
    }
}
