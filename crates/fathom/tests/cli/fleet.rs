//! Many hosts: agents as processes, and hosts as network namespaces with a
//! real sshd.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::bench::{Bench, Output, finding, finish, is_root};

/// Longer than any of this takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// `fathom agent` as a process.
pub(crate) struct Agent {
    child: Child,
    pub(crate) host: String,
}

impl Agent {
    /// Starts one, which has joined the fleet of the bench.
    pub(crate) fn start(bench: &Bench, number: usize) -> Agent {
        Agent::start_in(bench, number, &[])
    }

    /// The same by way of a command that runs what it is given.
    pub(crate) fn start_in(bench: &Bench, number: usize, by: &[&str]) -> Agent {
        let data = bench.data().display().to_string();
        Agent::start_with(bench, number, by, &["--allow", &data])
    }

    /// One that may touch a bucket of this store, and nothing else.
    pub(crate) fn start_on(bench: &Bench, number: usize, bucket: &str, endpoint: &str) -> Agent {
        let allowed = ["--allow", bucket, "--allow-endpoint", endpoint];
        Agent::start_with(bench, number, &[], &allowed)
    }

    fn start_with(bench: &Bench, number: usize, by: &[&str], allowed: &[&str]) -> Agent {
        let token = fleet(bench, &["token"]);
        token.expect_status(0);
        let keys = bench.path().join(format!("agent{number}"));
        let agent = bench.command(["agent", "--listen", "127.0.0.1:0", "--token"]);
        let mut child = through(by, agent)
            .arg(token.stdout.trim())
            .args(allowed)
            .arg("--keys")
            .arg(keys)
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let first = lines.next().unwrap().unwrap();
        // `fathom agent on 127.0.0.1:40123: waiting …`
        let host = first.split_whitespace().nth(3).unwrap();
        let host = host.trim_end_matches(':').to_owned();
        std::thread::spawn(move || lines.map_while(Result::ok).for_each(drop));
        fleet(bench, &["join", &host]).expect_status(0);
        Agent { child, host }
    }

    /// Its process.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn signal(&self, signal: &str) {
        kill(self.child.id(), signal);
    }
}

/// The same command, run by another one.
fn through(by: &[&str], command: Command) -> Command {
    let Some((program, arguments)) = by.split_first() else {
        return command;
    };
    let mut through = Command::new(program);
    through.args(arguments).arg(command.get_program());
    through.args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => through.env(name, value),
            None => through.env_remove(name),
        };
    }
    through.stdin(Stdio::null()).stdout(Stdio::piped());
    through.stderr(Stdio::piped());
    through
}

