//! `fathom net`, `fathom size` and fio's `net` engine, as their users call
//! them; the network between hosts is one of namespaces whose truth is known.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;

const FATHOM: &str = env!("CARGO_BIN_EXE_fathom");

/// A server that is ended with the test.
pub(crate) struct Served {
    child: Child,
    address: String,
}

impl Served {
    /// Starts `fathom net serve` in a namespace, or here.
    fn start(namespace: Option<&str>, listen: &str) -> Served {
        let mut command = match namespace {
            Some(name) => in_namespace(name, FATHOM),
            None => fathom(),
        };
        command.args(["net", "serve", "--listen", listen]);
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stderr.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let address = line
            .strip_prefix("serving on ")
            .and_then(|rest| rest.split(';').next());
        let address = address.unwrap_or_else(|| panic!("said: {line}")).to_owned();
        Served { child, address }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn fathom() -> Command {
    let mut command = Command::new(FATHOM);
    command.env("FATHOM_STORE", store());
    command
}

/// Not the user's.
fn store() -> std::path::PathBuf {
    let name = format!("net-{}.db", std::process::id());
    std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

pub(crate) fn in_namespace(name: &str, program: &str) -> Command {
    let mut command = Command::new("ip");
    command.args(["netns", "exec", name, program]);
    command.env("FATHOM_STORE", store());
    command
}

pub(crate) fn json(output: &Output) -> Value {
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(&text)
        .unwrap_or_else(|_| panic!("{text}\n{}", String::from_utf8_lossy(&output.stderr)))
}

/// Hosts on a bridge, removed with the test.
pub(crate) struct Hosts {
    prefix: String,
    count: usize,
}

impl Hosts {
    /// `None`, with a reason, where namespaces cannot be had.
    pub(crate) fn new(letter: char, count: usize) -> Option<Hosts> {
        let hosts = Hosts {
            prefix: format!("f{letter}{}", std::process::id() % 100_000),
            count,
        };
        let bridge = hosts.bridge();
        if !sh(&format!(
            "ip link add {bridge} type bridge && ip link set {bridge} mtu 9000 up"
        )) {
            println!("skipped: no network namespaces can be made here");
            return None;
        }
        for host in 0..count {
            let (name, port) = (hosts.name(host), hosts.port(host));
            let done = sh(&format!(
                "ip netns add {name} && ip link add {port} type veth peer name eth0 netns {name} \
                 && ip link set {port} mtu 9000 master {bridge} up \
                 && ip -n {name} link set lo up && ip -n {name} link set eth0 mtu 9000 up \
                 && ip -n {name} addr add {}/24 dev eth0",
                hosts.address(host)
            ));
            if !done {
                println!("skipped: no network namespaces can be made here");
                return None;
            }
        }
        Some(hosts)
    }

    fn bridge(&self) -> String {
        format!("{}b", self.prefix)
    }

    pub(crate) fn name(&self, host: usize) -> String {
        format!("{}n{host}", self.prefix)
    }

    fn port(&self, host: usize) -> String {
        format!("{}v{host}", self.prefix)
    }

    pub(crate) fn address(&self, host: usize) -> String {
        format!("10.83.7.{}", host + 1)
    }

    /// Holds what a host sends at a rate.
    pub(crate) fn shape(&self, host: usize, rate: &str) -> bool {
        sh(&format!(
            "tc -n {} qdisc replace dev eth0 root tbf rate {rate} burst 256kb latency 20ms",
            self.name(host)
        ))
    }

    pub(crate) fn serve(&self, host: usize) -> Served {
        Served::start(Some(&self.name(host)), &self.address(host))
    }

    pub(crate) fn run(&self, host: usize, arguments: &[&str]) -> Output {
        in_namespace(&self.name(host), FATHOM)
            .args(arguments)
            .output()
            .unwrap()
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        for host in 0..self.count {
            sh(&format!("ip netns del {}", self.name(host)));
        }
        sh(&format!("ip link del {}", self.bridge()));
    }
}

pub(crate) fn sh(script: &str) -> bool {
    let done = Command::new("sh")
        .args(["-c", script])
        .stderr(Stdio::null())
        .status();
    done.is_ok_and(|status| status.success())
}

#[test]
fn a_pair_is_measured_over_the_loopback() {
    let served = Served::start(None, "127.0.0.1:0");
    let run = |arguments: &[&str]| {
        let fixed = ["net", &served.address, "-t", "1", "-O", "0"];
        fathom().args(fixed).args(arguments).output().unwrap()
    };
    let report = json(&run(&["-P", "2", "--bidir", "--json"]));
    assert_eq!(report["schema"], "fathom.net-pair/1");
    let load = &report["loads"][0];
    assert_eq!(load["error"], Value::Null);
    for way in ["forward", "reverse"] {
        assert_eq!(
            load[way]["sender"]["connections"].as_array().unwrap().len(),
            2
        );
    }
    let iperf = json(&run(&["-R", "--format", "iperf3"]));
    assert_eq!(iperf["start"]["test_start"]["reverse"], 1);
    assert!(
        iperf["end"]["sum_received"]["bits_per_second"]
            .as_f64()
            .unwrap()
            > 0.0
    );
    let text = run(&["-u", "-b", "8M"]);
    let shown = String::from_utf8_lossy(&text.stdout).into_owned();
    assert!(
        shown.contains("datagrams there") && shown.contains("% lost"),
        "{shown}"
    );
    assert!(text.status.success());
}

/// What `fathom net` comes to when a server is stopped under a long load.
fn with_a_frozen_server(servers: &[Served], flags: &[&str]) -> Output {
    let addresses = servers.iter().map(|served| served.address.as_str());
    let child = fathom()
        .arg("net")
        .args(addresses.chain(["-t", "500", "-O", "0"]))
        .args(flags)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(std::time::Duration::from_secs(3));
    let frozen = servers.last().unwrap().child.id();
    assert!(sh(&format!("kill -STOP {frozen}")));
    child.wait_with_output().unwrap()
}

#[test]
fn a_server_that_is_silent_ends_the_load_before_its_time() {
    let served = [Served::start(None, "127.0.0.1:0")];
    let output = with_a_frozen_server(&served, &["-P", "2", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let error = json(&output)["loads"][0]["error"].to_string();
    // At its end the load would have waited for the report instead.
    assert!(error.contains("is not responding (waited"), "{error}");
    assert!(!error.contains("waited 2"), "{error}");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.matches("not responding").count() <= 2, "{said}");
}

#[test]
fn a_host_that_is_silent_ends_all_rounds_once() {
    let served = [(); 2].map(|()| Served::start(None, "127.0.0.1:0"));
    let output = with_a_frozen_server(&served, &["--mode", "alone"]);
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr);
    let ended = format!("{} is not responding any more", served[1].address);
    assert_eq!(said.matches(&ended).count(), 1, "{said}");
    assert!(said.contains("what was measured until then"), "{said}");
}

#[test]
fn a_stored_network_is_shown_as_it_was_measured() {
    let home = tempfile::TempDir::new().unwrap();
    let served = [(); 2].map(|()| Served::start(None, "127.0.0.1:0"));
    let run = |arguments: &[&str]| {
        let mut command = fathom();
        command.env("FATHOM_STORE", home.path().join("fathom.db"));
        command.args(arguments).output().unwrap()
    };
    let load = ["-t", "1", "-O", "0", "--json"];
    let pair = ["net", &served[0].address, "-P", "2", "--bidir"];
    let pairs = [
        "net",
        &served[0].address,
        &served[1].address,
        "--mode",
        "alone",
    ];
    for (measure, trials, ends) in [(&pair[..], 2, 2), (&pairs[..], 6, 2)] {
        let measured = json(&run(&[measure, &load].concat()));
        assert_eq!(json(&run(&["runs", "show", "latest", "--json"])), measured);
        let listed = json(&run(&["runs", "list", "--json", "--limit", "1"]));
        let complete = listed[0]["complete_trials"].as_u64().unwrap();
        // A way that stands out is looked at again.
        assert!(complete >= trials, "{listed}");
        let series = json(&run(&["runs", "export", "latest"]));
        let samples = series["trials"][0]["samples"].as_array().unwrap();
        let mut seen: Vec<&str> = samples
            .iter()
            .map(|sample| sample["connection"]["end"].as_str().unwrap())
            .collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), ends, "{seen:?}");
    }
}

#[test]
fn an_interrupted_measurement_shows_and_keeps_what_there_was() {
    let home = tempfile::TempDir::new().unwrap();
    let served = Served::start(None, "127.0.0.1:0");
    let mut command = fathom();
    command.env("FATHOM_STORE", home.path().join("fathom.db"));
    command.args(["net", &served.address, "-t", "600", "-O", "0", "--json"]);
    command.args(["-P", "2", "-b", "8M"]);
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The load begins at once.
    std::thread::sleep(std::time::Duration::from_secs(4));
    assert!(sh(&format!("kill -INT {}", child.id())));
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(5), "{output:?}");
    let load = &json(&output)["loads"][0];
    let seconds = load["forward"]["receiver"]["connections"][0]["seconds"].as_array();
    assert!(seconds.is_some_and(|seconds| !seconds.is_empty()), "{load}");
    let mut list = fathom();
    list.env("FATHOM_STORE", home.path().join("fathom.db"));
    let listed = json(&list.args(["runs", "list", "--json"]).output().unwrap());
    assert_eq!(listed[0]["state"], "interrupted");
}

