//! The document that fio's client writes of its servers: `client_stats`
//! instead of `jobs`, each entry with its host, and the sum of all.

use fathom_model::RunRecord;

use super::gather::{Stats, trial_of};
use super::json::{Writer, options};
use super::tree::{Json, Object};
use super::view::{FioJob, FioView};
use super::{disk, when};

/// Name of the sum of all hosts.
const ALL: &str = "All clients";

/// The whole document.
pub(super) fn document(writer: &Writer<'_>, view: &FioView) -> Object {
    let record = writer.record;
    let ended_ms = when::ended_unix_ms(record);
    let hosts = hosts(&view.jobs);
    let mut root = Object::new();
    root.text("fio version", &view.version);
    root.integer("timestamp", ended_ms / 1000);
    root.text("time", &when::ctime(ended_ms / 1000));
    match &hosts[..] {
        [_] => root.object("global options", options(&view.global_options)),
        hosts => {
            let each = hosts.iter().map(|host| {
                let mut object = Object::new();
                put_host(&mut object, host);
                for (name, value) in &view.global_options {
                    object.text(name, value);
                }
                Json::Object(object)
            });
            root.put("global options", Json::Array(each.collect()));
        }
    }
    let mut stats: Vec<Json> = Vec::new();
    for entry in writer.entries {
        let mut object = writer.job(entry);
        put_host(&mut object, &host_of(entry.job));
        stats.push(Json::Object(object));
    }
    if hosts.len() > 1 {
        stats.extend(sums(writer, view));
    }
    root.put("client_stats", Json::Array(stats));
    root.put("disk_util", Json::Array(disks(writer, view)));
    root
}

fn host_of(job: &FioJob) -> (String, u16) {
    job.host.clone().unwrap_or_default()
}

fn hosts(jobs: &[FioJob]) -> Vec<(String, u16)> {
    let mut hosts: Vec<_> = Vec::new();
    for host in jobs.iter().map(host_of) {
        if !hosts.contains(&host) {
            hosts.push(host);
        }
    }
    hosts
}

fn put_host(object: &mut Object, (name, port): &(String, u16)) {
    object.text("hostname", name);
    object.integer("port", u64::from(*port));
}

/// The sum of each group over all hosts, the last one also being that of all
/// when there is only one. fio leaves the sum out when there are several
/// sections and group reporting; here it is always there.
fn sums(writer: &Writer<'_>, view: &FioView) -> Vec<Json> {
    let mut groups: Vec<u32> = view.jobs.iter().map(|job| job.group_id).collect();
    groups.sort_unstable();
    groups.dedup();
    let of_group = |id: &u32| sum_of(writer, |job| job.group_id == *id);
    let mut sums: Vec<Json> = groups.iter().filter_map(of_group).collect();
    if groups.len() > 1 {
        sums.extend(sum_of(writer, |_| true));
    }
    sums
}

fn sum_of(writer: &Writer<'_>, belongs: impl Fn(&FioJob) -> bool) -> Option<Json> {
    let mut members = writer.entries.iter().filter(|entry| belongs(entry.job));
    let first = members.next()?;
    let mut job = first.job.clone();
    job.name = ALL.to_owned();
    let mut sum = Stats {
        job: &job,
        ..first.clone()
    };
    members.for_each(|entry| sum.add(entry));
    let entries = [sum];
    let writer = Writer {
        entries: &entries,
        record: writer.record,
        fields: writer.fields,
        plus: writer.plus,
    };
    let mut object = writer.job(&entries[0]);
    put_host(&mut object, &host_of(first.job));
    Some(Json::Object(object))
}

/// Each host's disks.
fn disks(writer: &Writer<'_>, view: &FioView) -> Vec<Json> {
    let record: &RunRecord = writer.record;
    let mut all = Vec::new();
    for host in hosts(&view.jobs) {
        let jobs = view.jobs.iter().filter(|job| host_of(job) == host);
        let own = FioView {
            jobs: jobs
                .filter(|job| trial_of(job, record).is_some())
                .cloned()
                .collect(),
            ..view.clone()
        };
        for disk in disk::disks(record, &own) {
            let mut object = writer.disk(&disk);
            put_host(&mut object, &host);
            all.push(Json::Object(object));
        }
    }
    all
}
