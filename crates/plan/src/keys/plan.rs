//! The keys of the plan itself: targets, workloads, matrix, iterations,
//! order, pauses.

use schemars::{Schema, json_schema};

use crate::diagnostic::{Problems, error};
use crate::keys::{WorkloadKeys, definition_ref};
use crate::node::{Located, Node, NodeKind, Out, Span};
use crate::section::{self, Section, section};
use crate::value::{
    Count, HostDataChoice, HostTurnsChoice, Name, Order, Switch, Targets, Time, Value,
};

const PLAN: &str = "Plan";
const WORKLOADS: &str = "Workloads";
const REPETITION: &str = "Repetition";
const HOSTS: &str = "Hosts";
const SAFETY: &str = "Safety";

section! {
    /// A plan as written.
    PlanKeys, "plan" {
        /// Version of the plan format. Always 1.
        [PLAN; default "none; it is required"; example "1"]
        plan: Count,
        /// Name of the plan in reports.
        [PLAN; default "the name of the file"; example "database"]
        name: Name,
        /// What is measured: a directory, file or block device, null: or sim:MODEL; one or a
        /// list. Every workload runs on every target. The command line may name others.
        [PLAN; default "none; named on the command line"; example "/mnt/data"; alias "target"]
        targets: Targets,
        /// All offsets and contents follow from this number; the same seed repeats them.
        [PLAN; default "chosen at random and stored"; example "42"]
        seed: Count,

        /// Keys that hold for every workload that does not set them itself.
        [WORKLOADS; default "none"; example "{size: 16g, runtime: 30s}"]
        defaults: WorkloadKeys,
        /// Lists of values per workload key; every workload runs once for each combination.
        [WORKLOADS; default "none"; example "{numjobs: [1, 4, 16], bs: [4k, 128k]}"]
        matrix: Matrix,
        /// What is done, one entry for each workload.
        [WORKLOADS; default "none; at least one is required"; example "[{rw: randread, runtime: 30s}]"]
        workloads: WorkloadList,

        /// Trials of each row, 1 to 1000. Three or more show how far results scatter.
        [REPETITION; default "3"; example "5"]
        iterations: Count,
        /// interleaved runs one iteration of every row before the next, so that drift hits all
        /// rows alike; fixed runs all iterations of a row first.
        [REPETITION; default "interleaved"; example "fixed"]
        order: Order,
        /// Wait before trials until the devices are quiet: {floor, ceiling, until_quiet}. Before the first one it waits only where they are busy.
        [REPETITION; default "1s to 3s, until the devices are quiet"; example "{floor: 5s, ceiling: 60s}"]
        pause: PauseKeys,
        /// After a row whose limiter is unknown, run its workload at twice the depth for 3 to 15
        /// seconds: that tells whether the depth or the device set the number. No part of the
        /// row's result.
        [REPETITION; default "true"; example "no"]
        probe: Switch,
        /// After each row that writes, four trials of 10 s with a payload of random bytes, zeros,
        /// zeros and random bytes: tells whether the content sets the speed.
        [REPETITION; default "false"; example "yes"]
        payload_probe: Switch,

        /// With several hosts (--hosts): own gives each test files of its own; divided makes the
        /// size, the files and the bounds those of all hosts together, and gives each a part;
        /// rotated lets who reads use what another host has written.
        [HOSTS; default "own"; example "divided"]
        host_data: HostDataChoice,
        /// With several hosts: together runs all at once; one_by_one each alone, one after the
        /// other; growing the first, the first two, the first four and so on, in the end all.
        [HOSTS; default "together"; example "growing"]
        host_turns: HostTurnsChoice,

        /// Allow devices, and files that fathom did not create, to be overwritten.
        [SAFETY; default "false"; example "true"]
        destructive: Switch,
        /// Keep the test files for the next run.
        [SAFETY; default "false"; example "true"]
        keep_files: Switch,
    }
}

section! {
    /// Wait between trials.
    PauseKeys, "pause" {
        /// Wait at least this long.
        [REPETITION; default "1s"; example "5s"]
        floor: Time,
        /// Wait at most this long.
        [REPETITION; default "3s"; example "1m"]
        ceiling: Time,
        /// Between the two, wait until the devices under the target are quiet.
        [REPETITION; default "true"; example "false"]
        until_quiet: Switch,
    }
}

/// The workloads of a plan.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WorkloadList(pub Vec<Located<WorkloadKeys>>);

const MAX_WORKLOADS: usize = 1000;

impl Value for WorkloadList {
    const KIND: &'static str = "list";

    fn from_text(_: &str) -> Result<Self, String> {
        Err(format!("workloads are a list; write {}", Self::example()))
    }

    fn from_node(node: &Node, problems: &mut Problems) -> Option<Self> {
        let NodeKind::List(items) = &node.kind else {
            let message = format!("expected a list of workloads, found {}", node.describe());
            let help = "write each workload as an entry of a list:\n- rw: randread\n  runtime: 30s";
            problems.push(error("wrong_type", node.span, message).help(help));
            return None;
        };
        if items.len() > MAX_WORKLOADS {
            let message = format!("{} workloads; the limit is {MAX_WORKLOADS}", items.len());
            problems.error("limit", node.span, message);
            return None;
        }
        let workloads = items.iter().map(|item| Located {
            value: section::read(item, problems),
            span: item.span,
        });
        Some(WorkloadList(workloads.collect()))
    }

