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
use std::net::{SocketAddr, TcpStream};
use std::str::FromStr;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use fathom_observe::network::{Interface, interfaces};
use ring::hmac;
use ring::rand::{SecureRandom, SystemRandom};
use serde::{Deserialize, Serialize};

use crate::credentials::token::unhex;
use crate::credentials::{new_key, unsigned};
use crate::protocol::frame::{FrameReader, FrameWriter};
use crate::protocol::wire::PROTOCOL;
use crate::session;
use crate::session::options::AgentOptions;
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
    type Err = String;

    fn from_str(text: &str) -> Result<Invitation, String> {
        let wrong = || format!("${CALL_BACK_VARIABLE} does not say whom to call");
        let (addresses, secret) = text.trim().split_once(';').ok_or_else(wrong)?;
        let secret = unhex(secret).filter(|secret| secret.len() == SECRET_BYTES);
        let addresses: Vec<String> = addresses.split(',').map(str::to_owned).collect();
        let fits = |address: &String| address.contains(':') && address.len() <= 300;
        if addresses.len() > MAX_ADDRESSES || !addresses.iter().all(fits) {
            return Err(wrong());
        }
        Ok(Invitation {
            addresses,
            secret: Secret(secret.ok_or_else(wrong)?),
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
    pub(crate) fn fresh() -> Result<Secret, String> {
        let mut secret = vec![0; SECRET_BYTES];
        SystemRandom::new()
            .fill(&mut secret)
            .map_err(|_| "the system gives no random numbers".to_owned())?;
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
pub(crate) enum Answer {
    Welcome { proof: String },
    Refused(String),
}

/// Answers one who calls: a member of this launch gives its host and its
/// connection. `admit` says why a host is not let in.
pub(crate) fn answer(
    socket: TcpStream,
    secret: &Secret,
    admit: impl FnOnce(&str) -> Result<(), String>,
) -> Result<(String, Transport), String> {
    let (transport, binding) = tls::accept(socket, &unsigned(&new_key()?)?, true)?;
    let Transport {
        input,
        output,
        close,
        complaint,
    } = transport;
    let mut reader = FrameReader::new(input);
    let writer = FrameWriter::new(output);
    let call: Call = reader.next().map_err(|error| error.to_string())?;
    let refuse = |reason: String| {
        let _ = writer.send(&Answer::Refused(reason.clone()));
        Err(reason)
    };
    if call.fathom != CALLER || call.protocol != PROTOCOL {
        return refuse(format!(
            "it is no agent of fathom {}; use the same version on all hosts",
            env!("CARGO_PKG_VERSION")
        ));
    }
    if !secret.proves(&call.proof, "agent", &binding, &call.host) {
        return refuse("it does not know the secret of this launch".to_owned());
    }
    if let Err(reason) = admit(&call.host) {
        return refuse(reason);
    }
    let proof = secret.prove("coordinator", &binding, &call.host);
    writer
        .send(&Answer::Welcome { proof })
        .map_err(|error| error.to_string())?;
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
) -> Result<(), String> {
    let (connected, addresses) = (dial(&invitation.addresses), invitation.addresses.join(", "));
    let mut why = format!("no coordinator answers at {addresses}");
    for (address, socket) in connected {
        match call(socket, &address, host, &invitation.secret) {
            Ok(transport) => return session::serve(transport, options),
            Err(reason) => why = format!("{address}: {reason}"),
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
) -> Result<Transport, String> {
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
    writer.send(&call).map_err(|error| error.to_string())?;
    match reader.next::<Answer>().map_err(|error| error.to_string())? {
        Answer::Refused(reason) => Err(crate::protocol::wire::clean(&reason)),
        Answer::Welcome { proof } if secret.proves(&proof, "coordinator", &binding, host) => {
            Ok(Transport {
                input: reader.into_inner(),
                output: writer.into_inner(),
                close,
                complaint,
            })
        }
        Answer::Welcome { .. } => Err("it does not know the secret of this launch".to_owned()),
    }
}

#[cfg(test)]
#[path = "call_back_tests.rs"]
mod tests;
