//! The formats of fio beside fio itself: the same workload through both, and
//! the structure of what they write compared key by key, field by field and
//! line by line.

use std::path::Path;
use std::process::Command;

use crate::bench::{Bench, Output};

/// Version of the installed fio, or nothing and a word why.
fn fio_version() -> Option<String> {
    let output = Command::new("fio").arg("--version").output();
    let Ok(output) = output else {
        println!("skipped: fio is not installed");
        return None;
    };
    Some(String::from_utf8(output.stdout).unwrap().trim().to_owned())
}

/// Runs fio on the same file system as the bench's.
fn fio(bench: &Bench, args: &[&str]) -> String {
    let output = Command::new("fio")
        .args([
            "--name=x",
            "--filename=fio-file",
            "--size=4m",
            "--rw=randrw",
        ])
        .args(["--bs=4k", "--iodepth=4", "--ioengine=libaio", "--direct=0"])
        .args(args)
        .current_dir(bench.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// A stored run of the same workload.
fn measure(bench: &Bench, more: &[&str]) {
    let args = ["io", "data", "--rw", "randrw", "--rwmixread", "50"];
    let rest = ["--bs", "4k", "--iodepth", "4", "--engine", "libaio"];
    let size = ["--buffered", "--size", "4m"];
    let args = args.iter().chain(&rest).chain(&size).chain(more);
    bench.fathom(args).expect_measured();
}

fn export(bench: &Bench, format: &str, version: &str, more: &[&str]) -> Output {
    let args = [
        "runs",
        "export",
        "latest",
        "--format",
        format,
        "--fio-version",
        version,
    ];
    let output = bench.fathom(args.iter().chain(more));
    output.expect_status(0);
    output
}

/// Keys of a document in their order, with their depth. What depends on the
/// data (bins) or on the user (options) is left out.
fn structure(document: &str) -> Vec<String> {
    let mut keys = Vec::new();
    let mut hidden_below = None;
    for line in document.lines() {
        let depth = line.len() - line.trim_start().len();
        if hidden_below.is_some_and(|hidden| depth > hidden) {
            continue;
        }
        hidden_below = None;
        let Some((key, _)) = line.trim_start().split_once(" : ") else {
            continue;
        };
        if ["\"bins\"", "\"job options\"", "\"global options\""].contains(&key) {
            hidden_below = Some(depth);
        }
        // fio has the options of a command line of one job as its own.
        if key != "\"global options\"" {
            keys.push(format!("{depth} {key}"));
        }
    }
    keys
}

#[test]
fn json_has_the_keys_of_fio_in_their_order() {
    let Some(version) = fio_version() else {
        return;
    };
    let bench = Bench::new();
    measure(&bench, &["--number-ios", "4000"]);
    for (ours, theirs) in [("fio-json", "json"), ("fio-json+", "json+")] {
        let theirs = fio(&bench, &[&format!("--output-format={theirs}")]);
        // What fio says before its document is no part of it.
        let theirs = &theirs[theirs.find('{').unwrap()..];
        let ours = export(&bench, ours, &version, &[]).stdout;
        let _: serde_json::Value = serde_json::from_str(&ours).unwrap();
        let (ours, theirs) = (structure(&ours), structure(theirs));
        let differs = ours.iter().zip(&theirs).position(|(o, t)| o != t);
        assert_eq!(differs.map(|at| (&ours[at], &theirs[at])), None);
        // A device under the file system is not to be seen from everywhere.
        let disks = |keys: &[String]| keys.iter().any(|key| key.contains("\"disk_util\""));
        if disks(&ours) == disks(&theirs) {
            assert_eq!(ours.len(), theirs.len());
        }
        assert!(ours.len() > 150, "{}", ours.len());
    }
}

/// What a field looks like.
fn shape(field: &str) -> &'static str {
    let number = field.trim_end_matches('%');
    match (number.parse::<u64>().is_ok(), number.parse::<f64>().is_ok()) {
        (true, _) if number == field => "integer",
        (_, true) if number == field => "float",
        (_, true) => "percent",
        _ if field.contains("%=") => "percentile",
        _ => "text",
    }
}

#[test]
fn terse_lines_have_the_fields_of_fio() {
    let Some(version) = fio_version() else {
        return;
    };
    let bench = Bench::new();
    measure(&bench, &["--number-ios", "4000"]);
    for terse in ["2", "3", "4", "5"] {
        let option = format!("--terse-version={terse}");
        let theirs = fio(&bench, &["--output-format=terse", &option]);
        let ours = export(&bench, "fio-terse", &version, &["--terse-version", terse]).stdout;
        let fields = |text: &str| -> Vec<&'static str> {
            let line = text.lines().last().unwrap();
            line.split(';').map(shape).collect()
        };
        let (ours, theirs) = (fields(&ours), fields(&theirs));
        let disk_fields = 9;
        let difference = ours.len().abs_diff(theirs.len());
        assert_eq!(difference % disk_fields, 0, "version {terse}");
        let common = ours.len().min(theirs.len());
        assert_eq!(ours[..common], theirs[..common], "version {terse}");
    }
}

