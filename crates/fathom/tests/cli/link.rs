//! `fathom-lab link`: the delay, loss and rate of a link, measured from its ends.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::bench::{Bench, laboratory};

const FATHOM: &str = env!("CARGO_BIN_EXE_fathom");

/// Two namespaces whose only connection is the link.
struct Joined {
    bench: Bench,
    tag: String,
    link: Child,
}

impl Joined {
    /// `None`, with a reason, where that cannot be had.
    fn by(letter: char, wire: &[&str]) -> Option<Joined> {
        let bench = Bench::new();
        let tag = format!("k{letter}{}", std::process::id() % 100_000);
        let names = [format!("{tag}a"), format!("{tag}b")];
        let truth = bench.path().join("truth.json");
        let mut link = Command::new(laboratory())
            .args(["link", &names[0], &names[1], "--truth"])
            .arg(&truth)
            .args(wire)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let _ = BufReader::new(link.stdout.take().unwrap()).read_line(&mut line);
        let joined = Joined { bench, tag, link };
        if !line.contains("are joined") {
            println!("skipped: no interfaces can be made here");
            return None;
        }
        for (end, name) in names.iter().enumerate() {
            let set_up = format!(
                "ip netns add {name} && ip link set {name} netns {name} \
                 && ip -n {name} link set lo up && ip -n {name} link set {name} up \
                 && ip -n {name} addr add 10.84.7.{}/24 dev {name}",
                end + 1
            );
            if !sh(&set_up) {
                println!("skipped: no network namespaces can be made here");
                return None;
            }
        }
        Some(joined)
    }

    fn inside(&self, end: char) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &format!("{}{end}", self.tag), FATHOM]);
        command.env("FATHOM_STORE", self.bench.store());
        command
    }

    /// What `fathom net` finds from one end to the other.
    fn measured(&self) -> Value {
        let mut server = self
            .inside('b')
            .args(["net", "serve", "--listen", "10.84.7.2"])
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let told = BufReader::new(server.stderr.take().unwrap()).read_line(&mut line);
        assert!(told.is_ok() && line.starts_with("serving on"), "{line}");
        let output = self
            .inside('a')
            .args(["net", "10.84.7.2", "-t", "3", "--json"])
            .output()
            .unwrap();
        let _ = server.kill();
        let _ = server.wait();
        let text = String::from_utf8_lossy(&output.stderr);
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{text}"))
    }

    /// Ends the link; what it says that it did.
    fn truth(mut self) -> Value {
        sh(&format!("kill -INT {}", self.link.id()));
        let began = Instant::now();
        while self.link.try_wait().unwrap().is_none() {
            assert!(began.elapsed() < Duration::from_secs(20), "it does not end");
            std::thread::sleep(Duration::from_millis(20));
        }
        let text = std::fs::read_to_string(self.bench.path().join("truth.json")).unwrap();
        serde_json::from_str(&text).unwrap()
    }
}

impl Drop for Joined {
    fn drop(&mut self) {
        for end in ['a', 'b'] {
            sh(&format!("ip netns del {}{end}", self.tag));
        }
        let _ = self.link.kill();
        let _ = self.link.wait();
    }
}

fn sh(script: &str) -> bool {
    let done = Command::new("sh")
        .args(["-c", script])
        .stderr(Stdio::null())
        .status();
    done.is_ok_and(|status| status.success())
}

/// What is wrong with what was found, where a limit should be.
fn wrong(report: &Value, bits: f64) -> Option<String> {
    let limits = report["limits"].as_array().unwrap();
    assert_eq!(limits.len(), 2);
    let wrong = limits.iter().find(|limit| {
        let wire = limit[1]["wire_bits"].as_f64().unwrap_or(0.0);
        limit[1]["kind"] != "rate_limit" || (wire / bits - 1.0).abs() >= 0.03
    });
    wrong.map(Value::to_string)
}

#[test]
fn a_limit_is_named_behind_delay_and_loss() {
    let wire = ["--delay", "2ms", "--loss", "0.5%", "--rate", "40mbit"];
    let Some(joined) = Joined::by('l', &wire) else {
        return;
    };
    // What disturbs the machine disturbs one measurement, and what is wrong all.
    let mut told = Vec::new();
    let named = (0..3).any(|_| {
        let report = joined.measured();
        // Slower it may be on a busy machine, but no faster.
        let handshakes = report["reached"]["connect_ns"].as_array().unwrap();
        let quick = handshakes.iter().find(|ns| ns.as_u64() < Some(4_000_000));
        assert!(!handshakes.is_empty() && quick.is_none(), "{handshakes:?}");
        told.extend(wrong(&report, 40e6));
        wrong(&report, 40e6).is_none()
    });
    let truth = joined.truth();
    for way in ["there", "back"] {
        let count = |what: &str| truth[way][what].as_f64().unwrap();
        let all = count("frames") + count("lost") + count("dropped");
        assert!(all > 10_000.0, "{truth}");
        let lost = count("lost") / (count("frames") + count("lost"));
        assert!((0.003..0.007).contains(&lost), "{truth}");
    }
    if !named && told.iter().all(|limit| limit.contains("_cpu\"")) {
        println!("skipped: other processes leave too little of the CPUs for 40 Mbit/s: {told:?}");
        return;
    }
    assert!(named, "{told:?} {truth}");
}

#[test]
fn wrong_wires_are_refused() {
    let bench = Bench::new();
    for arguments in [
        ["link", "a", "b", "--loss", "101%"],
        ["link", "a", "b", "--rate", "fast"],
        ["link", "a", "b", "--delay", "2"],
        ["link", "name-of-17-chars-", "b", "--seed", "1"],
    ] {
        bench.lab(arguments).expect_status(2);
    }
}
