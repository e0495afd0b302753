//! The two sides, from plans, targets and flags.

use std::path::Path;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args as _, FromArgMatches};
use fathom_model::nearest::nearest;
use fathom_model::secret::masked_command;
use fathom_plan::{IoFlags, Plan};
use fathom_studies::ab::{Side, Sides};

use super::Ab;
use crate::command::run::{schedule_here, usable_plan};
use crate::exit::CommandError;
use crate::{surroundings, synonym};

/// What each side would be called if nobody says.
type Labels = [String; 2];

/// The sides that the command line asks for.
pub(super) fn of(ab: &Ab) -> anyhow::Result<Sides> {
    let color = ab.output.format.color;
    let (plans, labels) = plans(ab)?;
    let (plans, labels) = vary(ab, plans, labels)?;
    let [mut plan_a, mut plan_b] = plans;
    plan_a.set_iterations(1);
    plan_b.set_iterations(1);
    let (schedule_a, schedule_b) = (
        schedule_here(&plan_a, color)?,
        schedule_here(&plan_b, color)?,
    );
    let [label_a, label_b] = labels;
    let a = Side {
        label: masked_command(ab.label_a.as_ref().unwrap_or(&label_a)),
        before: ab.before_a.clone(),
        plan: plan_a,
        schedule: schedule_a,
    };
    let b = Side {
        label: masked_command(ab.label_b.as_ref().unwrap_or(&label_b)),
        before: ab.before_b.clone(),
        plan: plan_b,
        schedule: schedule_b,
    };
    Ok(Sides::paired(a, b).map_err(CommandError::usage)?)
}

fn is_plan(text: &str) -> bool {
    let extension = Path::new(text).extension().and_then(|e| e.to_str());
    text == "-" || matches!(extension, Some("yaml" | "yml"))
}

/// The plans before anything varies.
fn plans(ab: &Ab) -> anyhow::Result<([Plan; 2], Labels)> {
    let both = match &ab.b {
        None => [ab.a.as_str(), ab.a.as_str()],
        Some(b) if is_plan(&ab.a) == is_plan(b) => [ab.a.as_str(), b.as_str()],
        Some(_) => {
            let problem = "give two plans or two targets; for one plan on two targets use \
                           --vary target=/mnt/a,/mnt/b";
            return Err(CommandError::usage(problem).into());
        }
    };
    let first = one(ab, both[0])?;
    let second = match both[0] == both[1] {
        true => first.clone(),
        false => one(ab, both[1])?,
    };
    let labels = match both[0] == both[1] {
        true => ["A", "B"].map(|side| format!("{} ({side})", both[0])),
        false => both.map(str::to_owned),
    };
    Ok(([first, second], labels))
}

fn one(ab: &Ab, text: &str) -> anyhow::Result<Plan> {
    let color = ab.output.format.color;
    let applied = if is_plan(text) {
        let plan = usable_plan(Path::new(text), surroundings::of, color, false)?;
        ab.flags.apply(&plan)
    } else {
        let target = text.parse().map_err(CommandError::about(text))?;
        ab.flags.to_plan(target)
    };
    let applied = applied.and_then(|plan| ab.plan_flags.apply(&plan));
    Ok(applied.map_err(|problems| CommandError::plan(problems, color))?)
}

/// Gives the key of `--vary` its two values.
fn vary(
    ab: &Ab,
    mut plans: [Plan; 2],
    labels: Labels,
) -> Result<([Plan; 2], Labels), CommandError> {
    let Some(text) = &ab.vary else {
        return Ok((plans, labels));
    };
    let (key, values) = split_values(text).ok_or_else(|| {
        CommandError::usage(format!(
            "--vary {text}: expected a key and two values, for example iodepth=1,32"
        ))
    })?;
    let is_target = matches!(key, "target" | "targets");
    for (plan, value) in plans.iter_mut().zip(values) {
        let wrong = format!("--vary {key}={value}");
        if is_target {
            plan.set_targets(vec![value.parse().map_err(CommandError::about(wrong))?]);
            continue;
        }
        let flags = flags_of(&[(key, value)]).map_err(CommandError::about(wrong))?;
        let applied = flags.apply(plan);
        *plan = applied.map_err(|problems| CommandError::plan(problems, ab.output.format.color))?;
    }
    let labels = values.map(|value| match is_target {
        true => value.to_owned(),
        false => format!("{key}={value}"),
    });
    Ok((plans, labels))
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

/// What clap says of a key or its value: the first line, without its prefix.
#[derive(Debug, thiserror::Error)]
#[error("{}", short(.0))]
pub(super) struct KeyError(#[from] clap::Error);

/// A workload's keys by name, as if they were flags.
pub(super) fn flags_of(keys: &[(&str, &str)]) -> Result<IoFlags, KeyError> {
    let command = clap::Command::new("fathom")
        .no_binary_name(true)
        .disable_help_flag(true);
    let arguments = keys.iter().map(|(key, value)| format!("--{key}={value}"));
    let matches = IoFlags::augment_args(command).try_get_matches_from(arguments)?;
    Ok(IoFlags::from_arg_matches(&matches)?)
}

fn short(error: &clap::Error) -> String {
    if error.kind() == ErrorKind::UnknownArgument {
        let key = match error.get(ContextKind::InvalidArg) {
            Some(ContextValue::String(flag)) => flag.trim_start_matches('-'),
            _ => "it",
        };
        return match meant(key) {
            Some(meant) => format!("no workload has the key {key}; did you mean {meant}?"),
            None => format!("no workload has the key {key}; `fathom io --help-all` lists all keys"),
        };
    }
    let text = error.to_string();
    let first = text.lines().next().unwrap_or_default();
    first.trim_start_matches("error: ").to_owned()
}

/// The key that is called so elsewhere, or one of nearly its name.
fn meant(key: &str) -> Option<String> {
    let command = IoFlags::augment_args(clap::Command::new("fathom"));
    let keys = command.get_arguments().filter_map(clap::Arg::get_long);
    let near = || nearest(key, keys).map(str::to_owned);
    synonym::own_name(&command, key).or_else(near)
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
        let unknown = flags_of(&[("iodpeth", "4")]).unwrap_err().to_string();
        assert!(unknown.contains("iodpeth"), "{unknown}");
        assert!(unknown.ends_with("did you mean iodepth?"), "{unknown}");
        let other = flags_of(&[("depth", "4")]).unwrap_err().to_string();
        assert!(other.ends_with("did you mean iodepth?"), "{other}");
        let wrong = flags_of(&[("iodepth", "many")]).unwrap_err().to_string();
        assert!(wrong.contains("many"), "{wrong}");
    }
}
