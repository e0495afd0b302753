//! `fathom fio`: fio's job files, as their users run them.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

struct Ran {
    status: Option<i32>,
    stdout: String,
    stderr: String,
}

/// A directory with its own store.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Place {
        Place(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path().join(name), text).unwrap();
    }

    fn command(&self, program: &Path, arguments: &[&str]) -> Ran {
        let output = Command::new(program)
            .args(arguments)
            .current_dir(self.path())
            .env("FATHOM_STORE", self.path().join("store/runs.db"))
            .env_remove("FATHOM_DESTRUCTIVE")
            .env_remove("FATHOM_FIO_QUIET")
            .output()
            .unwrap();
        Ran {
            status: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    fn fio(&self, arguments: &[&str]) -> Ran {
        let mut all = vec!["fio"];
        all.extend(arguments);
        self.command(Path::new(env!("CARGO_BIN_EXE_fathom")), &all)
    }
}

const JOBS: &str = "\
[global]
bs=4k
size=1m
[w]
rw=write
[r]
stonewall
rw=randread
numjobs=2
";

#[test]
fn a_job_file_runs_and_gives_fios_json() {
    let place = Place::new();
    place.write("job.fio", JOBS);
    let ran = place.fio(&[
        "--quiet",
        "--output-format=json",
        "--output=o.json",
        "job.fio",
    ]);
    assert_eq!(
        (ran.status, ran.stdout.as_str()),
        (Some(0), ""),
        "{}",
        ran.stderr
    );
    assert_eq!(ran.stderr, "");
    let text = std::fs::read_to_string(place.path().join("o.json")).unwrap();
    let document: Value = serde_json::from_str(&text).unwrap();
    let jobs = document["jobs"].as_array().unwrap();
    let names: Vec<_> = jobs
        .iter()
        .map(|j| j["jobname"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["w", "r", "r"]);
    assert_eq!(jobs[0]["write"]["io_bytes"], 1 << 20);
    assert_eq!(jobs[2]["read"]["io_bytes"], 1 << 20);
    assert_eq!(
        (&jobs[0]["groupid"], &jobs[1]["groupid"]),
        (&0.into(), &1.into())
    );
    assert_eq!(document["global options"]["bs"], "4k");
    for file in ["w.0.0", "r.0.0", "r.1.0"] {
        assert_eq!(
            place.path().join(file).metadata().unwrap().len(),
            1 << 20,
            "{file}"
        );
    }
}

#[test]
fn by_the_name_of_fio_it_is_fio() {
    let place = Place::new();
    let link = place.path().join("fio");
    symlink(env!("CARGO_BIN_EXE_fathom"), &link).unwrap();
    let version = place.command(&link, &["--version"]);
    let ran = place.command(&link, &["--name=a", "--rw=write", "--size=64k"]);
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains("write: IOPS="), "{}", ran.stdout);
    assert_eq!(place.command(&link, &[]).status, Some(1));

    // One version everywhere, as scripts compare it.
    let job = [
        "--name=a",
        "--rw=write",
        "--size=64k",
        "--output-format=json",
    ];
    let document: Value = serde_json::from_str(&place.command(&link, &job).stdout).unwrap();
    let reported = document["fio version"].as_str().unwrap();
    assert!(reported.starts_with("fio-3."), "{reported}");
    let wanted = format!("{reported}-fathom-");
    assert!(version.stdout.starts_with(&wanted), "{}", version.stdout);
    assert!(
        ran.stdout.lines().any(|line| line == reported),
        "{}",
        ran.stdout
    );
    let page = include_str!("../../../../docs/reference/fio.md");
    let wanted = format!("Every option of {} ", reported.replace('-', " "));
    assert!(page.contains(&wanted), "{wanted}");
}

#[test]
fn it_does_not_pass_for_fio_before_itself() {
    let place = Place::new();
    symlink(env!("CARGO_BIN_EXE_fathom"), place.path().join("fio")).unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_fathom"));
    let ran = place.command(program, &["crosscheck", "null:", "--fio", "./fio"]);
    assert_eq!(ran.status, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("is a link to fathom"), "{}", ran.stderr);
}

#[test]
fn by_the_name_of_fio_only_failures_are_on_standard_error() {
    let place = Place::new();
    let link = place.path().join("fio");
    symlink(env!("CARGO_BIN_EXE_fathom"), &link).unwrap();
    // An option that is left out, and a verdict that is anything but good.
    let job = ["--name=a", "--rw=write", "--size=64k", "--nice=3"];
    let ran = place.command(&link, &job);
    assert_eq!((ran.status, ran.stderr.as_str()), (Some(0), ""));
    let told = place.fio(&job);
    assert_eq!(told.status, Some(0), "{}", told.stderr);
    for wanted in ["nice is ignored", "fathom runs show"] {
        assert!(told.stderr.contains(wanted), "{}", told.stderr);
    }
    let asked = Command::new(&link)
        .args(job)
        .current_dir(place.path())
        .env("FATHOM_STORE", place.path().join("store/runs.db"))
        .env("FATHOM_FIO_QUIET", "0")
        .output()
        .unwrap();
    let asked = String::from_utf8(asked.stderr).unwrap();
    assert!(asked.contains("fathom runs show"), "{asked}");
    let failed = place.command(&link, &["--name=a", "--rw=wriet"]);
    assert_eq!(failed.status, Some(1));
    assert!(failed.stderr.contains("wriet"), "{}", failed.stderr);
}

#[test]
fn a_misspelt_option_is_told_and_may_be_left_out() {
    let place = Place::new();
    place.write("job.fio", "[job]\nrw=write\nsize=64k\nfdatsync=32\n");
    let ran = place.fio(&["job.fio"]);
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(1), ""));
    let wanted = "fathom: job.fio:4:1: fio has no option 'fdatsync'; did you mean 'fdatasync'?\n";
    assert_eq!(ran.stderr, wanted);
    let lenient = place.fio(&["--lenient", "job.fio"]);
    assert_eq!(lenient.status, Some(0), "{}", lenient.stderr);
    assert!(
        lenient.stderr.contains("fdatsync is ignored"),
        "{}",
        lenient.stderr
    );
    let strict = place.fio(&["--lenient", "--strict", "job.fio"]);
    assert_eq!(strict.status, Some(1), "{}", strict.stderr);
}

