//! The two sides, from plans, targets and flags.

use std::path::Path;

use clap::{Args as _, FromArgMatches};
use fathom_model::comparison::{Difference, RowDesign};
use fathom_model::{Schedule, ScheduledTrial};
use fathom_plan::{IoFlags, Plan};

use super::Ab;
use crate::command::run::{read_plan, schedule};
use crate::present;

/// One side, ready to be unrolled.
pub(crate) struct Side {
    pub(crate) label: String,
    pub(crate) before: Option<String>,
    pub(crate) plan: Plan,
    /// Its schedule, each row once.
    pub(crate) schedule: Schedule,
}

/// Both sides; rows stand in the same order.
pub(crate) struct Sides {
    pub(crate) a: Side,
    pub(crate) b: Side,
    seed: u64,
}

/// What each side would be called if nobody says.
type Labels = [String; 2];

impl Sides {
    /// The sides that the command line asks for; `None` when it asks wrongly,
    /// which has then been said.
    pub(crate) fn of(ab: &Ab) -> anyhow::Result<Option<Sides>> {
        let color = present::use_color(ab.output.format.color, &std::io::stderr());
        let Some((plans, labels)) = plans(ab, color)? else {
            return Ok(None);
        };
        let Some((plans, labels)) = vary(ab, plans, labels, color) else {
            return Ok(None);
        };
        let [mut plan_a, mut plan_b] = plans;
        plan_a.set_iterations(1);
        plan_b.set_iterations(1);
        let (Some(schedule_a), Some(schedule_b)) =
            (schedule(&plan_a, color), schedule(&plan_b, color))
        else {
            return Ok(None);
        };
        let [label_a, label_b] = labels;
        let seed = schedule_a.seed;
        let a = Side {
            label: ab.label_a.clone().unwrap_or(label_a),
            before: ab.before_a.clone(),
            plan: plan_a,
            schedule: schedule_a,
        };
        let b = Side {
            label: ab.label_b.clone().unwrap_or(label_b),
            before: ab.before_b.clone(),
            plan: plan_b,
            schedule: schedule_b,
        };
        let mut sides = Sides { a, b, seed };
        Ok(match sides.pair_rows() {
            Ok(()) => Some(sides),
            Err(problem) => {
                present::complain(&problem);
                None
            }
        })
    }

    /// Puts the rows of B into the order of those of A: by label, or by place
    /// where no label is shared.
    fn pair_rows(&mut self) -> Result<(), String> {
        let (a, b) = (&self.a.schedule, &mut self.b.schedule);
        if a.destructive != b.destructive {
            return Err(
                "only one of the sides allows devices to be overwritten; say --destructive for \
                 both, or in neither plan"
                    .to_owned(),
            );
        }
        let sets = [a, &*b].map(|s| s.trials.iter().any(|t| t.together.is_some()));
        if sets.contains(&true) {
            return Err(
                "a comparison takes turns with one workload at a time; the plan has workloads that \
                 run at the same time (`together`)"
                    .to_owned(),
            );
        }
        let labels = |s: &Schedule| s.trials.iter().map(|t| t.label.clone()).collect::<Vec<_>>();
        let (la, lb) = (labels(a), labels(b));
        if la.len() != lb.len() {
            return Err(format!(
                "side A has {} rows and side B has {}; rows are paired by label: A has {}; B has {}",
                la.len(),
                lb.len(),
                la.join(", "),
                lb.join(", ")
            ));
        }
        if la.iter().all(|label| lb.contains(label)) {
            b.trials
                .sort_by_key(|t| la.iter().position(|label| *label == t.label));
        } else if la.iter().any(|label| lb.contains(label)) {
            let alone: Vec<&String> = la.iter().filter(|l| !lb.contains(l)).collect();
            return Err(format!("side B has no row called {:?}", alone[0]));
        }
        Ok(())
    }

    /// Both trials of each row.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = (&ScheduledTrial, &ScheduledTrial)> {
        let (a, b) = (&self.a.schedule.trials, &self.b.schedule.trials);
        a.iter().zip(b)
    }

    /// The rows of the comparison. Those of the run are numbered A, B, A, B.
    pub(crate) fn rows(&self) -> Vec<RowDesign> {
        let each = self.pairs().zip((0u32..).step_by(2));
        each.map(|((a, b), row)| RowDesign {
            label: match a.label == b.label {
                true => a.label.clone(),
                false => format!("{} / {}", a.label, b.label),
            },
            a_row: row,
            b_row: row + 1,
        })
        .collect()
    }

    /// What the two plans declare as different.
    pub(crate) fn factor(&self) -> Vec<Difference> {
        let mut factor: Vec<Difference> = Vec::new();
        for (a, b) in self.pairs() {
            let declared = fathom_analysis::declared_differences(
                (&a.target, &a.workload),
                (&b.target, &b.workload),
            );
            for difference in declared {
                if !factor.contains(&difference) {
                    factor.push(difference);
                }
            }
        }
        factor
    }

    /// The schedule of the whole, without its trials.
    pub(crate) fn schedule(&self) -> Schedule {
        let name = format!("ab {} / {}", self.a.label, self.b.label);
        Schedule {
            seed: self.seed,
            destructive: self.a.schedule.destructive,
            keep_files: self.a.schedule.keep_files || self.b.schedule.keep_files,
            ..Schedule::new(name, Vec::new())
        }
    }

    pub(crate) fn seed(&self) -> u64 {
        self.seed
    }
}

fn is_plan(text: &str) -> bool {
    let extension = Path::new(text).extension().and_then(|e| e.to_str());
    text == "-" || matches!(extension, Some("yaml" | "yml"))
}

