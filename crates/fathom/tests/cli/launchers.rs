//! Agents that something of a site starts: a real Slurm, a real mpirun.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::bench::{Bench, finish, is_root};
use crate::fleet::{Hosts, WORK, check_result, eventually, has_files, kill, test_files};

const LOAD: [&str; 4] = ["--rate-iops", "500", "--runtime", "2s"];

/// Whether all tools are there; says which one is not.
fn have(tools: &[&str]) -> bool {
    let missing = tools.iter().find(|tool| !Path::new(tool).exists());
    if let Some(missing) = missing {
        println!("skipped: {missing} is missing");
    }
    missing.is_none()
}

/// A cluster that `scripts/fleet-slurm` made, removed when dropped.
struct Slurm {
    directory: PathBuf,
}

impl Slurm {
    /// `None`, and why, where it cannot be had.
    fn up(bench: &Bench, nodes: usize) -> Option<Slurm> {
        if !is_root() {
            println!("skipped: network namespaces need root");
            return None;
        }
        let tools = [
            "/usr/sbin/slurmctld",
            "/usr/sbin/slurmd",
            "/usr/bin/srun",
            "/usr/sbin/munged",
        ];
        if !have(&tools) || !have(&["/usr/sbin/sshd", "/usr/bin/nsenter"]) {
            return None;
        }
        let slurm = Slurm {
            directory: bench.path().join("net"),
        };
        let output = slurm.script("up", &[&nodes.to_string()]);
        if !output.status.success() {
            let why = String::from_utf8_lossy(&output.stderr).into_owned();
            println!("skipped: Slurm does not run here: {}", why.trim());
            return None;
        }
        Some(slurm)
    }

    fn script(&self, action: &str, after: &[&str]) -> std::process::Output {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/fleet-slurm");
        Command::new("timeout")
            .args(["-k", "5", "120"])
            .arg(script)
            .arg(action)
            .arg(&self.directory)
            .args(after)
            .stdin(Stdio::null())
            .output()
            .unwrap()
    }

    /// A command in an allocation of so many nodes. `binary` is the fathom that
    /// is called there.
    fn in_allocation(&self, bench: &Bench, nodes: usize, binary: &Path) -> Command {
        let mut command = Command::new("timeout");
        command
            .args(["-k", "10", "180"])
            .arg(self.directory.join("run"))
            .args(["salloc", "--quiet", &format!("--nodes={nodes}")])
            .arg(binary)
            .env("FATHOM_STORE", bench.store())
            .env("XDG_CACHE_HOME", self.directory.join("cache"))
            .current_dir(bench.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }
}

impl Drop for Slurm {
    fn drop(&mut self) {
        self.script("down", &[]);
    }
}

fn fathom() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_fathom"))
}

fn host_names(result: &Value) -> Vec<&str> {
    let hosts = result["fleet"]["hosts"].as_array().unwrap().iter();
    hosts
        .map(|host| host["fingerprint"]["hostname"].as_str().unwrap())
        .collect()
}

#[test]
fn slurm_starts_agents_on_the_nodes_of_its_allocation() {
    let bench = Bench::new();
    let Some(slurm) = Slurm::up(&bench, 4) else {
        return;
    };
    let io = |nodes, binary: &Path| {
        let mut command = slurm.in_allocation(&bench, nodes, binary);
        command.arg("io").arg(bench.data()).args(WORK).args(LOAD);
        command.args(["--json", "--launcher", "slurm"]);
        command
    };
    // The nodes are the allocation's; they share the binary.
    let output = finish(io(4, fathom()).spawn().unwrap());
    output.expect_measured();
    let result = output.json();
    check_result(&result, 4);
    assert_eq!(
        host_names(&result),
        ["h1", "h2", "h3", "h4"],
        "each is itself"
    );
    assert!(!has_files(&bench));
    // Where they do not share it, it is copied; a part of the nodes will do.
    let hidden = slurm.directory.join("private/fathom");
    std::fs::copy(fathom(), &hidden).unwrap();
    let output = finish(io(3, &hidden).args(["--hosts", "h[2-3]"]).spawn().unwrap());
    output.expect_measured();
    assert_eq!(host_names(&output.json()), ["h2", "h3"]);
    let copies = std::fs::read_dir(slurm.directory.join("cache/fathom")).unwrap();
    assert_eq!(copies.count(), 1, "kept under its hash, once");
    let output = finish(io(2, fathom()).args(["--hosts", "h1,h4"]).spawn().unwrap());
    output
        .expect_status(1)
        .expect_in_stderr("not in this allocation of Slurm: h4");
}

#[test]
fn without_an_allocation_of_slurm_the_user_is_told_what_to_do() {
    let bench = Bench::new();
    let mut command = bench.command(["io", "/dev/shm", "--launcher", "slurm"]);
    command.env_remove("SLURM_JOB_NODELIST");
    finish(command.spawn().unwrap())
        .expect_status(1)
        .expect_in_stderr("there is no allocation of Slurm here")
        .expect_in_stderr("salloc -N 4 fathom io");
}

