//! What the owner of a server allows.

use std::net::IpAddr;
use std::str::FromStr;
use std::time::Duration;

use fathom_model::network::{LoadSpec, SpecError};
use fathom_observe::network::interfaces;

/// A network by its address and the number of bits that name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    bits: u8,
}

impl Network {
    /// Whether an address is in it.
    pub fn contains(&self, other: IpAddr) -> bool {
        match (self.address, plain(other)) {
            (IpAddr::V4(ours), IpAddr::V4(theirs)) => {
                let mask = u32::MAX.checked_shl(32 - u32::from(self.bits)).unwrap_or(0);
                u32::from(ours) & mask == u32::from(theirs) & mask
            }
            (IpAddr::V6(ours), IpAddr::V6(theirs)) => {
                let mask = u128::MAX
                    .checked_shl(128 - u32::from(self.bits))
                    .unwrap_or(0);
                u128::from(ours) & mask == u128::from(theirs) & mask
            }
            _ => false,
        }
    }
}

/// An IPv4 address that came in the clothes of an IPv6 one.
pub(super) fn plain(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V6(v6) => v6.to_ipv4_mapped().map_or(address, IpAddr::V4),
        IpAddr::V4(_) => address,
    }
}

/// A text that is no network.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not a network; write for example 10.0.0.0/24 or 10.0.0.7")]
pub struct NoNetwork(String);

impl FromStr for Network {
    type Err = NoNetwork;

    fn from_str(text: &str) -> Result<Network, NoNetwork> {
        let wrong = || NoNetwork(text.to_owned());
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| wrong())?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        let bits = match bits {
            Some(bits) => bits.parse().map_err(|_| wrong())?,
            None => most,
        };
        if bits > most {
            return Err(wrong());
        }
        Ok(Network { address, bits })
    }
}

/// What the owner of a server does not allow.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OwnerError {
    /// Somebody who is not on the list.
    #[error(
        "{address} is not among the peers that the owner of this server allows; the server can be \
         started with --allow {address}"
    )]
    Peer {
        /// Its address.
        address: IpAddr,
    },
    /// A load that nobody can carry out.
    #[error("{0}")]
    Invalid(SpecError),
    /// A load that would take too long.
    #[error(
        "a load of {} s is longer than the {} s that the owner of this server allows; the server \
         can be started with --max-time",
        asked.as_secs(),
        most.as_secs()
    )]
    TooLong {
        /// How long it would take.
        asked: Duration,
        /// How long it may take.
        most: Duration,
    },
    /// Loads that would take too long one after the other.
    #[error(
        "the measurement takes longer than the {} s that the owner of this server allows",
        most.as_secs()
    )]
    TooLongTogether {
        /// How long they may take.
        most: Duration,
    },
}

/// What a server does for whom.
#[derive(Debug, Clone)]
pub struct Owner {
    /// Who may measure, and to whom the server sends when asked to measure;
    /// empty allows this host and the networks that its links are in.
    pub peers: Vec<Network>,
    /// Longest load.
    pub most_time: Duration,
    /// Bytes that all loads of the server's life may move; `None` sets no bound.
    pub most_bytes: Option<u64>,
    /// Conversations at the same time.
    pub most_sessions: u32,
}

impl Default for Owner {
    fn default() -> Owner {
        Owner {
            peers: Vec::new(),
            most_time: Duration::from_secs(600),
            most_bytes: None,
            most_sessions: 64,
        }
    }
}

impl Owner {
    /// Whether `address` is allowed.
    ///
    /// # Errors
    /// Why it is not, and what the owner can do.
    pub fn check_peer(&self, address: IpAddr) -> Result<(), OwnerError> {
        let address = plain(address);
        let allowed = match self.peers.is_empty() {
            false => self.peers.iter().any(|network| network.contains(address)),
            true => {
                let near = || interfaces().iter().any(|link| link.reaches(address));
                address.is_loopback() || near()
            }
        };
        if allowed {
            return Ok(());
        }
        Err(OwnerError::Peer { address })
    }

    /// Whether a load is within the limits.
    ///
    /// # Errors
    /// What is not.
    pub fn check_load(&self, spec: &LoadSpec) -> Result<(), OwnerError> {
        spec.check().map_err(OwnerError::Invalid)?;
        let asked = Duration::from_nanos(spec.total_ns());
        if asked > self.most_time {
            return Err(OwnerError::TooLong {
                asked,
                most: self.most_time,
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_are_read_and_compared() {
        let network: Network = "10.1.0.0/16".parse().unwrap();
        assert!(network.contains("10.1.200.3".parse().unwrap()));
        assert!(network.contains("::ffff:10.1.2.3".parse().unwrap()));
        assert!(!network.contains("10.2.0.1".parse().unwrap()));
        assert!(!network.contains("fd00::1".parse().unwrap()));
        let any: Network = "0.0.0.0/0".parse().unwrap();
        assert!(any.contains("8.8.8.8".parse().unwrap()));
        for text in ["", "10.0.0.0/33", "ten", "10.0.0.1/x", "fd00::/129"] {
            assert!(text.parse::<Network>().is_err(), "{text}");
        }
    }

    #[test]
    fn strangers_and_long_loads_are_refused_with_a_remedy() {
        let owner = Owner {
            peers: vec!["192.0.2.1".parse().unwrap()],
            most_time: Duration::from_secs(5),
            ..Owner::default()
        };
        assert_eq!(owner.check_peer("192.0.2.1".parse().unwrap()), Ok(()));
        let told = owner
            .check_peer("192.0.2.2".parse().unwrap())
            .unwrap_err()
            .to_string();
        assert!(told.contains("--allow 192.0.2.2"), "{told}");
        assert_eq!(owner.check_load(&LoadSpec::stream(3)), Ok(()));
        let told = owner
            .check_load(&LoadSpec::stream(60))
            .unwrap_err()
            .to_string();
        assert!(told.contains("--max-time"), "{told}");
        // Without a list: this host, and nobody on the other side of the world.
        let default = Owner::default();
        assert_eq!(default.check_peer("127.0.0.1".parse().unwrap()), Ok(()));
        assert!(default.check_peer("203.0.113.7".parse().unwrap()).is_err());
    }
}