impl Drop for Agent {
    fn drop(&mut self) {
        // One that another command has started would stay.
        let children = format!("/proc/{0}/task/{0}/children", self.child.id());
        let children = std::fs::read_to_string(children).unwrap_or_default();
        for child in children.split_whitespace() {
            let _ = Command::new("kill").args(["-KILL", child]).status();
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn kill(pid: u32, signal: &str) {
    let status = Command::new("kill")
        .args([&format!("-{signal}"), &pid.to_string()])
        .status();
    assert!(status.unwrap().success());
}

/// `fathom fleet` with the keys of the bench.
pub(crate) fn fleet(bench: &Bench, arguments: &[&str]) -> Output {
    let mut command = bench.command(["fleet"]);
    command
        .args(arguments)
        .env("FATHOM_FLEET", bench.path().join("fleet"));
    finish(command.spawn().unwrap())
}

pub(crate) fn agents(bench: &Bench, count: usize) -> Vec<Agent> {
    fleet(bench, &["init"]).expect_status(0);
    (0..count)
        .map(|number| Agent::start(bench, number))
        .collect()
}

/// `fathom io` on the agents.
pub(crate) fn io(bench: &Bench, agents: &[Agent], seconds: u32, more: &[&str]) -> Command {
    let hosts: Vec<&str> = agents.iter().map(|agent| agent.host.as_str()).collect();
    let runtime = format!("{seconds}s");
    let mut command = bench.command(["io"]);
    command
        .arg(bench.data())
        .args([
            "--rw",
            "randwrite",
            "--bs",
            "4k",
            "--size",
            "1M",
            "--engine",
            "psync",
        ])
        .args([
            "--direct=0",
            "--rate-iops",
            "2000",
            "--runtime",
            &runtime,
            "--quiet",
        ])
        .args(["--launcher", "static", "--hosts", &hosts.join(",")])
        .args(more)
        .env("FATHOM_FLEET", bench.path().join("fleet"));
    command
}

/// Waits until something is so.
pub(crate) fn eventually(what: &str, so: impl Fn() -> bool) {
    let began = Instant::now();
    while !so() {
        assert!(began.elapsed() < PATIENCE, "{what} did not happen");
        std::thread::sleep(Duration::from_millis(50));
    }
}

pub(crate) fn has_files(bench: &Bench) -> bool {
    !bench.data_files().is_empty()
}

/// Test files, without the lists of them that stand beside.
pub(crate) fn test_files(bench: &Bench) -> usize {
    let files = bench.data_files().into_iter();
    let lists = |path: &PathBuf| path.extension().is_some_and(|end| end == "manifest");
    files.filter(|path| !lists(path)).count()
}

#[test]
fn agents_that_have_joined_carry_a_run() {
    let bench = Bench::new();
    let agents = agents(&bench, 2);
    let status = fleet(
        &bench,
        &["status", "--launcher", "static", "--hosts", &agents[0].host],
    );
    status.expect_status(0);
    assert!(status.stdout.contains(&agents[0].host), "{}", status.stdout);
    let text = finish(io(&bench, &agents, 2, &[]).spawn().unwrap());
    text.expect_measured();
    assert!(text.stdout.contains("on 2 hosts"), "{}", text.stdout);
    assert!(
        text.stdout.contains("All hosts started within"),
        "{}",
        text.stdout
    );
    let output = finish(io(&bench, &agents, 2, &["--json"]).spawn().unwrap());
    output.expect_measured();
    let result = output.json();
    check_result(&result, 2);
    assert!(!has_files(&bench));
    // A stored run shows the same hosts again.
    let (_, again) = bench.json(["runs", "show"]);
    assert_eq!(again["fleet"], result["fleet"]);
}

/// What holds of every run on several hosts that went well.
pub(crate) fn check_result(result: &Value, hosts: usize) {
    let fleet = &result["fleet"];
    assert_eq!(fleet["hosts"].as_array().unwrap().len(), hosts);
    let workload = &fleet["workloads"][0];
    assert_eq!(workload["hosts"].as_array().unwrap().len(), hosts);
    let turn = &workload["turns"][0];
    assert!(turn["start_skew_ns"].as_u64().is_some(), "{turn}");
    assert!(turn["clock_uncertainty_ns"].as_u64().unwrap() > 0, "{turn}");
    assert!(turn["common_share"].as_f64().unwrap() > 0.5, "{turn}");
    assert!(
        turn["first_finisher"]["ops"].as_u64().unwrap() > 0,
        "{turn}"
    );
    // The sum is that of the hosts: by counts, not by averages.
    let trials = result["trials"].as_array().unwrap();
    assert_eq!(trials.len(), hosts);
    let of_host = |trial: &Value| trial["summary"]["ops"][0]["ops"].as_u64().unwrap();
    let all: u64 = trials.iter().map(of_host).sum();
    let sum = result["sets"][0]["sum"]["ops"][0]["ops"].as_u64().unwrap();
    assert!(sum > 0 && sum <= all, "{sum} of {all}");
    for id in ["V40", "V41", "V42", "V43", "V46"] {
        assert!(finding(&result["verdict"], id).is_some(), "{id}");
    }
}

#[test]
fn hosts_that_cannot_be_used_are_all_listed() {
    let bench = Bench::new();
    fleet(&bench, &["init"]).expect_status(0);
    let output = bench.fathom([
        "io",
        "/dev/shm",
        "--launcher",
        "static",
        "--fleet",
        bench.path().join("fleet").to_str().unwrap(),
        "--hosts",
        "127.0.0.1:1,no-such-host.invalid",
    ]);
    output
        .expect_status(1)
        .expect_in_stderr("2 hosts cannot be used")
        .expect_in_stderr("127.0.0.1:1: no agent answers")
        .expect_in_stderr("no-such-host.invalid: its name cannot be resolved")
        .expect_in_stderr("--allow-missing N");
    bench
        .fathom(["io", ".", "--hosts", "h1"])
        .expect_status(1)
        .expect_in_stderr("must be an absolute path");
    bench
        .fathom(["io", "/dev/shm", "--hosts", "n[3-1]"])
        .expect_status(2)
        .expect_in_stderr("empty or too long");
}

#[test]
fn an_agent_that_is_killed_is_named_and_the_others_keep_what_they_measured() {
    let bench = Bench::new();
    let agents = agents(&bench, 2);
    let run = io(&bench, &agents, 20, &["--json"]).spawn().unwrap();
    eventually("the load", || test_files(&bench) == 2);
    std::thread::sleep(Duration::from_millis(2500));
    agents[1].signal("KILL");
    let output = finish(run);
    output.expect_status(1);
    let result = output.json();
    let reason = result["run"]["reason"].as_str().unwrap();
    assert!(reason.contains(&agents[1].host), "{reason}");
    assert!(reason.contains("the agent was lost"), "{reason}");
    let survivor = &result["trials"][0];
    assert!(survivor["summary"]["ops"][0]["ops"].as_u64().unwrap() > 0);
}

#[test]
fn an_agent_that_is_frozen_is_given_up_and_cleans_up_when_it_wakes() {
    let bench = Bench::new();
    let agents = agents(&bench, 2);
    let run = io(&bench, &agents, 20, &["--json", "--allow-missing", "1"])
        .spawn()
        .unwrap();
    eventually("the load", || test_files(&bench) == 2);
    std::thread::sleep(Duration::from_millis(1500));
    agents[1].signal("STOP");
    let output = finish(run);
    let result = output.json();
    assert_eq!(result["run"]["state"], "complete", "{}", output.stderr);
    assert_eq!(result["trials"][0]["state"], "complete");
    assert_eq!(result["trials"][1]["state"], "interrupted");
    let reason = result["trials"][1]["reason"].as_str().unwrap();
    assert!(reason.contains("it said nothing for"), "{reason}");
    agents[1].signal("CONT");
    eventually("the cleaning up", || !has_files(&bench));
}

#[test]
fn agents_end_their_load_and_clean_up_when_the_coordinator_is_killed() {
    let bench = Bench::new();
    let agents = agents(&bench, 2);
    let mut run = io(&bench, &agents, 600, &[]).spawn().unwrap();
    eventually("the load", || test_files(&bench) == 2);
    run.kill().unwrap();
    run.wait().unwrap();
    eventually("the cleaning up", || !has_files(&bench));
    // They serve whoever comes next.
    let output = finish(io(&bench, &agents, 1, &[]).spawn().unwrap());
    output.expect_measured();
}

/// Hosts that `scripts/fleet-hosts` made, removed when dropped.
pub(crate) struct Hosts {
    pub(crate) directory: PathBuf,
}

impl Hosts {
    /// `None`, and why, where they cannot be had.
    pub(crate) fn up(bench: &Bench, count: usize) -> Option<Hosts> {
        if !is_root() {
            println!("skipped: network namespaces need root");
            return None;
        }
        let tools = ["/usr/sbin/sshd", "/usr/bin/ssh", "/usr/bin/nsenter"];
        if let Some(missing) = tools.iter().find(|tool| !Path::new(tool).exists()) {
            println!("skipped: {missing} is missing");
            return None;
        }
        let directory = bench.path().join("net");
        let hosts = Hosts { directory };
        let output = hosts.script(&["up"], &[&count.to_string()]);
        if !output.status.success() {
            let why = String::from_utf8_lossy(&output.stderr).into_owned();
            println!("skipped: namespaces cannot be made: {}", why.trim());
            return None;
        }
        Some(hosts)
    }

    fn script(&self, before: &[&str], after: &[&str]) -> std::process::Output {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/fleet-hosts");
        Command::new(script)
            .args(before)
            .arg(&self.directory)
            .args(after)
            .stdin(Stdio::null())
            .output()
            .unwrap()
    }

    /// A command that finds these hosts, and keeps copies of the binary here.
    pub(crate) fn command(&self, bench: &Bench, arguments: &[&str]) -> Command {
        let path = std::env::var("PATH").unwrap_or_default();
        let mut command = bench.command(arguments);
        command.env("PATH", format!("{}/bin:{path}", self.directory.display()));
        command
    }

    /// The network of the hosts, `10.64.0.0/24`.
    pub(crate) fn network(&self) -> String {
        let tag: u32 = self.tag().parse().unwrap();
        format!("10.{}.{}.0/24", 64 + tag % 128, tag / 128 % 256)
    }

    pub(crate) fn tag(&self) -> String {
        let text = std::fs::read_to_string(self.directory.join("tag")).unwrap();
        text.split_whitespace().next().unwrap().to_owned()
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        self.script(&["down"], &[]);
    }
}

pub(crate) const WORK: [&str; 9] = [
    "--rw",
    "randread",
    "--bs",
    "4k",
    "--size",
    "1M",
    "--engine",
    "psync",
    "--direct=0",
];

#[test]
fn four_hosts_over_real_ssh() {
    let bench = Bench::new();
    let Some(hosts) = Hosts::up(&bench, 4) else {
        return;
    };
    let data = bench.data();
    let data = data.to_str().unwrap();
    let mut status = hosts.command(&bench, &["fleet", "status", "--hosts", "h[1-4]"]);
    finish(status.spawn().unwrap()).expect_status(0);
    let mut run = hosts.command(&bench, &["io", data]);
    run.args(WORK).args([
        "--rate-iops",
        "500",
        "--runtime",
        "2s",
        "--json",
        "--hosts",
        "h[1-4]",
    ]);
    let output = finish(run.spawn().unwrap());
    output.expect_measured();
    let result = output.json();
    check_result(&result, 4);
    let names = result["fleet"]["hosts"].as_array().unwrap().iter();
    let names: Vec<&str> = names
        .map(|host| host["fingerprint"]["hostname"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["h1", "h2", "h3", "h4"], "each is itself");
    assert!(!has_files(&bench));
    // What cannot be reached is listed before anything begins.
    let mut missing = hosts.command(&bench, &["io", data]);
    missing.args(WORK).args(["--hosts", "h1,h77,h78"]);
    finish(missing.spawn().unwrap())
        .expect_status(1)
        .expect_in_stderr("2 hosts cannot be used");
}

#[test]
fn a_host_that_is_cut_off_is_named_and_ends_its_load_by_itself() {
    let bench = Bench::new();
    let Some(hosts) = Hosts::up(&bench, 2) else {
        return;
    };
    let mut run = hosts.command(&bench, &["io"]);
    run.arg(bench.data())
        .args(WORK)
        .args(["--rate-iops", "500", "--runtime", "30s", "--json"])
        .args(["--allow-missing", "1", "--hosts", "h1,h2"]);
    let run = run.spawn().unwrap();
    eventually("the load", || test_files(&bench) == 2);
    std::thread::sleep(Duration::from_millis(1500));
    let link = format!("v{}n2", hosts.tag());
    let cut = Command::new("ip")
        .args(["link", "set", &link, "down"])
        .status();
    assert!(cut.unwrap().success());
    // Its own files go, those of the other stay as long as it works.
    eventually("the end of the load there", || test_files(&bench) == 1);
    let output = finish(run);
    let result = output.json();
    assert_eq!(
        result["trials"][0]["state"], "complete",
        "{}",
        output.stderr
    );
    assert_eq!(result["trials"][1]["state"], "interrupted");
    let reason = result["trials"][1]["reason"].as_str().unwrap();
    assert!(reason.starts_with("h2: the agent was lost"), "{reason}");
}
