//! Agents that run already: their owners have started them, and they have
//! joined the fleet of the coordinator's keys.

use crate::credentials::CoordinatorKeys;
use crate::host_list::HostName;
use crate::interrupt::Interrupt;
use crate::launchers::{Launch, LaunchError, LaunchRequest, LauncherKind};
use crate::transport::{Transport, tls};

pub(super) static LAUNCHER: LauncherKind = LauncherKind {
    name: "static",
    about: "They run already (fathom agent) and have joined the fleet",
    starts_agents: false,
    default_hosts: None,
    start: |request: &LaunchRequest| {
        let keys = CoordinatorKeys::load(&request.keys)?;
        Ok(Box::new(StaticAgents { keys }))
    },
};

/// Agents of the fleet of these keys.
#[derive(Debug)]
struct StaticAgents {
    keys: CoordinatorKeys,
}

impl Launch for StaticAgents {
    fn launch(&self, host: &HostName, _: &Interrupt) -> Result<Transport, LaunchError> {
        Ok(tls::connect(host, &self.keys)?)
    }
}
