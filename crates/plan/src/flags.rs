//! The same keys as flags of a command line.
//!
//! [`IoFlags`] is made from the declarations of the workload's keys: a flag
//! has the key's name in kebab-case, its aliases, its description and its
//! parser. Forms with underscores and fio's names that are harmless are
//! accepted as well.

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use fathom_model::Target;
use fathom_model::workload::Arrival;

use crate::diagnostic::{Diagnostics, Problems, Source};
use crate::foreign::{self, Foreign};
use crate::keys::{Matrix, PayloadKeys, PlanKeys, WorkloadKeys};
use crate::node::{Located, Node};
use crate::plan::Plan;
use crate::section::{Key, Section};
use crate::spelling::Spelling;
use crate::value::{Seconds, Switch, Targets, Value};

/// How long a workload from flags runs when no bound is given.
const DEFAULT_RUNTIME_NS: u64 = 30_000_000_000;

/// One workload as flags: `--rw randread --bs 4k --iodepth 32`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct IoFlags {
    pub(crate) keys: WorkloadKeys,
}

/// The plan's own keys as flags: `--iterations 5 --seed 42`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PlanFlags {
    pub(crate) keys: PlanKeys,
}

impl IoFlags {
    /// Whether no flag was given.
    pub fn is_empty(&self) -> bool {
        self.keys == WorkloadKeys::default()
    }

    /// Whether a key was given, by its name in plans.
    pub fn given(&self, key: &str) -> bool {
        self.keys.entries().iter().any(|(name, _)| *name == key)
    }

    /// Fills in a key that was not given. A text that the key does not take
    /// is left out.
    pub fn fill_in(&mut self, key: &str, text: &str) {
        if !self.given(key) {
            let mut problems = Problems::default();
            self.keys.set(key, &Node::flag(text), &mut problems);
        }
    }

    /// Takes out how due times are spaced, where it was given.
    pub fn take_arrival(&mut self) -> Option<Arrival> {
        let arrival = self.keys.arrival.take();
        arrival.map(|arrival| arrival.value.arrival())
    }

    /// Takes out how long to measure, in nanoseconds, where it was given.
    pub fn take_runtime_ns(&mut self) -> Option<u64> {
        self.keys.runtime.take().map(|runtime| runtime.value.0)
    }

    /// A plan with this one workload on `target`, one iteration.
    ///
    /// Without any bound the workload runs for 30 s.
    ///
    /// # Errors
    ///
    /// Every combination of flags that cannot run, each naming its flags.
    pub fn to_plan(&self, target: Target) -> Result<Plan, Diagnostics> {
        let mut keys = self.keys.clone();
        let bounded = keys.io_size.is_some()
            || keys.number_ios.is_some()
            || keys.passes.is_some()
            || keys.replay.is_some()
            || keys.until.is_some()
            || keys
                .operation
                .as_ref()
                .is_some_and(|ops| ops.value.0.len() == 1)
            || keys.request.as_ref().is_some_and(|r| r.value.0.len() == 1);
        if keys.runtime.is_none() && !bounded {
            keys.runtime = Some(Located::new(Seconds(DEFAULT_RUNTIME_NS)));
        }
        let name = crate::label::label(&keys, &[]);
        let mut plan = Plan::build(&name, vec![keys]);
        plan.targets = Some(Located::new(Targets(vec![Located::new(target)])));
        plan.iterations = Some(Located::new(crate::value::Count(1)));
        let source = Source::new("command line", "");
        Plan::checked(plan, source, Spelling::Flags, Problems::default())
    }
}

impl IoFlags {
    /// The plan with these flags in every workload, in place of its own values
    /// and of a matrix over the same key.
    ///
    /// # Errors
    ///
    /// Every combination of the plan's keys and the flags that cannot run.
    pub fn apply(&self, plan: &Plan) -> Result<Plan, Diagnostics> {
        let mut keys = plan.keys.clone();
        let fixed = self.keys.entries();
        let free = |matrix: &mut Option<Located<Matrix>>| {
            if let Some(matrix) = matrix {
                let axes = &mut matrix.value.0;
                axes.retain(|axis| fixed.iter().all(|(key, _)| key != axis.key));
            }
        };
        free(&mut keys.matrix);
        for workload in keys.workloads.iter_mut().flat_map(|list| &mut list.value.0) {
            free(&mut workload.value.matrix);
            workload.value.overlay(&self.keys);
        }
        Plan::checked(
            keys,
            plan.source.clone(),
            plan.spelling,
            Problems::default(),
        )
    }
}

impl PlanFlags {
    /// The plan with these flags in place of its own values.
    ///
    /// # Errors
    ///
    /// A value is out of its bounds, or makes too many trials.
    pub fn apply(&self, plan: &Plan) -> Result<Plan, Diagnostics> {
        let mut keys = plan.keys.clone();
        keys.overlay(&self.keys);
        Plan::checked(
            keys,
            plan.source.clone(),
            plan.spelling,
            Problems::default(),
        )
    }
}