#[test]
fn a_strangers_file_is_written_to_only_with_leave() {
    let place = Place::new();
    place.write("data", "somebody's");
    let arguments = ["--name=a", "--rw=write", "--size=64k", "--filename=data"];
    let ran = place.fio(&arguments);
    assert_eq!(ran.status, Some(1));
    assert!(ran.stderr.contains("--destructive"), "{}", ran.stderr);
    assert_eq!(
        std::fs::read_to_string(place.path().join("data")).unwrap(),
        "somebody's"
    );
    let with_leave = [&arguments[..], &["--destructive"]].concat();
    assert_eq!(place.fio(&with_leave).status, Some(0));

    // What fathom has made it writes to again, until somebody replaces it.
    let own = ["--quiet", "--name=b", "--rw=write", "--size=64k"];
    assert_eq!(place.fio(&own).status, Some(0));
    assert_eq!(place.fio(&own).status, Some(0));
    std::fs::remove_file(place.path().join("b.0.0")).unwrap();
    place.write("b.0.0", "somebody's");
    assert_eq!(place.fio(&own).status, Some(1));
}

#[test]
fn files_stay_until_they_are_cleaned_or_unlinked() {
    let place = Place::new();
    place.fio(&[
        "--quiet",
        "--name=a",
        "--rw=write",
        "--size=64k",
        "--unlink=1",
    ]);
    assert!(!place.path().join("a.0.0").exists());
    place.fio(&["--quiet", "--name=b", "--rw=write", "--size=64k"]);
    let program = Path::new(env!("CARGO_BIN_EXE_fathom"));
    let listed = place.command(program, &["clean", "--kept"]);
    assert!(listed.stdout.contains("b.0.0"), "{}", listed.stdout);
    let cleaned = place.command(program, &["clean", "--kept", "--yes"]);
    assert_eq!(cleaned.status, Some(0), "{}", cleaned.stderr);
    assert!(!place.path().join("b.0.0").exists());
}

