//! Several hosts begin at the same time: each says when it is ready, and waits
//! for the moment that the coordinator has computed for its clock.

use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use crate::agent::{Agent, EarlyEnd};
use crate::protocol::link::Command;

/// How often a waiting agent looks whether the run is to end.
const LOOK_EVERY: Duration = Duration::from_millis(50);

impl Agent {
    /// When the load begins, on this host's monotonic clock; `None` is at
    /// once: a local run has nobody to wait for.
    pub(crate) fn wait_for_opening(&self) -> Result<Option<u64>, EarlyEnd> {
        if self.policy.is_none() {
            return Ok(None);
        }
        self.link.ready();
        loop {
            match self.link.commands.recv_timeout(LOOK_EVERY) {
                Ok(Command::Open { at_monotonic_ns }) => return Ok(Some(at_monotonic_ns)),
                Ok(_) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(EarlyEnd::interrupted("the coordinator is gone"));
                }
            }
            if self.interrupt.is_raised() {
                return Err(EarlyEnd::interrupted(format!(
                    "{} before the load began on any host",
                    self.interrupt.why()
                )));
            }
        }
    }
}
