//! Interfaces of this machine. What they carry is tested from outside, with
//! programs that use them.

use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::*;
use crate::real::or_skip;

const WIRE: Wire = Wire {
    delay_ns: 1_000_000,
    loss: 0.0,
    rate_bits: None,
};

fn names(letter: char) -> (String, String) {
    let tag = std::process::id() % 100_000;
    (format!("l{letter}{tag}a"), format!("l{letter}{tag}b"))
}

fn is_there(name: &str) -> bool {
    Path::new("/sys/class/net").join(name).exists()
}

#[test]
fn interfaces_are_there_as_long_as_the_link() {
    let (a, b) = names('x');
    let Some(link) = or_skip(SimulatedLink::make((&a, &b), WIRE, 1)) else {
        return;
    };
    assert!(is_there(&a) && is_there(&b));
    let again = SimulatedLink::make((&a, "other"), WIRE, 1);
    let told = again.expect_err("it is taken").to_string();
    assert!(told.contains("already"), "{told}");
    assert_eq!(link.truth(), (WayTruth::default(), WayTruth::default()));
    drop(link);
    // A child that another test has just forked holds the descriptors until it is another
    // program, and the interfaces with them.
    let end = Instant::now() + Duration::from_secs(10);
    while (is_there(&a) || is_there(&b)) && Instant::now() < end {
        sleep(Duration::from_millis(20));
    }
    assert!(!is_there(&a) && !is_there(&b));
}

#[test]
fn what_cannot_be_is_told() {
    let (a, b) = names('y');
    for (first, wire) in [
        ("", WIRE),
        ("sixteen-letters-x", WIRE),
        ("a/b", WIRE),
        (a.as_str(), Wire { loss: 1.5, ..WIRE }),
        (
            a.as_str(),
            Wire {
                loss: f64::NAN,
                ..WIRE
            },
        ),
    ] {
        let refused = SimulatedLink::make((first, &b), wire, 1).err();
        assert!(
            matches!(refused, Some(Error::Description(_))),
            "{first} {wire:?}"
        );
    }
}
