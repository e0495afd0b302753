//! What writes for as long as it is read ends with its reader (`| head`).

use std::io::{BufRead, BufReader};
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
