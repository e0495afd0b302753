//! `fathom fio --client=HOST`: jobs on other hosts, over the fleet.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};

use fathom_compat::fio::output::{FioHost, FioJob, FioView};
use fathom_compat::fio::request::{FioJob as FioSection, FioJobs, FioMapped, FioRun};
use fathom_fleet::{HostName, parse_hosts, parse_hosts_file};
use fathom_model::fleet::FleetHost;
use fathom_model::run::RunRecord;
use fathom_model::schedule::take_set;
use fathom_model::{Schedule, ScheduledTrial};

use crate::command::hosts::HostArgs;

/// Longest list of hosts.
const LIST_BYTES: u64 = 1 << 20;

/// The hosts of all `--client`: names as fio takes them (`host`, `ip:host`,
/// `ip6:host`, with `,port`), or files with one to a line.
pub(super) fn hosts(run: &FioRun) -> Result<HostArgs, String> {
    let mut hosts: Vec<HostName> = Vec::new();
    for client in &run.clients {
        for host in of_client(client)? {
            if !hosts.contains(&host) {
                hosts.push(host);
            }
        }
    }
    let fleet = run.fleet.as_ref().map(PathBuf::from);
    HostArgs::named(hosts, run.launcher.as_deref(), fleet, run.allow_missing)
}

fn of_client(client: &str) -> Result<Vec<HostName>, String> {
    let told = |why: String| format!("--client={client}: {why}");
    let path = Path::new(client);
    if fathom_deadline::paths::is_file(path) {
        let text = fathom_deadline::paths::read_text_soon(path, LIST_BYTES)
            .map_err(|error| told(error.to_string()))?;
        let lines: Vec<String> = text.lines().map(bare_name).collect();
        return parse_hosts_file(&lines.join("\n")).map_err(|error| told(error.to_string()));
    }
    if client.starts_with("sock:") {
        return Err(told(
            "agents are not reached through a socket of this host".to_owned(),
        ));
    }
    parse_hosts(&bare_name(client)).map_err(|error| told(error.to_string()))
}

/// A host without what tells fio how to reach its server.
fn bare_name(text: &str) -> String {
    let text = text.trim();
    let kinds = ["ip:", "ip4:", "ip6:"];
    let text = kinds
        .iter()
        .find_map(|kind| text.strip_prefix(kind))
        .unwrap_or(text);
    match text.rsplit_once(',') {
        Some((host, port)) if port.parse::<u16>().is_ok() => host.to_owned(),
        _ => text.to_owned(),
    }
}

/// Nobody here knows the files of other hosts. What is there already counts as
/// a stranger's, until a job was allowed to write to it.
pub(super) fn settle(mapped: &mut FioMapped, destructive: bool) {
    mapped.schedule.destructive = destructive;
    let mut written: Vec<&PathBuf> = Vec::new();
    for job in &mapped.jobs {
        let trial = mapped.schedule.trials.get_mut(job.trial as usize);
        if let Some(named) = trial.and_then(|trial| trial.workload.data_set.named.as_mut()) {
            named.ours = job.files.iter().all(|path| written.contains(&path));
        }
        if job.modifies {
            written.extend(&job.files);
        }
    }
}

/// Names that a job did not choose itself begin with the host, as fio has it
/// with clients (`unique_filename`), so that hosts that share a directory do not
/// share its files.
pub(super) fn keep_apart(
    many: &mut Schedule,
    hosts: &[FleetHost],
    mapped: &FioMapped,
    jobs: &FioJobs,
) {
    for ((original, place), index) in places(&mapped.schedule, many) {
        let job = mapped.jobs.iter().find(|job| job.trial == original);
        let section = job.and_then(|job| jobs.jobs.get(job.section));
        let chosen =
            |job: &FioSection| job.text("filename").is_some() || !job.flag("unique_filename", true);
        let trial = many.trials.iter_mut().find(|trial| trial.index == index);
        let named = trial.and_then(|trial| trial.workload.data_set.named.as_mut());
        let (Some(section), Some(host), Some(named)) = (section, hosts.get(place as usize), named)
        else {
            continue;
        };
        if chosen(section) {
            continue;
        }
        let plain = |c: char| {
            if c.is_ascii_alphanumeric() || c == '-' {
                c
            } else {
                '.'
            }
        };
        let host: String = host.name.chars().map(plain).collect();
        for path in &mut named.paths {
            if let Some(name) = path.file_name().and_then(|name| name.to_str()) {
                *path = path.with_file_name(format!("{host}.{name}"));
            }
        }
    }
}

/// The jobs of each host. `schedule` is the one for one host.
pub(super) fn view(view: FioView, schedule: &Schedule, record: &RunRecord) -> FioView {
    let places = places(schedule, &record.meta.schedule);
    let mut jobs: Vec<FioJob> = Vec::new();
    for (place, host) in (0u32..).zip(&record.meta.hosts) {
        for job in &view.jobs {
            let Some(trial) = places.get(&(job.trial, place)) else {
                continue;
            };
            jobs.push(FioJob {
                trial: *trial,
                host: Some(FioHost::of(&host.name)),
                ..job.clone()
            });
        }
    }
    FioView { jobs, ..view }
}

/// Which trial of a run on many hosts a trial and a host have become: in both
/// lists the sets follow one another in the same order, and within a set of
/// the second one the trials of each host.
fn places(one: &Schedule, many: &Schedule) -> BTreeMap<(u32, u32), u32> {
    let queue = |schedule: &Schedule| -> VecDeque<ScheduledTrial> {
        schedule.trials.iter().cloned().collect()
    };
    let (mut one, mut many) = (queue(one), queue(many));
    let mut places = BTreeMap::new();
    loop {
        let (set, spread) = (take_set(&mut one), take_set(&mut many));
        if set.is_empty() {
            return places;
        }
        let mut seen: BTreeMap<u32, usize> = BTreeMap::new();
        for trial in spread {
            let place = trial.host.unwrap_or(0);
            let count = seen.entry(place).or_default();
            if let Some(original) = set.get(*count) {
                places.insert((original.index, place), trial.index);
            }
            *count += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_are_named_as_fio_names_them() {
        let names = |client: &str| -> Vec<String> {
            let hosts = of_client(client).unwrap();
            hosts.iter().map(ToString::to_string).collect()
        };
        assert_eq!(names("h1"), ["h1"]);
        assert_eq!(names("ip:10.0.0.1,8765"), ["10.0.0.1"]);
        assert_eq!(names("ip6:fe80::1"), ["fe80::1"]);
        assert_eq!(names("node[1-2]"), ["node1", "node2"]);
        let directory = tempfile::tempdir().unwrap();
        let list = directory.path().join("list");
        std::fs::write(&list, "h1\nip4:h2,8765\n\n").unwrap();
        assert_eq!(names(list.to_str().unwrap()), ["h1", "h2"]);
        assert!(of_client("sock:/tmp/x").unwrap_err().contains("socket"));
        assert!(of_client("-oX").unwrap_err().contains("no host name"));
    }
}