#[test]
fn a_killed_matrix_keeps_the_rounds_that_were_over() {
    let home = tempfile::TempDir::new().unwrap();
    let served = [(); 2].map(|()| Served::start(None, "127.0.0.1:0"));
    let run = |arguments: &[&str]| {
        let mut command = fathom();
        command.env("FATHOM_STORE", home.path().join("fathom.db"));
        command.args(arguments);
        command
    };
    let hosts = [served[0].address.as_str(), served[1].address.as_str()];
    let mut measure = run(&["net", hosts[0], hosts[1], "-t", "1", "-O", "0", "-b", "8M"]);
    let mut child = measure
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let listed = || json(&run(&["runs", "list", "--json"]).output().unwrap());
    let complete = |listed: &Value| listed[0]["complete_trials"].as_u64().unwrap_or(0);
    for _ in 0..600 {
        if complete(&listed()) >= 3 {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let listed = listed();
    // Two ways alone with round trips before and beside them, then three kinds of
    // rounds without those before.
    assert_eq!(listed[0]["planned_trials"], 2 * 3 + 3 * 2 * 2, "{listed}");
    assert!((1..18).contains(&complete(&listed)), "{listed}");
    let shown = json(&run(&["runs", "show", "latest", "--json"]).output().unwrap());
    let cell = &shown["rounds"][0]["cells"][0];
    assert!(cell["bits_per_second"].as_f64().unwrap() > 0.0, "{cell}");
    assert!(cell["idle_ns"].as_u64().unwrap() > 0, "{cell}");
}

#[test]
fn a_load_whose_threads_cannot_be_had_says_so_and_ends() {
    if !crate::bench::is_root() {
        println!(
            "skipped: a limit of processes does not count for who has it, and takes another user"
        );
        return;
    }
    let served = Served::start(None, "127.0.0.1:0");
    let home = tempfile::TempDir::new().unwrap();
    // A user of whom nothing runs, who may read the binary here.
    let user = 1_900_000_000 + std::process::id();
    let here = home.path().join("fathom");
    std::fs::copy(FATHOM, &here).unwrap();
    for path in [home.path(), here.as_path()] {
        std::os::unix::fs::chown(path, Some(user), Some(user)).unwrap();
    }
    let output = Command::new("setpriv")
        .args([format!("--reuid={user}"), format!("--regid={user}")])
        .args(["--clear-groups", "prlimit", "--nproc=24"])
        .arg(&here)
        .args(["net", &served.address, "-t", "1", "-O", "0", "-P", "64"])
        .env("FATHOM_STORE", home.path().join("fathom.db"))
        .stdin(Stdio::null())
        .output();
    let Ok(output) = output else {
        println!("skipped: there is no setpriv");
        return;
    };
    let told = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(told.contains("no thread could be started"), "{told}");
    assert!(told.contains("ulimit -u"), "{told}");
    assert!(!told.contains("panicked"), "{told}");
    assert!(!output.status.success(), "{told}");
}

#[test]
fn what_cannot_be_done_is_told_with_a_remedy() {
    let told = |arguments: &[&str]| {
        let output = fathom().args(arguments).output().unwrap();
        assert!(!output.status.success());
        assert!(output.stdout.is_empty());
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert!(told(&["net", "127.0.0.1:1"]).contains("fathom net serve"));
    assert!(told(&["net", "no-such-host.invalid"]).contains("cannot be found"));
    assert!(told(&["net", "127.0.0.1", "-P", "9999"]).contains("can be 1 to 256"));
    assert!(told(&["size", "--link", "25GbE"]).contains("--disk"));
    assert!(told(&["size", "--link", "fast", "--disk", "1MB/s"]).contains("is not a link"));
    assert!(
        told(&["size", "--link", "25GbE", "--disk", "300"])
            .contains("300 needs a unit, e.g. 300MB/s")
    );
    assert!(
        told(&["size", "--link", "2x25", "--disk", "300MB/s"])
            .contains("'2x25' needs a unit, e.g. 2x25GbE")
    );
}

#[test]
fn a_path_that_swallows_large_packets_is_found() {
    let Some(hosts) = Hosts::new('m', 2) else {
        return;
    };
    // A switch port that was forgotten when the hosts got jumbo frames.
    assert!(sh(&format!("ip link set {} mtu 1500", hosts.port(1))));
    let _served = hosts.serve(1);
    let report = json(&hosts.run(0, &["net", &hosts.address(1), "-t", "1", "--json"]));
    let mtu = &report["mtu"];
    assert_eq!(mtu["mismatch"], true, "{mtu}");
    assert!(
        mtu["explanation"].as_str().unwrap().contains("switch"),
        "{mtu}"
    );
    let path = mtu["path_mtu_bytes"].as_u64().unwrap();
    assert!((1500..=1504).contains(&path), "{path}");
    for load in report["loads"].as_array().unwrap() {
        assert_eq!(load["error"], Value::Null, "{}", load["name"]);
    }
}

#[test]
fn the_planning_table_is_that_of_the_guide() {
    let table = [
        ("10GbE", [12, 4, 1]),
        ("2x10GbE", [21, 7, 2]),
        ("25GbE", [31, 10, 3]),
        ("2x25GbE", [53, 17, 5]),
        ("50GbE", [62, 20, 6]),
        ("2x50GbE", [106, 35, 10]),
        ("100GbE", [125, 41, 12]),
        ("2x100GbE", [212, 70, 21]),
    ];
    for (link, wanted) in table {
        for (disk, disks) in ["100MB/s", "300MB/s", "1000MB/s"].into_iter().zip(wanted) {
            let arguments = ["size", "--link", link, "--disk", disk, "--json"];
            let output = fathom().args(arguments).output().unwrap();
            assert_eq!(json(&output)["disks_per_node"], disks, "{link} {disk}");
        }
    }
}

#[test]
fn jobs_of_fio_send_to_one_another() {
    let place = tempfile::tempdir().unwrap();
    let port = 20_000 + std::process::id() % 10_000;
    for (protocol, ends) in [
        (
            "tcp",
            [
                format!("port={port}\nlisten"),
                format!("port={port}\nhostname=localhost"),
            ],
        ),
        (
            "unix",
            [
                "hostname=s.sock\nlisten".to_owned(),
                "hostname=s.sock".to_owned(),
            ],
        ),
        (
            "tcp\npingpong=1",
            [
                format!("port={}\nlisten", port + 1),
                format!("port={}\nhostname=127.0.0.1", port + 1),
            ],
        ),
    ] {
        let job = format!(
            "[global]\nioengine=net\nprotocol={protocol}\nbs=16k\nsize=4m\n\
             [receiver]\n{}\nrw=read\n[sender]\n{}\nrw=write\n",
            ends[0], ends[1]
        );
        std::fs::write(place.path().join("net.fio"), job).unwrap();
        let output = fathom()
            .args(["fio", "--output-format=json", "net.fio"])
            .current_dir(place.path())
            .env("FATHOM_STORE", place.path().join("runs.db"))
            .output()
            .unwrap();
        let result = json(&output);
        assert_eq!(output.status.code(), Some(0), "{protocol}");
        let bytes = |job: usize, way: &str| result["jobs"][job][way]["io_bytes"].as_u64();
        assert_eq!(bytes(0, "read"), Some(4 << 20), "{protocol}");
        assert_eq!(bytes(1, "write"), Some(4 << 20), "{protocol}");
    }
    let vsock = "[a]\nioengine=net\nprotocol=vsock\nport=1\nlisten\nrw=read\nsize=1m\n";
    std::fs::write(place.path().join("vsock.fio"), vsock).unwrap();
    let refused = fathom()
        .args(["fio", "vsock.fio"])
        .current_dir(place.path())
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(
        !refused.status.success() && told.contains("virtual machines"),
        "{told}"
    );
}
