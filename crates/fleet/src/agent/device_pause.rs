//! The pause before a trial: until the devices are quiet, within bounds of real
//! time.

use std::time::{Duration, Instant};

use fathom_model::idle_gate::{BusyDevice, IdleGate};
use fathom_model::schedule::Pause;
use fathom_observe::Observer;

use crate::interrupt::Interrupt;

/// For how long the devices must be idle, and how often the user is asked.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Devices that can be watched.
pub(crate) trait WatchedDevices {
    /// Their names.
    fn names(&self) -> Vec<String>;

    /// Watches them for `window`, and returns those that were busy; `None` at
    /// once when their counters cannot be read.
    fn busy(&mut self, window: Duration) -> Option<Vec<BusyDevice>>;
}

impl WatchedDevices for Observer {
    fn names(&self) -> Vec<String> {
        self.watched().map(str::to_owned).collect()
    }

    fn busy(&mut self, window: Duration) -> Option<Vec<BusyDevice>> {
        Observer::busy(self, window)
    }
}

/// Waits between two trials as `pause` says: at least for its floor, at most
/// until its ceiling. Returns early when the run is to end. Devices whose
/// counters cannot be read count as quiet: the floor alone decides.
pub(crate) fn between(
    pause: Pause,
    watched: Option<&mut dyn WatchedDevices>,
    interrupt: &Interrupt,
) -> IdleGate {
    wait(
        pause,
        Duration::from_nanos(pause.floor_ns),
        watched,
        interrupt,
    )
}

/// Waits before the first trial. Nothing of this run has to settle, so devices
/// that are quiet need no pause; once they are seen busy it is that of between.
pub(crate) fn before_first(
    pause: Pause,
    watched: &mut dyn WatchedDevices,
    interrupt: &Interrupt,
) -> IdleGate {
    wait(pause, Duration::ZERO, Some(watched), interrupt)
}

/// `least` is waited in any case, the floor once a device was busy.
fn wait(
    pause: Pause,
    least: Duration,
    watched: Option<&mut dyn WatchedDevices>,
    interrupt: &Interrupt,
) -> IdleGate {
    let begun = Instant::now();
    let floor = Duration::from_nanos(pause.floor_ns);
    let ceiling = Duration::from_nanos(pause.ceiling_ns.max(pause.floor_ns));
    let mut watched = watched.filter(|_| pause.until_quiet);
    let mut gate = IdleGate {
        ceiling_ns: pause.ceiling_ns.max(pause.floor_ns),
        watched: watched
            .as_deref()
            .map(WatchedDevices::names)
            .unwrap_or_default(),
        ..IdleGate::default()
    };
    let mut quiet = false;
    loop {
        let passed = begun.elapsed();
        let needed = if gate.busy.is_empty() { least } else { floor };
        let settled = quiet || watched.is_none();
        if interrupt.is_raised() || passed >= ceiling || (settled && passed >= needed) {
            break;
        }
        let step = LOOK_EVERY.min(ceiling.saturating_sub(passed));
        match watched.as_deref_mut().map(|watched| watched.busy(step)) {
            Some(Some(busy)) => {
                quiet = busy.is_empty();
                // Who kept it waiting stays known.
                if !quiet {
                    gate.busy = busy;
                }
            }
            Some(None) => {
                watched = None;
                gate.watched.clear();
            }
            None => std::thread::sleep(step.min(least.max(floor).saturating_sub(passed))),
        }
    }
    gate.gave_up = watched.is_some() && !quiet && !gate.busy.is_empty() && !interrupt.is_raised();
    gate.waited_ns = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
    gate
}

#[cfg(test)]
#[path = "device_pause_tests.rs"]
mod tests;