/// Keys of a workload that have no flag: a matrix and sections of their own,
/// and what needs a second workload.
pub(crate) fn has_flag(key: &Key) -> bool {
    key.name != "together" && !key.kind.starts_with("map") && key.kind != "list"
}

/// Keys of the plan that are flags. Targets and workloads are not.
const PLAN_FLAGS: [&str; 7] = [
    "iterations",
    "order",
    "seed",
    "destructive",
    "keep_files",
    "probe",
    "payload_probe",
];

/// Ids of arguments do not meet those of the command that takes the flags in.
fn id(key: &Key) -> String {
    format!("key.{}", key.name)
}

/// Id of the flag of how long is measured.
pub const RUNTIME: &str = "key.runtime";

pub(crate) fn arg(key: &'static Key) -> Arg {
    let flag = key.flag();
    let mut aliases: Vec<String> = Vec::new();
    for name in std::iter::once(&key.name).chain(key.aliases) {
        for form in [name.replace('_', "-"), (*name).to_owned()] {
            if form != flag && !aliases.contains(&form) {
                aliases.push(form);
            }
        }
    }
    let check = key.check;
    let arg = Arg::new(id(key))
        .long(flag)
        .aliases(aliases)
        .help_heading(key.heading)
        .value_name(value_name(key))
        .help(first_sentence(&key.text()))
        .long_help(long_help(key))
        .value_parser(move |text: &str| check(text).map(|()| text.to_owned()));
    match key.kind == Switch::KIND {
        // `--direct`, `--direct=1` and `--direct=0`, but not `--direct 1`,
        // which would swallow the target.
        true => arg
            .action(ArgAction::Set)
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("true"),
        false => arg.action(ArgAction::Set),
    }
}

fn value_name(key: &Key) -> String {
    match key.kind == Switch::KIND {
        true => "0|1".to_owned(),
        false => key.kind.to_uppercase().replace(' ', "_"),
    }
}

fn first_sentence(text: &str) -> String {
    let end = text.find(". ").map_or(text.len(), |at| at + 1);
    text[..end].trim_end_matches('.').to_owned()
}

/// The whole description, an example where the plan's form is the flag's, and
/// the default.
fn long_help(key: &Key) -> String {
    let mut text = key.text();
    if (key.check)(key.example).is_ok() && key.kind != Switch::KIND {
        text.push_str(&format!(" Example: --{} {}", key.flag(), key.example));
    }
    format!("{text}\n[default: {}]", key.default)
}

fn take<S: Section>(section: &mut S, key: &Key, matches: &ArgMatches, problems: &mut Problems) {
    if let Ok(Some(text)) = matches.try_get_one::<String>(&id(key)) {
        section.set(key.name, &Node::flag(text), problems);
    }
}

impl Args for IoFlags {
    fn augment_args(command: Command) -> Command {
        let keys = WorkloadKeys::keys().iter().filter(|key| has_flag(key));
        let command = command.args(keys.chain(PayloadKeys::keys()).map(arg));
        command.args(foreign::all().iter().map(foreign_arg))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

/// A flag of fio that is not a key: hidden; ignored where it asks for what
/// happens anyway, else answered with what to do instead.
fn foreign_arg(foreign: &'static Foreign) -> Arg {
    let flag = foreign.name.replace('_', "-");
    let arg = Arg::new(format!("foreign.{flag}"))
        .long(flag.clone())
        .hide(true);
    let arg = if flag == foreign.name {
        arg
    } else {
        arg.alias(foreign.name)
    };
    let arg = arg
        .num_args(0..=1)
        .action(ArgAction::Set)
        .default_missing_value("1");
    match foreign.harmless {
        // Written as `--time_based` or `--time_based=1`: a separate word
        // after it may be the target.
        true => arg.require_equals(true),
        false => arg.value_parser(move |_: &str| -> Result<String, String> {
            Err(format!("not supported; {}", foreign.remark))
        }),
    }
}

impl FromArgMatches for IoFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut flags = IoFlags::default();
        flags.update_from_arg_matches(matches)?;
        Ok(flags)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        // Each text passed its check when the command line was read.
        let mut problems = Problems::default();
        for key in WorkloadKeys::keys().iter().filter(|key| has_flag(key)) {
            take(&mut self.keys, key, matches, &mut problems);
        }
        let mut payload = PayloadKeys::default();
        for key in PayloadKeys::keys() {
            take(&mut payload, key, matches, &mut problems);
        }
        if payload != PayloadKeys::default() {
            self.keys.payload = Some(Located::new(payload));
        }
        Ok(())
    }
}

impl Args for PlanFlags {
    fn augment_args(command: Command) -> Command {
        command.args(plan_keys().map(arg))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

fn plan_keys() -> impl Iterator<Item = &'static Key> {
    PlanKeys::keys()
        .iter()
        .filter(|key| PLAN_FLAGS.contains(&key.name))
}

impl FromArgMatches for PlanFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut flags = PlanFlags::default();
        flags.update_from_arg_matches(matches)?;
        Ok(flags)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        let mut problems = Problems::default();
        for key in plan_keys() {
            take(&mut self.keys, key, matches, &mut problems);
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "flags_tests.rs"]
mod tests;
