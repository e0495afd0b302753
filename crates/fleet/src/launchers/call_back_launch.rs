//! Agents that something else has started, which call back one by one.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::host_list::HostName;
use crate::interrupt::Interrupt;
use crate::launchers::call_back::Invitation;
use crate::launchers::call_back_port::CallBackPort;
use crate::launchers::program::Starter;
use crate::launchers::{Launch, LaunchError};
use crate::transport::Transport;

const LOOK_EVERY: Duration = Duration::from_millis(100);

/// A launch under way. As long as somebody holds it, what it has started
/// stays; then the starter is given time to end, and removes what it made.
#[derive(Clone)]
pub(crate) struct CallBackLaunch(Arc<Inner>);

struct Inner {
    // The order matters: first the port is closed, then the starter ended.
    callers: CallBackPort,
    starter: Mutex<Box<dyn Starter>>,
    began: Instant,
    patience: Duration,
}

impl fmt::Debug for CallBackLaunch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CallBackLaunch")
            .field(&self.0.callers.invitation)
            .finish()
    }
}

impl CallBackLaunch {
    /// Opens a port and lets `start` start the agents with the invitation to
    /// it; each has so long to call back.
    pub(crate) fn begin(
        call_back: Option<&HostName>,
        hosts: &[HostName],
        patience: Duration,
        start: impl FnOnce(&Invitation) -> Result<Box<dyn Starter>, LaunchError>,
    ) -> Result<CallBackLaunch, LaunchError> {
        let callers = CallBackPort::listen(call_back, hosts)?;
        let starter = Mutex::new(start(&callers.invitation)?);
        Ok(CallBackLaunch(Arc::new(Inner {
            callers,
            starter,
            began: Instant::now(),
            patience,
        })))
    }
}

impl Launch for CallBackLaunch {
    /// The connection of a host's agent, unless the user ends the wait.
    fn launch(&self, host: &HostName, interrupt: &Interrupt) -> Result<Transport, LaunchError> {
        let Inner {
            callers,
            starter,
            began,
            patience,
        } = &*self.0;
        loop {
            if let Some(transport) = callers.take(&host.name, LOOK_EVERY) {
                return Ok(transport);
            }
            if interrupt.is_raised() {
                return Err(LaunchError::Interrupted(interrupt.why().to_owned()));
            }
            let mut starter = starter.lock().unwrap_or_else(PoisonError::into_inner);
            let why = starter.about(&host.name).or_else(|| starter.ended());
            if let Some(why) = why {
                // It may have come at the last moment.
                let late = callers.take(&host.name, Duration::ZERO);
                return late.ok_or(LaunchError::Program(why));
            }
            if began.elapsed() > *patience {
                return Err(LaunchError::NoCall {
                    waited: *patience,
                    turned_away: callers.refused(),
                    addresses: callers.invitation.addresses.clone(),
                });
            }
        }
    }

    /// Who comes by itself must not wait behind those that do not.
    fn at_once(&self, hosts: usize) -> usize {
        hosts
    }

    fn under_way(&self) -> Option<CallBackLaunch> {
        Some(self.clone())
    }
}
