//! `fathom use` and `fathom alarms` on the host that runs the tests, and
//! dumps of clusters given to `fathom diagnose`.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::bench::{Bench, Output, finding, finish, is_root};

fn fixture(name: &str) -> PathBuf {
    let folder = "../diagnose/tests/fixtures";
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join(folder)
        .join(name)
}

#[test]
fn the_table_has_cpus_and_memory_of_any_host() {
    let bench = Bench::new();
    let output = bench.fathom(["use", "--for", "200ms", "--json"]);
    assert_eq!(output.status, Some(0), "{}", output.stderr);
    let found = output.json();
    assert_eq!(found["schema"], "fathom.use/1");
    let resources = found["resources"].as_array().unwrap();
    for name in ["all CPUs", "memory"] {
        let one = resources.iter().find(|resource| resource["name"] == name);
        let one = one.unwrap_or_else(|| panic!("{name}: {}", output.stdout));
        assert!(one["utilisation"][0]["value"].is_number(), "{one}");
    }
    let page = bench.fathom(["use", "--for", "100ms", "--format", "html"]);
    assert!(
        page.stdout.starts_with("<!doctype html>"),
        "{}",
        page.stdout
    );
    let text = bench.fathom(["use", "--for", "100ms", "--how"]);
    assert!(text.stdout.contains("/proc/meminfo"), "{}", text.stdout);
}

/// What comes of a command where /proc and /sys show nothing; `None` where they
/// cannot be hidden.
fn hidden(bench: &Bench, words: &[&str]) -> Option<Output> {
    let shown = bench.command(words);
    let script = "mount -t tmpfs none /proc && mount -t tmpfs none /sys && exec \"$@\"";
    let mut hidden = Command::new("unshare");
    hidden.args(["--mount", "sh", "-c", script, "sh"]);
    hidden.arg(shown.get_program()).args(shown.get_args());
    for (name, value) in shown.get_envs() {
        match value {
            Some(value) => hidden.env(name, value),
            None => hidden.env_remove(name),
        };
    }
    hidden.current_dir(bench.path());
    hidden.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = is_root().then(|| hidden.spawn());
    let Some(Ok(child)) = child else {
        println!("skipped: hiding /proc needs root and unshare");
        return None;
    };
    let output = finish(child);
    if output.stderr.contains("unshare failed") || output.stderr.contains("mount:") {
        println!("skipped: no mounts here: {}", output.stderr);
        return None;
    }
    Some(output)
}

#[test]
fn a_host_that_shows_nothing_is_not_called_well() {
    let bench = Bench::new();
    for (words, said) in [
        (&["alarms", "--for", "200ms"][..], "not good news"),
        (&["use", "--for", "200ms"], "/proc and"),
        (
            &["record", "--for", "1s", "-q", "--output", "a.frec"],
            "nothing could be read",
        ),
    ] {
        let Some(output) = hidden(&bench, words) else {
            return;
        };
        assert_eq!(output.status, Some(1), "{words:?}: {}", output.stdout);
        assert!(output.stderr.contains(said), "{words:?}: {}", output.stderr);
    }
    let doctor = hidden(&bench, &["doctor", "--json"]).unwrap();
    let found = doctor.json();
    let all = found.as_array().unwrap();
    let governor = all
        .iter()
        .find(|one| one["name"] == "CPU governor")
        .unwrap();
    assert_eq!(governor["status"], "missing", "{governor}");
}

/// As in a container that shows neither /proc nor /sys.
#[test]
fn a_host_that_shows_nothing_gives_no_trusted_number() {
    let bench = Bench::new();
    let words = [
        "io",
        "data",
        "--rw",
        "randread",
        "--bs",
        "4k",
        "--size",
        "8M",
        "--runtime",
        "2s",
        "--json",
    ];
    let Some(output) = hidden(&bench, &words) else {
        return;
    };
    let run = output.json();
    for verdict in [&run["verdict"], &run["rows"][0]["verdict"]] {
        let validity = verdict["validity"].as_str().unwrap();
        assert!(
            matches!(validity, "not_determined" | "not_trusted"),
            "{verdict}"
        );
        let lacking = finding(verdict, "V90").expect("what could not be looked at");
        let evidence = lacking["evidence"].as_str().unwrap();
        assert!(
            evidence.contains("V01") && evidence.contains("V37"),
            "{evidence}"
        );
        assert!(
            lacking["remedy"]
                .as_str()
                .unwrap()
                .contains("mount /proc and /sys")
        );
    }
}

#[test]
fn alarms_of_this_host_have_a_state_each() {
    let bench = Bench::new();
    let output = bench.fathom(["alarms", "--for", "200ms", "--json"]);
    // Whether one fires is the host's matter.
    assert!(matches!(output.status, Some(0 | 10)), "{}", output.stderr);
    let found = output.json();
    assert_eq!(found["schema"], "fathom.alarms/1");
    let alarms = found["alarms"].as_array().unwrap();
    assert!(alarms.len() > 30, "{}", alarms.len());
    let known = |name: &str| alarms.iter().find(|alarm| alarm["rule"] == name).unwrap();
    assert_ne!(known("oom-kills")["state"], "not_measurable");
    assert_eq!(known("gateway-latency")["state"], "not_measurable");
    assert!(
        !known("gateway-latency")["reason"]
            .as_str()
            .unwrap()
            .is_empty()
    );
}

