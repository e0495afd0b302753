//! Jobs that run on several hosts at the same time (`--client`): which files are
//! whose, and which trial of which host is which job.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;

use fathom_model::fleet::FleetHost;
use fathom_model::run::RunRecord;
use fathom_model::schedule::take_set;
use fathom_model::{Schedule, ScheduledTrial};

use super::output::{FioHost, FioJob, FioView};
use super::request::{FioJob as FioSection, FioJobs, FioMapped};

/// Nobody here knows the files of other hosts. What is there already counts as
/// a stranger's, until a job was allowed to write to it.
pub fn expect_strange_files(mapped: &mut FioMapped, destructive: bool) {
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
pub fn keep_apart(many: &mut Schedule, hosts: &[FleetHost], mapped: &FioMapped, jobs: &FioJobs) {
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
pub fn on_each_host(view: FioView, schedule: &Schedule, record: &RunRecord) -> FioView {
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
