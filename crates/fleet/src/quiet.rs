//! The pause between two trials: until the devices are quiet, within bounds.

use std::time::Duration;

use fathom_model::schedule::Pause;
use fathom_observe::Observer;

use crate::interrupt::Interrupt;

/// For how long the devices must be idle, and how often the user is asked.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Waits as `pause` says. Returns early when the run is to end. Devices whose
/// counters cannot be read count as quiet: the floor alone decides.
pub(crate) fn pause(pause: Pause, observer: Option<&mut Observer>, interrupt: &Interrupt) {
    let floor = Duration::from_nanos(pause.floor_ns);
    let ceiling = Duration::from_nanos(pause.ceiling_ns.max(pause.floor_ns));
    let mut observer = observer.filter(|_| pause.until_quiet);
    let mut waited = Duration::ZERO;
    while waited < ceiling && !interrupt.is_raised() {
        let step = LOOK_EVERY.min(ceiling - waited);
        waited += step;
        let quiet = match observer.as_deref_mut() {
            Some(observer) => observer.quiet(step).unwrap_or_else(|| {
                std::thread::sleep(step);
                true
            }),
            None => {
                std::thread::sleep(step);
                true
            }
        };
        if waited >= floor && quiet {
            return;
        }
    }
}
