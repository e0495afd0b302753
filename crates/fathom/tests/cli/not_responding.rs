//! What does not answer: a mount whose process stands still, a loop device on
//! it, a name service and servers that take a connection and stay silent. Every
//! command ends and names it.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::process::{ChildStderr, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::Value;

use crate::bench::{Bench, Output, finish, is_root};
use crate::frozen_drive::{FrozenDrive, LONG, call, ended, names, send};

fn firing<'a>(alarms: &'a Value, rule: &str) -> Vec<&'a str> {
    let alarms = alarms["alarms"].as_array().expect("alarms");
    let found = alarms.iter().find(|alarm| alarm["rule"] == rule);
    let found = found.filter(|alarm| alarm["state"] == "firing");
    let instances = found.and_then(|alarm| alarm["instances"].as_array());
    let instances = instances.into_iter().flatten();
    instances.filter_map(|i| i["name"].as_str()).collect()
}

#[test]
fn every_command_ends_and_names_a_mount_that_stands_still() {
    let bench = Bench::new();
    let Some(drive) = FrozenDrive::serve(&bench) else {
        return;
    };
    let (folder, device) = (drive.folder.display().to_string(), drive.device.clone());
    let inside = format!("{folder}/drive");
    drive.freeze();
    let call = |args: &[&str]| call(&bench, &drive, args);
    let alarms = call(&["alarms", "--for", "1s", "--json"]);
    let alarms_now = alarms.json();
    // Other mounts of this host may stand still as well.
    assert!(firing(&alarms_now, "mount-not-responding").contains(&folder.as_str()));
    assert_eq!(alarms.status, Some(10));
    let used = call(&["use", "--for", "1s", "--json"]).json();
    let notes = used["notes"].to_string();
    assert!(notes.contains(&folder), "{notes}");
    names(&call(&["use", "--for", "1s"]), &folder);
    names(&call(&["stack", &inside]), &folder);
    names(&call(&["stack", &device]), &folder);
    names(&call(&["stack", &inside, "--json"]), &folder);
    names(&call(&["watch", "--plain", "--count", "2"]), &folder);
    let recording = bench.path().join("host.frec").display().to_string();
    call(&["record", "--for", "2s", "-o", &recording]).expect_status(0);
    let recorded = call(&["alarms", &recording, "--json"]).json();
    assert!(firing(&recorded, "mount-not-responding").contains(&folder.as_str()));
    names(&call(&["diagnose", &recording]), &folder);
    names(&call(&["diagnose", "--for", "2s"]), &folder);
    names(&call(&["doctor", &folder]), &folder);
    let short = ["io", "null:", "--rw", "read", "--runtime", "300ms"];
    let report = [&short[..], &["--html", &inside]].concat();
    names(&call(&report), &folder);
    let hosts = [&short[..], &["--hosts-file", &inside]].concat();
    names(&call(&hosts), &folder);
    names(&call(&["doctor", "."]), &folder);
    names(&call(&["io", &inside, "--runtime", "1s"]), &folder);
    names(&call(&["quick", &folder]), &folder);
    let store = format!("{folder}/fathom.db");
    names(&call(&["runs", "list", "--store", &store]), &folder);
    names(&call(&["clean", "--store", &store]), &folder);
    call(&["runs", "list"]).expect_status(0);
    call(&["clean"]).expect_status(0);
    call(&["disks", "--show"]);
    // Nobody else's work is held up, whatever a killed run left there.
    let list = bench.store().with_file_name("made-files");
    fs::write(&list, format!("0 0 0 {inside}\n")).expect("a list");
    fs::set_permissions(&list, fs::Permissions::from_mode(0o600)).expect("private");
    let run = ["io", "data", "--size", "1M", "--runtime", "1s", "--json"];
    call(&run).expect_measured();
}

