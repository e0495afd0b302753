//! What killed agents left behind: on this host, and on others.

use std::path::Path;

use fathom_fleet::{CleanOrder, CleaningReport, Interrupt, clean_after_agents, clean_hosts};

use crate::command::agent::journals;
use crate::command::clean::Clean;
use crate::exit::Exit;
use crate::{present, signals};

fn order(clean: &Clean) -> CleanOrder {
    CleanOrder {
        remove: clean.yes,
        kept: clean.kept,
    }
}

/// On this host. `None` when there was nothing.
pub(super) fn here(clean: &Clean) -> anyhow::Result<Option<Exit>> {
    // A store of its own is looked at alone, with what lies beside it.
    let beside = |store: &Path| store.parent().map(|folder| folder.join("agents"));
    let directory = match &clean.store.store {
        Some(store) => beside(store),
        None => journals(),
    };
    let cleaned = directory.map(|directory| clean_after_agents(&directory, order(clean)));
    let cleaned = cleaned.unwrap_or_default();
    if cleaned == CleaningReport::default() {
        return Ok(None);
    }
    let told = tell("", &cleaned)?;
    if !cleaned.found.is_empty() {
        present::write_names("of agents that were killed; `fathom clean --yes` removes them\n")?;
    }
    Ok(Some(told))
}

/// On the hosts of `--hosts`.
pub(super) fn run(clean: &Clean) -> anyhow::Result<Exit> {
    let interrupt = Interrupt::new();
    signals::raise_on_signals(&interrupt)?;
    let (hosts, launcher) = clean.hosts.for_errand()?;
    let mut exit = Exit::Success;
    let mut found = false;
    for (host, answer) in hosts
        .iter()
        .zip(clean_hosts(&hosts, &launcher, order(clean), &interrupt))
    {
        match answer {
            Ok(cleaned) if cleaned == CleaningReport::default() => {
                present::write_names(&format!("{host}: nothing to clean\n"))?;
            }
            Ok(cleaned) => {
                found |= !cleaned.found.is_empty();
                if tell(&format!("{host}: "), &cleaned)? != Exit::Success {
                    exit = Exit::Failure;
                }
            }
            Err(why) => {
                present::complain(&format!("{host}: {why}"));
                exit = Exit::Failure;
            }
        }
    }
    if found {
        present::write_names("the same with --yes removes them\n")?;
    }
    Ok(exit)
}

fn tell(before: &str, cleaned: &CleaningReport) -> anyhow::Result<Exit> {
    for path in &cleaned.found {
        present::write_names(&format!("{before}{}\n", path.display()))?;
    }
    for path in &cleaned.removed {
        present::write_names(&format!("{before}removed {}\n", path.display()))?;
    }
    for problem in &cleaned.problems {
        present::complain(&format!("{before}{problem}"));
    }
    Ok(match cleaned.problems.is_empty() {
        true => Exit::Success,
        false => Exit::Failure,
    })
}
