//! nginx in front of a gateway: in clear, with TLS 1.3, and with nothing newer
//! than TLS 1.2.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::bench::Bench;

/// How long a server may take to listen.
const START: Duration = Duration::from_secs(30);

pub(crate) struct Nginx {
    child: Child,
    /// The endpoint without TLS.
    pub(crate) plain: String,
    /// The endpoint with TLS 1.3.
    pub(crate) tls: String,
    /// The endpoint with TLS 1.2.
    pub(crate) tls_1_2: String,
    /// The file with the certificate of the authority.
    pub(crate) authority: String,
}

impl Drop for Nginx {
    fn drop(&mut self) {
        // The master ends its workers.
        let pid = self.child.id().to_string();
        let _ = Command::new("kill").args(["-TERM", &pid]).status();
        let _ = self.child.wait();
    }
}

fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// A configuration that needs nothing outside of `work`. A connection takes 20
/// requests, after which its client is sent away, as after 1,000 by default.
fn configuration(work: &Path, upstream: &str, listens: [(u16, &str); 3]) -> String {
    let kind = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
    let temporary = kind.map(|kind| format!("{kind}_temp_path {}/{kind};", work.display()));
    let servers = listens.map(|(port, more)| {
        format!(
            "server {{ listen 127.0.0.1:{port} {more};\n\
             ssl_certificate {0}/chain.pem; ssl_certificate_key {0}/key.pem;\n\
             location / {{ proxy_pass {upstream}; proxy_set_header Host 127.0.0.1:{port};\n\
             proxy_http_version 1.1; }} }}",
            work.display()
        )
    });
    format!(
        "{user}daemon off; worker_processes 1; pid {0}/pid; error_log {0}/errors;\n\
         events {{ }}\nhttp {{ access_log off; client_max_body_size 0; keepalive_requests 20;\n\
         {1}\n{2}\n}}\n",
        work.display(),
        temporary.join("\n"),
        servers.join("\n"),
        user = if crate::bench::is_root() {
            "user root; "
        } else {
            ""
        },
    )
}

/// In front of `upstream`; nothing where nginx is not installed.
pub(crate) fn nginx(bench: &Bench, upstream: &str) -> Option<Nginx> {
    let program = ["/usr/sbin/nginx", "/usr/local/sbin/nginx", "/usr/bin/nginx"]
        .into_iter()
        .find(|path| Path::new(path).is_file());
    let Some(program) = program else {
        println!("skipped: nginx is not installed");
        return None;
    };
    let work = bench.path().join("nginx");
    std::fs::create_dir(&work).unwrap();
    let identity = fathom_lab::server_identity([127, 0, 0, 1].into()).unwrap();
    let chain = &identity.certificate_der;
    write_pem(&work.join("chain.pem"), "CERTIFICATE", chain);
    write_pem(&work.join("key.pem"), "PRIVATE KEY", &identity.key_der);
    let authority = work.join("ca.pem");
    std::fs::write(&authority, &identity.authority_pem).unwrap();
    let ports = [free_port(), free_port(), free_port()];
    let listens = [
        (ports[0], ""),
        (ports[1], "ssl; ssl_protocols TLSv1.3"),
        (ports[2], "ssl; ssl_protocols TLSv1.2"),
    ];
    let file = work.join("nginx.conf");
    std::fs::write(&file, configuration(&work, upstream, listens)).unwrap();
    let child = Command::new(program)
        .arg("-c")
        .arg(&file)
        .arg("-p")
        .arg(&work)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("nginx starts");
    let nginx = Nginx {
        child,
        plain: format!("http://127.0.0.1:{}", ports[0]),
        tls: format!("https://127.0.0.1:{}", ports[1]),
        tls_1_2: format!("https://127.0.0.1:{}", ports[2]),
        authority: authority.display().to_string(),
    };
    let until = Instant::now() + START;
    while std::net::TcpStream::connect(("127.0.0.1", ports[2])).is_err() {
        let told = std::fs::read_to_string(work.join("errors")).unwrap_or_default();
        assert!(Instant::now() < until, "nginx does not listen: {told}");
        std::thread::sleep(Duration::from_millis(50));
    }
    Some(nginx)
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