    fn to_out(&self) -> Out {
        Out::List(self.0.iter().map(|w| Out::Map(w.value.entries())).collect())
    }

    fn example() -> &'static str {
        "[{rw: randread, runtime: 30s}]"
    }

    fn schema() -> Schema {
        json_schema!({
            "type": "array",
            "items": definition_ref::<WorkloadKeys>(),
            "minItems": 1
        })
    }
}

/// Keys of a workload, each with several values.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Matrix(pub Vec<Axis>);

/// One key of a matrix with its values.
#[derive(Debug, Clone)]
pub struct Axis {
    /// Canonical name of the key.
    pub key: &'static str,
    /// Where the key stands.
    pub span: Option<Span>,
    /// One workload for each value, in which only this key is set.
    pub values: Vec<WorkloadKeys>,
}

impl PartialEq for Axis {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key && self.values == other.values
    }
}

const MAX_VALUES: usize = 256;

impl Value for Matrix {
    const KIND: &'static str = "map of lists";

    fn from_text(_: &str) -> Result<Self, String> {
        Err(format!(
            "a matrix is a map of lists; write {}",
            Self::example()
        ))
    }

    fn from_node(node: &Node, problems: &mut Problems) -> Option<Self> {
        let NodeKind::Map(entries) = &node.kind else {
            let message = format!("expected a map of lists, found {}", node.describe());
            let help = format!("write {}", Self::example());
            problems.push(error("wrong_type", node.span, message).help(help));
            return None;
        };
        // Reading the map as a workload finds unknown and repeated keys; the
        // lists are left to the axes.
        let names = entries.iter().map(|(key, _)| {
            let value = Node::flag("");
            (key.clone(), value)
        });
        let names = Node {
            span: node.span,
            kind: NodeKind::Map(names.collect()),
        };
        section::read::<AxisNames>(&names, problems);
        let mut axes: Vec<Axis> = Vec::new();
        for (key, value) in entries {
            let Some(known) = key.text().and_then(section::find::<WorkloadKeys>) else {
                continue;
            };
            if matches!(known.name, "name" | "matrix") {
                let message = format!("`{}` cannot be varied by a matrix", known.name);
                problems.error("matrix_key", key.span, message);
                continue;
            }
            if axes.iter().any(|axis| axis.key == known.name) {
                continue;
            }
            axes.push(axis(known.name, key, value, problems)?);
        }
        Some(Matrix(axes))
    }

    fn to_out(&self) -> Out {
        let axes = self.0.iter().map(|axis| {
            let values = axis.values.iter();
            let values = values.filter_map(|keys| keys.entries().pop().map(|(_, out)| out));
            (axis.key.to_owned(), Out::Row(values.collect()))
        });
        Out::Map(axes.collect())
    }

    fn example() -> &'static str {
        "{numjobs: [1, 4, 16]}"
    }

    fn schema() -> Schema {
        json_schema!({ "$ref": format!("#/$defs/{}", Matrix::TITLE) })
    }
}

impl Matrix {
    /// Name of its schema among the definitions.
    pub(crate) const TITLE: &'static str = "matrix";

    /// Its JSON Schema: a list of values for each key of a workload.
    pub(crate) fn definition() -> Schema {
        let mut properties = serde_json::Map::new();
        for key in WorkloadKeys::keys() {
            if !matches!(key.name, "name" | "matrix") {
                let values = json_schema!({
                    "type": "array",
                    "items": (key.schema)(),
                    "minItems": 1
                });
                for name in std::iter::once(&key.name).chain(key.aliases) {
                    properties.insert((*name).to_owned(), values.clone().to_value());
                }
            }
        }
        json_schema!({
            "type": "object",
            "properties": properties,
            "additionalProperties": false
        })
    }
}

fn axis(name: &'static str, key: &Node, node: &Node, problems: &mut Problems) -> Option<Axis> {
    let items: &[Node] = match &node.kind {
        NodeKind::List(items) => items,
        NodeKind::Null => &[],
        NodeKind::Scalar(_) | NodeKind::Map(_) => std::slice::from_ref(node),
    };
    if items.is_empty() || items.len() > MAX_VALUES {
        let message = format!("`{name}` needs 1 to {MAX_VALUES} values in a matrix");
        problems.push(error("matrix_values", key.span, message).help("write a list as [1, 4, 16]"));
        return None;
    }
    let values = items.iter().map(|item| {
        let mut keys = WorkloadKeys::default();
        keys.set(name, item, problems);
        keys
    });
    let values: Vec<WorkloadKeys> = values.collect();
    for (at, value) in values.iter().enumerate() {
        if values[..at].contains(value) && *value != WorkloadKeys::default() {
            let message = format!("the same value of `{name}` twice in a matrix");
            problems.error("matrix_values", items[at].span, message);
        }
    }
    Some(Axis {
        key: name,
        span: key.span,
        values,
    })
}

/// The names of a matrix: those of a workload, without reading the values.
#[derive(Default)]
struct AxisNames;

impl Section for AxisNames {
    const TITLE: &'static str = "matrix";

    fn keys() -> &'static [section::Key] {
        WorkloadKeys::keys()
    }

    fn set(&mut self, _: &str, _: &Node, _: &mut Problems) {}

    fn entries(&self) -> Vec<(String, Out)> {
        Vec::new()
    }

    fn places(&self) -> Vec<(&'static str, Option<Span>)> {
        Vec::new()
    }

    fn overlay(&mut self, _: &Self) {}
}