#[test]
fn the_translation_can_be_seen() {
    let place = Place::new();
    place.write("job.fio", JOBS);
    let plan = place.fio(&["--plan", "job.fio"]);
    assert!(
        plan.stdout.contains("r 2/2") && plan.stdout.contains("psync"),
        "{}",
        plan.stdout
    );
    let account = place.fio(&["--account", "--nice=3", "job.fio"]);
    assert!(account.stdout.contains("nice=3"), "{}", account.stdout);
    assert!(
        account.stdout.contains("start fathom with nice"),
        "{}",
        account.stdout
    );
    let shown = place.fio(&["--showcmd", "job.fio"]);
    let wanted = "fio --bs=4k --size=1m --name=w --rw=write --name=r --stonewall --rw=randread --numjobs=2\n";
    assert_eq!(shown.stdout, wanted);
    let help = place.fio(&["--cmdhelp=blocksize"]);
    assert!(help.stdout.contains("bs: block size"), "{}", help.stdout);
    assert_eq!(place.fio(&["--parse-only", "job.fio"]).status, Some(0));
    assert!(!place.path().join("w.0.0").exists(), "nothing was run");
}

/// Calls of a job on a file of `place`: those that its JSON counts.
fn range_syncs(place: &Place, program: &str, options: &[&str]) -> u64 {
    let _ = std::fs::remove_file(place.path().join("file"));
    let mut arguments = vec!["--name=a", "--filename=file", "--size=1m", "--bs=4k"];
    arguments.extend(["--rw=write", "--output-format=json"]);
    arguments.extend(options);
    let ran = match program {
        "fio" => place.command(Path::new("fio"), &arguments),
        _ => place.fio(&arguments),
    };
    assert_eq!(ran.status, Some(0), "{program} {options:?}: {}", ran.stderr);
    let start = ran.stdout.find('{').unwrap();
    let document: Value = serde_json::from_str(&ran.stdout[start..]).unwrap();
    let job = &document["jobs"][0];
    assert_eq!(job["write"]["total_ios"], 256, "{program} {options:?}");
    job["sync"]["lat_ns"]["N"].as_u64().unwrap()
}

#[test]
fn ranges_are_synced_as_often_as_by_fio() {
    if Command::new("fio").arg("--version").output().is_err() {
        println!("skipped: fio is not installed");
        return;
    }
    let place = Place::new();
    for engine in ["psync", "libaio", "io_uring"] {
        let engine = format!("--ioengine={engine}");
        for (sync, calls) in [("write:8", 31), ("wait_before,write,wait_after:100", 2)] {
            let sync = format!("--sync_file_range={sync}");
            let options = [engine.as_str(), "--iodepth=4", &sync];
            let theirs = range_syncs(&place, "fio", &options);
            let ours = range_syncs(&place, "fathom", &options);
            assert_eq!(ours, calls, "{options:?}");
            // With io_uring fio also counts calls that its ring was too full for.
            match engine.ends_with("io_uring") {
                true => assert!(theirs >= calls, "{theirs} {options:?}"),
                false => assert_eq!(theirs, calls, "{options:?}"),
            }
        }
    }
}

#[test]
fn a_recorded_list_is_replayed_on_the_files_that_it_names() {
    let place = Place::new();
    let list = "fio version 3 iolog\n0 f1 add\n0 f2 add\n0 f1 open\n0 f2 open\n\
                10 f1 write 0 4096\n20 f2 write 8192 4096\n30 f1 close\n30 f2 close\n";
    place.write("log", list);
    let ran = place.fio(&["--name=a", "--read_iolog=log", "--rw=write"]);
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    for file in ["f1", "f2"] {
        let facts = place.path().join(file).metadata().unwrap();
        assert_eq!(facts.len(), 12_288, "{file}");
    }
    assert!(!place.path().join("a.0.0").exists());
    // A list that cannot be used ends the run before anything is made.
    place.write("log", "fio version 3 iolog\n0 f3 add\n0 f3 erase 0 0\n");
    let ran = place.fio(&["--name=a", "--read_iolog=log", "--rw=write"]);
    assert_ne!(ran.status, Some(0));
    assert!(
        ran.stderr.contains("log:3:6: 'erase' is not an action"),
        "{}",
        ran.stderr
    );
    assert!(!place.path().join("f3").exists());
}

#[test]
fn a_file_that_may_not_be_so_large_is_not_left_behind() {
    let place = Place::new();
    let script = "ulimit -f 20480; exec \"$0\" fio --name=a --size=64m --rw=write";
    let ran = place.command(
        Path::new("sh"),
        &["-c", script, env!("CARGO_BIN_EXE_fathom")],
    );
    assert_ne!(ran.status, Some(0));
    assert!(ran.stderr.contains("(ulimit -f)"), "{}", ran.stderr);
    assert!(!place.path().join("a.0.0").exists(), "{}", ran.stderr);
}
