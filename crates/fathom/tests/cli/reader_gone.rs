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
/// shown, and says with what status they ended.
const ON_A_TERMINAL: &str = r#"
import os, pty, signal, sys, time
pid, terminal = pty.fork()
if pid == 0:
    if "IGNORES_HANGUP" in os.environ:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
    os.execv(sys.argv[1], sys.argv[1:])
os.read(terminal, 1)
time.sleep(1)
os.close(terminal)
for _ in range(300):
    ended, status = os.waitpid(pid, os.WNOHANG)
    if ended:
        print(os.waitstatus_to_exitcode(status))
        sys.exit()
    time.sleep(0.1)
os.kill(pid, 9)
print("went on")
"#;

/// Runs its arguments on the largest terminal that can be said to exist.
const ON_A_HUGE_TERMINAL: &str = r#"
import fcntl, os, pty, struct, sys, termios
pid, terminal = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 65535, 65535, 0, 0))
    os.execv(sys.argv[1], sys.argv[1:])
told = b""
try:
    while piece := os.read(terminal, 65536):
        told += piece
except OSError:
    pass
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), told.decode())
"#;

#[test]
fn a_screen_for_which_there_is_no_memory_is_rejected() {
    let output = Command::new("python3")
        .args(["-c", ON_A_HUGE_TERMINAL])
        .args([env!("CARGO_BIN_EXE_fathom"), "watch"])
        .env("TERM", "xterm")
        .output()
        .expect("python3 runs");
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(
        told.starts_with("1 ") && told.contains("use --plain"),
        "{told}"
    );
}

#[test]
fn what_is_shown_on_a_terminal_ends_in_order_with_it() {
    let bench = Bench::new();
    for (args, hangup) in [
        (&["watch"][..], "HEEDS_HANGUP"),
        (&["watch"], "IGNORES_HANGUP"),
        (&["watch", "--plain", "--every", "100ms"], "HEEDS_HANGUP"),
        (&["ping", "null:", "-i", "10ms"], "HEEDS_HANGUP"),
    ] {
        let output = Command::new("python3")
            .args(["-c", ON_A_TERMINAL, env!("CARGO_BIN_EXE_fathom")])
            .args(args)
            .env(hangup, "1")
            .env("TERM", "xterm")
            .env("FATHOM_STORE", bench.store())
            .output()
            .expect("python3 runs");
        let told = String::from_utf8_lossy(&output.stdout);
        assert_eq!(told.trim(), "0", "{args:?}: {output:?}");
    }
}
