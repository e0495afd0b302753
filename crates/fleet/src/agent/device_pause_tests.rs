//! Pauses beside devices that are quiet, busy for a while, or busy for ever.

use super::*;

const MS: u64 = 1_000_000;

/// Devices that are busy in the first so many looks, which take no time
/// themselves: as a device with requests in flight answers at once.
struct Fake {
    busy_looks: u32,
    looks: u32,
    sleeps: bool,
}

impl WatchedDevices for Fake {
    fn names(&self) -> Vec<String> {
        vec!["sda".to_owned()]
    }

    fn busy(&mut self, window: Duration) -> Option<Vec<BusyDevice>> {
        self.looks += 1;
        if self.sleeps {
            std::thread::sleep(window);
        }
        let device = BusyDevice {
            name: "sda".to_owned(),
            queue: 0.7,
        };
        Some(if self.looks <= self.busy_looks {
            vec![device]
        } else {
            Vec::new()
        })
    }
}

fn busy_for(busy_looks: u32) -> Fake {
    Fake {
        busy_looks,
        looks: 0,
        sleeps: true,
    }
}

fn pause(floor_ms: u64, ceiling_ms: u64) -> Pause {
    Pause {
        floor_ns: floor_ms * MS,
        ceiling_ns: ceiling_ms * MS,
        until_quiet: true,
    }
}

#[test]
fn a_device_that_is_always_busy_is_waited_for_until_the_ceiling() {
    for sleeps in [true, false] {
        let mut fake = Fake {
            sleeps,
            ..busy_for(u32::MAX)
        };
        let gate = between(pause(100, 700), Some(&mut fake), &Interrupt::new());
        assert!(gate.waited_ns >= 700 * MS, "{gate:?}");
        assert!(gate.gave_up);
        assert_eq!(
            (gate.busy[0].name.as_str(), gate.longest_queue()),
            ("sda", 0.7)
        );
    }
}

#[test]
fn the_same_holds_before_the_first_trial() {
    let gate = before_first(pause(100, 500), &mut busy_for(u32::MAX), &Interrupt::new());
    assert!(gate.gave_up && gate.waited_ns >= 500 * MS, "{gate:?}");
    // Busy for a moment: the floor is honoured, and it was not given up.
    let gate = before_first(pause(900, 30_000), &mut busy_for(1), &Interrupt::new());
    assert!(!gate.gave_up && gate.waited_ns >= 900 * MS, "{gate:?}");
    assert_eq!(gate.busy.len(), 1, "what kept it waiting is named");
    // Quiet: one look, and no floor.
    let gate = before_first(pause(20_000, 30_000), &mut busy_for(0), &Interrupt::new());
    assert!(
        gate.waited_ns < 20_000 * MS && gate.busy.is_empty(),
        "{gate:?}"
    );
}

#[test]
fn between_trials_the_floor_is_waited_in_any_case() {
    let gate = between(
        pause(500, 30_000),
        Some(&mut busy_for(0)),
        &Interrupt::new(),
    );
    assert!(gate.waited_ns >= 500 * MS && !gate.gave_up, "{gate:?}");
    let gate = between(pause(300, 30_000), None, &Interrupt::new());
    assert!(
        gate.waited_ns >= 300 * MS && gate.watched.is_empty(),
        "{gate:?}"
    );
    assert_eq!(
        between(pause(0, 0), None, &Interrupt::new()).watched.len(),
        0
    );
    let timed = Pause {
        until_quiet: false,
        ..pause(100, 60_000)
    };
    let mut fake = busy_for(u32::MAX);
    let gate = between(timed, Some(&mut fake), &Interrupt::new());
    assert!(gate.waited_ns >= 100 * MS && !gate.gave_up, "{gate:?}");
    assert_eq!(fake.looks, 0);
}

#[test]
fn the_user_ends_the_wait() {
    let interrupt = Interrupt::new();
    interrupt.raise();
    let gate = between(
        pause(60_000, 60_000),
        Some(&mut busy_for(u32::MAX)),
        &interrupt,
    );
    assert!(gate.waited_ns < 60_000 * MS && !gate.gave_up);
}
