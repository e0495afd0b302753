//! Ends a session whose coordinator is gone, or whose agent is to end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use fathom_observe::monotonic_ns;

use crate::session::options::AgentOptions;
use crate::thread::spawn;
use crate::transport::Closer;

/// A coordinator that says nothing for so long is gone. It asks for the time
/// twice a second.
const SILENCE: Duration = Duration::from_secs(6);

const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Closes the connection when nothing was heard for too long since `heard_ns`
/// (monotonic), or when the agent is to end; until the session is `over`.
pub(crate) fn start(
    heard_ns: Arc<AtomicU64>,
    over: Arc<AtomicBool>,
    close: Closer,
    options: &AgentOptions,
) {
    let interrupt = options.interrupt.clone();
    let silence_ns = options.silence.unwrap_or(SILENCE).as_nanos() as u64;
    let watch = move || {
        while !over.load(Relaxed) {
            let silent_ns = monotonic_ns().saturating_sub(heard_ns.load(Relaxed));
            if silent_ns > silence_ns || interrupt.is_raised() {
                close();
                return;
            }
            std::thread::sleep(LOOK_EVERY);
        }
    };
    // Without a thread to spare, TCP notices as well, only later.
    let _ = spawn("fathom-watchdog", watch);
}
