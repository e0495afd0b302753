//! A server that measures for somebody else.

use std::net::SocketAddr;

use fathom_model::network::{ClockOffset, HostFacts, PairPlan, PairReport};
use fathom_observe::unix_now_ns;

use super::data::LoadControl;
use super::error::NetError;
use super::session::Session;

/// When remote loads begin, by this host's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StartTime {
    /// Nanoseconds since 1970.
    pub start_unix_ns: u64,
}

impl StartTime {
    /// So much from now.
    pub fn after_ns(ns: u64) -> StartTime {
        StartTime {
            start_unix_ns: unix_now_ns().saturating_add(ns),
        }
    }
}

/// A server as the coordinator knows it.
#[derive(Debug, Clone)]
pub struct Remote {
    /// Where it listens.
    pub address: SocketAddr,
    /// What it says of itself.
    pub facts: HostFacts,
    /// Its clock against ours.
    pub clock: ClockOffset,
}

impl Remote {
    /// Gets to know a server.
    ///
    /// # Errors
    /// When it cannot be reached or does not want to.
    pub fn meet(address: SocketAddr, load_control: &LoadControl) -> Result<Remote, NetError> {
        let mut session = Session::open(address, load_control)?;
        Ok(Remote {
            address,
            facts: session.describe()?,
            clock: session.clock()?,
        })
    }

    /// Has it measure `plan` against `peer`, with loads that begin at the cue.
    ///
    /// # Errors
    /// When either server cannot be reached or does not want to.
    pub fn measure(
        &self,
        peer: SocketAddr,
        plan: &PairPlan,
        cue: StartTime,
        load_control: &LoadControl,
    ) -> Result<PairReport, NetError> {
        let theirs = cue
            .start_unix_ns
            .saturating_add_signed(self.clock.offset_ns);
        Session::open(self.address, load_control)?.measure(peer, plan, theirs)
    }
}
