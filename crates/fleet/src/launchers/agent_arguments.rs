//! What the agents of a schedule may touch, as their arguments.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use fathom_model::{Schedule, Target};

/// A path that cannot be an argument of an agent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{} is not UTF-8", .0.display())]
pub struct ArgumentError(PathBuf);

/// The user is the owner there: the agents may touch what the plan names.
///
/// # Errors
/// A path that cannot be an argument.
pub fn agent_arguments(schedule: &Schedule) -> Result<Vec<String>, ArgumentError> {
    let mut paths: Vec<&Path> = Vec::new();
    for spec in &schedule.trials {
        let named = spec
            .workload
            .data_set
            .named
            .iter()
            .flat_map(|named| &named.paths);
        let replay = spec
            .workload
            .replay()
            .into_iter()
            .map(|replay| &replay.path);
        let store = spec.workload.store().into_iter();
        let of_store = store.flat_map(|s| s.ca_file.as_deref().into_iter().chain(s.key_files()));
        let others = named.chain(replay).map(PathBuf::as_path);
        let others = others.chain(of_store.map(Path::new));
        for path in spec.target.path().into_iter().chain(others) {
            if path.is_absolute() && !paths.contains(&path) {
                paths.push(path);
            }
        }
    }
    let mut arguments = Vec::new();
    for (option, value) in stores_of(schedule) {
        arguments.extend([option.to_owned(), value]);
    }
    for path in paths {
        let text = path.to_str();
        let text = text.ok_or_else(|| ArgumentError(path.to_owned()))?;
        arguments.extend(["--allow".to_owned(), text.to_owned()]);
    }
    if schedule.destructive {
        arguments.push("--allow-destructive".to_owned());
    }
    Ok(arguments)
}

/// The buckets of a schedule and where they are, as options of an agent.
fn stores_of(schedule: &Schedule) -> BTreeSet<(&'static str, String)> {
    let mut all = BTreeSet::new();
    for spec in &schedule.trials {
        if matches!(spec.target, Target::Bucket(_)) {
            all.insert(("--allow", spec.target.to_string()));
            let endpoints = spec.workload.store().into_iter().flat_map(|s| &s.endpoints);
            all.extend(endpoints.map(|name| ("--allow-endpoint", name.clone())));
        }
    }
    all
}
