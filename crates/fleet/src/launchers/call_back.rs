//! Agents that a scheduler starts: they call their coordinator.
//!
//! A scheduler merges what its tasks print and gives them one input, so the
//! agents need a way of their own. The coordinator waits on a port with a
//! secret made for this one launch; the agents are given its addresses and the
//! secret in their environment. On a TLS 1.3 connection each side proves that
//! it knows the secret, bound to the connection (RFC 9266), so that nobody
//! between them can pass the proofs on. Each host gets in once. From then on
//! everything is as over ssh.

use std::fmt;
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::str::FromStr;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use fathom_observe::network::{Interface, interfaces};
use ring::hmac;
use ring::rand::{SecureRandom, SystemRandom};
use serde::{Deserialize, Serialize};

use crate::credentials::token::unhex;
use crate::credentials::{CredentialsError, new_key, unsigned};
use crate::protocol::frame::{FrameError, FrameReader, FrameWriter};
use crate::protocol::wire::{PROTOCOL, clean};
use crate::session::options::AgentOptions;
use crate::session::{self, SessionError};
use crate::transport::ConnectionError;
use crate::transport::Transport;
use crate::transport::tls::{self, Binding};

/// Environment variable in which an agent finds its [`Invitation`].
pub const CALL_BACK_VARIABLE: &str = "FATHOM_CALL_BACK";

const CALLER: &str = "agent that calls back";
const SECRET_BYTES: usize = 32;

/// Addresses that an agent tries.
pub(crate) const MAX_ADDRESSES: usize = 16;

/// Time for a connection.
const CONNECT: Duration = Duration::from_secs(5);

/// A text that names no coordinator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("${CALL_BACK_VARIABLE} does not say whom to call")]
pub struct InvitationError;

/// Why an agent that calls back is not let in, or turns away.
#[derive(Debug, thiserror::Error)]
pub enum CallBackError {
    /// The connection.
    #[error(transparent)]
    Connection(#[from] ConnectionError),
    /// The certificate for it.
    #[error(transparent)]
    Credentials(#[from] CredentialsError),
    /// Another version of fathom, or another program.
    #[error(
        "it is not an agent of fathom {}; use the same version on all hosts",
        env!("CARGO_PKG_VERSION")
    )]
    OtherVersion,
    /// Somebody who does not belong to this launch.
    #[error("it does not know the secret of this launch")]
    WrongSecret,
    /// A host that nobody waits for.
    #[error("{host} is not a host of this run")]
    OtherHost {
        /// The name that it gave.
        host: String,
    },
    /// A host whose agent is there.
    #[error("{host} is in this run already")]
    SecondCall {
        /// The host.
        host: String,
    },
    /// The connection was dropped before it had proved anything.
    #[error("it took too long")]
    TooLate,
    /// The coordinator refuses, in its words.
    #[error("{0}")]
    Refused(String),
}

impl From<FrameError> for CallBackError {
    fn from(error: FrameError) -> CallBackError {
        CallBackError::Connection(ConnectionError::Frame(error))
    }
}

/// What could not be sent.
fn unsent(error: io::Error) -> CallBackError {
    CallBackError::Connection(ConnectionError::Unsent(error))
}

/// Where a coordinator waits, and what proves that an agent is one of its own.
#[derive(Clone, PartialEq, Eq)]
pub struct Invitation {
    /// `name:port`, any of which may lead there.
    pub(crate) addresses: Vec<String>,
    pub(crate) secret: Secret,
}

impl fmt::Debug for Invitation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Invitation({})", self.addresses.join(","))
    }
}

impl FromStr for Invitation {
    type Err = InvitationError;

    fn from_str(text: &str) -> Result<Invitation, InvitationError> {
        let (addresses, secret) = text.trim().split_once(';').ok_or(InvitationError)?;
        let secret = unhex(secret).filter(|secret| secret.len() == SECRET_BYTES);
        let addresses: Vec<String> = addresses.split(',').map(str::to_owned).collect();
        let fits = |address: &String| address.contains(':') && address.len() <= 300;
        if addresses.len() > MAX_ADDRESSES || !addresses.iter().all(fits) {
            return Err(InvitationError);
        }
        Ok(Invitation {
            addresses,
            secret: Secret(secret.ok_or(InvitationError)?),
        })
    }
}

impl Invitation {
    /// The text for the environment of the agents. Whoever has it can join
    /// this one run.
    pub(crate) fn reveal(&self) -> String {
        format!(
            "{};{}",
            self.addresses.join(","),
            hex::encode(&self.secret.0)
        )
    }
}

/// What the two sides of one launch know.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Secret(Vec<u8>);

impl Secret {
    pub(crate) fn fresh() -> Result<Secret, CredentialsError> {
        let mut secret = vec![0; SECRET_BYTES];
        SystemRandom::new()
            .fill(&mut secret)
            .map_err(|_| CredentialsError::NoRandomNumbers)?;
        Ok(Secret(secret))
    }

    fn prove(&self, who: &str, binding: &Binding, host: &str) -> String {
        let tag = hmac::sign(&self.key(), &said(who, binding, host));
        hex::encode(tag.as_ref())
    }

    fn proves(&self, proof: &str, who: &str, binding: &Binding, host: &str) -> bool {
        let tag = unhex(proof).unwrap_or_default();
        hmac::verify(&self.key(), &said(who, binding, host), &tag).is_ok()
    }

    fn key(&self) -> hmac::Key {
        hmac::Key::new(hmac::HMAC_SHA256, &self.0)
    }
}

fn said(who: &str, binding: &Binding, host: &str) -> Vec<u8> {
    [
        b"fathom call back, ",
        who.as_bytes(),
        b";",
        binding,
        host.as_bytes(),
    ]
    .concat()
}

