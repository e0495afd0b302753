//! The JSON result of smallfile: its keys, with a section of fathom's own
//! behind them.

use std::path::Path;

use super::Smallfile;
use fathom_model::JudgedRun;
use serde_json::{Map, Value, json};

use super::figures::{Figures, SmallfileFigure};
use super::lines::letter;

/// The document, indented.
pub fn render(asked: &Smallfile, top: &Path, figures: &Figures, judged: &JudgedRun) -> String {
    let document = json!({
        "params": params(asked, top, figures),
        "results": results(asked, figures),
        "fathom": {
            "run": judged.run.id,
            "validity": judged.verdict.validity,
            "errors": figures.errors,
            "operations": judged.trials.iter().flat_map(|trial| {
                trial.summary.ops.iter().map(|op| json!({
                    "label": trial.label,
                    "kind": op.kind,
                    "ops": op.ops,
                    "service": op.service,
                }))
            }).collect::<Vec<Value>>(),
        },
    });
    let mut text = fathom_model::indented_json(&document).unwrap_or_default();
    text.push('\n');
    text
}

fn params(asked: &Smallfile, top: &Path, figures: &Figures) -> Value {
    let sync = asked.sync_dir.clone();
    let sync = sync.unwrap_or_else(|| top.join("network_shared"));
    json!({
        "host_set": asked.host_set.as_deref().unwrap_or("localhost"),
        "launch_by_daemon": false,
        "version": "3.2",
        "top": top.display().to_string(),
        "operation": asked.operation.name(),
        "files_per_thread": asked.files,
        "threads": asked.threads,
        "file_size": asked.file_size_kib,
        // Its own numbers for fixed and exponential.
        "file_size_distr": if asked.exponential { 0 } else { -1 },
        "files_per_dir": asked.files_per_dir,
        "share_dir": letter(asked.same_dir),
        "fname_prefix": asked.affixes[0],
        "fname_suffix": asked.affixes[1],
        "hash_to_dir": letter(asked.hash_into_dirs),
        "fsync_after_modify": letter(asked.fsync),
        "pause_between_files": asked.pause_us.to_string(),
        "auto_pause": "False",
        "cleanup_delay_usec_per_file": asked.cleanup_delay_us.to_string(),
        "finish_all_requests": letter(asked.finish),
        "stonewall": letter(asked.stonewall),
        "verify_read": letter(asked.verify_read),
        "xattr_size": asked.xattr_size.to_string(),
        "xattr_count": asked.xattr_count.to_string(),
        "permute_host_dirs": "N",
        "network_sync_dir": sync.display().to_string(),
        "min_directories_per_sec": 50,
        "total_hosts": figures.hosts.len().max(1),
        "startup_timeout": 0,
        "host_timeout": 0,
    })
}

fn results(asked: &Smallfile, figures: &Figures) -> Value {
    let mut results = Map::new();
    if asked.host_set.is_some() {
        let hosts = figures.hosts.iter().map(|host| {
            let mut one = figure(&host.all);
            one.insert("thread".to_owned(), threads(&host.threads));
            (host.name.clone(), Value::Object(one))
        });
        results.insert("host".to_owned(), Value::Object(hosts.collect()));
    }
    results.extend(figure(&figures.all));
    if asked.host_set.is_none() {
        let all: Vec<SmallfileFigure> = figures
            .hosts
            .iter()
            .flat_map(|host| host.threads.iter().copied())
            .collect();
        results.insert("thread".to_owned(), threads(&all));
    }
    let mut set = |key: &str, value: Value| results.insert(key.to_owned(), value);
    // Its own spelling.
    set("totalhreads", json!(figures.threads()));
    if figures.all.records > 0 {
        set("totalDataGB", json!(figures.all.bytes / f64::from(1 << 30)));
    }
    set("pctFilesDone", json!(figures.percent_done()));
    set("startTime", json!(figures.started_unix_s));
    let status = match figures.errors {
        0 => "Success",
        _ => "Input/output error",
    };
    set("status", json!(status));
    let start = jiff::Timestamp::from_second(figures.started_unix_s as i64);
    if let Ok(start) = start {
        let date = start.strftime("%Y-%m-%dT%H:%M:%S.000Z").to_string();
        set("date", json!(date));
    }
    Value::Object(results)
}

fn threads(threads: &[SmallfileFigure]) -> Value {
    let threads = threads
        .iter()
        .enumerate()
        .map(|(number, thread)| (format!("{number:02}"), Value::Object(figure(thread))));
    Value::Object(threads.collect())
}

fn figure(of: &SmallfileFigure) -> Map<String, Value> {
    let mut out = Map::new();
    let mut set = |key: &str, value: Value| out.insert(key.to_owned(), value);
    set("elapsed", json!(of.elapsed_s));
    set("files", json!(of.files));
    set("records", json!(of.records));
    set("filesPerSec", json!(of.files_per_second()));
    if of.records > 0 {
        set("IOPS", json!(of.records_per_second()));
        set("MiBps", json!(of.mib_per_second()));
    }
    out
}
