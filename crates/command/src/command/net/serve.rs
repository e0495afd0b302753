//! The end that serves.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use clap::Args;
use fathom_fleet::network::{DEFAULT_PORT, Network, Owner, Server, resolve};
use fathom_model::unit::parse_bytes;

use crate::exit::{CommandError, Exit};
use crate::{present, signals};

/// Let other hosts measure the network to this one.
///
/// Only the peers that are allowed may: without --allow this host and the
/// networks that its links are in. A peer can have this host send, receive and
/// answer for a bounded time, also to other allowed peers that serve; nothing
/// is executed, no file is read or written. What is sent is random bytes.
///
/// The conversation is not encrypted and peers are told apart by their address
/// only: serve in networks that you trust, and end it when done.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  fathom net serve
  fathom net serve --listen 10.0.0.1 --allow 10.0.0.0/24 --max-time 60
  fathom net serve --listen [::]:6000 --max-bytes 1TB")]
pub(super) struct Serve {
    /// Address, port or both.
    #[arg(long, value_name = "ADDR", default_value = "0.0.0.0")]
    listen: String,
    /// A peer or network that may measure; may be given several times.
    #[arg(long, value_name = "NETWORK")]
    allow: Vec<Network>,
    /// Longest load in seconds.
    #[arg(long, value_name = "N", default_value_t = 600)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=86400))]
    max_time: u32,
    /// Bytes that all loads together may move until the server ends.
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    max_bytes: Option<u64>,
    /// Conversations at the same time.
    #[arg(long, value_name = "N", default_value_t = 64)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=4096))]
    max_sessions: u32,
    /// Say nothing.
    #[arg(long, short)]
    quiet: bool,
}

pub(super) fn run(serve: &Serve) -> anyhow::Result<Exit> {
    let address = match serve.listen.parse::<u16>() {
        Ok(port) => SocketAddr::from((Ipv4Addr::UNSPECIFIED, port)),
        Err(_) => resolve(&serve.listen).map_err(CommandError::usage)?,
    };
    let owner = Owner {
        peers: serve.allow.clone(),
        most_time: Duration::from_secs(serve.max_time.into()),
        most_bytes: serve.max_bytes,
        most_sessions: serve.max_sessions,
    };
    let stop = signals::stop_on_signals()?;
    let server = match Server::bind(address, owner, stop) {
        Ok(server) => server,
        Err(error) => {
            let hint = match error.kind() {
                std::io::ErrorKind::AddrInUse => {
                    "; another server runs there already, or choose a port with --listen"
                }
                _ => "",
            };
            present::complain(&format!("cannot listen on {address}: {error}{hint}"));
            return Ok(Exit::Failure);
        }
    };
    if !serve.quiet {
        let at = server.address()?;
        let port = match at.port() {
            DEFAULT_PORT => String::new(),
            port => format!(":{port}"),
        };
        present::write_stderr(&format!(
            "serving on {at}; measure with `fathom net HOST{port}`; Ctrl-C ends it\n"
        ));
    }
    server.run()?;
    Ok(Exit::Success)
}