#[test]
fn silence_is_not_taken_for_a_no() {
    let bench = Bench::new();
    let Some(drive) = FrozenDrive::serve(&bench) else {
        return;
    };
    let folder = drive.folder.display().to_string();
    let inside = format!("{folder}/drive");
    let store = format!("{folder}/fathom.db");
    let calibrate = format!("--calibrate={folder}");
    drive.freeze();
    let listen = ["agent", "--listen", "127.0.0.1:0", "--allow"];
    let commands: [&[&str]; 13] = [
        &["disks", &folder],
        &["disks", "--show", &folder],
        &["disks", &inside],
        &["smallfile", "--top", &folder],
        &["smallfile", "--operation", "create", "--top", &folder],
        &["enumerate", &folder],
        &[&listen[..], &[&folder]].concat(),
        &[&listen[..], &[&inside]].concat(),
        &["ping", &folder, "-c", "1"],
        &["stack", &folder],
        &["runs", "list", "--store", &store],
        &["clean", "--store", &store],
        &["diagnose", "--for", "2s", &calibrate, "--yes"],
    ];
    for command in commands {
        let output = call(&bench, &drive, command);
        names(&output, &folder);
        let all = format!("{}\n{}", output.stdout, output.stderr);
        let flat: String = all.split_whitespace().collect::<Vec<_>>().join(" ");
        for wrong in [
            "does not exist",
            "not a directory",
            "nothing has been measured",
            " / is not responding",
        ] {
            assert!(!flat.contains(wrong), "{command:?}: {all}");
        }
    }
    let get = "s3 get s3://bucket/prefix --runtime 1s --endpoint http://127.0.0.1:1";
    let mut keys = bench.command(get.split(' '));
    keys.env_remove("AWS_ACCESS_KEY_ID")
        .env_remove("AWS_SECRET_ACCESS_KEY")
        .env(
            "AWS_SHARED_CREDENTIALS_FILE",
            folder.clone() + "/credentials",
        );
    let output = finish(keys.spawn().expect("fathom starts"));
    names(&output, &folder);
    assert!(!output.stderr.contains("no keys"), "{}", output.stderr);
}

#[test]
fn a_target_that_hangs_already_is_named_before_anything_begins() {
    let bench = Bench::new();
    let Some(drive) = FrozenDrive::serve(&bench) else {
        return;
    };
    let (folder, device) = (drive.folder.display().to_string(), drive.device.clone());
    let inside = format!("{folder}/drive");
    drive.freeze();
    let write = ["io", &device, "--rw", "randwrite", "--destructive"];
    let commands: [&[&str]; 6] = [
        &["io", &device, "--rw", "randread", "--runtime", "1s"],
        &write,
        &["quick", &device],
        &["ping", &device, "-c", "2"],
        &["ping", &inside, "-c", "2"],
        &["ping", &folder, "-c", "2"],
    ];
    for command in commands {
        let output = call(&bench, &drive, command);
        let what = if command.contains(&device.as_str()) {
            &device
        } else {
            &folder
        };
        names(&output, what);
        assert_ne!(output.status, Some(0), "{command:?}");
    }
    // Nothing was begun that would be in the store.
    let stored = call(&bench, &drive, &["runs", "list", "--json"]).json();
    assert_eq!(stored.as_array().map(Vec::len), Some(0), "{stored}");
}

#[test]
fn files_beside_a_load_on_a_frozen_mount_are_named() {
    let bench = Bench::new();
    let Some(drive) = FrozenDrive::serve(&bench) else {
        return;
    };
    let folder = drive.folder.display().to_string();
    let inside = format!("{folder}/x");
    bench
        .fathom(["io", "null:", "--rw", "read", "--runtime", "300ms"])
        .expect_measured();
    drive.freeze();
    let keys = ["--launcher", "static", "--fleet", &inside];
    let elsewhere = ["io", "/data", "--rw", "read", "--hosts", "127.0.0.1"];
    let commands: [&[&str]; 10] = [
        &[
            "at_io_iops",
            "--read",
            "--rand",
            "-t",
            "1",
            "-u",
            "4M",
            "-f",
            &inside,
        ],
        &[
            "at_io_iops",
            "--read",
            "--rand",
            "-t",
            "1",
            "-u",
            "4M",
            "-f",
            &folder,
        ],
        &["agent", "--keys", &folder],
        &["fleet", "init", "--fleet", &inside],
        &["fleet", "join", "h1", "--fleet", &inside],
        &["fleet", "token", "--fleet", &inside],
        &[&elsewhere[..], &keys].concat(),
        &[&elsewhere[..], &["--agent-binary", &inside]].concat(),
        &[
            &elsewhere[..],
            &["--launcher", "kubernetes", "--job", &inside],
        ]
        .concat(),
        &[
            "runs",
            "export",
            "latest",
            "--format",
            "fio-logs",
            "--directory",
            &inside,
        ],
    ];
    for command in commands {
        let output = call(&bench, &drive, command);
        names(&output, &folder);
        assert_ne!(output.status, Some(0), "{command:?}");
    }
    let homeless: [&[&str]; 4] = [
        &["agent"],
        &["fleet", "init"],
        &["fleet", "token"],
        &["fleet", "status", "--hosts", "h1", "--launcher", "static"],
    ];
    for command in homeless {
        let mut fathom = bench.command(command);
        fathom.env("HOME", &folder).env_remove("XDG_CONFIG_HOME");
        names(&ended(fathom, &drive), &folder);
    }
    // What lies elsewhere on the search path is found.
    let mut fathom = bench.command(["crosscheck", ".", "--fio", "no-such-fio"]);
    fathom.env("PATH", format!("{folder}:/usr/bin:/bin"));
    names(&ended(fathom, &drive), &folder);
}

