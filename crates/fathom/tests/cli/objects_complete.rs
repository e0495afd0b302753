//! Keys per endpoint, versions and checksums from the command line: on the store
//! in memory, and on versitygw where it can be had.

use std::process::{Command, Stdio};

use fathom_s3::{Script, StoreServer};

use crate::bench::Bench;
use crate::gateway::{SIGN, gateway, keep_versions, start};

/// Runs fathom with no keys but those that `variables` bring.
fn fathom(
    bench: &Bench,
    variables: &[(&str, &str)],
    words: &[&str],
) -> (Option<i32>, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_fathom"))
        .args(words)
        .env_remove("AWS_ACCESS_KEY_ID")
        .env_remove("AWS_SECRET_ACCESS_KEY")
        .env_remove("AWS_ENDPOINT_URL")
        .env("HOME", bench.path())
        .envs(variables.iter().copied())
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

fn memory() -> StoreServer {
    let any = ([127, 0, 0, 1], 0).into();
    StoreServer::start(any, 1 << 30, Script::default()).expect("a store in memory")
}

const PROFILES: &str = "[one]\naws_access_key_id = fathomtest\naws_secret_access_key = \
    fathomtestsecret\n[two]\naws_access_key_id = othertest\naws_secret_access_key = othersecret\n";
const OTHER: [(&str, &str); 2] = [
    ("OTHER_ACCESS_KEY_ID", "othertest"),
    ("OTHER_SECRET_ACCESS_KEY", "othersecret"),
];

fn profiles(bench: &Bench) -> String {
    let file = bench.path().join("keys");
    std::fs::write(&file, PROFILES).unwrap();
    file.display().to_string()
}

/// What a run as JSON says of whose keys signed, and that no secret is in it or
/// in the store of runs.
fn whose(bench: &Bench, out: &str) -> Vec<String> {
    let stored = std::fs::read(bench.store()).unwrap();
    for secret in ["fathomtestsecret", "othersecret"] {
        assert!(!out.contains(secret), "{out}");
        let found = stored
            .windows(secret.len())
            .any(|window| window == secret.as_bytes());
        assert!(!found, "{secret} was stored");
    }
    let json: serde_json::Value = serde_json::from_str(out).expect("JSON");
    let endpoints = json["trials"][0]["summary"]["endpoints"]
        .as_array()
        .unwrap();
    let all = endpoints.iter().map(|endpoint| {
        assert!(endpoint["requests"].as_u64().unwrap() > 0, "{endpoint}");
        endpoint["keys"].as_str().unwrap().to_owned()
    });
    all.collect()
}

#[test]
fn each_endpoint_has_its_own_keys_in_flags_and_plans() {
    let bench = Bench::new();
    let (one, two) = (memory(), memory());
    let file = profiles(&bench);
    let place = format!(
        "{}=profile:one@{file},{}=env:OTHER",
        one.endpoint(),
        two.endpoint()
    );
    let words = [
        "s3",
        "put",
        "s3://bucket/try",
        "--objects",
        "40",
        "--iodepth",
        "4",
        "--endpoint",
        &place,
        "--json",
    ];
    let (status, out, err) = fathom(&bench, &OTHER, &words);
    // Two stores that know nothing of one another: what is removed at the end is
    // that of the first.
    assert!(matches!(status, Some(0 | 4)), "{out}{err}");
    let expected = [
        format!("profile one of {file}"),
        "environment OTHER_…".to_owned(),
    ];
    assert_eq!(whose(&bench, &out), expected);
    assert_eq!(one.signers().keys().collect::<Vec<_>>(), ["fathomtest"]);
    assert_eq!(two.signers().keys().collect::<Vec<_>>(), ["othertest"]);
    let (_, text, _) = fathom(&bench, &[], &["runs", "show", "latest"]);
    assert!(text.contains("environment OTHER_…"), "{text}");

    let plan = bench.path().join("plan.yaml");
    let text = format!(
        "plan: 1\ntargets: s3://bucket/try\niterations: 1\npause: {{floor: 0s, ceiling: 0s}}\n\
         workloads:\n- request: put\n  objects: 40\n  iodepth: 4\n  endpoint:\n    '{}': profile:two@{file}\n    \
         '{}': anonymous\n",
        one.endpoint(),
        two.endpoint()
    );
    std::fs::write(&plan, text).unwrap();
    let (_, out, err) = fathom(&bench, &[], &["run", plan.to_str().unwrap(), "--json"]);
    let expected = [format!("profile two of {file}"), "anonymous".to_owned()];
    assert_eq!(whose(&bench, &out), expected, "{err}");
    assert!(one.signers().contains_key("othertest"));

    let key = format!("{}=AKID:othersecret", one.endpoint());
    let words = ["s3", "put", "s3://bucket/try", "--endpoint", &key];
    let (status, out, err) = fathom(&bench, &[], &words);
    assert_eq!(status, Some(2), "{out}{err}");
    assert!(err.contains("profile:NAME"), "{err}");
    let words = [
        "s3",
        "put",
        "s3://bucket/try",
        "--endpoint",
        "http://127.0.0.1:1=env:NOT",
    ];
    let (_, _, err) = fathom(&bench, &[], &words);
    assert!(err.contains("set NOT_ACCESS_KEY_ID"), "{err}");
}

#[test]
fn two_real_gateways_take_the_keys_of_their_own_owners() {
    let bench = Bench::new();
    let Some(one) = gateway(&bench) else { return };
    let Some(two) = start(&bench, ["othertest", "othersecret"]) else {
        return;
    };
    let file = profiles(&bench);
    let right = format!(
        "{}=profile:one@{file},{}=env:OTHER",
        one.endpoint, two.endpoint
    );
    for mode in ["put", "get"] {
        let words = [
            "s3",
            mode,
            "s3://bucket/try",
            "--objects",
            "30",
            "--iodepth",
            "4",
            "--endpoint",
            &right,
            "--json",
        ];
        let (status, out, err) = fathom(&bench, &OTHER, &words);
        assert!(matches!(status, Some(0 | 4)), "{mode}: {out}{err}");
        assert_eq!(whose(&bench, &out).len(), 2);
    }
    // The other way round neither takes a thing.
    let wrong = format!(
        "{}=profile:two@{file},{}=profile:one@{file}",
        one.endpoint, two.endpoint
    );
    let words = [
        "s3",
        "put",
        "s3://bucket/try",
        "--objects",
        "30",
        "--endpoint",
        &wrong,
    ];
    let (status, out, err) = fathom(&bench, &[], &words);
    assert!(!matches!(status, Some(0 | 4)), "{out}{err}");
}

#[test]
fn checksums_are_compared_by_a_real_gateway_and_by_us() {
    let bench = Bench::new();
    let Some(gateway) = gateway(&bench) else {
        return;
    };
    let place = ["--endpoint", &gateway.endpoint, "--objects", "10", "--json"];
    for kind in ["crc32", "crc32c", "crc64nvme", "sha1", "sha256"] {
        for trailing in [false, true] {
            for (mode, size) in [("put", "20k"), ("multipart-put", "11m")] {
                let mut words = vec!["s3", mode, "s3://bucket/try", "--checksum", kind];
                words.extend(["--object-size", size]);
                words.extend(trailing.then_some("--checksum-trailing"));
                words.extend(place);
                let (status, out, err) = fathom(&bench, &SIGN, &words);
                assert!(
                    matches!(status, Some(0 | 4)),
                    "{kind} {trailing} {mode}: {out}{err}"
                );
            }
            let mut words = vec!["s3", "get", "s3://bucket/try", "--checksum", kind];
            words.extend(["--object-size", "20k", "--verify", "on_read"]);
            words.extend(trailing.then_some("--checksum-trailing"));
            words.extend(place);
            let (status, out, err) = fathom(&bench, &SIGN, &words);
            assert!(
                matches!(status, Some(0 | 4)),
                "{kind} {trailing}: {out}{err}"
            );
            let json: serde_json::Value = serde_json::from_str(&out).expect("JSON");
            let endpoint = &json["trials"][0]["summary"]["endpoints"][0];
            assert_eq!(endpoint["checksums_compared"], 10, "{kind} {trailing}");
        }
    }
}

#[test]
fn versions_are_read_and_removed_one_by_one() {
    let bench = Bench::new();
    let server = memory();
    server.keep_versions();
    let endpoint = server.endpoint();
    let place = ["--endpoint", &endpoint, "--anonymous", "--objects", "20"];
    modes_of_versions(&bench, &[], &place, "4");
    assert!(server.keys().is_empty());

    let plain = memory();
    let endpoint = plain.endpoint();
    let place = ["--endpoint", &endpoint, "--anonymous", "--objects", "20"];
    let words = [
        &["s3", "versioned", "s3://bucket/try", "--number-ios", "50"],
        &place[..],
    ]
    .concat();
    let (status, _, err) = fathom(&bench, &[], &words);
    assert!(
        status != Some(0) && err.contains("put-bucket-versioning"),
        "{err}"
    );
}

#[test]
fn a_real_gateway_gives_versions() {
    let bench = Bench::new();
    let Some(gateway) = gateway(&bench) else {
        return;
    };
    keep_versions(&bench);
    let place = ["--endpoint", &gateway.endpoint, "--objects", "20"];
    // Versitygw's deletion of the newest version takes no lock: between its
    // removal and the return of the version before, a put of the same key that
    // has seen the object fails with 500. So what deletes waits for each answer.
    modes_of_versions(&bench, &SIGN, &place, "1");
    let words = [&["clean", "s3://bucket/try"], &place[..2]].concat();
    let (_, out, err) = fathom(&bench, &SIGN, &words);
    assert!(out.contains("nothing to clean"), "{out}{err}");
}

/// Runs every mode of versions; `depth_of_deletions` is the number of requests
/// in flight in the modes that delete versions of the same keys.
fn modes_of_versions(
    bench: &Bench,
    keys: &[(&str, &str)],
    place: &[&str],
    depth_of_deletions: &str,
) {
    for (mode, kind, expected) in [
        ("get-version", "get_version", 60),
        ("head-version", "head_version", 60),
        ("delete-version", "delete_version", 60),
        ("versioned", "get_version", 0),
    ] {
        let depth = match mode {
            "versioned" | "delete-version" => depth_of_deletions,
            _ => "4",
        };
        let mut words = vec!["s3", mode, "s3://bucket/try", "--versions", "3"];
        words.extend(["--iodepth", depth, "--object-size", "10k", "--json"]);
        match mode {
            "get-version" => words.extend(["--verify", "on_read"]),
            "versioned" => words.extend(["--number-ios", "300"]),
            _ => {}
        }
        words.extend(place);
        let (status, out, err) = fathom(bench, keys, &words);
        assert!(matches!(status, Some(0 | 4)), "{mode}: {out}{err}");
        let json: serde_json::Value = serde_json::from_str(&out).expect("JSON");
        let ops = json["trials"][0]["summary"]["ops"]
            .as_array()
            .expect("operations");
        let of = ops
            .iter()
            .find(|op| op["kind"] == kind)
            .unwrap_or_else(|| panic!("{out}"));
        let count = of["ops"].as_u64().unwrap();
        assert!(
            count > 0 && (expected == 0 || count == expected),
            "{mode}: {of}"
        );
        assert_eq!(of["errors"], serde_json::json!([]), "{mode}: {of}");
    }
}
