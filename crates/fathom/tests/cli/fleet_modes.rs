//! What several hosts do beside one another, scale-out studies, and faults of
//! real agents.

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::bench::{Bench, finding, finish, is_root};
use crate::fleet::{Agent, agents, eventually, fleet, has_files, io, test_files};

/// `fathom` with agents that have joined.
pub(crate) fn on(bench: &Bench, agents: &[Agent], arguments: &[&str]) -> Command {
    let hosts: Vec<&str> = agents.iter().map(|agent| agent.host.as_str()).collect();
    let mut command = bench.command(arguments);
    command
        .args([
            "--quiet",
            "--launcher",
            "static",
            "--hosts",
            &hosts.join(","),
        ])
        .env("FATHOM_FLEET", bench.path().join("fleet"));
    command
}

fn hosts_of(workload: &Value) -> Vec<u64> {
    let hosts = workload["hosts"].as_array().unwrap().iter();
    hosts.map(|host| host["host"].as_u64().unwrap()).collect()
}

#[test]
fn one_file_is_divided_among_the_hosts() {
    let bench = Bench::new();
    let agents = agents(&bench, 2);
    let file = bench.data().join("shared");
    std::fs::write(&file, vec![7u8; 4 << 20]).unwrap();
    let file = file.to_str().unwrap();
    let work = [
        "io",
        file,
        "--rw",
        "read",
        "--bs",
        "64k",
        "--engine",
        "psync",
        "--direct=0",
        "--size",
        "4m",
        "--runtime",
        "1s",
        "--rate-iops",
        "500",
        "--host-data",
        "divided",
        "--json",
    ];
    let result = finish(on(&bench, &agents, &work).spawn().unwrap()).json();
    let trials = result["trials"].as_array().unwrap();
    let range = |trial: &Value| {
        let workload = &trial["workload"];
        (
            workload["offset_bytes"].as_u64().unwrap(),
            workload["size_bytes"].as_u64().unwrap(),
        )
    };
    let ranges: Vec<_> = trials.iter().map(range).collect();
    assert_eq!(ranges, [(0, 2 << 20), (2 << 20, 4 << 20)]);
    assert_eq!(result["fleet"]["mode"]["data"], "divided");
    let text = finish(bench.command(["runs", "show"]).spawn().unwrap());
    assert!(
        text.stdout
            .contains("One data set was divided among the hosts"),
        "{}",
        text.stdout
    );
}

#[test]
fn readers_use_what_another_host_wrote() {
    let bench = Bench::new();
    let agents = agents(&bench, 2);
    let plan = bench.path().join("plan.yaml");
    let text = format!(
        "plan: 1\ntarget: {}\niterations: 1\nprobe: no\nhost_data: rotated\n\
         pause: {{floor: 0s, ceiling: 0s, until_quiet: no}}\n\
         defaults: {{size: 1m, bs: 64k, engine: psync, direct: no}}\n\
         workloads:\n  - {{name: w, rw: write, io_size: 1m}}\n  - {{name: r, rw: read, runtime: 1s, rate_iops: 100}}\n",
        bench.data().display()
    );
    std::fs::write(&plan, text).unwrap();
    let run = ["run", plan.to_str().unwrap(), "--json"];
    let output = finish(on(&bench, &agents, &run).spawn().unwrap());
    let result = output.json();
    assert_eq!(result["run"]["state"], "complete", "{}", output.stderr);
    let reads = &result["fleet"]["workloads"][1];
    let of: Vec<&Value> = reads["hosts"].as_array().unwrap().iter().collect();
    assert_eq!(
        (&of[0]["data_of"][0], &of[1]["data_of"][0]),
        (&1.into(), &0.into())
    );
    assert!(!has_files(&bench), "{:?}", bench.data_files());
    let text = finish(bench.command(["runs", "show"]).spawn().unwrap());
    assert!(text.stdout.contains("with data of"), "{}", text.stdout);
}

