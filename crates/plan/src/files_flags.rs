//! Work on many files as flags: phases one after the other, or one mix.

use clap::{ArgMatches, Args, Command, FromArgMatches};
use fathom_model::Target;
use fathom_model::workload::EngineKind;

use crate::diagnostic::{Diagnostics, Problems, Source, error};
use crate::flags::{IoFlags, arg, has_flag};
use crate::keys::{PauseKeys, PayloadKeys, PlanKeys, WorkloadKeys};
use crate::node::Located;
use crate::plan::Plan;
use crate::section::{Key, Section};
use crate::spelling::Spelling;
use crate::value::{Count, Name, OperationsValue, Switch, Targets, Time, operation};
use crate::works::Works;

/// Phases that are named at most.
const MAX_PHASES: usize = 100;

/// The flags that mean something for work on many files.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FilesFlags {
    flags: IoFlags,
}

fn is_flag(key: &&'static Key) -> bool {
    let chosen = [
        "engine",
        "matrix",
        "name",
        "start_delay",
        "direct",
        "buffered",
    ];
    has_flag(key) && key.works.holds(Works::FILES) && !chosen.contains(&key.name)
}

impl Args for FilesFlags {
    fn augment_args(command: Command) -> Command {
        let keys = WorkloadKeys::keys().iter().filter(is_flag);
        command.args(keys.chain(PayloadKeys::keys()).map(arg))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for FilesFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut flags = FilesFlags::default();
        flags.update_from_arg_matches(matches)?;
        Ok(flags)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.flags.update_from_arg_matches(matches)
    }
}

impl From<IoFlags> for FilesFlags {
    /// All flags of a workload; those that mean nothing for files are told
    /// when a plan is made.
    fn from(flags: IoFlags) -> FilesFlags {
        FilesFlags { flags }
    }
}

impl FilesFlags {
    /// Whether a mix was given.
    pub fn has_mix(&self) -> bool {
        self.flags.keys.operation.is_some()
    }

    /// A plan on `target`: the phases that `phases` names, joined by commas,
    /// or the mix that the flags give. One iteration, no pauses.
    ///
    /// # Errors
    /// A phase that is no operation, and every combination of flags that cannot
    /// run.
    pub fn to_plan(&self, target: Target, phases: &str) -> Result<Plan, Diagnostics> {
        let mut problems = Problems::default();
        let mut workloads = Vec::new();
        if self.has_mix() {
            workloads.push(self.workload(None, 0));
        } else {
            let names: Vec<&str> = phases.split(',').map(str::trim).collect();
            if names.len() > MAX_PHASES {
                problems.error("limit", None, format!("at most {MAX_PHASES} phases"));
            }
            let mut seen = std::collections::BTreeMap::new();
            for name in names.into_iter().take(MAX_PHASES) {
                match operation(name) {
                    Ok(kind) => {
                        let again = seen.entry(kind).or_insert(0u32);
                        *again += 1;
                        let value = OperationsValue(vec![fathom_model::workload::MetaShare {
                            kind,
                            weight: 1,
                        }]);
                        workloads.push(self.workload(Some(value), *again));
                    }
                    Err(message) => {
                        let help = "for example --phases create,stat,read,unlink";
                        problems.push(error("bad_value", None, message).help(help));
                    }
                }
            }
        }
        let source = Source::new("command line", "");
        if problems.has_errors() {
            return Err(problems.finish(&source));
        }
        let zero = || Some(Located::new(Time(0)));
        let plan = PlanKeys {
            targets: Some(Located::new(Targets(vec![Located::new(target)]))),
            iterations: Some(Located::new(Count(1))),
            // Phases follow one another; nothing is to be waited for.
            pause: Some(Located::new(PauseKeys {
                floor: zero(),
                ceiling: zero(),
                until_quiet: Some(Located::new(Switch(false))),
            })),
            probe: Some(Located::new(Switch(false))),
            ..Plan::build("files", workloads)
        };
        Plan::checked(plan, source, Spelling::Flags, problems)
    }

    /// One workload; a phase that comes again gets a number.
    fn workload(&self, phase: Option<OperationsValue>, again: u32) -> WorkloadKeys {
        let mut keys = self.flags.keys.clone();
        keys.engine = Some(Located::new(EngineKind::Meta));
        if let Some(value) = phase {
            if again > 1 {
                let name = value.0.first().map_or("", |share| share.kind.name());
                keys.name = Some(Located::new(Name(format!("{name} {again}"))));
            }
            keys.operation = Some(Located::new(value));
        }
        keys
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ScheduleContext;
    use fathom_model::OpKind;

    fn flags(arguments: &[&str]) -> FilesFlags {
        let command = FilesFlags::augment_args(Command::new("meta"));
        let words = std::iter::once("meta").chain(arguments.iter().copied());
        let words: Vec<String> = words.map(str::to_owned).collect();
        FilesFlags::from_arg_matches(&command.get_matches_from(words)).unwrap()
    }

    #[test]
    fn phases_become_trials_in_order() {
        let given = flags(&[
            "--files",
            "100k",
            "--threads",
            "4",
            "--files-per-dir",
            "100",
        ]);
        let plan = given
            .to_plan(Target::Null, "create,stat,read,stat,delete")
            .unwrap();
        let schedule = plan.schedule(&ScheduleContext::default()).unwrap();
        let labels: Vec<&str> = schedule.trials.iter().map(|t| t.label.as_str()).collect();
        assert_eq!(
            labels,
            [
                "create j4",
                "stat j4",
                "read_file j4",
                "stat 2",
                "unlink j4"
            ]
        );
        let meta = schedule.trials[2].workload.files_work().unwrap();
        assert_eq!(meta.phase(), Some(OpKind::ReadFile));
        assert_eq!(
            (meta.tree.files, meta.tree.leaves, meta.tree.depth),
            (100_000, 1000, 3)
        );
        assert!(schedule.trials.iter().all(|t| t.pause.ceiling_ns == 0));
    }

    #[test]
    fn what_is_wrong_is_told() {
        let told = |flags: &FilesFlags, phases: &str| {
            let problems = flags.to_plan(Target::Null, phases).unwrap_err();
            problems.render(false)
        };
        assert!(told(&flags(&[]), "create,stta").contains("did you mean stat?"));
        let mix = flags(&["--operation", "stat:1,create:1"]);
        assert!(told(&mix, "create").contains("no end"));
        assert!(
            flags(&["--runtime", "1s"])
                .to_plan(Target::Null, "stat")
                .is_ok()
        );
    }

    #[test]
    fn a_plan_from_flags_is_read_back() {
        let given = flags(&[
            "--operation",
            "stat:60,create:20,unlink:20",
            "--runtime",
            "1s",
        ]);
        let plan = given.to_plan(Target::Null, "").unwrap();
        let again = crate::parse("files.yaml", &plan.to_yaml()).unwrap();
        assert_eq!(plan, again);
    }
}
