//! `fathom stack` on what every host has.

use std::process::Command;

use crate::bench::Bench;

#[test]
fn memory_has_no_device_and_says_so() {
    let bench = Bench::new();
    let output = bench.fathom(["stack", "/dev/shm/not-there-yet"]);
    assert_eq!(output.status, Some(0), "{}", output.stderr);
    assert!(
        output.stdout.contains("mount /dev/shm"),
        "{}",
        output.stdout
    );
    assert!(
        output.stdout.contains("no block device"),
        "{}",
        output.stdout
    );
    let found = bench.fathom(["stack", "/dev/shm", "--json"]).json();
    assert_eq!(found["schema"], "fathom.stack/1");
    assert_eq!(found["filesystem"]["kind"], "tmpfs");
    assert_eq!(found["findings"][0]["rule"], "no-device");
}

#[test]
fn no_line_is_wider_than_a_terminal() {
    let bench = Bench::new();
    let output = bench.fathom(["stack", "."]);
    assert_eq!(output.status, Some(0), "{}", output.stderr);
    for line in output.stdout.lines().skip(1) {
        assert!(line.chars().count() <= 96, "{line}");
    }
}

#[test]
fn what_is_not_there_is_not_drawn_as_the_disk_of_the_root() {
    let bench = Bench::new();
    for path in ["/nope", "/dev/nope", "./nope/deeper", "/etc/hostname/below"] {
        let output = bench.fathom(["stack", path]);
        assert_eq!(output.status, Some(2), "{path}: {}", output.stdout);
        assert_eq!(output.stdout, "", "{path}");
        assert!(
            output.stderr.contains(&format!("{path}: not found")),
            "{path}: {}",
            output.stderr
        );
    }
    // In a folder that exists it can be made.
    let output = bench.fathom(["stack", "./nope"]);
    assert_eq!(output.status, Some(0), "{}", output.stderr);
    let text: Vec<&str> = output.stdout.split_whitespace().collect();
    let text = text.join(" ");
    assert!(text.contains("./nope is not there yet"), "{text}");
}

#[test]
fn where_nothing_can_be_looked_at_it_is_no_success() {
    let script = "umount -l /sys && exec \"$0\" stack .";
    let fathom = env!("CARGO_BIN_EXE_fathom");
    let arguments = ["--mount", "sh", "-c"];
    let can = Command::new("unshare")
        .args(arguments)
        .arg("umount -l /sys")
        .output();
    if !can.is_ok_and(|output| output.status.success()) {
        println!("skipped: /sys cannot be taken away in a namespace");
        return;
    }
    let bench = Bench::new();
    let output = Command::new("unshare")
        .args(arguments)
        .args([script, fathom])
        .current_dir(bench.path())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("/sys is not mounted here"), "{text}");
}
