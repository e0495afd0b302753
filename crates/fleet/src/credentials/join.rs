//! How an agent becomes a member of a fleet.
//!
//! The agent waits on its port with a token. The coordinator connects; each
//! proves to the other that it knows the token's secret, bound to this TLS
//! connection, so that nobody between them can pass the proofs on. Then the
//! coordinator signs the agent's key under the name by which it called it.

use std::sync::Mutex;

use serde::{Deserialize, Serialize};

use crate::credentials::token::{JoinToken, Prover, unhex};
use crate::credentials::{AgentKeys, CoordinatorKeys, new_key, unsigned};
use crate::host_list::HostName;
use crate::protocol::frame::{FrameReader, FrameWriter};
use crate::protocol::wire::{Greeting, PROTOCOL};
use crate::transport::tls;

/// What the agent says first. The first two fields are those of a greeting.
#[derive(Debug, Serialize, Deserialize)]
struct Request {
    fathom: String,
    protocol: u32,
    #[serde(default)]
    version: String,
    #[serde(default)]
    token: String,
    #[serde(default)]
    public_key: String,
    #[serde(default)]
    proof: String,
}

const TO_JOIN: &str = "agent to join";

/// What the coordinator answers.
#[derive(Debug, Serialize, Deserialize)]
enum Answer {
    Joined {
        proof: String,
        authority: String,
        certificate: String,
    },
    Refused(String),
}

/// What became of an agent that was to join.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Joined {
    /// It is a member now.
    Now,
    /// It was one before.
    Before,
}

impl CoordinatorKeys {
    /// Lets the agent that waits at `host` into the fleet.
    ///
    /// # Errors
    /// When nobody answers there, or it has no good token, in words.
    pub fn join(&self, host: &HostName) -> Result<Joined, String> {
        let (transport, binding) = tls::connect_to_join(host, self)?;
        let mut reader = FrameReader::new(transport.input);
        let writer = FrameWriter::new(transport.output);
        let request: Request = reader.next().map_err(|error| error.to_string())?;
        let refuse = |reason: String| {
            let _ = writer.send(&Answer::Refused(reason.clone()));
            Err(reason)
        };
        if request.fathom == Greeting::agent().fathom {
            return Ok(Joined::Before);
        }
        if request.fathom != TO_JOIN || request.protocol != PROTOCOL {
            return refuse("it is no agent of this version of fathom".to_owned());
        }
        let token = match self.token(&request.token) {
            Ok(token) => token,
            Err(reason) => return refuse(reason),
        };
        let Some(public_key) = unhex(&request.public_key).filter(|key| key.len() == 65) else {
            return refuse("its key is none".to_owned());
        };
        if !token.proves(&request.proof, Prover::Agent, &binding, &public_key) {
            return refuse("it does not know the secret of its join token".to_owned());
        }
        if let Err(reason) = self.use_up(&token) {
            return refuse(reason);
        }
        let answer = Answer::Joined {
            proof: token.proof(Prover::Coordinator, &binding, &public_key),
            authority: self.authority_pem()?,
            certificate: self.sign_agent(&host.name, &public_key)?,
        };
        writer.send(&answer).map_err(|error| error.to_string())?;
        // The agent closes the connection when it has kept its certificate.
        match reader.next::<Greeting>() {
            Ok(greeting) => greeting.check("agent").map(|()| Joined::Now),
            Err(error) => Err(format!("it did not say that it has joined: {error}")),
        }
    }
}

/// An agent that waits for its coordinator.
pub(crate) struct Waiting {
    token: JoinToken,
    /// One at a time.
    keys: Mutex<AgentKeys>,
}

impl Waiting {
    pub(crate) fn new(token: JoinToken, keys: AgentKeys) -> Waiting {
        Waiting {
            token,
            keys: Mutex::new(keys),
        }
    }

    /// Deals with one who connects. Returns whether the agent has joined.
    pub(crate) fn meet(&self, socket: std::net::TcpStream) -> Result<(), String> {
        let key = new_key()?;
        let (transport, binding) = tls::accept(socket, &unsigned(&key)?, true)?;
        let mut reader = FrameReader::new(transport.input);
        let writer = FrameWriter::new(transport.output);
        let public_key = key.public_key_raw();
        let request = Request {
            fathom: TO_JOIN.to_owned(),
            protocol: PROTOCOL,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            token: self.token.number.clone(),
            public_key: hex::encode(public_key),
            proof: self.token.proof(Prover::Agent, &binding, public_key),
        };
        writer.send(&request).map_err(|error| error.to_string())?;
        let answer: Answer = reader.next().map_err(|error| error.to_string())?;
        let (proof, authority, certificate) = match answer {
            Answer::Refused(reason) => return Err(format!("could not join: {reason}")),
            Answer::Joined {
                proof,
                authority,
                certificate,
            } => (proof, authority, certificate),
        };
        if !self
            .token
            .proves(&proof, Prover::Coordinator, &binding, public_key)
        {
            return Err("somebody who does not know the join token tried to take over".to_owned());
        }
        let keys = self.keys.lock().map_err(|error| error.to_string())?;
        if keys.have_joined() {
            return Err("has joined already".to_owned());
        }
        keys.keep(&key, &authority, &certificate)?;
        writer
            .send(&Greeting::agent())
            .map_err(|error| error.to_string())
    }
}
