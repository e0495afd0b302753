//! Stores that are wrong on purpose, from the command line: nothing of somebody
//! else's is removed, everything ends, and what remains is said.

use std::io::Read;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use fathom_s3::{Script, StoreServer};
use rustix::process::{Pid, Signal, kill_process};

use crate::bench::Bench;

/// Much less than any timeout of a store.
const SOON: Duration = Duration::from_secs(15);
const FOREIGN: [&str; 3] = [
    "bucket/precious/1",
    "bucket/try/other",
    "bucket/try/fathom-notes",
];

fn server(script: &str) -> StoreServer {
    let any = ([127, 0, 0, 1], 0).into();
    let server = StoreServer::start(any, 1 << 30, Script::parse(script).unwrap()).unwrap();
    for key in FOREIGN {
        server.plant(key, b"precious");
    }
    server
}

fn command(bench: &Bench, words: &[&str], endpoint: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fathom"));
    command
        .args(words)
        .args(["--anonymous", "--endpoint", endpoint])
        .env("FATHOM_STORE", bench.store())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn fathom(bench: &Bench, words: &[&str], endpoint: &str) -> (Option<i32>, String) {
    let output = command(bench, words, endpoint)
        .output()
        .expect("fathom runs");
    let out = String::from_utf8_lossy(&output.stdout).into_owned();
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code(), out + &err)
}

const PUT: [&str; 8] = [
    "s3",
    "put",
    "s3://bucket/try",
    "--objects",
    "20",
    "--object-size",
    "1k",
    "--quiet",
];
const CLEAN: [&str; 3] = ["clean", "s3://bucket/try", "--yes"];

fn assert_foreign_is_safe(server: &StoreServer, case: &str) {
    let keys = server.keys();
    for key in FOREIGN {
        assert!(
            keys.iter().any(|there| there == key),
            "{case}: {key} is gone"
        );
    }
    for key in server.removals() {
        assert!(
            key.starts_with("bucket/try/fathom-") && !FOREIGN.contains(&&*key),
            "{case}: {key}"
        );
    }
}

#[test]
fn what_remains_is_said_and_nothing_foreign_goes() {
    let bench = Bench::new();
    for (script, told) in [
        ("WALK:ignore-prefix", "outside of try/fathom-"),
        ("WALK:never-shrink", "still lists 5 objects"),
        ("WALK:endless", "does not end"),
        ("VERSIONS:repeat-token", "not in order"),
        ("UPLOADS:other-prefix", "outside of try/fathom-"),
        ("POST:pretend", "still lists 20 objects"),
        ("WALK:redirect", "add --s3-region eu-central-1"),
    ] {
        let server = server(script);
        let begun = Instant::now();
        let (status, text) = fathom(&bench, &PUT, &server.endpoint());
        assert!(begun.elapsed() < 4 * SOON, "{script}");
        // Twenty objects are too few for a trusted result, which has a status, too.
        assert!(matches!(status, Some(1 | 4 | 3)), "{script}: {text}");
        assert!(
            text.contains("not all test data is removed"),
            "{script}: {text}"
        );
        assert!(text.contains(told), "{script}: {text}");
        assert_foreign_is_safe(&server, script);
    }
}

#[test]
fn a_store_that_cannot_be_listed_is_said_once_and_nothing_is_removed() {
    let bench = Bench::new();
    for (script, told) in [
        ("LIST:404", "status 404"),
        ("LIST:ignore-prefix", "outside of try/"),
        ("LIST:html", "something else"),
        ("LIST:wrong-region", "add --s3-region"),
        ("LIST:bad-bucket", "InvalidBucketName"),
    ] {
        let server = server(script);
        let (status, text) = fathom(&bench, &PUT, &server.endpoint());
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(status, Some(1), "{script}: {text}");
        assert!(text.contains(told), "{script}: {text}");
        assert!(!text.contains("not all test data"), "{script}: {text}");
        let first = text.split(". ").next().unwrap_or_default();
        assert!(first.contains("cannot be listed"), "{script}: {text}");
        assert!(server.removals().is_empty(), "{script}");
    }
}

