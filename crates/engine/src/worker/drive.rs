//! Running a worker on the host's time.

use super::sleep::Sleeper;
use super::{Wait, Worker};
use crate::clock::{Clock, HostClock};
use crate::engine::{Broken, Completion, Engine};

/// Runs turns until the worker has ended.
///
/// # Errors
/// When the engine's interface broke; operations may still be in flight then.
pub(crate) fn drive<E: Engine>(
    worker: &mut Worker,
    engine: &mut E,
    clock: &HostClock,
    may_spin: bool,
) -> Result<(), Broken> {
    let timed = engine.capabilities().timed_reap;
    let mut ended = Vec::with_capacity(crate::engine::MAX_DEPTH as usize + 1);
    let mut sleeper = Sleeper::new(may_spin, clock.now());
    worker.settle(clock.now(), &ended);
    loop {
        let wait = worker.issue(engine, clock)?;
        ended.clear();
        match wait {
            Wait::Reap {
                timeout_ns,
                until_ns,
                exact,
            } => {
                if E::ABANDONS && worker.draining {
                    engine.abandon(&mut ended);
                    worker.settle(clock.now(), &ended);
                    continue;
                }
                if timed && worker.has_payload_to_generate() {
                    generate(worker, engine, clock, until_ns, &mut ended)?;
                    worker.settle(clock.now(), &ended);
                    continue;
                }
                if exact && timed {
                    sleeper.reap_until(engine, clock, until_ns, &mut ended)?;
                } else {
                    engine.reap(1, Some(timeout_ns), &mut ended)?;
                }
                let now_ns = clock.now();
                worker.settle(now_ns, &ended);
                if timed && !worker.handed_over && now_ns > until_ns {
                    worker.overslept(now_ns - until_ns);
                }
            }
            Wait::Sleep { until_ns, exact } => {
                let spin_ns = worker.think.spins_until_ns().min(until_ns);
                while clock.now() < spin_ns {
                    std::hint::spin_loop();
                }
                if exact {
                    sleeper.sleep_until(clock, until_ns);
                } else {
                    clock.sleep_until(until_ns);
                }
                let now_ns = clock.now();
                worker.settle(now_ns, &ended);
                worker.overslept(now_ns.saturating_sub(until_ns));
            }
            Wait::Done => return Ok(()),
        }
    }
}

/// Generates payload while operations are in flight, until all of it is there,
/// an operation ends, one can be handed over, or something else is due.
fn generate<E: Engine>(
    worker: &mut Worker,
    engine: &mut E,
    clock: &HostClock,
    until_ns: u64,
    ended: &mut Vec<Completion>,
) -> Result<(), Broken> {
    loop {
        // Hands over what is queued; does not wait.
        engine.reap(0, None, ended)?;
        if !ended.is_empty() || !worker.has_payload_to_generate() {
            return Ok(());
        }
        worker.generate_part();
        if worker.can_go_on() || clock.now() >= until_ns {
            return Ok(());
        }
    }
}

impl Worker {
    /// A wait ended later than it should have.
    #[inline]
    fn overslept(&mut self, late_ns: u64) {
        self.recorder.stalled(late_ns);
    }
}