/// What the agent says first. The first two fields are those of a greeting.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Call {
    fathom: String,
    protocol: u32,
    #[serde(default)]
    version: String,
    /// The host, as the coordinator knows it.
    #[serde(default)]
    host: String,
    #[serde(default)]
    proof: String,
}

/// What the coordinator answers.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum CallBackAnswer {
    Welcome { proof: String },
    Refused(String),
}

/// Answers one who calls: a member of this launch gives its host and its
/// connection. `admit` says why a host is not let in.
pub(crate) fn answer(
    socket: TcpStream,
    secret: &Secret,
    admit: impl FnOnce(&str) -> Result<(), CallBackError>,
) -> Result<(String, Transport), CallBackError> {
    let (transport, binding) = tls::accept(socket, &unsigned(&new_key()?)?, true)?;
    let Transport {
        input,
        output,
        close,
        complaint,
    } = transport;
    let mut reader = FrameReader::new(input);
    let writer = FrameWriter::new(output);
    let call: Call = reader.next()?;
    let refuse = |error: CallBackError| {
        let _ = writer.send(&CallBackAnswer::Refused(error.to_string()));
        Err(error)
    };
    if call.fathom != CALLER || call.protocol != PROTOCOL {
        return refuse(CallBackError::OtherVersion);
    }
    if !secret.proves(&call.proof, "agent", &binding, &call.host) {
        return refuse(CallBackError::WrongSecret);
    }
    if let Err(error) = admit(&call.host) {
        return refuse(error);
    }
    let proof = secret.prove("coordinator", &binding, &call.host);
    writer
        .send(&CallBackAnswer::Welcome { proof })
        .map_err(unsent)?;
    let transport = Transport {
        input: reader.into_inner(),
        output: writer.into_inner(),
        close,
        complaint,
    };
    Ok((call.host, transport))
}

/// The agent's side: calls the coordinator of `invitation` and serves it.
///
/// # Errors
/// When nobody answers, when the coordinator does not want this host, or why
/// the session ended before its time.
pub fn serve_call_back(
    host: &str,
    invitation: &Invitation,
    options: &AgentOptions,
) -> Result<(), SessionError> {
    let connected = dial(&invitation.addresses);
    let mut why = SessionError::NoCoordinator {
        addresses: invitation.addresses.join(", "),
    };
    for (address, socket) in connected {
        match call(socket, &address, host, &invitation.secret) {
            Ok(transport) => return session::serve(transport, options),
            Err(cause) => why = SessionError::CallBack { address, cause },
        }
    }
    Err(why)
}

/// Connections to whichever of the addresses can be had, the fastest first.
///
/// On the coordinator's own host the loopback comes before all others: the
/// address of a bridge answers there as well, and goes with its bridge.
fn dial(addresses: &[String]) -> Receiver<(String, TcpStream)> {
    let (sender, connected) = channel();
    for address in on_this_host(addresses, &interfaces()) {
        if let Ok(socket) = TcpStream::connect_timeout(&address, CONNECT) {
            let _ = sender.send((address.to_string(), socket));
        }
    }
    for address in addresses {
        let (address, sender) = (address.clone(), sender.clone());
        let connect = move || {
            for found in fathom_deadline::addresses_of(&address)
                .into_iter()
                .flatten()
            {
                if let Ok(socket) = TcpStream::connect_timeout(&found, CONNECT) {
                    let _ = sender.send((address, socket));
                    return;
                }
            }
        };
        // One that cannot be tried is one that does not answer.
        let _ = std::thread::Builder::new()
            .name("fathom-dial".to_owned())
            .stack_size(256 << 10)
            .spawn(connect);
    }
    connected
}

/// The loopback addresses among those of a coordinator, where another of its
/// addresses is one of `links`; on another host they lead to somebody else.
fn on_this_host(addresses: &[String], links: &[Interface]) -> Vec<SocketAddr> {
    let numbers = addresses
        .iter()
        .filter_map(|address| address.parse::<SocketAddr>().ok());
    let (loopback, others): (Vec<_>, Vec<_>) =
        numbers.partition(|address| address.ip().is_loopback());
    let is_ours = |address: &SocketAddr| links.iter().any(|link| link.address == address.ip());
    match others.iter().any(is_ours) {
        true => loopback,
        false => Vec::new(),
    }
}

fn call(
    socket: TcpStream,
    address: &str,
    host: &str,
    secret: &Secret,
) -> Result<Transport, CallBackError> {
    let name = address.rsplit_once(':').map_or(address, |(name, _)| name);
    let name = name.trim_matches(['[', ']']);
    let (transport, binding) = tls::call(socket, name, &unsigned(&new_key()?)?)?;
    let Transport {
        input,
        output,
        close,
        complaint,
    } = transport;
    let mut reader = FrameReader::new(input);
    let writer = FrameWriter::new(output);
    let call = Call {
        fathom: CALLER.to_owned(),
        protocol: PROTOCOL,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        host: host.to_owned(),
        proof: secret.prove("agent", &binding, host),
    };
    writer.send(&call).map_err(unsent)?;
    match reader.next::<CallBackAnswer>()? {
        CallBackAnswer::Refused(reason) => Err(CallBackError::Refused(clean(&reason))),
        CallBackAnswer::Welcome { proof }
            if secret.proves(&proof, "coordinator", &binding, host) =>
        {
            Ok(Transport {
                input: reader.into_inner(),
                output: writer.into_inner(),
                close,
                complaint,
            })
        }
        CallBackAnswer::Welcome { .. } => Err(CallBackError::WrongSecret),
    }
}

#[cfg(test)]
#[path = "call_back_tests.rs"]
mod tests;