#[test]
fn objects_that_were_there_are_read_and_removal_is_not_spoken_of() {
    let bench = Bench::new();
    let server = server("");
    let words = [
        "s3",
        "get",
        "s3://bucket/try",
        "--existing",
        "--number-ios",
        "20",
    ];
    let (status, text) = fathom(&bench, &words, &server.endpoint());
    assert!(matches!(status, Some(0 | 4)), "{text}");
    assert!(
        !text.contains("remov") && !text.contains("cleanup"),
        "{text}"
    );
    assert!(server.removals().is_empty());
    assert_eq!(server.keys().len(), FOREIGN.len());
}

/// Sends Ctrl-C once the server has seen a request of a kind for a while; how
/// long the end took from then on.
fn interrupted(
    bench: &Bench,
    words: &[&str],
    server: &StoreServer,
    requests: u64,
) -> (Option<i32>, String) {
    let mut child = command(bench, words, &server.endpoint()).spawn().unwrap();
    let begun = Instant::now();
    while server.requests() < requests && begun.elapsed() < 4 * SOON {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(
        server.requests() >= requests,
        "{words:?}: {}",
        server.requests()
    );
    std::thread::sleep(Duration::from_millis(300));
    let asked = Instant::now();
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    kill_process(pid, Signal::INT).unwrap();
    let mut status = child.try_wait().unwrap();
    while status.is_none() && asked.elapsed() < SOON {
        std::thread::sleep(Duration::from_millis(20));
        status = child.try_wait().unwrap();
    }
    if status.is_none() {
        child.kill().unwrap();
        child.wait().unwrap();
        panic!("{words:?} did not end within {SOON:?} of a Ctrl-C");
    }
    let (mut out, mut err) = (String::new(), String::new());
    child
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut out)
        .unwrap();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut err)
        .unwrap();
    (status.unwrap().code(), out + &err)
}

#[test]
fn one_ctrl_c_ends_the_removal_and_says_what_removes_the_rest() {
    let bench = Bench::new();
    let server = server("POST:hang=600s");
    // 20 objects, the listings around them, and the removal that hangs.
    let (status, text) = interrupted(&bench, &PUT, &server, 24);
    assert!(status.is_some_and(|status| status != 0), "{text}");
    assert!(text.contains("it was interrupted"), "{text}");
    let command = format!(
        "fathom clean s3://bucket/try --endpoint {}",
        server.endpoint()
    );
    assert!(text.contains(&command), "{text}");
    assert_foreign_is_safe(&server, "interrupted");
}

#[test]
fn one_ctrl_c_ends_a_clean_whatever_the_store_does() {
    let bench = Bench::new();
    for script in ["LIST:endless", "LIST:hang=600s", "LIST:drip=300ms"] {
        let server = server(script);
        let (status, text) = interrupted(&bench, &CLEAN, &server, 1);
        assert_eq!(status, Some(5), "{script}: {text}");
        assert!(text.contains("interrupted"), "{script}: {text}");
        assert!(text.contains("nothing was removed"), "{script}: {text}");
        assert_foreign_is_safe(&server, script);
    }
}

#[test]
fn a_ping_of_a_store_that_hangs_ends_at_a_ctrl_c() {
    let bench = Bench::new();
    let server = server("GET:hang=600s");
    let words = ["ping", "s3://bucket/try", "--interval", "0.1"];
    // A listing, 16 objects, and the first request that hangs.
    let (status, text) = interrupted(&bench, &words, &server, 18);
    assert!(status.is_some_and(|status| status != 0), "{text}");
    assert!(text.contains("fathom clean s3://bucket/try"), "{text}");
    assert_foreign_is_safe(&server, "ping");
}

#[test]
fn the_cause_of_a_failed_run_stands_in_the_report_once() {
    let bench = Bench::new();
    // Everything works but the listings, of the load and of the removal.
    let server = server("WALK:404@1");
    let words = ["s3", "list", "s3://bucket/try", "--objects", "5"];
    let output = command(&bench, &words, &server.endpoint())
        .args(["--runtime", "1s"])
        .output()
        .expect("fathom runs");
    let report = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(1), "{report}");
    assert_eq!(report.matches("status 404").count(), 1, "{report}");
    assert!(report.contains("the reason above"), "{report}");
    // What was measured and what could not be removed are two matters.
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let left = said
        .lines()
        .filter(|line| line.contains("not all test data"));
    assert_eq!(left.count(), 1, "{said}");
}