#[test]
fn agents_of_slurm_end_when_their_coordinator_is_killed() {
    let bench = Bench::new();
    let Some(slurm) = Slurm::up(&bench, 2) else {
        return;
    };
    let mut command = slurm.in_allocation(&bench, 2, fathom());
    command.arg("io").arg(bench.data()).args(WORK).args([
        "--runtime",
        "300s",
        "--rate-iops",
        "500",
    ]);
    let mut run = command
        .args(["--launcher", "slurm", "--quiet"])
        .spawn()
        .unwrap();
    eventually("the load", || test_files(&bench) == 2);
    let data = bench.data();
    for pid in coordinators_of(data.to_str().unwrap()) {
        kill(pid, "KILL");
    }
    eventually("the cleaning up", || !has_files(&bench));
    run.wait().unwrap();
}

/// Processes that drive a run on a directory: `fathom io DIRECTORY …`.
fn coordinators_of(directory: &str) -> Vec<u32> {
    let of = |entry: std::fs::DirEntry| -> Option<u32> {
        let pid = entry.file_name().to_str()?.parse().ok()?;
        let line = std::fs::read(entry.path().join("cmdline")).ok()?;
        let line = String::from_utf8_lossy(&line).into_owned();
        let words: Vec<&str> = line.split('\0').collect();
        let ours = words.first()?.ends_with("fathom") && words.get(1..3)? == ["io", directory];
        ours.then_some(pid)
    };
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    processes.filter_map(of).collect()
}

/// `fathom io` on hosts where an `mpirun` starts the agents.
fn mpi(bench: &Bench, hosts: &str, mpirun: &str) -> Command {
    let mut command = bench.command(["io"]);
    command
        .arg(bench.data())
        .args(WORK)
        .args(LOAD)
        .args([
            "--json",
            "--launcher",
            "mpi",
            "--hosts",
            hosts,
            "--mpirun",
            mpirun,
        ])
        .env("TMPDIR", "/tmp");
    command
}

#[test]
fn mpirun_starts_an_agent_on_this_host() {
    if !have(&["/usr/bin/mpirun"]) {
        return;
    }
    let bench = Bench::new();
    let output = finish(
        mpi(&bench, "localhost", "timeout 120 mpirun")
            .spawn()
            .unwrap(),
    );
    output.expect_measured();
    assert_eq!(output.json()["fleet"]["hosts"][0]["name"], "localhost");
    assert!(!has_files(&bench));
    finish(mpi(&bench, "h1", "no-such-mpirun").spawn().unwrap())
        .expect_status(1)
        .expect_in_stderr("cannot start no-such-mpirun");
}

#[test]
fn mpirun_starts_agents_on_other_hosts() {
    if !have(&["/usr/bin/mpirun"]) {
        return;
    }
    let bench = Bench::new();
    let Some(hosts) = Hosts::up(&bench, 2) else {
        return;
    };
    let ssh = hosts.directory.join("bin/ssh");
    let mpirun = format!(
        "timeout 120 mpirun --mca plm_rsh_agent {} --mca oob_tcp_if_include {}",
        ssh.display(),
        hosts.network()
    );
    let output = finish(mpi(&bench, "h[1-2]", &mpirun).spawn().unwrap());
    output.expect_measured();
    let result = output.json();
    check_result(&result, 2);
    assert_eq!(host_names(&result), ["h1", "h2"]);
    // What does not come is named, with what mpirun says about it.
    finish(mpi(&bench, "h1,h77", &mpirun).spawn().unwrap())
        .expect_status(1)
        .expect_in_stderr("2 hosts cannot be used")
        .expect_in_stderr("mpirun: ");
}

/// A stand-in for a cluster, which kubectl takes for one; ended when dropped.
struct Cluster {
    server: std::process::Child,
    configuration: PathBuf,
    log: PathBuf,
}