#[test]
fn an_alarm_that_fires_is_status_10() {
    let bench = Bench::new();
    let file = bench.path().join("disk-sdc.txt");
    std::fs::write(&file, "| journal_data_size: 1000 |\n").unwrap();
    let file = file.to_str().unwrap();
    let output = bench.fathom(["alarms", file]);
    assert_eq!(output.status, Some(10), "{}", output.stderr);
    assert!(output.stdout.contains("journal-small"), "{}", output.stdout);
    let output = bench.fathom(["alarms", file, "--severity", "critical", "--quiet"]);
    assert_eq!((output.status, output.stdout.as_str()), (Some(0), ""));
}

#[test]
fn alarms_are_listed_explained_and_exported() {
    let bench = Bench::new();
    let list = bench.fathom(["alarms", "list"]);
    assert!(list.stdout.contains("disk-space "), "{}", list.stdout);
    let one = bench.fathom(["alarms", "explain", "operation-time"]);
    assert!(one.stdout.contains("> 0.1 s for 1 min"), "{}", one.stdout);
    assert_eq!(
        bench.fathom(["alarms", "explain", "no-such"]).status,
        Some(2)
    );
    let rules = bench.fathom(["alarms", "--format", "prometheus"]);
    assert!(
        rules.stdout.contains("alert: FathomDiskSpace"),
        "{}",
        rules.stdout
    );
}

#[test]
fn sar_text_is_a_recording_for_both_commands() {
    let bench = Bench::new();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../compat/tests/fixtures/sar-A.txt");
    let file = file.to_str().unwrap();
    let found = bench.fathom(["diagnose", file, "--json"]).json();
    assert_eq!(found["sources"][0], "sar (text)");
    let found = bench.fathom(["alarms", file, "--json"]).json();
    assert_eq!(found["sources"][0], "sar (text)");
}

#[test]
fn dumps_of_clusters_are_recognised() {
    let bench = Bench::new();
    let operations = fixture("ceph/historic-ops.json");
    let found = bench
        .fathom(["diagnose", operations.to_str().unwrap(), "--json"])
        .json();
    assert_eq!(
        (&found["schema"], &found["kind"]),
        (&"fathom.cluster/1".into(), &"ceph".into())
    );
    assert_eq!(found["findings"][0]["rule"], "queue-wait");
    let gluster = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../observe/tests/fixtures/gluster/three-hosts.txt");
    let output = bench.fathom(["diagnose", gluster.to_str().unwrap()]);
    assert_eq!(output.status, Some(0), "{}", output.stderr);
    assert!(output.stdout.contains("LOOKUP"), "{}", output.stdout);
    let mixed = [operations.to_str().unwrap(), gluster.to_str().unwrap()];
    assert_eq!(
        bench.fathom(["diagnose", mixed[0], mixed[1]]).status,
        Some(2)
    );
}

#[test]
fn dumps_of_clusters_raise_alarms_and_show_what_was_read() {
    let bench = Bench::new();
    let gluster = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../observe/tests/fixtures/gluster/three-hosts.txt");
    let perf = fixture("ceph/osd-perf.json");
    let files = [gluster.to_str().unwrap(), perf.to_str().unwrap()];
    let found = bench
        .fathom(["alarms", files[0], files[1], "--json"])
        .json();
    let alarms = found["alarms"].as_array().unwrap();
    let rule = |name: &str| alarms.iter().find(|alarm| alarm["rule"] == name).unwrap();
    assert_ne!(rule("member-operation-time")["state"], "not_measurable");
    let readings = found["readings"].as_array().unwrap();
    let waits = readings
        .iter()
        .filter(|one| one["quantity"] == "member_wait");
    let names: Vec<&str> = waits.map(|one| one["instance"].as_str().unwrap()).collect();
    assert!(names.iter().any(|name| name.contains(":/")), "{names:?}");
    assert!(names.contains(&"osd.0"), "{names:?}");

    // The same bricks, ten thousand times as slow.
    let slow = std::fs::read_to_string(&gluster).unwrap();
    let slow = slow.lines().map(|line| match line.contains(" ns ") {
        true => line.replace('.', "").replace(" ns", "00 ns") + "\n",
        false => format!("{line}\n"),
    });
    let file = bench.path().join("slow.txt");
    std::fs::write(&file, slow.collect::<String>()).unwrap();
    let output = bench.fathom(["alarms", file.to_str().unwrap()]);
    output.expect_status(10);
    assert!(
        output.stdout.contains("member-operation-time"),
        "{}",
        output.stdout
    );
}

#[test]
fn a_cluster_is_reported_for_tickets_without_names() {
    let bench = Bench::new();
    let gluster = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../observe/tests/fixtures/gluster/three-hosts.txt");
    let gluster = gluster.to_str().unwrap();
    let told = bench.fathom(["diagnose", gluster, "--json"]).json();
    let brick = told["members"][0]["name"].as_str().unwrap();
    let (host, _) = brick.split_once(":/").unwrap();
    for format in ["markdown", "html", "json", "text"] {
        let output = bench.fathom(["diagnose", gluster, "--anonymise", "--format", format]);
        output.expect_status(0);
        assert!(!output.stdout.contains(host), "{format}: {}", output.stdout);
        assert!(
            output.stdout.contains("host-1:brick-1"),
            "{format}: {}",
            output.stdout
        );
        assert!(
            output.stdout.contains("LOOKUP"),
            "{format}: {}",
            output.stdout
        );
    }
    let page = bench
        .fathom(["diagnose", gluster, "--format", "html"])
        .stdout;
    assert!(
        page.starts_with("<!doctype html>") && page.contains(host),
        "{page}"
    );
}
