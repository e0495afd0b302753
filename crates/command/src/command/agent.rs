//! `fathom agent`: this host carries the load of somebody's run.

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use fathom_fleet::network::Network;
use fathom_fleet::{
    AgentOptions, AgentServer, CALL_BACK_VARIABLE, Interrupt, JoinToken, NoToken, PORT, Policy,
};
use fathom_s3::EndpointAddress;

use crate::command::hosts;
use crate::exit::{CommandError, Exit};
use crate::output_flags::StorePath;
use crate::whole_seconds::whole_seconds;
use crate::{present, signals};

/// More than any token has.
const TOKEN_BYTES_MAX: u64 = 4096;

/// Serve a coordinator: run its trials on this host.
///
/// The agent listens on a port and serves one coordinator at a time. Both show
/// certificates of the same fleet (mutual TLS 1.3): an agent joins one with a
/// token of `fathom fleet token`, once. It touches only what its owner allows
/// here, runs no command of anybody, and needs no root. When its coordinator
/// is gone it ends the load within ten seconds and removes what was made.
///
/// With `--launcher ssh`, the default of --hosts, no agent needs to be set up:
/// ssh starts one for the time of a run.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  fathom agent --listen 10.0.0.7 --allow /data --token fathom-join-1a2b3c4d-…
                                     The first time: join, then serve
  fathom agent --listen 10.0.0.7 --allow /data
                                     From then on
  fathom agent --listen 0.0.0.0 --allow /dev/nvme1n1 --allow-destructive
                                     On all addresses; a drive that may be overwritten
  fathom agent --listen 10.0.0.7 --allow s3://bench \\
    --allow-endpoint http://minio:9000
                                     A bucket of a store in the house
  fathom agent --listen 10.0.0.7:7117 --allow /data --allow /scratch")]
pub(crate) struct Agent {
    /// Where to listen: an address of this host, with a port or without (7117).
    /// Only this host reaches 127.0.0.1; 0.0.0.0 stands for all addresses.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    listen: String,
    /// A directory (with all below it), file or device that may be touched;
    /// may be given several times.
    #[arg(long, value_name = "PATH")]
    allow: Vec<PathBuf>,
    /// An S3 endpoint (https://host:port) to which this host's keys may be
    /// shown; may be given several times. Buckets need --allow s3://BUCKET as
    /// well. Without it requests go only to the endpoint that
    /// AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL name here, or to Amazon's.
    #[arg(long, value_name = "URL")]
    allow_endpoint: Vec<EndpointAddress>,
    /// Devices and files that fathom did not make may be overwritten, when the
    /// coordinator's user says so as well.
    #[arg(long)]
    allow_destructive: bool,
    /// A peer or network that may measure the network to this host (fathom net
    /// --hosts); may be given several times.
    #[arg(long, value_name = "NETWORK")]
    allow_peer: Vec<Network>,
    /// The token with which to join a fleet. Others can see it in the list of
    /// processes; --token-file hides it.
    #[arg(long, conflicts_with = "token_file", value_parser = parse_token)]
    token: Option<JoinToken>,
    /// The same from a file.
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Keys of this agent. Default: ~/.config/fathom/agent.
    #[arg(long, value_name = "DIR")]
    keys: Option<PathBuf>,
    /// Serve one coordinator on standard input and output, as launchers do.
    #[arg(long, hide = true, conflicts_with_all = ["listen", "token", "token_file", "keys"])]
    stdio: bool,
    /// Call the coordinator that $FATHOM_CALL_BACK names, as this host of its
    /// run; launchers start agents so.
    #[arg(long, hide = true, value_name = "HOST", conflicts_with_all = ["stdio", "token", "token_file", "keys"])]
    call_back: Option<String>,
    /// Serve nobody and keep a pod for agents that come by `kubectl exec`: end
    /// when none has come within this time, or half a minute after the last.
    #[arg(long, hide = true, value_name = "TIME", value_parser = whole_seconds(1, 86_400))]
    #[arg(conflicts_with_all = ["stdio", "call_back", "token", "token_file", "keys"])]
    hold: Option<u32>,
}

