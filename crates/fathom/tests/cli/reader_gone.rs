//! What writes for as long as it is read ends with its reader (`| head`), and a
//! screen with its terminal.

use std::io::{BufRead, BufReader};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::bench::Bench;

#[test]
fn what_never_ends_by_itself_ends_with_its_reader() {
    let bench = Bench::new();
    for args in [
        ["watch", "--plain", "--every", "100ms"],
        ["ping", "null:", "-i", "10ms"],
    ] {
        let mut child = bench.command(args).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(lines.next().is_some());
        drop(lines);
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break Some(status);
            }
            if begun.elapsed() > Duration::from_secs(60) {
                child.kill().unwrap();
                child.wait().unwrap();
                break None;
            }
            std::thread::sleep(Duration::from_millis(20));
        };
        assert!(status.is_some_and(|status| status.success()), "{args:?}");
    }
}

/// Runs its arguments on a terminal of their own, closes that once something is
/// shown, and says whether they ended.
const ON_A_TERMINAL: &str = r#"
import os, pty, sys, time
pid, terminal = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], sys.argv[1:])
os.read(terminal, 1)
time.sleep(1)
os.close(terminal)
for _ in range(300):
    if os.waitpid(pid, os.WNOHANG)[0]:
        print("ended")
        sys.exit()
    time.sleep(0.1)
os.kill(pid, 9)
print("went on")
"#;

#[test]
fn a_screen_ends_with_its_terminal() {
    let bench = Bench::new();
    let output = Command::new("python3")
        .args(["-c", ON_A_TERMINAL, env!("CARGO_BIN_EXE_fathom"), "watch"])
        .env("TERM", "xterm")
        .env("FATHOM_STORE", bench.store())
        .output()
        .expect("python3 runs");
    let told = String::from_utf8_lossy(&output.stdout);
    assert_eq!(told.trim(), "ended", "{output:?}");
}
