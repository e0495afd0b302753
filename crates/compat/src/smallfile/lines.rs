//! The lines that smallfile prints, and beside them what it does not say.

use std::fmt::Write;

use super::Smallfile;
use fathom_model::{JudgedRun, unit};

use super::figures::{Figures, SmallfileFigure};

/// Below this the result is called too small.
const PERCENT_MIN: f64 = 70.0;

/// Settings and results, as smallfile prints them.
pub fn render(asked: &Smallfile, figures: &Figures) -> String {
    let mut out = settings(asked, figures.hosts.len());
    for host in &figures.hosts {
        for (number, thread) in host.threads.iter().enumerate() {
            let _ = writeln!(
                out,
                "host = {},thr = {number:02},elapsed = {},files = {},records = {},status = {}",
                host.name,
                thread.elapsed_s,
                thread.files,
                thread.records,
                status(figures)
            );
        }
    }
    let all = &figures.all;
    let _ = writeln!(out, "total threads = {}", figures.threads());
    let _ = writeln!(out, "total files = {}", all.files);
    if all.records > 0 {
        let _ = writeln!(out, "total IOPS = {}", all.records_per_second() as u64);
        let gib = all.bytes / f64::from(1 << 30);
        let _ = writeln!(out, "total data = {gib:9.3} GiB");
    }
    let percent = figures.percent_done();
    let _ = writeln!(
        out,
        "{percent:6.2}% of requested files processed, warning threshold is {PERCENT_MIN:6.2}%"
    );
    let _ = writeln!(out, "elapsed time = {:9.3}", all.elapsed_s);
    rates(&mut out, all);
    if figures.errors > 0 {
        out += "WARNING: at least one thread encountered error, test may be incomplete\n";
    } else if percent < PERCENT_MIN {
        out += "WARNING: not enough total files processed before 1st thread finished, change test \
                parameters\n";
    }
    out
}

fn rates(out: &mut String, all: &SmallfileFigure) {
    if all.elapsed_s < 0.001 {
        *out += "WARNING: test must run longer than a millisecond\n";
        return;
    }
    let _ = writeln!(out, "files/sec = {:.6}", all.files_per_second());
    if all.records > 0 {
        let _ = writeln!(out, "IOPS = {:.6}", all.records_per_second());
        let _ = writeln!(out, "MiB/sec = {:.6}", all.mib_per_second());
    }
}

fn status(figures: &Figures) -> &'static str {
    match figures.errors {
        0 => "ok",
        _ => "ERR: Input/output error",
    }
}

/// `Y` or `N`.
pub(super) fn letter(on: bool) -> &'static str {
    match on {
        true => "Y",
        false => "N",
    }
}

fn settings(asked: &Smallfile, hosts: usize) -> String {
    let tops: Vec<String> = asked
        .tops
        .iter()
        .map(|top| format!("'{}'", top.display()))
        .collect();
    let distribution = match asked.exponential {
        true => "random exponential",
        false => "fixed",
    };
    let set = asked.host_set.clone().unwrap_or_else(|| "None".to_owned());
    let rows: Vec<(&str, String)> = vec![
        (
            "version",
            concat!("fathom ", env!("CARGO_PKG_VERSION")).to_owned(),
        ),
        ("hosts in test", set),
        ("top test directory(s)", format!("[{}]", tops.join(", "))),
        ("operation", asked.operation.name().to_owned()),
        ("files/thread", asked.files.to_string()),
        ("threads", asked.threads.to_string()),
        (
            "record size (KB, 0 = maximum)",
            asked.record_size_kib.to_string(),
        ),
        ("file size (KB)", asked.file_size_kib.to_string()),
        ("file size distribution", distribution.to_owned()),
        ("files per dir", asked.files_per_dir.to_string()),
        ("dirs per dir", asked.dirs_per_dir.to_string()),
        (
            "threads share directories?",
            letter(asked.same_dir).to_owned(),
        ),
        (
            "hash file number into dir.?",
            letter(asked.hash_into_dirs).to_owned(),
        ),
        ("fsync after modify?", letter(asked.fsync).to_owned()),
        ("incompressible?", letter(asked.incompressible).to_owned()),
        ("pause between files (microsec)", asked.pause_us.to_string()),
        ("total hosts", hosts.max(1).to_string()),
        ("finish all requests?", letter(asked.finish).to_owned()),
        ("stonewall?", letter(asked.stonewall).to_owned()),
        (
            "measure response times?",
            letter(asked.response_times).to_owned(),
        ),
        ("verify read?", letter(asked.verify_read).to_owned()),
        ("verbose?", letter(asked.verbose).to_owned()),
        ("ext.attr.size", asked.xattr_size.to_string()),
        ("ext.attr.count", asked.xattr_count.to_string()),
    ];
    let mut out = String::new();
    for (name, value) in rows {
        let _ = writeln!(out, "{name:>40} : {value}");
    }
    out
}

/// A line with what smallfile needs a second program for.
pub fn latencies(judged: &JudgedRun) -> String {
    let mut out = String::new();
    for trial in &judged.trials {
        for op in trial.summary.ops.iter().filter(|op| op.kind.is_metadata()) {
            let mut line = format!("{} latency:", trial.label);
            for percentile in &op.service.percentiles {
                if let Some(ns) = percentile.latency_ns.value {
                    let _ = write!(line, " p{} {}", percentile.percent, unit::latency(ns));
                }
            }
            if let Some(max_ns) = op.service.max_ns {
                let _ = write!(line, " max {}", unit::latency(max_ns as f64));
            }
            out += &line;
            out.push('\n');
        }
    }
    out
}

/// Where a figure is another than the original would print, and why.
pub fn differences(asked: &Smallfile, figures: &Figures) -> String {
    let mut out = String::new();
    let mut say = |text: &str| {
        out += "differs from smallfile: ";
        out += text;
        out.push('\n');
    };
    if figures.threads() > 1 && !asked.stonewall {
        say(
            "files/sec is all files over the time of the last thread, not the sum of what \
             each thread reached in its own time",
        );
    }
    if asked.exponential && figures.all.records > 0 {
        say("MiB/sec counts the bytes that were moved, not the calls times the record size");
    }
    if asked.operation.name() == "ls-l" && asked.response_times {
        say("a response time of ls-l is that of a directory with all its files");
    }
    if asked.pause_us > 0 {
        say(
            "--pause is a pause after every file; the original pauses five times as long, or \
             not at all, depending on the number of files",
        );
    }
    out
}
