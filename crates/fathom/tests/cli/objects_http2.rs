//! Object stores over HTTP/2: nginx in front of a real gateway, in clear and
//! over TLS, and a store that does not speak it.

use std::net::TcpListener;
use std::process::{Command, Stdio};

use fathom_s3::{Script, StoreServer};

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
fn a_gateway_behind_nginx_is_asked_over_http2() {
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
                ["s3", mode, "s3://bucket/try", "--http2"],
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

#[test]
fn a_store_that_does_not_speak_it_is_named() {
    let bench = Bench::new();
    let mute = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", mute.local_addr().unwrap());
    let answering = std::thread::spawn(move || {
        use std::io::{Read, Write};
        let (mut stream, _) = mute.accept().unwrap();
        let mut some = [0; 100];
        let _ = stream.read(&mut some).unwrap();
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n");
    });
    let words = [
        ["s3", "get", "s3://bucket/try", "--http2"],
        ["--anonymous", "--quiet", "--endpoint", &endpoint],
    ];
    let (status, out, err) = fathom(&bench, &words.concat());
    assert_eq!(status, Some(1), "{out}{err}");
    let told = format!("{out}{err}").replace(['\n', ' '], "");
    let wanted = "HTTP/2:theotherenddoesnotspeakit";
    assert!(told.contains(wanted), "{out}{err}");
    answering.join().unwrap();
}

#[test]
fn the_store_that_takes_no_time_speaks_it_too() {
    let bench = Bench::new();
    let any = ([127, 0, 0, 1], 0).into();
    let server = StoreServer::start(any, 1 << 30, Script::parse("").unwrap()).unwrap();
    let endpoint = server.endpoint();
    let words = [
        "s3",
        "get",
        "s3://bucket/try",
        "--http2",
        "--anonymous",
        "--json",
    ];
    let more = [
        "--endpoint",
        &endpoint,
        "--object-size",
        "4k",
        "--objects",
        "200",
    ];
    let (status, out, err) = fathom(&bench, &[words, more].concat());
    assert!(matches!(status, Some(0 | 4)), "{out}{err}");
    let json: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    let store = &json["trials"][0]["workload"]["store"];
    assert_eq!(store["http2"], true, "{store}");
}
