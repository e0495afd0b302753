//! `fathom stack` on what every host has.

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