/// Lines of standard error until the process ends, with the time of each.
fn lines_of(stderr: ChildStderr) -> std::thread::JoinHandle<Vec<(Duration, String)>> {
    let begun = Instant::now();
    std::thread::spawn(move || {
        let lines = BufReader::new(stderr).lines().map_while(Result::ok);
        lines.map(|line| (begun.elapsed(), line)).collect()
    })
}

#[test]
fn operations_that_hang_are_shown_and_ctrl_c_ends_with_a_report() {
    let bench = Bench::new();
    let Some(drive) = FrozenDrive::serve(&bench) else {
        return;
    };
    let mut command = bench.command([
        "io",
        &drive.device,
        "--rw",
        "randread",
        "--iodepth",
        "4",
        "--runtime",
        "60s",
        "--json",
    ]);
    let mut child = command.spawn().expect("fathom starts");
    let lines = lines_of(child.stderr.take().expect("a pipe"));
    let mut stdout = child.stdout.take().expect("a pipe");
    sleep(Duration::from_secs(4));
    drive.freeze();
    sleep(Duration::from_secs(8));
    send(&child, Signal::INT);
    // The process itself may have to wait for the device.
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        stdout.read_to_string(&mut text).map(|_| text)
    });
    let begun = Instant::now();
    while !bench
        .fathom(["runs", "list", "--json"])
        .stdout
        .contains("\"interrupted\"")
    {
        assert!(begun.elapsed() < LONG * 2, "Ctrl-C did not end the run");
        sleep(Duration::from_millis(100));
    }
    println!("ended {:.1} s after Ctrl-C", begun.elapsed().as_secs_f64());
    sleep(Duration::from_secs(1));
    drive.thaw();
    let status = child.wait().expect("it ends").code();
    assert_eq!(status, Some(5));
    let result: Value = serde_json::from_str(&reader.join().unwrap().unwrap()).unwrap();
    assert_eq!(result["run"]["state"], "interrupted");
    let lines = lines.join().unwrap();
    let shown = lines.iter().filter(|(_, line)| {
        line.contains("operations outstanding for") && line.contains(&drive.device)
    });
    assert!(shown.count() >= 1, "{lines:?}");
}