pub(crate) fn run(agent: Agent) -> anyhow::Result<Exit> {
    let interrupt = Interrupt::new();
    signals::raise_on_signals(&interrupt)?;
    if let Some(seconds) = agent.hold {
        let first = Duration::from_secs(u64::from(seconds));
        fathom_fleet::hold(first, Path::new("/proc"), &interrupt);
        return Ok(Exit::Success);
    }
    let options = AgentOptions {
        policy: Policy {
            allowed: agent.allow.clone(),
            destructive: agent.allow_destructive,
            endpoints: agent.allow_endpoint.clone(),
        },
        interrupt,
        journals: journals(),
        silence: None,
        // Who starts agents for the purpose may measure near networks.
        peers: (agent.stdio || agent.call_back.is_some() || !agent.allow_peer.is_empty())
            .then(|| agent.allow_peer.clone()),
        spool: match agent.stdio || agent.call_back.is_some() {
            true => hosts::cache().map(|cache| cache.join("held")),
            false => None,
        },
    };
    let served = match &agent.call_back {
        Some(host) => call_back(host, &options),
        None if agent.stdio => fathom_fleet::serve_stdio(&options).map_err(Into::into),
        None => return listen(agent, options),
    };
    Ok(match served {
        Ok(()) => Exit::Success,
        Err(error) => {
            present::complain(&error.to_string());
            // A Job starts a pod that failed again, which would be turned away
            // until the Job has failed, and the other pods with it.
            match std::env::var_os("KUBERNETES_SERVICE_HOST") {
                Some(_) if agent.call_back.is_some() => Exit::Success,
                _ => Exit::Failure,
            }
        }
    })
}

/// Where agents note what they make: beside the store, which they do not use.
pub(crate) fn journals() -> Option<PathBuf> {
    let store = present::store_path(&StorePath::default()).ok()?;
    Some(store.parent()?.join("agents"))
}

fn call_back(host: &str, options: &AgentOptions) -> anyhow::Result<()> {
    let Ok(invitation) = std::env::var(CALL_BACK_VARIABLE) else {
        anyhow::bail!("nobody is to be called back: ${CALL_BACK_VARIABLE} is not set");
    };
    Ok(fathom_fleet::serve_call_back(
        host,
        &invitation.parse()?,
        options,
    )?)
}

/// A token, which is shown in no message, also where it is none.
fn parse_token(text: &str) -> Result<JoinToken, NoToken> {
    fathom_model::secret::remember(text);
    text.parse()
}

/// An address with the usual port, where none is given.
fn listening_place(text: &str) -> String {
    let bare = text.trim_start_matches('[').trim_end_matches(']');
    match bare.parse::<IpAddr>() {
        Ok(IpAddr::V6(address)) => format!("[{address}]:{PORT}"),
        Ok(IpAddr::V4(address)) => format!("{address}:{PORT}"),
        Err(_) if !text.contains(':') => format!("{text}:{PORT}"),
        Err(_) => text.to_owned(),
    }
}

fn listen(agent: Agent, mut options: AgentOptions) -> anyhow::Result<Exit> {
    // A bucket is named by its address.
    let paths = agent.allow.iter().filter(|path| !path.starts_with("s3:"));
    for path in paths {
        if fathom_deadline::paths::find(path)?.is_none() {
            let problem = format!(
                "{} does not exist, so nothing of it can be allowed",
                path.display()
            );
            return Err(CommandError::Usage(problem).into());
        }
    }
    let token = match &agent.token_file {
        Some(file) => {
            let text = fathom_deadline::paths::read_text_soon(file, TOKEN_BYTES_MAX)
                .map_err(|error| anyhow::anyhow!("cannot read {}: {error}", file.display()))?;
            Some(text.parse().map_err(anyhow::Error::msg)?)
        }
        None => agent.token,
    };
    let keys = match agent.keys {
        Some(keys) => keys,
        None => hosts::configuration()?.join("agent"),
    };
    options.spool = Some(keys.join("held"));
    let allowed = options.policy.words();
    let report = Arc::new(|text: &str| present::write_stderr(&format!("{text}\n")));
    let place = listening_place(&agent.listen);
    let server = AgentServer::bind(&place, keys, token, options, report)?;
    let address = server.address().map(|address| address.to_string());
    let state = match server.waits_to_join() {
        true => "waiting to join a fleet (fathom fleet join, on the coordinator)",
        false => "ready",
    };
    let allowed = match allowed.is_empty() {
        true => "nothing (see --allow)".to_owned(),
        false => allowed.join(", "),
    };
    present::write_stderr(&format!(
        "fathom agent on {}: {state}; allowed: {allowed}\n",
        address.unwrap_or_default()
    ));
    server.serve();
    Ok(Exit::Success)
}
