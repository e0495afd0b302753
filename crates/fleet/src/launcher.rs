//! How agents come to life.

use std::path::PathBuf;

use crate::credentials::CoordinatorKeys;
use crate::host_list::HostName;
use crate::ssh::{self, SshOptions};
use crate::tls;
use crate::transport::Transport;

/// How agents come to life.
#[derive(Debug)]
pub enum Launcher {
    /// They run already, and have joined the fleet of these keys.
    Static(Box<CoordinatorKeys>),
    /// The system's OpenSSH starts them, with the user's configuration.
    Ssh(SshOptions),
}

impl Launcher {
    /// Agents that run already. `directory` is that of `fathom fleet init`.
    ///
    /// # Errors
    /// When there is no fleet in the directory.
    pub fn joined(directory: PathBuf) -> Result<Launcher, String> {
        Ok(Launcher::Static(Box::new(CoordinatorKeys::load(
            &directory,
        )?)))
    }

    pub(crate) fn launch(&self, host: &HostName) -> Result<Transport, String> {
        match self {
            Launcher::Static(keys) => tls::connect(host, keys),
            Launcher::Ssh(options) => ssh::launch(host, options),
        }
    }
}
