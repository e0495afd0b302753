//! Object stores over TLS: an authority of one's own, one that nobody knows,
//! certificates that are deliberately not checked, and TLS 1.2.

use std::process::{Command, Stdio};

use fathom_s3::{Script, StoreServer};

use crate::bench::{Bench, laboratory};
use crate::gateway::{SIGN, gateway};
use crate::nginx::nginx;

fn put(bench: &Bench, endpoint: &str, more: &[&str]) -> (Option<i32>, String, String) {
    let words = ["s3", "put", "s3://bucket/try", "--quiet"];
    let output = Command::new(env!("CARGO_BIN_EXE_fathom"))
        .args(words)
        .args(["--endpoint", endpoint, "--objects", "30"])
        .args(["--object-size", "100k", "--request-timeout", "20s"])
        .args(more)
        .envs(SIGN)
        .env("FATHOM_STORE", bench.store())
        .env_remove("SSL_CERT_FILE")
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
fn a_certificate_counts_when_its_authority_is_known() {
    let bench = Bench::new();
    let loopback = [127, 0, 0, 1].into();
    let identity = fathom_lab::server_identity(loopback).unwrap();
    let other = fathom_lab::server_identity(loopback).unwrap();
    let pair = (vec![identity.certificate_der], identity.key_der);
    let script = Script::parse("").unwrap();
    let server = StoreServer::start_tls((loopback, 0).into(), 1 << 30, script, pair).unwrap();
    let endpoint = server.endpoint();
    assert!(endpoint.starts_with("https://"));
    let file = |name: &str, text: &str| {
        let path = bench.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let known = file("ca.pem", &identity.authority_pem);
    let unknown = file("other.pem", &other.authority_pem);

    let (status, out, err) = put(&bench, &endpoint, &["--anonymous", "--ca-file", &known]);
    assert!(matches!(status, Some(0 | 4)), "{out}{err}");
    assert!(out.contains("handshake"), "{out}");
    assert!(server.keys().is_empty() && server.requests() > 30);

    let before = server.requests();
    let (status, out, err) = put(&bench, &endpoint, &["--anonymous", "--ca-file", &unknown]);
    assert_eq!(status, Some(1), "{out}{err}");
    assert!(format!("{out}{err}").contains("certificate"), "{out}{err}");
    assert_eq!(server.requests(), before, "nothing was asked of a stranger");

    let (status, out, err) = put(&bench, &endpoint, &["--anonymous", "--unverified-tls"]);
    assert!(matches!(status, Some(0 | 4)), "{out}{err}");
    assert!(server.requests() > before + 30);
}

#[test]
fn a_store_with_nothing_newer_than_tls_1_2_is_asked() {
    let bench = Bench::new();
    let Some(gateway) = gateway(&bench) else {
        return;
    };
    let Some(nginx) = nginx(&bench, &gateway.endpoint) else {
        return;
    };
    let known = ["--ca-file", &nginx.authority];
    for certificates in [&known[..], &["--unverified-tls"]] {
        let (status, out, err) = put(&bench, &nginx.tls_1_2, certificates);
        assert!(matches!(status, Some(0 | 4)), "{out}{err}");
        assert!(out.contains("handshake"), "{out}");
    }
    let (status, out, err) = put(&bench, &nginx.tls_1_2, &[]);
    assert_eq!(status, Some(1), "{out}{err}");
    assert!(format!("{out}{err}").contains("certificate"), "{out}{err}");
}

#[test]
fn the_laboratory_serves_tls() {
    let bench = Bench::new();
    let ca = bench.path().join("ca.pem").display().to_string();
    let command = format!(
        "{} s3 get s3://b/p --endpoint $ENDPOINT --ca-file {ca} --anonymous --objects 20 \
         --object-size 1k --quiet",
        env!("CARGO_BIN_EXE_fathom")
    );
    let output = Command::new(laboratory())
        .args(["s3", "--tls", &ca, "--", "sh", "-c", &command])
        .env("FATHOM_STORE", bench.store())
        .stdin(Stdio::null())
        .output()
        .expect("fathom runs");
    let out = String::from_utf8_lossy(&output.stdout);
    assert!(matches!(output.status.code(), Some(0 | 4)), "{output:?}");
    assert!(out.contains("https://127.0.0.1:"), "{out}");
}
