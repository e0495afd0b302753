//! A real gateway behind nginx, in clear and over TLS, which closes a connection
//! after every 20 requests.

use std::process::{Command, Stdio};

use crate::bench::Bench;
use crate::gateway::{SIGN, gateway};
use crate::nginx::nginx;

fn fathom(bench: &Bench, words: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_fathom"))
        .args(words)
        .envs(SIGN)
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

#[test]
fn a_gateway_behind_nginx_is_measured_over_each_tls_version() {
    let bench = Bench::new();
    let Some(gateway) = gateway(&bench) else {
        return;
    };
    let Some(nginx) = nginx(&bench, &gateway.endpoint) else {
        return;
    };
    let authority = &nginx.authority;
    for endpoint in [&nginx.plain, &nginx.tls, &nginx.tls_1_2] {
        for (mode, size, objects) in [
            ("put", "300k", 60),
            ("get", "300k", 60),
            ("multipart-put", "11m", 4),
            ("list", "1k", 60),
            ("delete", "1k", 60),
        ] {
            let objects = objects.to_string();
            let words = [
                ["s3", mode, "s3://bucket/try", "--quiet"],
                ["--endpoint", endpoint, "--ca-file", authority],
                ["--object-size", size, "--objects", &objects],
                ["--iodepth", "3", "--request-timeout", "20s"],
            ];
            let verified: &[&str] = match mode {
                "get" => &["--json", "--verify", "on_read"],
                _ => &["--json"],
            };
            let words = [&words.concat()[..], verified].concat();
            let (status, out, err) = fathom(&bench, &words);
            assert!(matches!(status, Some(0 | 4)), "{mode}: {out}{err}");
            let json: serde_json::Value = serde_json::from_str(&out).expect("JSON");
            let endpoint = &json["trials"][0]["summary"]["endpoints"][0];
            assert_eq!(endpoint["failed"], 0, "{mode}: {endpoint}");
            assert!(endpoint["requests"].as_u64().unwrap() > 0, "{endpoint}");
        }
    }
}
