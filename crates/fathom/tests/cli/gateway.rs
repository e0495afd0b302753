//! versitygw, a real gateway from S3 to a directory, for tests.

use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::bench::Bench;

/// Signs for the gateway of the tests, and nowhere else.
pub(crate) const SIGN: [(&str, &str); 2] = [
    ("AWS_ACCESS_KEY_ID", "fathomtest"),
    ("AWS_SECRET_ACCESS_KEY", "fathomtestsecret"),
];
/// How long a server may take to listen.
const START: Duration = Duration::from_secs(60);

fn probe(bench: &Bench, words: &[&str]) -> (Option<i32>, String, String) {
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

/// A gateway to a directory, ended when dropped.
pub(crate) struct Gateway {
    child: Child,
    pub(crate) endpoint: String,
}

impl Drop for Gateway {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What `./check` built: target/tools/versitygw-VERSION.
fn built() -> Vec<PathBuf> {
    let binary = PathBuf::from(env!("CARGO_BIN_EXE_fathom"));
    let target = binary.ancestors().find(|path| path.join("tools").is_dir());
    let tools = target.map(|path| path.join("tools"));
    let entries = tools.and_then(|path| std::fs::read_dir(path).ok());
    let names = entries.into_iter().flatten().flatten().map(|e| e.path());
    let ours = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("versitygw")
    };
    names.filter(ours).collect()
}

/// versitygw, if this host has it: on the path, named by the environment, or
/// built by `./check`.
pub(crate) fn gateway(bench: &Bench) -> Option<Gateway> {
    let gateway = start(bench, [SIGN[0].1, SIGN[1].1])?;
    // A file system without extended attributes cannot hold objects.
    let put = [
        "s3",
        "put",
        "s3://bucket/probe",
        "--objects",
        "1",
        "--endpoint",
        &gateway.endpoint,
    ];
    let (status, _, err) = probe(bench, &put);
    if !matches!(status, Some(0 | 4)) {
        println!("skipped: versitygw cannot keep an object here: {err}");
        return None;
    }
    Some(gateway)
}

/// Has the bucket of a gateway keep versions from now on, as the gateway itself
/// notes it.
pub(crate) fn keep_versions(bench: &Bench) {
    let bucket = bench.path().join("gateway/bucket");
    let flags = rustix::fs::XattrFlags::empty();
    rustix::fs::setxattr(&bucket, "user.versioning", &[1], flags).expect("extended attributes");
}

/// A gateway to the same directory as others of this bench, with an owner of its
/// own.
pub(crate) fn start(bench: &Bench, [access, secret]: [&str; 2]) -> Option<Gateway> {
    let named = std::env::var_os("FATHOM_VERSITYGW").map(PathBuf::from);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|dir| dir.join("versitygw"));
    let all = named.into_iter().chain(found).chain(built());
    let Some(program) = all.into_iter().find(|path| path.is_file()) else {
        println!(
            "skipped: there is no versitygw; go install github.com/versity/versitygw/cmd/versitygw@latest"
        );
        return None;
    };
    let root = bench.path().join("gateway");
    let versions = bench.path().join("versions");
    std::fs::create_dir_all(root.join("bucket")).unwrap();
    std::fs::create_dir_all(&versions).unwrap();
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let child = Command::new(program)
        .args(["--access", access, "--secret", secret, "--port"])
        .arg(format!("127.0.0.1:{port}"))
        .args(["--keep-alive", "--quiet", "posix", "--versioning-dir"])
        .arg(&versions)
        .arg(&root)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("versitygw starts");
    let gateway = Gateway {
        child,
        endpoint: format!("http://127.0.0.1:{port}"),
    };
    let until = Instant::now() + START;
    while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
        if Instant::now() > until {
            println!("skipped: versitygw does not listen");
            return None;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Some(gateway)
}