/// The plans before anything varies.
fn plans(ab: &Ab, color: bool) -> anyhow::Result<Option<([Plan; 2], Labels)>> {
    let both = match &ab.b {
        None => [ab.a.as_str(), ab.a.as_str()],
        Some(b) if is_plan(&ab.a) == is_plan(b) => [ab.a.as_str(), b.as_str()],
        Some(_) => {
            present::complain(
                "give two plans or two targets; for one plan on two targets use \
                 --vary target=/mnt/a,/mnt/b",
            );
            return Ok(None);
        }
    };
    let Some(first) = one(ab, both[0], color)? else {
        return Ok(None);
    };
    let second = match both[0] == both[1] {
        true => first.clone(),
        false => match one(ab, both[1], color)? {
            Some(plan) => plan,
            None => return Ok(None),
        },
    };
    let labels = match both[0] == both[1] {
        true => ["A".to_owned(), "B".to_owned()],
        false => both.map(str::to_owned),
    };
    Ok(Some(([first, second], labels)))
}

fn one(ab: &Ab, text: &str, color: bool) -> anyhow::Result<Option<Plan>> {
    let applied = if is_plan(text) {
        let read = read_plan(Path::new(text), ab.output.format.color, false)?;
        let Some(plan) = read else {
            return Ok(None);
        };
        ab.flags.apply(&plan)
    } else {
        match text.parse() {
            Ok(target) => ab.flags.to_plan(target),
            Err(error) => {
                present::complain(&format!("{text}: {error}"));
                return Ok(None);
            }
        }
    };
    Ok(said(
        applied.and_then(|plan| ab.plan_flags.apply(&plan)),
        color,
    ))
}

fn said(plan: Result<Plan, fathom_plan::Diagnostics>, color: bool) -> Option<Plan> {
    match plan {
        Ok(plan) => Some(plan),
        Err(problems) => {
            present::write_stderr(&problems.render(color));
            None
        }
    }
}

/// Gives the key of `--vary` its two values.
fn vary(ab: &Ab, plans: [Plan; 2], labels: Labels, color: bool) -> Option<([Plan; 2], Labels)> {
    let Some(text) = &ab.vary else {
        return Some((plans, labels));
    };
    let Some((key, values)) = split_values(text) else {
        present::complain(&format!(
            "--vary {text}: expected a key and two values, for example iodepth=1,32"
        ));
        return None;
    };
    let mut out = Vec::with_capacity(2);
    for (mut plan, value) in plans.into_iter().zip(&values) {
        if matches!(key, "target" | "targets") {
            match value.parse() {
                Ok(target) => plan.set_targets(vec![target]),
                Err(error) => {
                    present::complain(&format!("--vary {key}={value}: {error}"));
                    return None;
                }
            }
            out.push(plan);
            continue;
        }
        match flags_of(&[(key, value)]) {
            Ok(flags) => out.push(said(flags.apply(&plan), color)?),
            Err(problem) => {
                present::complain(&format!("--vary {key}={value}: {problem}"));
                return None;
            }
        }
    }
    let [a, b]: [Plan; 2] = out.try_into().ok()?;
    let labels = values.map(|value| match key {
        "target" | "targets" => value.to_owned(),
        _ => format!("{key}={value}"),
    });
    Some(([a, b], labels))
}

/// `iodepth=1,32` as a key and two values; `|` separates where it occurs.
fn split_values(text: &str) -> Option<(&str, [&str; 2])> {
    let (key, values) = text.split_once('=')?;
    let separator = if values.contains('|') { '|' } else { ',' };
    let (a, b) = values.split_once(separator)?;
    let (key, a, b) = (key.trim().trim_start_matches('-'), a.trim(), b.trim());
    let two = !a.is_empty() && !b.is_empty() && !b.contains(separator);
    (!key.is_empty() && two).then_some((key, [a, b]))
}

/// A workload's keys by name, as if they were flags.
pub(crate) fn flags_of(keys: &[(&str, &str)]) -> Result<IoFlags, String> {
    let command = clap::Command::new("fathom")
        .no_binary_name(true)
        .disable_help_flag(true);
    let arguments = keys.iter().map(|(key, value)| format!("--{key}={value}"));
    let matches = IoFlags::augment_args(command)
        .try_get_matches_from(arguments)
        .map_err(|error| short(&error))?;
    IoFlags::from_arg_matches(&matches).map_err(|error| short(&error))
}

/// The first line of what clap says, without its prefix.
fn short(error: &clap::Error) -> String {
    let text = error.to_string();
    let first = text.lines().next().unwrap_or_default();
    first.trim_start_matches("error: ").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_varies_over_two_values() {
        assert_eq!(split_values("iodepth=1,32"), Some(("iodepth", ["1", "32"])));
        assert_eq!(split_values("--bs=4k, 8k"), Some(("bs", ["4k", "8k"])));
        assert_eq!(split_values("cpus=0,1|2,3"), Some(("cpus", ["0,1", "2,3"])));
        for wrong in ["iodepth", "iodepth=1", "iodepth=1,2,3", "=1,2", "bs=,4k"] {
            assert_eq!(split_values(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn keys_are_those_of_the_flags() {
        assert!(flags_of(&[("iodepth", "4"), ("bs", "4k")]).is_ok());
        let unknown = flags_of(&[("iodpeth", "4")]).unwrap_err();
        assert!(unknown.contains("iodpeth"), "{unknown}");
        let wrong = flags_of(&[("iodepth", "many")]).unwrap_err();
        assert!(wrong.contains("many"), "{wrong}");
    }
}