#[test]
fn hosts_take_turns_and_grow_in_number() {
    let bench = Bench::new();
    let agents = agents(&bench, 3);
    let result = |turns: &str| {
        let turns = ["--host-turns", turns, "--json"];
        finish(io(&bench, &agents, 1, &turns).spawn().unwrap()).json()
    };
    let growing = result("growing");
    let workloads = growing["fleet"]["workloads"].as_array().unwrap();
    let steps: Vec<Vec<u64>> = workloads.iter().map(hosts_of).collect();
    assert_eq!(steps, [vec![0], vec![0, 1], vec![0, 1, 2]]);
    let alone = result("one-by-one");
    let workloads = alone["fleet"]["workloads"].as_array().unwrap();
    assert_eq!(workloads.len(), 1);
    assert_eq!(hosts_of(&workloads[0]), [0, 1, 2]);
    let text = finish(bench.command(["runs", "show"]).spawn().unwrap());
    assert!(
        text.stdout.contains("on 3 hosts, one by one"),
        "{}",
        text.stdout
    );
}

#[test]
fn a_scale_out_study_is_stored_and_shown_again() {
    let bench = Bench::new();
    let agents = agents(&bench, 3);
    let data = bench.data();
    let work = [
        "scale",
        data.to_str().unwrap(),
        "--phases",
        "create,stat,readdir,unlink",
        "--files",
        "100",
        "--blocks",
        "2",
        "--json",
    ];
    let output = finish(on(&bench, &agents, &work).spawn().unwrap());
    let result = output.json();
    assert_eq!(result["run"]["state"], "complete", "{}", output.stderr);
    let study = &result["scale"];
    assert_eq!(study["numbers"], serde_json::json!([1, 2, 3]));
    let operations = study["operations"].as_array().unwrap();
    let kinds: Vec<&str> = operations
        .iter()
        .map(|op| op["kind"].as_str().unwrap())
        .collect();
    for kind in ["create", "stat", "readdir", "unlink"] {
        assert!(kinds.contains(&kind), "{kinds:?}");
    }
    for operation in operations {
        let points = operation["points"].as_array().unwrap();
        assert_eq!(points.len(), 3);
        assert!(points[2]["rate"]["value"].as_f64().unwrap() > 0.0);
        // All agents are on the machine of the test, which is one host.
        assert!(points[2]["efficiency"]["value"].is_null(), "{operation}");
        assert!(operation["law"].is_null(), "{operation}");
        let note = operation["note"].as_str().unwrap();
        assert!(note.contains("shared one machine"), "{note}");
    }
    assert_eq!(study["machines"], 1);
    let (_, again) = bench.json(["runs", "show"]);
    assert_eq!(again["scale"], *study);
    let text = finish(bench.command(["runs", "show"]).spawn().unwrap());
    assert!(
        text.stdout.contains("The agents ran on one machine"),
        "{}",
        text.stdout
    );
    let html = bench.fathom(["report", "latest", "-o", "-"]);
    html.expect_status(0);
    assert!(html.stdout.contains("Speed-up by hosts"));
    assert!(!has_files(&bench), "{:?}", bench.data_files());
    bench
        .fathom(["scale", "/data"])
        .expect_status(2)
        .expect_in_stderr("--hosts");
}

#[test]
fn what_agents_hold_of_a_killed_run_is_collected() {
    let bench = Bench::new();
    let agents = agents(&bench, 2);
    let mut run = io(&bench, &agents, 600, &[]).spawn().unwrap();
    eventually("the load", || test_files(&bench) == 2);
    std::thread::sleep(std::time::Duration::from_millis(2500));
    run.kill().unwrap();
    run.wait().unwrap();
    eventually("the cleaning up", || !has_files(&bench));
    // An agent writes down what it holds after it has cleaned up.
    eventually("the collection from both", || {
        finish(fleet_command(&bench, &agents).spawn().unwrap());
        let (_, result) = bench.json(["runs", "show"]);
        let mut trials = result["trials"].as_array().unwrap().iter();
        trials.all(|trial| trial["reason"] == "the coordinator was lost")
    });
    let again = finish(fleet_command(&bench, &agents).spawn().unwrap());
    assert!(
        again.stdout.contains("no host holds anything"),
        "{}",
        again.stdout
    );
    let (_, result) = bench.json(["runs", "show"]);
    for trial in result["trials"].as_array().unwrap() {
        assert_eq!(trial["state"], "interrupted");
        assert_eq!(trial["reason"], "the coordinator was lost");
        let intervals = trial["intervals"].as_array().unwrap();
        let starts: Vec<u64> = intervals
            .iter()
            .map(|i| i["start_ns"].as_u64().unwrap())
            .collect();
        let mut sorted = starts.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(starts, sorted, "each second once, in order");
        assert!(starts.len() >= 3, "{starts:?}");
    }
}

