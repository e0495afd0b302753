//! Object stores over HTTP/2: nginx in front of a real gateway, in clear and
//! over TLS, and a store that does not speak it.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use fathom_engine::object::{Script, StoreServer};

use crate::bench::Bench;
use crate::gateway::{SIGN, gateway};

/// How long a server may take to listen.
const START: Duration = Duration::from_secs(30);

struct Nginx(Child);

impl Drop for Nginx {
    fn drop(&mut self) {
        // The master ends its workers.
        let pid = self.0.id().to_string();
        let _ = Command::new("kill").args(["-TERM", &pid]).status();
        let _ = self.0.wait();
    }
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// A configuration that needs nothing outside of `work`. A connection takes 20
/// requests, after which its client is sent away, as after 1,000 by default.
fn configuration(work: &Path, upstream: &str, listens: &[(u16, &str)]) -> String {
    let kind = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
    let temporary = kind.map(|kind| format!("{kind}_temp_path {}/{kind};", work.display()));
    let servers = listens.iter().map(|(port, more)| {
        format!(
            "server {{ listen 127.0.0.1:{port} http2 {more};\n\
             ssl_certificate {0}/chain.pem; ssl_certificate_key {0}/key.pem;\n\
             location / {{ proxy_pass {upstream}; proxy_set_header Host 127.0.0.1:{port};\n\
             proxy_http_version 1.1; }} }}",
            work.display()
        )
    });
    format!(
        "{user}daemon off; worker_processes 1; pid {0}/pid; error_log {0}/errors;\n\
         events {{ }}\nhttp {{ ssl_protocols TLSv1.3; access_log off; client_max_body_size 0; keepalive_requests 20;\n\
         {1}\n{2}\n}}\n",
        work.display(),
        temporary.join("\n"),
        servers.collect::<Vec<String>>().join("\n"),
        user = if crate::bench::is_root() {
            "user root; "
        } else {
            ""
        },
    )
}

fn start(work: &Path, upstream: &str, ports: [u16; 2]) -> Option<Nginx> {
    let program = ["/usr/sbin/nginx", "/usr/local/sbin/nginx", "/usr/bin/nginx"]
        .into_iter()
        .find(|path| Path::new(path).is_file());
    let Some(program) = program else {
        println!("skipped: nginx is not installed");
        return None;
    };
    let text = configuration(work, upstream, &[(ports[0], ""), (ports[1], "ssl")]);
    let file = work.join("nginx.conf");
    std::fs::write(&file, text).unwrap();
    let child = Command::new(program)
        .arg("-c")
        .arg(&file)
        .arg("-p")
        .arg(work)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("nginx starts");
    let nginx = Nginx(child);
    let until = Instant::now() + START;
    while std::net::TcpStream::connect(("127.0.0.1", ports[1])).is_err() {
        let told = std::fs::read_to_string(work.join("errors")).unwrap_or_default();
        assert!(Instant::now() < until, "nginx does not listen: {told}");
        std::thread::sleep(Duration::from_millis(50));
    }
    Some(nginx)
}

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
    let identity = fathom_lab::server_identity([127, 0, 0, 1].into()).unwrap();
    let work = bench.path().join("nginx");
    std::fs::create_dir(&work).unwrap();
    write_pem(
        &work.join("chain.pem"),
        "CERTIFICATE",
        &identity.certificate_der,
    );
    write_pem(&work.join("key.pem"), "PRIVATE KEY", &identity.key_der);
    let authority = work.join("ca.pem");
    std::fs::write(&authority, &identity.authority_pem).unwrap();
    let ports = [free_port(), free_port()];
    let Some(_nginx) = start(&work, &gateway.endpoint, ports) else {
        return;
    };
    let [plain, tls] = [("http", ports[0]), ("https", ports[1])]
        .map(|(scheme, port)| format!("{scheme}://127.0.0.1:{port}"));
    let authority = authority.display().to_string();
    for endpoint in [plain, tls] {
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
                ["--endpoint", &endpoint, "--ca-file", &authority],
                ["--object-size", size, "--objects", &objects],
                ["--iodepth", "3", "--verify", "on_read"],
            ];
            let words = [&words.concat()[..], &["--json"]].concat();
            let (status, out, err) = fathom(&bench, &words);
            assert!(matches!(status, Some(0 | 4)), "{mode}: {out}{err}");
            let json: serde_json::Value = serde_json::from_str(&out).expect("JSON");
            let endpoint = &json["trials"][0]["summary"]["endpoints"][0];
            assert_eq!(endpoint["failed"], 0, "{mode}: {endpoint}");
            assert!(endpoint["requests"].as_u64().unwrap() > 0, "{endpoint}");
        }
    }
}

fn write_pem(path: &Path, name: &str, der: &[u8]) {
    use std::fmt::Write as _;
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = format!("-----BEGIN {name}-----\n");
    for line in der.chunks(48) {
        for three in line.chunks(3) {
            let mut bits = [0; 4];
            bits[1..=three.len()].copy_from_slice(three);
            let bits = u32::from_be_bytes(bits);
            for digit in 0..4 {
                let at = (bits >> (18 - 6 * digit)) as usize & 63;
                match digit <= three.len() {
                    true => text.push(char::from(DIGITS[at])),
                    false => text.push('='),
                }
            }
        }
        text.push('\n');
    }
    let _ = writeln!(text, "-----END {name}-----");
    std::fs::write(path, text).unwrap();
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
