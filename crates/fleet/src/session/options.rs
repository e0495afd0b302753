//! What an agent may do, and who may end it.

use std::path::PathBuf;
use std::time::Duration;

use crate::admission::policy::Policy;
use crate::interrupt::Interrupt;
use crate::network::Network;

/// What an agent may do, and who may end it.
#[derive(Debug, Clone, Default)]
pub struct AgentOptions {
    /// What the owner of the host allows.
    pub policy: Policy,
    /// Raised when the agent itself is to end.
    pub interrupt: Interrupt,
    /// Where the files that agents make are noted, for the case that one is
    /// killed.
    pub journals: Option<PathBuf>,
    /// Where it holds what a coordinator that was lost did not hear; `None`
    /// holds nothing.
    pub spool: Option<PathBuf>,
    /// Who may measure the network to this host; none where it is `None`, the
    /// networks of its links where the list is empty.
    pub peers: Option<Vec<Network>>,
    /// How long a coordinator may be silent before it counts as gone; `None`
    /// is six seconds.
    pub silence: Option<Duration>,
}