impl Cluster {
    /// `None`, and why, where it cannot be had.
    fn up(bench: &Bench, nodes: &str) -> Option<Cluster> {
        if !have(&["/usr/bin/kubectl", "/usr/bin/python3"]) {
            return None;
        }
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/kubernetes-api.py");
        let log = bench.path().join("api.log");
        let mut server = Command::new("python3")
            .arg(script)
            .arg(nodes)
            .arg(&log)
            .env("FATHOM_STORE", bench.store())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut port = String::new();
        let mut said = std::io::BufReader::new(server.stdout.take().unwrap());
        std::io::BufRead::read_line(&mut said, &mut port).unwrap();
        let configuration = bench.path().join("kubeconfig");
        let text = format!(
            "{{\"apiVersion\":\"v1\",\"kind\":\"Config\",\"current-context\":\"c\",\
             \"clusters\":[{{\"name\":\"c\",\"cluster\":{{\"server\":\"http://127.0.0.1:{}\"}}}}],\
             \"contexts\":[{{\"name\":\"c\",\"context\":{{\"cluster\":\"c\",\"user\":\"u\"}}}}],\
             \"users\":[{{\"name\":\"u\",\"user\":{{}}}}]}}",
            port.trim()
        );
        std::fs::write(&configuration, text).unwrap();
        let cluster = Cluster {
            server,
            configuration,
            log,
        };
        let asked = Command::new("kubectl")
            .args(["get", "nodes", "--output=json", "--request-timeout=20s"])
            .env("KUBECONFIG", &cluster.configuration)
            .env("HOME", bench.path())
            .output()
            .unwrap();
        if !asked.status.success() {
            println!("skipped: this kubectl does not take the stand-in for a cluster");
            return None;
        }
        Some(cluster)
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// The manifest that the project shows, with the binary under test.
fn write_manifest(bench: &Bench) {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/kubernetes-job.yaml");
    let manifest = std::fs::read_to_string(example).unwrap();
    let command = "command: [\"/fathom\"]";
    assert!(manifest.contains(command), "{manifest}");
    let ours = format!("command: [\"{}\"]", fathom().display());
    std::fs::write(
        bench.path().join("job.yaml"),
        manifest.replace(command, &ours),
    )
    .unwrap();
}

#[test]
fn a_job_is_applied_with_kubectl_and_removed_after() {
    let bench = Bench::new();
    let Some(cluster) = Cluster::up(&bench, "n1,n2") else {
        return;
    };
    write_manifest(&bench);
    let io = |more: &[&str]| {
        let mut command = bench.command(["io"]);
        command.arg(bench.data()).args(WORK).args(LOAD).args(more);
        command.args(["--launcher", "kubernetes", "--job", "job.yaml"]);
        command
            .env("KUBECONFIG", &cluster.configuration)
            .env("HOME", bench.path());
        finish(command.spawn().unwrap())
    };
    let output = io(&["--json"]);
    output.expect_measured();
    let result = output.json();
    check_result(&result, 2);
    let hosts = result["fleet"]["hosts"].as_array().unwrap();
    assert_eq!(
        (&hosts[0]["name"], &hosts[1]["name"]),
        (&Value::from("n1"), &Value::from("n2"))
    );
    assert!(!has_files(&bench));
    let log = std::fs::read_to_string(&cluster.log).unwrap();
    let count = |what: &str| log.lines().filter(|line| line.starts_with(what)).count();
    for kind in [
        "/apis/batch/v1/namespaces/default/jobs",
        "/api/v1/namespaces/default/secrets",
    ] {
        assert_eq!(count(&format!("POST {kind} ")), 1, "{log}");
        assert_eq!(count(&format!("DELETE {kind}/fathom-")), 1, "{log}");
    }
    // A manifest that is none is refused before anything is made.
    std::fs::write(
        bench.path().join("job.yaml"),
        "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n",
    )
    .unwrap();
    io(&[])
        .expect_status(1)
        .expect_in_stderr("must hold the manifest of one Job");
}

#[test]
fn who_is_awaited_is_said_and_the_wait_can_be_ended_in_order() {
    let bench = Bench::new();
    // n3 is a node of which nobody else knows: its pod never comes.
    let Some(cluster) = Cluster::up(&bench, "n1,n2") else {
        return;
    };
    write_manifest(&bench);
    let mut command = bench.command(["io"]);
    command.arg(bench.data()).args(WORK).args(LOAD);
    command.args(["--launcher", "kubernetes", "--job", "job.yaml"]);
    command.args(["--hosts", "n1,n3"]);
    command
        .env("KUBECONFIG", &cluster.configuration)
        .env("HOME", bench.path());
    let mut child = command.spawn().unwrap();
    let mut said = std::io::BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("waiting for n3") {
        line.clear();
        let read = std::io::BufRead::read_line(&mut said, &mut line).unwrap();
        assert!(read > 0, "it ended without waiting");
    }
    assert!(line.contains("of 2 hosts are there"), "{line}");
    let pid = i32::try_from(child.id()).unwrap();
    let pid = rustix::process::Pid::from_raw(pid).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    let mut rest = String::new();
    std::io::Read::read_to_string(&mut said, &mut rest).unwrap();
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(5), "{rest}");
    assert!(rest.contains("ended before all hosts were there"), "{rest}");
    let log = std::fs::read_to_string(&cluster.log).unwrap();
    for kind in ["jobs/fathom-", "secrets/fathom-"] {
        let removed = |line: &&str| line.starts_with("DELETE") && line.contains(kind);
        assert_eq!(log.lines().filter(removed).count(), 1, "{log}");
    }
}