/// Numbers of fields in the lines of a log, and whether all are integers.
fn log_shape(path: &Path) -> Vec<usize> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    assert!(!text.is_empty(), "{} is empty", path.display());
    let mut counts: Vec<usize> = text
        .lines()
        .map(|line| {
            let fields: Vec<&str> = line.split(", ").collect();
            assert!(fields.iter().all(|f| f.parse::<u64>().is_ok()), "{line}");
            fields.len()
        })
        .collect();
    counts.dedup();
    counts
}

#[test]
fn logs_have_the_names_and_lines_of_fio() {
    if fio_version().is_none() {
        return;
    }
    let bench = Bench::new();
    let logs = ["bw", "lat", "iops", "hist"].map(|log| format!("--write_{log}_log=x"));
    let logs: Vec<&str> = logs.iter().map(String::as_str).collect();
    let windows = ["--log_avg_msec=500", "--log_hist_msec=500", "--runtime=2"];
    let quiet = ["--time_based", "--output-format=terse"];
    fio(&bench, &[&logs[..], &windows, &quiet].concat());
    measure(&bench, &["--runtime", "2"]);
    export(&bench, "fio-logs", "fio-3.36", &["--directory", "out"]);
    let name = "randrw-iodepth-4-numjobs-1";
    for subject in ["bw", "iops", "clat", "lat", "clat_hist"] {
        let theirs = log_shape(&bench.path().join(format!("x_{subject}.1.log")));
        let folder = if subject == "clat_hist" {
            "out/histograms"
        } else {
            "out"
        };
        let ours = bench.path().join(folder);
        let ours = log_shape(&ours.join(format!("{name}_{subject}.1.log")));
        assert_eq!(ours, theirs, "{subject}");
    }
    let files: Vec<_> = std::fs::read_dir(bench.path().join("out"))
        .unwrap()
        .collect();
    assert_eq!(
        files.len(),
        5,
        "no log of submission, no leftovers: {files:?}"
    );
}

/// Text with its numbers and units taken out.
fn head(line: &str) -> String {
    let mut head = String::new();
    for word in line.split_inclusive(['=', ',', ' ', '(', ')', '/', '-']) {
        if !word.starts_with(|c: char| c.is_ascii_digit()) {
            head.push_str(word.trim());
        }
    }
    head
}

#[test]
fn text_has_the_lines_that_people_grep_for() {
    let Some(version) = fio_version() else {
        return;
    };
    let bench = Bench::new();
    measure(&bench, &["--number-ios", "4000"]);
    let theirs = fio(&bench, &[]);
    let ours = export(&bench, "fio-normal", &version, &[]).stdout;
    for start in [
        "  read: IOPS=",
        "  write: IOPS=",
        "    clat (",
        "     lat (",
        "    clat percentiles (",
        "     | 99.00th=[",
        "  cpu          : usr=",
        "  IO depths    : 1=",
        "     submit    : 0=",
        "     issued rwts: total=",
        "     latency   : target=",
        "Run status group 0 (all jobs):",
        "   READ: bw=",
        "  WRITE: bw=",
    ] {
        let line = |text: &str| {
            let line = text.lines().find(|line| line.starts_with(start));
            line.unwrap_or_else(|| panic!("no '{start}' in:\n{text}"))
                .to_owned()
        };
        let (ours, theirs) = (line(&ours), line(&theirs));
        // Units depend on what was measured.
        if !start.contains('(') && !start.contains("th=") {
            assert_eq!(head(&ours), head(&theirs), "\n{ours}\n{theirs}");
        }
    }
    // The sum over all logs as users of fio make it: awk -F'[=k,]' '{sum += $2}'.
    let write = ours.lines().find(|line| line.contains("write:")).unwrap();
    let second = write.split(['=', 'k', ',']).nth(1).unwrap();
    assert!(second.parse::<f64>().is_ok_and(|n| n > 0.0), "{write}");
}

#[test]
fn a_run_that_is_no_job_file_has_the_options_that_parsers_look_for() {
    let bench = Bench::new();
    measure(&bench, &["--number-ios", "500"]);
    let document = export(&bench, "fio-json", "fio-3.36", &[]).json();
    let job = &document["jobs"][0];
    let options = &job["job options"];
    for (name, value) in [
        ("rw", "randrw"),
        ("bs", "4k"),
        ("iodepth", "4"),
        ("numjobs", "1"),
        ("size", "4m"),
        ("ioengine", "libaio"),
    ] {
        assert_eq!(options[name], value, "{name}");
    }
    let ops = |kind: &str| job[kind]["total_ios"].as_u64().unwrap();
    assert_eq!(ops("read") + ops("write"), 500);
    assert_eq!(job["read"]["lat_ns"]["N"], ops("read"));
    assert_eq!(document["fio version"], "fio-3.36");
    let files = export(&bench, "fio-json", "fio-3.36", &["--directory", "out"]);
    assert_eq!(files.stdout, "out/randrw-iodepth-4-numjobs-1.json\n");
    assert!(bench.path().join(files.stdout.trim()).is_file());
}
