//! `fathom fio --client=HOST`: fio's jobs on many hosts.

use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::bench::{Bench, Output, finish};
use crate::fleet::{Agent, agents};

fn fio(bench: &Bench, agents: &[Agent], words: &[&str]) -> Output {
    // A file with one host to a line, as fio takes it.
    let list: Vec<&str> = agents.iter().map(|agent| agent.host.as_str()).collect();
    let file = bench.path().join("hosts.list");
    std::fs::write(&file, list.join("\n")).unwrap();
    let mut command = bench.command(["fio", "--launcher=static"]);
    command
        .arg(format!("--client={}", file.display()))
        .args(words)
        .env("FATHOM_FLEET", bench.path().join("fleet"));
    finish(command.spawn().unwrap())
}

#[test]
fn clients_share_nothing_but_the_clock_and_their_sum_is_there() {
    let bench = Bench::new();
    let agents = agents(&bench, 2);
    let directory = format!("--directory={}", bench.data().display());
    let output = fio(
        &bench,
        &agents,
        &[
            "--output-format=json",
            "--name=a",
            &directory,
            "--rw=randread",
            "--bs=4k",
            "--size=1m",
            "--ioengine=psync",
            "--rate_iops=500",
            "--runtime=2",
            "--time_based",
            "--group_reporting",
        ],
    );
    output.expect_status(0);
    let result = output.json();
    let stats = result["client_stats"].as_array().unwrap();
    let names: Vec<&str> = stats
        .iter()
        .map(|s| s["jobname"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["a", "a", "All clients"]);
    for (entry, agent) in stats.iter().zip(&agents) {
        let (name, port) = agent.host.rsplit_once(':').unwrap();
        assert_eq!(entry["hostname"], name, "{entry}");
        assert_eq!(entry["port"].to_string(), port, "{entry}");
        // A host's share is of its own group.
        assert_eq!(entry["read"]["bw_agg"], 100.0, "{entry}");
    }
    let ports = |entry: &Value| (entry["hostname"].clone(), entry["port"].clone());
    assert_eq!(ports(&stats[2]), ports(&stats[1]));
    assert!(stats[2]["job options"].is_null(), "{}", stats[2]);
    let ios = |entry: &Value| entry["read"]["total_ios"].as_u64().unwrap();
    assert!(ios(&stats[0]) > 0 && ios(&stats[1]) > 0);
    assert_eq!(ios(&stats[2]), ios(&stats[0]) + ios(&stats[1]));
    assert!(stats[2]["read"]["clat_ns"]["percentile"]["99.000000"].is_u64());
    assert!(result["jobs"].is_null(), "a client's document has no jobs");
}

#[test]
fn what_is_there_on_a_client_is_not_overwritten_without_leave() {
    let bench = Bench::new();
    let agents = agents(&bench, 1);
    let file = bench.data().join("precious");
    std::fs::write(&file, vec![7; 1 << 20]).unwrap();
    let job = format!("--filename={}", file.display());
    let words = [
        "--name=a",
        &job,
        "--rw=write",
        "--bs=64k",
        "--size=1m",
        "--ioengine=psync",
    ];
    let output = fio(&bench, &agents, &words);
    assert_ne!(output.status, Some(0), "{}", output.stdout);
    assert_eq!(std::fs::read(&file).unwrap(), vec![7; 1 << 20]);
}

#[test]
fn a_server_is_refused_with_what_to_do_instead() {
    let bench = Bench::new();
    bench
        .fathom(["fio", "--server"])
        .expect_status(1)
        .expect_in_stderr("no server is needed")
        .expect_in_stderr("--client=HOST");
    bench
        .fathom([
            "fio",
            "--client=sock:/tmp/x",
            "--name=a",
            "--rw=read",
            "--size=1m",
        ])
        .expect_status(1)
        .expect_in_stderr("socket");
}

/// What the parts of a text begin with, without figures.
fn outline(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        let named = line.split_once('>').filter(|_| line.starts_with('<'));
        let (host, rest) = named.unwrap_or(("", line));
        let kind = rest.split([':', '(', '=']).next().unwrap_or_default();
        let line = match host {
            "" => kind.trim_end().to_owned(),
            host => format!("{host}>{}", kind.trim_end()),
        };
        let wanted = ["hostname", "a", "All clients", "Run status group 0"];
        if !host.is_empty() || wanted.contains(&line.as_str()) {
            lines.push(line);
        }
    }
    lines
}

