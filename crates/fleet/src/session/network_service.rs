//! An agent that serves network measurements for the time of its session: the
//! same server as `fathom net serve`, within what the owner allows.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::JoinHandle;

use fathom_observe::network::interfaces;
use serde::{Deserialize, Serialize};

use crate::network::{DEFAULT_PORT, Network, Owner, Server};
use crate::thread::{ThreadError, spawn};

/// Where an agent serves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NetworkEnd {
    pub(crate) port: u16,
    /// Addresses of its links, without the loopback.
    pub(crate) addresses: Vec<IpAddr>,
}

/// Why an agent does not serve network measurements.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NetworkServiceError {
    #[error(
        "the owner of this host allows no network measurement; the agent must be started with \
         --allow-peer"
    )]
    NotAllowed,
    #[error("cannot listen: {0}")]
    Listen(io::Error),
    #[error("{0}")]
    Address(io::Error),
    #[error(transparent)]
    Thread(#[from] ThreadError),
    #[error("it does not serve")]
    NotServing,
}

/// A server in a thread. It ends when this is dropped.
pub(crate) struct NetServing {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    pub(crate) end: NetworkEnd,
}

impl NetServing {
    /// Serves peers on the usual port, or on another one where that is taken.
    pub(crate) fn start(peers: &[Network]) -> Result<NetServing, NetworkServiceError> {
        let owner = || Owner {
            peers: peers.to_vec(),
            ..Owner::default()
        };
        let stop = Arc::new(AtomicBool::new(false));
        let bind = |port| {
            let address = SocketAddr::from((Ipv4Addr::UNSPECIFIED, port));
            Server::bind(address, owner(), Arc::clone(&stop))
        };
        let server = bind(DEFAULT_PORT).or_else(|_| bind(0));
        let server = server.map_err(NetworkServiceError::Listen)?;
        let address = server.address().map_err(NetworkServiceError::Address)?;
        let thread = spawn("fathom-net", move || {
            // What goes wrong with a conversation is told in it.
            let _ = server.run();
        })?;
        let links = interfaces().into_iter().map(|link| link.address);
        Ok(NetServing {
            stop,
            thread: Some(thread),
            end: NetworkEnd {
                port: address.port(),
                addresses: links.filter(|address| !address.is_loopback()).collect(),
            },
        })
    }
}

impl Drop for NetServing {
    fn drop(&mut self) {
        self.stop.store(true, Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