#[test]
fn a_device_that_completes_nothing_raises_an_alarm() {
    let bench = Bench::new();
    let Some(drive) = FrozenDrive::serve(&bench) else {
        return;
    };
    let name = drive.device.trim_start_matches("/dev/").to_owned();
    drive.freeze();
    let input = format!("if={}", drive.device);
    let mut reader = Command::new("dd")
        .args([input.as_str(), "of=/dev/null", "bs=4k", "iflag=direct"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("dd starts");
    let output = call(&bench, &drive, &["alarms", "--json"]);
    let used = call(&bench, &drive, &["use", "--for", "5s"]);
    drive.thaw();
    let _ = reader.kill();
    let _ = reader.wait();
    assert!(firing(&output.json(), "device-not-responding").contains(&name.as_str()));
    let hangs = |line: &str| line.contains(&name) && line.contains("none completed for");
    assert!(used.stdout.lines().any(hangs), "{}", used.stdout);
}

/// A server that takes connections and never says a word.
fn mute_server() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    (listener, address)
}

#[test]
fn a_server_that_says_nothing_does_not_hold_up_a_run() {
    let bench = Bench::new();
    let (_listener, address) = mute_server();
    let url = format!("http://{address}/v1/metrics");
    let begun = Instant::now();
    let run = [
        "io",
        "data",
        "--size",
        "1M",
        "--runtime",
        "2s",
        "--metrics-push",
        &url,
    ];
    bench.fathom(run).expect_measured();
    println!("{:.1} s: pushing metrics", begun.elapsed().as_secs_f64());
    assert!(begun.elapsed() < Duration::from_secs(30));
}

#[test]
fn a_store_that_says_nothing_is_named_before_anything_is_made() {
    let bench = Bench::new();
    let (_listener, address) = mute_server();
    let endpoint = format!("http://{address}");
    let commands: [&[&str]; 4] = [
        &["s3", "put", "s3://bucket/prefix", "--runtime", "1s"],
        &["ping", "s3://bucket/prefix", "-c", "2"],
        &["quick", "s3://bucket/prefix"],
        &["clean", "s3://bucket/prefix"],
    ];
    for command in commands {
        let begun = Instant::now();
        let mut words = command.to_vec();
        // As long as a request of the load may take.
        words.extend(["--endpoint", &endpoint]);
        let mut fathom = bench.command(words);
        let fathom = fathom
            .env("AWS_ACCESS_KEY_ID", "key")
            .env("AWS_SECRET_ACCESS_KEY", "secret");
        let output = finish(fathom.spawn().expect("fathom starts"));
        println!("{:.1} s: {command:?}", begun.elapsed().as_secs_f64());
        names(&output, &endpoint);
        assert_eq!(output.status, Some(1), "{command:?}\n{}", output.stderr);
        // The time that was waited is named, and is none of the load's.
        assert!(output.stderr.contains("(waited 4 s)"), "{}", output.stderr);
        if command[0] == "ping" {
            // Nobody looks at an empty screen until then.
            let said = "is not ready after 2 s";
            assert!(output.stderr.contains(said), "{}", output.stderr);
        }
    }
}

/// Runs a command where no name service answers; `None` where that cannot be had.
fn without_names(bench: &Bench, words: &[&str]) -> Option<Output> {
    if !is_root() {
        println!("skipped: a resolv.conf of its own takes root");
        return None;
    }
    // What is sent to an address of documentation goes to the other end of a
    // pair of links, where nobody has it.
    let file = bench.path().join("resolv.conf");
    fs::write(
        &file,
        "nameserver 203.0.113.1\noptions timeout:30 attempts:5\n",
    )
    .unwrap();
    let script = "mount --bind \"$1\" \"$(readlink -f /etc/resolv.conf)\" &&\n\
                  ip link add quiet type veth peer name other &&\n\
                  ip addr add 203.0.113.2/24 dev quiet &&\n\
                  ip link set quiet up && ip link set other up &&\n\
                  ip neigh add 203.0.113.1 lladdr 02:00:00:00:00:01 dev quiet || exit 99\n\
                  shift; exec \"$@\"";
    let mut command = Command::new("unshare");
    command
        .args(["--net", "--mount", "--propagation", "private"])
        .args(["sh", "-c", script, "sh"])
        .arg(&file)
        .args(words)
        .env("FATHOM_STORE", bench.store())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let begun = Instant::now();
    let output = finish(command.spawn().expect("unshare starts"));
    if output.status == Some(99) {
        println!("skipped: no namespaces, or no pair of links");
        return None;
    }
    println!("{:.1} s: {}", begun.elapsed().as_secs_f64(), output.stderr);
    assert!(begun.elapsed() < LONG, "{}", output.stderr);
    Some(output)
}

#[test]
fn a_name_service_that_never_answers_is_named() {
    let bench = Bench::new();
    let fathom = env!("CARGO_BIN_EXE_fathom");
    let named = "the name service for 'storage.example' is not responding";
    let ping = [fathom, "ping", "tcp://storage.example:80", "-c", "1"];
    let Some(output) = without_names(&bench, &ping) else {
        return;
    };
    output.expect_status(1);
    output.expect_in_stderr(named);
    // ssh asks the same service, and would wait longer than anybody wants to.
    let remote = [
        "timeout",
        "8",
        fathom,
        "io",
        "/srv",
        "--hosts",
        "storage.example",
    ];
    if let Some(output) = without_names(&bench, &remote) {
        output.expect_in_stderr("waiting for storage.example");
        output.expect_in_stderr(named);
    }
}
