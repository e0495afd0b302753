//! What stays in a bucket, on purpose and because it cannot be removed, and
//! calls that make no sense.

use std::process::{Command, Stdio};

use fathom_s3::{Script, StoreServer};

use crate::bench::Bench;

fn server(script: &str) -> StoreServer {
    let any = ([127, 0, 0, 1], 0).into();
    StoreServer::start(any, 1 << 30, Script::parse(script).unwrap()).unwrap()
}

fn fathom(bench: &Bench, words: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_fathom"))
        .args(words)
        .env("FATHOM_STORE", bench.store())
        .stdin(Stdio::null())
        .output()
        .expect("fathom runs");
    (
        output.status.code(),
        String::from_utf8_lossy(&output.stdout).into_owned(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    )
}

const PUT: [&str; 8] = [
    "s3",
    "put",
    "s3://bucket/try",
    "--anonymous",
    "--objects",
    "30",
    "--object-size",
    "1k",
];

#[test]
fn what_cannot_be_removed_is_told_however_quiet_and_changes_the_status() {
    let bench = Bench::new();
    let server = server("POST:503@1,DELETE:503@1");
    let endpoint = server.endpoint();
    let words = [&PUT[..], &["--endpoint", &endpoint, "--quiet"]].concat();
    let (status, out, err) = fathom(&bench, &words);
    assert!(matches!(status, Some(1 | 4)), "{out}{err}");
    let told = err.replace(['\n', ' '], "");
    assert!(told.contains("notalltestdataisremoved"), "{err}");
    assert!(told.contains("fathomcleans3://bucket/try"), "{err}");
    assert_eq!(server.keys().len(), 30);
}

#[test]
fn a_store_that_keeps_nothing_of_what_it_confirms_is_not_trusted() {
    let bench = Bench::new();
    for (script, told) in [
        ("PUT:forget", "not there"),
        ("PUT:shorten", "of another size"),
    ] {
        let server = server(script);
        let endpoint = server.endpoint();
        let words = [&PUT[..], &["--endpoint", &endpoint, "--json"]].concat();
        let (status, out, err) = fathom(&bench, &words);
        assert_eq!(status, Some(4), "{out}{err}");
        let run: serde_json::Value = serde_json::from_str(&out).expect("JSON");
        let finding = crate::bench::finding(&run["verdict"], "V85").expect("V85");
        assert_eq!(finding["status"], "invalid", "{finding}");
        let evidence = finding["evidence"].as_str().unwrap();
        assert!(evidence.contains(&format!("30 {told}")), "{evidence}");
    }
}

#[test]
fn what_the_store_does_not_list_is_removed_and_told() {
    let bench = Bench::new();
    let server = server("WALK:empty");
    let endpoint = server.endpoint();
    let words = [&PUT[..], &["--endpoint", &endpoint]].concat();
    let (status, out, err) = fathom(&bench, &words);
    assert!(matches!(status, Some(0 | 4)), "{out}{err}");
    let told = format!("{out}{err}").replace(['\n', ' '], "");
    assert!(told.contains("listedonly0ofthe30objects"), "{out}{err}");
    assert!(server.keys().is_empty());
}

#[test]
fn what_was_kept_is_left_alone_by_clean() {
    let bench = Bench::new();
    let server = server("");
    let endpoint = server.endpoint();
    let words = [&PUT[..], &["--endpoint", &endpoint, "--keep-files"]].concat();
    let (status, out, err) = fathom(&bench, &words);
    assert!(matches!(status, Some(0 | 4)), "{out}{err}");
    let clean = |more: &[&str]| {
        let words = [
            "clean",
            "s3://bucket/try",
            "--anonymous",
            "--endpoint",
            &endpoint,
        ];
        let (status, out, err) = fathom(&bench, &[&words[..], more].concat());
        assert_eq!(status, Some(0), "{out}{err}");
        out
    };
    assert!(clean(&["--yes"]).contains("left alone: what --keep-files kept"));
    assert_eq!(server.keys().len(), 31);
    let out = clean(&["--kept"]);
    assert!(
        out.contains("31 objects") && server.keys().len() == 31,
        "{out}"
    );
    let out = clean(&["--yes", "--kept"]);
    assert!(out.contains("removed s3://bucket/try/fathom-"), "{out}");
    assert!(server.keys().is_empty());
}

#[test]
fn calls_that_make_no_sense_are_refused_before_anything_is_asked() {
    let bench = Bench::new();
    let server = server("");
    let endpoint = server.endpoint();
    for (more, told) in [
        (&["--request", "get"][..], "different things"),
        (&["--verify", "on_read"], "nothing is read"),
        (&["--request-timeout", "0"], "at least 1 ms"),
        (&["--runtime", "0"], "measures nothing"),
    ] {
        let words = [&PUT[..], &["--endpoint", &endpoint], more].concat();
        let (status, out, err) = fathom(&bench, &words);
        assert_eq!(status, Some(2), "{out}{err}");
        assert!(err.contains(told), "{err}");
        assert!(err.ends_with('\n'), "{err:?}");
    }
    for (target, endpoint, told) in [
        ("bucket", &*endpoint, "is not a bucket"),
        ("s3://bucket/a/../b", &endpoint, ". and .."),
        (
            "s3://bucket/try",
            "ftp://127.0.0.1",
            "an endpoint is an address",
        ),
        ("s3://bucket/try", "5", "an endpoint is an address"),
    ] {
        let words = ["s3", "put", target, "--endpoint", endpoint];
        let (status, out, err) = fathom(&bench, &words);
        assert_eq!(status, Some(2), "{target}: {out}{err}");
        assert!(err.contains(told), "{target}: {err}");
    }
    assert_eq!(server.requests(), 0);
}

#[test]
fn a_cpu_that_is_not_there_ends_the_run() {
    let bench = Bench::new();
    let server = server("");
    let endpoint = server.endpoint();
    let words = [&PUT[..], &["--endpoint", &endpoint, "--cpus", "1000"]].concat();
    let (status, out, err) = fathom(&bench, &words);
    assert_eq!(status, Some(1), "{out}{err}");
    assert!(
        format!("{out}{err}").contains("change --cpus"),
        "{out}{err}"
    );
}