fn fleet_command(bench: &Bench, agents: &[Agent]) -> Command {
    let hosts: Vec<&str> = agents.iter().map(|agent| agent.host.as_str()).collect();
    let mut command = bench.command(["fleet", "collect", "--launcher", "static"]);
    command
        .args(["--hosts", &hosts.join(",")])
        .env("FATHOM_FLEET", bench.path().join("fleet"));
    command
}

/// Memory of a process, in bytes. Without what is mapped of the binary, where
/// that is one for debugging and many times as large.
fn resident_bytes(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let which = match cfg!(debug_assertions) {
        true => "RssAnon:",
        false => "VmRSS:",
    };
    let line = status.lines().find_map(|line| line.strip_prefix(which));
    let kib: u64 = line
        .unwrap()
        .trim()
        .trim_end_matches(" kB")
        .parse()
        .unwrap();
    kib * 1024
}

#[test]
fn an_idle_agent_needs_little_memory() {
    let bench = Bench::new();
    let agents = agents(&bench, 1);
    // Also after it has done something.
    finish(io(&bench, &agents, 1, &[]).spawn().unwrap());
    let bytes = resident_bytes(agents[0].pid());
    assert!(bytes < 30 << 20, "{bytes} bytes");
}

#[test]
fn a_full_disk_on_one_host_is_told_with_its_name() {
    let bench = Bench::new();
    if !can_unshare("--mount") {
        return;
    }
    fleet(&bench, &["init"]).expect_status(0);
    let room = bench.data();
    let mount = format!(
        "mount -t tmpfs -o size=512k none '{}' && exec \"$0\" \"$@\"",
        room.display()
    );
    let agents = [
        Agent::start(&bench, 0),
        Agent::start_in(&bench, 1, &["unshare", "--mount", "sh", "-c", &mount]),
    ];
    let output = finish(io(&bench, &agents, 5, &["--json"]).spawn().unwrap());
    output.expect_status(1);
    // Nothing was measured, so there is one message and no result.
    assert!(output.stdout.is_empty(), "{}", output.stdout);
    let reason = output.stderr.trim();
    assert!(
        reason.starts_with(&format!("error: {}", agents[1].host)),
        "{reason}"
    );
    assert!(
        reason.contains("free") || reason.contains("space"),
        "{reason}"
    );
    assert!(!has_files(&bench));
}

#[test]
fn a_clock_that_is_off_by_an_hour_makes_no_difference() {
    let bench = Bench::new();
    if !can_unshare("--time") {
        return;
    }
    fleet(&bench, &["init"]).expect_status(0);
    let ahead = [
        "unshare",
        "--time",
        "--monotonic",
        "3600",
        "--boottime",
        "3600",
        "--kill-child",
    ];
    let agents = [Agent::start(&bench, 0), Agent::start_in(&bench, 1, &ahead)];
    let output = finish(io(&bench, &agents, 2, &["--json"]).spawn().unwrap());
    let result = output.json();
    assert_eq!(result["run"]["state"], "complete", "{}", output.stderr);
    let clock = &result["fleet"]["hosts"][1]["clock"];
    let offset_s = clock["offset_ns"].as_i64().unwrap() / 1_000_000_000;
    assert!((3599..=3601).contains(&offset_s), "{clock}");
    let turn = &result["fleet"]["workloads"][0]["turns"][0];
    assert!(turn["common_share"].as_f64().unwrap() > 0.5, "{turn}");
    assert!(finding(&result["verdict"], "V40").is_some());
}

/// Whether this user may have a namespace of a kind; says why not.
fn can_unshare(kind: &str) -> bool {
    let done = Command::new("unshare")
        .args([kind, "true"])
        .stderr(Stdio::null())
        .status();
    let can = is_root() && done.is_ok_and(|status| status.success());
    if !can {
        let _ = writeln!(std::io::stdout(), "skipped: no namespace by unshare {kind}");
    }
    can
}
