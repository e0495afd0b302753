//! Programs of others that read results of fio, unchanged, on ours. They are
//! installed from the package index when the test runs; without one it is
//! skipped.

use std::path::Path;
use std::process::{Command, Output};

use crate::bench::Bench;
use crate::python::environment;

const PACKAGES: [&str; 3] = ["fio-plot==1.1.21", "cdmpy==0.3.2", "disk-bench==0.2.1"];

/// Runs a program and shows what it said when it failed.
fn call(program: &Path, args: &[&str], folder: &Path, path: Option<&str>) -> Output {
    let mut command = Command::new(program);
    command.args(args).current_dir(folder);
    if let Some(path) = path {
        command.env("PATH", path);
    }
    let output = command.output().unwrap();
    assert!(
        output.status.success(),
        "{} {args:?}: {}\n{}",
        program.display(),
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    output
}

/// Depths and workers as fio-plot wants them, then the jobs that the other two
/// look for, by their names.
const PLAN: &str = "\
plan: 1
name: parsers
targets: sim:enterprise
iterations: 1
workloads:
  - {name: rnd-read-4k-q1-t1, rw: randread, bs: 4k, runtime: 2s}
  - {name: rnd-write-4k-q1-t1, rw: randwrite, bs: 4k, runtime: 2s}
  - {name: randread, rw: randread, bs: 512k, runtime: 2s}
  - {name: randwrite, rw: randwrite, bs: 512k, runtime: 2s}
  - {name: read-4k, rw: randread, bs: 4k, iodepth: 2, runtime: 2s}
  - {name: write-4k, rw: randwrite, bs: 4k, iodepth: 2, runtime: 2s}
  - {name: mixed, rw: randrw, bs: 4k, iodepth: 2, runtime: 2s}
";

const SWEEP: &str = "\
plan: 1
name: sweep
targets: sim:enterprise
iterations: 1
workloads:
  - {name: sweep, rw: randread, bs: 4k, runtime: 3s}
matrix:
  iodepth: [1, 2]
  numjobs: [1, 2]
";

fn export(bench: &Bench, args: &[&str]) -> String {
    let all = ["runs", "export", "latest"].iter().chain(args);
    let output = bench.fathom(all);
    output.expect_status(0);
    output.stdout
}

#[test]
fn parsers_of_others_take_our_results_for_those_of_fio() {
    let bench = Bench::new();
    let Some(bin) = environment(bench.path(), &PACKAGES) else {
        return;
    };
    std::fs::write(bench.path().join("sweep.yaml"), SWEEP).unwrap();
    std::fs::write(bench.path().join("plan.yaml"), PLAN).unwrap();
    bench.fathom(["run", "sweep.yaml"]).expect_measured();
    export(&bench, &["--format", "fio-json", "--directory", "out"]);
    export(&bench, &["--format", "fio-logs", "--directory", "out"]);
    draw_every_graph(&bench, &bin);
    bench.fathom(["run", "plan.yaml"]).expect_measured();
    let document = export(&bench, &["--format", "fio-json"]);
    std::fs::write(bench.path().join("fio.json"), &document).unwrap();
    crystal_mark(&bench, &bin);
    disk_bench(&bench, &bin);
    clat_to_csv(&bench);
}

/// fio-plot: a 3D chart, charts by depth and by jobs, a histogram, logs over
/// time, and a comparison.
fn draw_every_graph(bench: &Bench, bin: &Path) {
    let graphs: [&[&str]; 6] = [
        &["-L", "-t", "iops"],
        &["-l", "-n", "1", "-d", "1", "2", "--show-cpu"],
        &["-N", "-d", "2", "-n", "1", "2"],
        &["-H", "-d", "2", "-n", "1"],
        &["-g", "-t", "bw", "iops", "lat", "-d", "1", "2", "-n", "1"],
        &["-C", "-d", "2", "-n", "1"],
    ];
    for graph in graphs {
        let picture = format!("graph{}.png", graph[0]);
        let mut args = vec!["-i", "out", "-r", "randread", "-T", "test", "-o", &picture];
        if graph[0] == "-C" {
            args.insert(2, "out");
        }
        args.extend(graph);
        call(&bin.join("fio-plot"), &args, bench.path(), None);
        let bytes = std::fs::read(bench.path().join(&picture)).unwrap();
        assert!(
            bytes.starts_with(b"\x89PNG") && bytes.len() > 10_000,
            "{picture}"
        );
    }
}

/// cdmpy runs `fio` and reads its standard output.
fn crystal_mark(bench: &Bench, bin: &Path) {
    let stub = bench.path().join("stub");
    std::fs::create_dir(&stub).unwrap();
    let script = format!("#!/bin/sh\ncat '{}/fio.json'\n", bench.path().display());
    let fio = stub.join("fio");
    crate::bench::program(&fio, &script);
    let path = format!("{}:{}", stub.display(), std::env::var("PATH").unwrap());
    let args = ["-a", "rnd,1,1", "-n", "1", "-s", "1M", "."];
    let output = call(&bin.join("cdm"), &args, bench.path(), Some(&path));
    let table = String::from_utf8(output.stdout).unwrap();
    let row = |name: &str| -> Vec<f64> {
        let row = table.lines().find(|line| line.contains(name));
        let row = row.unwrap_or_else(|| panic!("no {name} in:\n{table}"));
        let numbers = row.split(['|', ' ']).filter_map(|word| word.parse().ok());
        numbers.collect()
    };
    let document: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(bench.path().join("fio.json")).unwrap())
            .unwrap();
    let read = document["jobs"][0]["read"]["iops"].as_f64().unwrap();
    let shown = row("IOPS")[0];
    assert!((shown - read).abs() < 1.0, "{shown} {read}\n{table}");
    assert_eq!(row("latency").len(), 2, "{table}");
}

/// disk-bench reads seven jobs by their position.
fn disk_bench(bench: &Bench, bin: &Path) {
    let script = "import json; from diskbench.fio import extract_stats; \
                  print(len([s for s in extract_stats(json.load(open('fio.json'))) if s.iops > 0]))";
    let output = call(&bin.join("python"), &["-c", script], bench.path(), None);
    assert_eq!(String::from_utf8(output.stdout).unwrap().trim(), "8");
}

/// fio's own converter of json+.
fn clat_to_csv(bench: &Bench) {
    let converter = Path::new("/usr/bin/fio_jsonplus_clat2csv");
    if !converter.exists() {
        println!("skipped: fio_jsonplus_clat2csv is not installed");
        return;
    }
    let document = export(bench, &["--format", "fio-json+"]);
    std::fs::write(bench.path().join("plus.json"), document).unwrap();
    call(converter, &["plus.json", "clat.csv"], bench.path(), None);
    let table = std::fs::read_to_string(bench.path().join("clat_job0.csv")).unwrap();
    assert!(table.lines().count() > 20 && table.contains("read_clat_ns_count"));
}
