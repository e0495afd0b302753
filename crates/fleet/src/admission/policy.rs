//! What the owner of a host allows its agent to touch.

use std::path::{Path, PathBuf};

use fathom_deadline::{NotResponding, paths};
use fathom_engine::object::{endpoints_of, own_endpoint};
use fathom_model::workload::{ObjectStore, Peer, PeerProtocol};
use fathom_model::{ScheduledTrial, Target};
use fathom_s3::EndpointAddress;

use crate::admission::PolicyError;
use crate::network::{Network, Owner};

/// The owner's list. Paths are compared after links have been followed, so a
/// link below an allowed directory leads nowhere else.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    /// Directories (with everything below), files and devices.
    pub allowed: Vec<PathBuf>,
    /// Whether devices and foreign files may be overwritten when the
    /// coordinator's user says so.
    pub destructive: bool,
    /// Endpoints to which this host's keys for object stores may be shown,
    /// beside the one that its own environment names.
    pub endpoints: Vec<EndpointAddress>,
}

impl Policy {
    /// Refuses a trial that would touch anything else, and says why.
    pub(crate) fn check(
        &self,
        spec: &ScheduledTrial,
        destructive: bool,
    ) -> Result<(), PolicyError> {
        if destructive && !self.destructive {
            return Err(PolicyError::Destructive);
        }
        if let Target::Bucket(bucket) = &spec.target {
            let store = spec.workload.store().into_iter();
            let files = store.flat_map(|s| s.ca_file.as_deref().into_iter().chain(s.key_files()));
            for file in files {
                self.check_path(Path::new(file))?;
            }
            self.check_bucket(bucket)?;
            let store = spec.workload.store();
            return store.map_or(Ok(()), |store| self.check_endpoints(store));
        }
        let Target::Path(target) = &spec.target else {
            return Ok(());
        };
        self.check_path(target)?;
        let workload = &spec.workload;
        let named = workload
            .data_set
            .named
            .iter()
            .flat_map(|named| &named.paths);
        let replay = workload.replay().into_iter().map(|replay| &replay.path);
        for path in named.chain(replay) {
            // A relative one is opened below the folder in which the agent was
            // started, whatever the target is.
            if path.is_relative() {
                return Err(PolicyError::RelativePath { path: path.clone() });
            }
            self.check_path(path)?;
        }
        Ok(())
    }

    /// A bucket is on the list by its address: `s3://bucket`, with everything
    /// below.
    fn check_bucket(&self, bucket: &str) -> Result<(), PolicyError> {
        let allows = |allowed: &PathBuf| {
            let text = allowed.to_string_lossy();
            let Some(name) = text.strip_prefix("s3:") else {
                return false;
            };
            let rest = bucket.strip_prefix(name.trim_matches('/'));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        if self.allowed.iter().any(allows) {
            return Ok(());
        }
        Err(PolicyError::Bucket {
            bucket: bucket.to_owned(),
        })
    }

    /// Keys go with every request, so where they go is the owner's choice: what
    /// the environment of the agent names (Amazon where it names nothing), and
    /// what is on the list.
    fn check_endpoints(&self, store: &ObjectStore) -> Result<(), PolicyError> {
        let own = own_endpoint(&store.region).and_then(|name| name.parse().ok());
        for name in endpoints_of(store) {
            let address = name.parse::<EndpointAddress>();
            let address = address.map_err(PolicyError::MalformedEndpoint)?;
            if own.as_ref() != Some(&address) && !self.endpoints.contains(&address) {
                return Err(PolicyError::Endpoint { address });
            }
        }
        Ok(())
    }

    /// What is allowed, in words.
    pub fn words(&self) -> Vec<String> {
        let paths = self.allowed.iter().map(|path| path.display().to_string());
        let endpoints = self.endpoints.iter();
        paths
            .chain(endpoints.map(|endpoint| format!("endpoint {endpoint}")))
            .collect()
    }

    /// Refuses the other end of a connection that is not among `peers`.
    pub(crate) fn check_peer(
        &self,
        peer: &Peer,
        peers: Option<&[Network]>,
    ) -> Result<(), PolicyError> {
        if peer.protocol == PeerProtocol::Unix {
            return self.check_path(Path::new(&peer.host));
        }
        let Some(peers) = peers else {
            return Err(PolicyError::Network);
        };
        if peer.host.is_empty() {
            return Ok(());
        }
        let owner = Owner {
            peers: peers.to_vec(),
            ..Owner::default()
        };
        let addresses = fathom_deadline::addresses_of(&format!("{}:{}", peer.host, peer.port));
        let addresses = addresses.map_err(|cause| PolicyError::UnknownPeer {
            host: peer.host.clone(),
            cause,
        })?;
        for address in addresses {
            let address = address.ip();
            if owner.check_peer(address).is_err() {
                return Err(PolicyError::Peer { address });
            }
        }
        Ok(())
    }

    fn check_path(&self, path: &Path) -> Result<(), PolicyError> {
        let unknown = |silent: NotResponding| PolicyError::Silent {
            path: path.to_owned(),
            silent,
        };
        let refused = || PolicyError::Path {
            path: path.to_owned(),
            allowed: self.allowed.clone(),
        };
        let real = real(path).map_err(unknown)?.ok_or_else(refused)?;
        // What is silent on the list is asked about only where nothing else allows.
        let mut held = None;
        for allowed in &self.allowed {
            match canonical(allowed) {
                Ok(Some(allowed)) if real.starts_with(&allowed) => return Ok(()),
                Ok(_) => {}
                Err(silent) if real.starts_with(allowed) => held = Some(silent),
                Err(_) => {}
            }
        }
        Err(held.map_or_else(refused, unknown))
    }
}

/// A path with its links followed; `None` where it is not there.
fn canonical(path: &Path) -> Result<Option<PathBuf>, NotResponding> {
    match paths::canonicalize(path) {
        Ok(real) => Ok(Some(real)),
        Err(error) => paths::silent(&error).map_or(Ok(None), Err),
    }
}

/// The path without links. What does not exist yet may be made in a directory
/// that does.
fn real(path: &Path) -> Result<Option<PathBuf>, NotResponding> {
    if !path.is_absolute() {
        return Ok(None);
    }
    if let Some(real) = canonical(path)? {
        return Ok(Some(real));
    }
    // A dangling link would be followed when the file is made.
    match paths::symlink_metadata(path) {
        Ok(_) => return Ok(None),
        Err(error) => paths::silent(&error).map_or(Ok(()), Err)?,
    }
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Ok(None);
    };
    Ok(canonical(folder)?.map(|folder| folder.join(name)))
}

#[cfg(test)]
#[path = "policy_tests.rs"]
mod tests;
