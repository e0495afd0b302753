//! Object stores from the command line: the one in memory, and versitygw where
//! it can be had.

use std::process::{Command, Stdio};

use fathom_s3::{Script, StoreServer};

use crate::bench::Bench;
use crate::gateway::{SIGN, gateway};

fn fathom(bench: &Bench, words: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_fathom"))
        .args(words)
        .envs(SIGN)
        .env_remove("AWS_ENDPOINT_URL")
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

fn memory(script: &str) -> StoreServer {
    let any = ([127, 0, 0, 1], 0).into();
    StoreServer::start(any, 1 << 30, Script::parse(script).unwrap()).expect("a store in memory")
}

#[test]
fn modes_work_on_a_store_and_leave_nothing() {
    let bench = Bench::new();
    let server = memory("");
    let endpoint = server.endpoint();
    for mode in [
        "put",
        "get",
        "stat",
        "list",
        "delete",
        "multipart-put",
        "mixed",
    ] {
        let mut words = vec!["s3", mode, "s3://bucket/try", "--endpoint", &endpoint];
        words.extend(["--objects", "50", "--object-size", "10k", "--iodepth", "4"]);
        if mode == "mixed" {
            words.extend(["--number-ios", "200"]);
        }
        let (status, out, err) = fathom(&bench, &words);
        assert!(matches!(status, Some(0 | 4)), "{mode}: {out}{err}");
        assert!(
            out.contains("in flight each") && out.contains(&endpoint),
            "{out}"
        );
        assert!(server.keys().is_empty(), "{mode}: {:?}", server.keys());
        if mode == "get" {
            // Fifty requests carry no p99, below as above.
            let told = |line: &str| line.contains(&endpoint) && line.contains("n/a");
            assert!(out.lines().any(told), "{out}");
        }
    }
}

#[test]
fn a_plan_names_a_bucket_and_its_phases_share_objects() {
    let bench = Bench::new();
    let server = memory("");
    let plan = bench.path().join("plan.yaml");
    let text = format!(
        "plan: 1\ntargets: s3://bucket/try\npause: {{floor: 0s, ceiling: 0s}}\niterations: 1\nworkloads:\n\
         - {{request: put, objects: 40, object_size: 1k, endpoint: '{0}'}}\n\
         - {{request: get, objects: 40, object_size: 1k, endpoint: '{0}', verify: on_read}}\n",
        server.endpoint()
    );
    std::fs::write(&plan, text).unwrap();
    let before = server.requests();
    let (status, out, err) = fathom(&bench, &["run", plan.to_str().unwrap()]);
    assert!(matches!(status, Some(0 | 4)), "{out}{err}");
    // 40 PUTs, a look at each object, 40 GETs, a listing each before, and the
    // removal: no object was made twice.
    assert!(
        server.requests() - before < 140,
        "{}",
        server.requests() - before
    );
}

#[test]
fn a_store_that_stops_is_not_blamed_on_fathom() {
    let bench = Bench::new();
    let server = memory("GET:delay=600ms@300");
    let endpoint = server.endpoint();
    let words = [
        "s3",
        "get",
        "s3://bucket/try",
        "--endpoint",
        &endpoint,
        "--objects",
        "20",
        "--object-size",
        "1k",
        "--rate-iops",
        "200",
        "--runtime",
        "4s",
        "--json",
    ];
    let (status, out, err) = fathom(&bench, &words);
    assert!(matches!(status, Some(0 | 4)), "{out}{err}");
    let run: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    let trial = run["trials"].as_array().and_then(|trials| trials.last());
    let trial = trial.expect("a trial");
    let late = trial["summary"]["lateness"]["max_ns"].as_u64();
    assert!(late > Some(500_000_000), "{late:?}");
    let findings = trial["verdict"]["findings"].as_array().expect("findings");
    let stop = findings.iter().find(|f| f["id"] == "V27").expect("V27");
    // A busy machine may stop fathom as well, but not by chance for as long.
    assert!(stop["measured"].as_f64() < Some(0.45), "{stop}");
}

#[test]
fn job_files_of_fio_reach_every_kind_of_store() {
    let bench = Bench::new();
    let server = memory("");
    let address = server.address();
    for mode in ["s3", "swift", "webdav"] {
        let job = format!(
            "[global]\nioengine=http\nhttp_mode={mode}\nhttp_host={address}\nhttps=off\n\
             http_s3_key=topsecret\nhttp_s3_keyid=id\nhttp_swift_auth_token=topsecret\n\
             filename=/bucket/object\nbs=4k\nsize=64k\nio_size=16k\n\
             [create]\nrw=write\nverify=sha256\n[trim]\nstonewall\nrw=trim\n"
        );
        let path = bench.path().join("job.fio");
        std::fs::write(&path, job).unwrap();
        let words = ["fio", "--output-format=json", path.to_str().unwrap()];
        let (status, out, err) = fathom(&bench, &words);
        assert_eq!(status, Some(0), "{mode}: {out}{err}");
        assert!(
            !out.contains("topsecret") && !err.contains("topsecret"),
            "{out}{err}"
        );
        let json: serde_json::Value = serde_json::from_str(&out).expect("JSON");
        assert_eq!(json["jobs"][0]["write"]["total_ios"], 4, "{mode}");
        assert_eq!(json["jobs"][1]["trim"]["total_ios"], 4, "{mode}");
        assert!(server.keys().is_empty(), "{mode}: {:?}", server.keys());
    }
    let stored = std::fs::read(bench.store()).expect("a store of runs");
    let secret = stored.windows(9).any(|window| window == b"topsecret");
    assert!(!secret, "a secret was stored");
}

#[test]
fn a_real_gateway_takes_every_request_and_is_left_clean() {
    let bench = Bench::new();
    let Some(gateway) = gateway(&bench) else {
        return;
    };
    for mode in [
        "put",
        "get",
        "range",
        "stat",
        "list",
        "copy",
        "put-tags",
        "get-tags",
        "delete",
        "delete-one",
        "multipart-put",
        "multipart",
    ] {
        let mut words = vec![
            "s3",
            mode,
            "s3://bucket/try",
            "--endpoint",
            &gateway.endpoint,
        ];
        words.extend(["--objects", "12", "--object-size", "20k", "--iodepth", "3"]);
        if mode.starts_with("multipart") {
            words.extend(["--object-size", "6m", "--part-size", "5m"]);
            let size = words.iter().position(|word| *word == "20k").unwrap();
            words.drain(size - 1..=size);
        }
        words.push("--sign-payload");
        if matches!(mode, "get" | "range" | "multipart") {
            words.extend(["--verify", "on_read"]);
        }
        let (status, out, err) = fathom(&bench, &words);
        assert!(matches!(status, Some(0 | 4)), "{mode}: {out}{err}");
    }
    let clean = ["clean", "s3://bucket/try", "--endpoint", &gateway.endpoint];
    let (_, out, err) = fathom(&bench, &clean);
    assert!(out.contains("nothing to clean"), "{out}{err}");
}