#[test]
fn text_and_terse_lines_have_each_host_and_the_sum() {
    let bench = Bench::new();
    let agents = agents(&bench, 2);
    let directory = format!("--directory={}", bench.data().display());
    let job = [
        directory.as_str(),
        "--name=a",
        "--rw=randread",
        "--bs=4k",
        "--size=1m",
        "--rate_iops=500",
        "--runtime=2",
        "--time_based",
    ];
    let text = fio(
        &bench,
        &agents,
        &[&["--output-format=normal,terse"][..], &job].concat(),
    );
    text.expect_status(0);
    let (text, terse) = text.stdout.split_once("\n3;fio-").expect("terse lines");
    let hosts: Vec<String> = agents.iter().map(|a| format!("<{}>", a.host)).collect();
    let mut wanted = Vec::new();
    for host in &hosts {
        wanted.extend([
            "hostname".to_owned(),
            format!("{host} a"),
            format!("{host} Starting 1 process"),
        ]);
    }
    for host in &hosts {
        wanted.extend([
            host.clone(),
            "a".to_owned(),
            "Run status group 0".to_owned(),
        ]);
    }
    wanted.push("All clients".to_owned());
    assert_eq!(outline(text), wanted, "{text}");
    let total = |start: &str| -> u64 {
        let part = &text[text.find(start).unwrap()..];
        let issued = part.split("issued rwts: total=").nth(1).unwrap();
        issued.split(',').next().unwrap().parse().unwrap()
    };
    let each = hosts.iter().map(|host| total(&format!("\n{host} \n")));
    assert_eq!(total("\nAll clients: "), each.sum::<u64>(), "{text}");

    let terse = format!("3;fio-{terse}");
    let lines = terse.lines().filter(|line| !line.starts_with(';'));
    let names: Vec<&str> = lines.map(|line| line.split(';').nth(2).unwrap()).collect();
    assert_eq!(names, ["a", "a", "All clients"], "{terse}");
}

#[test]
fn other_jobs_for_another_host_are_refused() {
    let bench = Bench::new();
    for job in ["a", "b"] {
        let text = format!("[{job}]\nrw=read\nsize=1m\n");
        std::fs::write(bench.path().join(format!("{job}.fio")), text).unwrap();
    }
    bench
        .fathom(["fio", "--client=h1", "a.fio", "--client=h2", "b.fio"])
        .expect_status(1)
        .expect_in_stderr("--client=h1 and --client=h2 have different job files");
}

/// A server of the real fio, ended when dropped.
struct Server {
    child: Child,
    client: String,
}

impl Server {
    /// `None`, and a word why, where there is no fio.
    fn start(bench: &Bench) -> Option<Server> {
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let started = Command::new("fio")
            .arg(format!("--server=127.0.0.1,{port}"))
            .current_dir(bench.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let Ok(child) = started else {
            println!("skipped: fio is not installed");
            return None;
        };
        let server = Server {
            child,
            client: format!("--client=127.0.0.1,{port}"),
        };
        let patience = Instant::now() + Duration::from_secs(60);
        while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(Instant::now() < patience, "fio does not listen");
            std::thread::sleep(Duration::from_millis(50));
        }
        Some(server)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Keys with those of the objects in them.
fn keys(value: &Value, path: &str) -> Vec<String> {
    let mut all = Vec::new();
    for (key, value) in value.as_object().into_iter().flatten() {
        all.push(format!("{path}{key}"));
        if key != "percentile" && key != "job options" {
            all.extend(keys(value, &format!("{path}{key}.")));
        }
    }
    all
}

#[test]
fn a_document_of_clients_has_the_keys_of_fio() {
    let bench = Bench::new();
    let (Some(one), Some(other)) = (Server::start(&bench), Server::start(&bench)) else {
        return;
    };
    let job = [
        "[a]",
        "rw=randread",
        "size=1m",
        "[b]",
        "stonewall",
        "rw=write",
        "size=1m",
    ];
    let directory = format!("directory={}", bench.data().display());
    let job = format!("[global]\n{directory}\nnumjobs=1\n{}\n", job.join("\n"));
    std::fs::write(bench.path().join("job.fio"), job).unwrap();
    // A job file right behind a client would be for that one only.
    let format = "--output-format=json";
    let theirs = Command::new("fio")
        .args([
            &one.client,
            &other.client,
            format,
            "--output=theirs",
            "job.fio",
        ])
        .current_dir(bench.path())
        .output()
        .unwrap();
    assert!(theirs.status.success(), "{theirs:?}");
    let theirs = std::fs::read_to_string(bench.path().join("theirs")).unwrap();
    let theirs: Value = serde_json::from_str(&theirs[theirs.find('{').unwrap()..]).unwrap();

    let agents = agents(&bench, 2);
    let ours = fio(&bench, &agents, &[format, "--eta=never", "job.fio"]);
    ours.expect_status(0);
    let ours = ours.json();
    let (ours, theirs) = (&ours["client_stats"], &theirs["client_stats"]);
    // fio lists the jobs in the order in which its servers happen to answer.
    let by_name = |list: &Value| {
        let mut list = list.as_array().unwrap().clone();
        list.sort_by_key(|job| job["jobname"].as_str().unwrap().to_owned());
        list
    };
    let (ours, theirs) = (by_name(ours), by_name(theirs));
    assert_eq!(ours.len(), theirs.len());
    for (ours, theirs) in ours.iter().zip(&theirs) {
        assert_eq!(ours["jobname"], theirs["jobname"]);
        assert_eq!(ours["groupid"], theirs["groupid"]);
        // Newer versions have more of them, in between.
        let theirs = keys(theirs, "");
        let mut ours = keys(ours, "");
        ours.retain(|key| theirs.contains(key));
        assert_eq!(ours, theirs);
    }
}
