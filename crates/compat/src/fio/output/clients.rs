//! What fio's client writes of its servers: each host's results by
//! themselves, with its name, then the sum of all as `All clients`.

use std::fmt::Write;

use fathom_model::{Fingerprint, RunRecord};

use super::gather::{Stats, entries, trial_of};
use super::json::{Writer, options};
use super::tree::{Json, Object};
use super::version::VersionFields;
use super::view::{FioHost, FioJob, FioView};
use super::{disk, normal, terse, when};

/// Name of the sum of all hosts.
const ALL: &str = "All clients";

/// Whether the jobs ran on other hosts.
pub(super) fn are_in(view: &FioView) -> bool {
    view.jobs.iter().any(|job| job.host.is_some())
}

/// The jobs of one host.
struct ClientJobs {
    host: FioHost,
    view: FioView,
}

fn host_of(job: &FioJob) -> FioHost {
    job.host.clone().unwrap_or_default()
}

/// Each host's jobs, in the order in which the hosts were named.
fn parts(view: &FioView) -> Vec<ClientJobs> {
    let mut parts: Vec<ClientJobs> = Vec::new();
    for job in &view.jobs {
        let host = host_of(job);
        match parts.iter_mut().find(|part| part.host == host) {
            Some(part) => part.view.jobs.push(job.clone()),
            None => {
                let jobs = vec![job.clone()];
                let view = FioView {
                    jobs,
                    ..view.clone()
                };
                parts.push(ClientJobs { host, view });
            }
        }
    }
    parts
}

/// The job under whose name all hosts are added up: it is in the last group,
/// as fio has it. `None` where there is one entry only, which is the sum itself.
fn summed_job(entries: &[Stats<'_>]) -> Option<FioJob> {
    let [_, .., last] = entries else {
        return None;
    };
    Some(FioJob {
        name: ALL.to_owned(),
        description: None,
        ..last.job.clone()
    })
}

/// All entries as one, under the name of `job`. What only a single job has
/// (a depth that was searched for, a state that had to settle) it has not.
fn sum<'v, 'e: 'v>(entries: &[Stats<'e>], job: &'v FioJob) -> Option<Stats<'v>> {
    let (first, others) = entries.split_first()?;
    let mut sum = first.clone().named(job);
    others.iter().for_each(|entry| sum.add(entry));
    Some(sum)
}

/// The JSON document: `client_stats` instead of `jobs`, each entry with its host.
pub(super) fn document(record: &RunRecord, view: &FioView, plus: bool) -> Object {
    let parts = parts(view);
    let ended_ms = when::ended_unix_ms(record);
    let mut root = Object::new();
    root.text("fio version", &view.version);
    root.integer("timestamp", ended_ms / 1000);
    root.text("time", &when::ctime(ended_ms / 1000));
    match &parts[..] {
        [_] => root.object("global options", options(&view.global_options)),
        parts => {
            let each = parts.iter().map(|part| {
                let mut object = Object::new();
                put_host(&mut object, &part.host);
                for (name, value) in &view.global_options {
                    object.text(name, value);
                }
                Json::Object(object)
            });
            root.put("global options", Json::Array(each.collect()));
        }
    }
    let fields = VersionFields::of(&view.version);
    let mut stats: Vec<Json> = Vec::new();
    let mut disks: Vec<Json> = Vec::new();
    for part in &parts {
        // Shares are of what the host did, not of what all did.
        let entries = entries(record, &part.view);
        let writer = Writer {
            record,
            fields,
            plus,
            entries: &entries,
        };
        for entry in &entries {
            stats.push(hosted(writer.job(entry), &part.host));
        }
        for disk in disks_of(record, &part.view) {
            disks.push(hosted(writer.disk(&disk), &part.host));
        }
    }
    let all = entries(record, view);
    if let (Some(job), Some(part)) = (summed_job(&all), parts.last()) {
        let entries: Vec<Stats<'_>> = sum(&all, &job).into_iter().collect();
        let writer = Writer {
            record,
            fields,
            plus,
            entries: &entries,
        };
        let sums = entries.iter().map(|sum| writer.sum(sum));
        stats.extend(sums.map(|sum| hosted(sum, &part.host)));
    }
    root.put("client_stats", Json::Array(stats));
    root.put("disk_util", Json::Array(disks));
    root
}

