//! bench-fio of fio-plot runs fathom by the name of fio: it writes job files,
//! takes anything on standard error for a failure, and leaves results for
//! fio-plot to draw.

use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;

use crate::bench::Bench;

/// Its folder of programs, if this host has it: installed by `./check` in
/// target/tools, or on the path.
fn programs() -> Option<PathBuf> {
    let binary = PathBuf::from(env!("CARGO_BIN_EXE_fathom"));
    let target = binary.ancestors().find(|path| path.join("tools").is_dir());
    let tools = target.and_then(|path| std::fs::read_dir(path.join("tools")).ok());
    let installed = tools.into_iter().flatten().flatten();
    let installed = installed
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("fio-plot-"))
        .map(|entry| entry.path().join("bin"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let found = installed
        .chain(on_path)
        .find(|folder| folder.join("bench-fio").is_file());
    if found.is_none() {
        println!("skipped: bench-fio is not installed; ./check installs it");
    }
    found
}

/// A program of fio-plot with fathom as `fio` before all else in the path.
fn call(bench: &Bench, program: PathBuf, arguments: &[&str]) -> Output {
    let links = bench.path().join("links");
    if !links.exists() {
        std::fs::create_dir(&links).unwrap();
        symlink(env!("CARGO_BIN_EXE_fathom"), links.join("fio")).unwrap();
    }
    let path = std::env::var("PATH").unwrap();
    let output = Command::new(program)
        .args(arguments)
        .current_dir(bench.path())
        .env("PATH", format!("{}:{path}", links.display()))
        .env("PYTHONIOENCODING", "utf-8")
        .env("FATHOM_STORE", bench.store())
        .env_remove("FATHOM_DESTRUCTIVE")
        .env_remove("FATHOM_FIO_QUIET")
        .output()
        .unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    output
}

#[test]
fn bench_fio_measures_with_fathom_and_fio_plot_draws_it() {
    let Some(programs) = programs() else {
        return;
    };
    let bench = Bench::new();
    // A file of its own: bench-fio makes it through fio, in a folder without one.
    let target = bench.data().join("target").display().to_string();
    let arguments = ["--target", &target, "--type", "file", "--create"];
    let load = ["--size", "4m", "--mode", "randwrite", "randrw", "randread"];
    let mixed = ["--rwmixread", "75", "--destructive"];
    let sweep = ["--iodepth", "1", "4", "--numjobs", "1", "2"];
    let time = ["--runtime", "2", "--time-based", "--quiet"];
    let output = ["--output", "out"];
    let all = [&arguments[..], &load, &mixed, &sweep, &time, &output].concat();
    call(&bench, programs.join("bench-fio"), &all);

    let results = bench.path().join("out/target");
    for (mode, kind, folder) in [
        ("randwrite", "write", "4k"),
        ("randread", "read", "4k"),
        ("randrw", "read", "randrw75/4k"),
    ] {
        let folder = results.join(folder);
        for (depth, jobs) in [(1, 1), (1, 2), (4, 1), (4, 2)] {
            let file = folder.join(format!("{mode}-{depth}-{jobs}.json"));
            let text = std::fs::read_to_string(&file).unwrap();
            let document: Value = serde_json::from_str(&text).unwrap();
            let entries = document["jobs"].as_array().unwrap();
            assert_eq!(entries.len(), jobs, "{}", file.display());
            for entry in entries {
                assert!(entry[kind]["iops"].as_f64().unwrap() > 0.0, "{entry}");
            }
            for subject in ["bw", "iops", "lat", "clat"] {
                let name = format!("{mode}-iodepth-{depth}-numjobs-{jobs}_{subject}.{jobs}.log");
                assert!(folder.join(&name).is_file(), "{name}");
            }
        }
    }
    let graph = ["-i", "out/target/4k", "-T", "test", "-r", "randread", "-l"];
    let shown = ["-n", "1", "-d", "1", "4", "-o", "graph.png"];
    call(
        &bench,
        programs.join("fio-plot"),
        &[&graph[..], &shown].concat(),
    );
    let picture = std::fs::read(bench.path().join("graph.png")).unwrap();
    assert!(picture.starts_with(b"\x89PNG"));
}