fn put_host(object: &mut Object, host: &FioHost) {
    object.text("hostname", &host.name);
    object.integer("port", u64::from(host.port));
}

fn hosted(mut object: Object, host: &FioHost) -> Json {
    put_host(&mut object, host);
    Json::Object(object)
}

/// A host's disks, as far as its jobs ran.
fn disks_of(record: &RunRecord, view: &FioView) -> Vec<disk::Disk> {
    let ran = view
        .jobs
        .iter()
        .filter(|job| trial_of(job, record).is_some());
    let own = FioView {
        jobs: ran.cloned().collect(),
        ..view.clone()
    };
    disk::disks(record, &own)
}

// Writing to a string cannot fail, so results of `write!` are not looked at.

/// The text for people. What a host says by itself begins with its name in
/// angle brackets, as fio's client passes it on.
pub(super) fn text(record: &RunRecord, view: &FioView) -> String {
    let parts = parts(view);
    let mut out = String::new();
    for part in &parts {
        put_greeting(&mut out, record, part);
    }
    for part in &parts {
        let entries = entries(record, &part.view);
        let _ = writeln!(out, "<{}> ", part.host);
        for entry in entries.iter().filter(|entry| entry.ops() > 0) {
            normal::put_entry(&mut out, entry, &entries, record);
            normal::put_of_job(&mut out, entry);
        }
        normal::put_groups(&mut out, &part.view, &entries);
        normal::put_disks(&mut out, record, &part.view);
    }
    let all = entries(record, view);
    if let Some(job) = summed_job(&all) {
        let entries: Vec<Stats<'_>> = sum(&all, &job).into_iter().collect();
        for sum in entries.iter().filter(|sum| sum.ops() > 0) {
            normal::put_entry(&mut out, sum, &entries, record);
        }
    }
    out
}

/// How a host introduces itself, and the jobs that it starts.
fn put_greeting(out: &mut String, record: &RunRecord, part: &ClientJobs) {
    let facts = record
        .meta
        .hosts
        .iter()
        .find(|host| FioHost::of(&host.name) == part.host);
    let facts = facts.map_or(&record.meta.host, |host| &host.fingerprint);
    let _ = writeln!(
        out,
        "hostname={}, be={}, {}-bit, os=Linux, arch={}, fio={}, flags=1",
        own_name(facts, &part.host),
        u8::from(cfg!(target_endian = "big")),
        usize::BITS,
        // fio's spelling.
        facts.architecture.replace("x86_64", "x86-64"),
        part.view.version,
    );
    let mut jobs = String::new();
    normal::put_jobs(&mut jobs, record, &part.view);
    let start = normal::starting(&part.view);
    for line in jobs.lines().chain([&start[..]]) {
        let _ = writeln!(out, "<{}> {line}", part.host);
    }
}

/// What a host calls itself, where that is known.
fn own_name(facts: &Fingerprint, host: &FioHost) -> String {
    match facts.hostname.is_empty() {
        true => host.to_string(),
        false => facts.hostname.clone(),
    }
}

/// The terse lines: those of a host's jobs, its disks on a line of their own,
/// and the sum at the end.
pub(super) fn lines(record: &RunRecord, view: &FioView, version: u32) -> String {
    let mut out = String::new();
    for part in parts(view) {
        let entries = entries(record, &part.view);
        for entry in &entries {
            terse::put_entry(&mut out, entry, &entries, view, version);
            terse::put_end(&mut out, entry, version);
        }
        if version >= 3 && !disks_of(record, &part.view).is_empty() {
            terse::put_disks(&mut out, record, &part.view);
            out.push('\n');
        }
    }
    let all = entries(record, view);
    if let Some(job) = summed_job(&all) {
        let entries: Vec<Stats<'_>> = sum(&all, &job).into_iter().collect();
        for sum in &entries {
            terse::put_entry(&mut out, sum, &entries, view, version);
            terse::put_end(&mut out, sum, version);
        }
    }
    out
}

#[cfg(test)]
#[path = "clients_tests.rs"]
mod tests;
