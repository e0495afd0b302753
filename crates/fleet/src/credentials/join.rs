//! How an agent becomes a member of a fleet.
//!
//! The agent waits on its port with a token. The coordinator connects; each
//! proves to the other that it knows the token's secret, bound to this TLS
//! connection, so that nobody between them can pass the proofs on. Then the
//! coordinator signs the agent's key under the name by which it called it.

use std::io;
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use crate::credentials::token::{JoinToken, Prover, unhex};
use crate::credentials::{
    AgentKeys, CoordinatorKeys, CredentialsError, TokenError, new_key, unsigned,
};
use crate::host_list::HostName;
use crate::protocol::frame::{FrameError, FrameReader, FrameWriter};
use crate::protocol::wire::{Greeting, GreetingError, PROTOCOL};
use crate::transport::ConnectionError;
use crate::transport::tls;

/// What the agent says first. The first two fields are those of a greeting.
#[derive(Debug, Serialize, Deserialize)]
struct JoinRequest {
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
enum JoinAnswer {
    Joined {
        proof: String,
        authority: String,
        certificate: String,
    },
    Refused(String),
}

/// Why an agent is not let into a fleet.
#[derive(Debug, thiserror::Error)]
pub enum JoinError {
    /// Nobody answers there, or the connection ended.
    #[error(transparent)]
    Connection(#[from] ConnectionError),
    /// Keys of one of the two sides.
    #[error(transparent)]
    Credentials(#[from] CredentialsError),
    /// Its token.
    #[error(transparent)]
    Token(#[from] TokenError),
    /// It does not say what a member says.
    #[error(transparent)]
    Greeting(#[from] GreetingError),
    /// Another version of fathom, or another program.
    #[error("it is not an agent of this version of fathom")]
    OtherVersion,
    /// A key that no certificate can be for.
    #[error("its key is none")]
    MalformedKey,
    /// Somebody else shows the number of a token.
    #[error("it does not know the secret of its join token")]
    WrongSecret,
    /// The certificate may or may not have arrived.
    #[error("it did not say that it has joined: {0}")]
    Unconfirmed(FrameError),
    /// The coordinator refuses this agent, in its words.
    #[error("could not join: {0}")]
    Refused(String),
    /// Somebody else than the coordinator connected.
    #[error("somebody who does not know the join token tried to take over")]
    Impostor,
    /// Another coordinator was faster.
    #[error("has joined already")]
    JoinedBefore,
}

impl From<FrameError> for JoinError {
    fn from(error: FrameError) -> JoinError {
        JoinError::Connection(ConnectionError::Frame(error))
    }
}

/// What could not be sent.
fn unsent(error: io::Error) -> JoinError {
    JoinError::Connection(ConnectionError::Unsent(error))
}

/// What became of an agent that was to join.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JoinOutcome {
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
    pub fn join(&self, host: &HostName) -> Result<JoinOutcome, JoinError> {
        let (transport, binding) = tls::connect_to_join(host, self)?;
        let mut reader = FrameReader::new(transport.input);
        let writer = FrameWriter::new(transport.output);
        let request: JoinRequest = reader.next()?;
        let refuse = |error: JoinError| {
            let _ = writer.send(&JoinAnswer::Refused(error.to_string()));
            Err(error)
        };
        if request.fathom == Greeting::agent().fathom {
            return Ok(JoinOutcome::Before);
        }
        if request.fathom != TO_JOIN || request.protocol != PROTOCOL {
            return refuse(JoinError::OtherVersion);
        }
        let token = match self.token(&request.token) {
            Ok(token) => token,
            Err(error) => return refuse(error.into()),
        };
        let Some(public_key) = unhex(&request.public_key).filter(|key| key.len() == 65) else {
            return refuse(JoinError::MalformedKey);
        };
        if !token.proves(&request.proof, Prover::Agent, &binding, &public_key) {
            return refuse(JoinError::WrongSecret);
        }
        if let Err(error) = self.use_up(&token) {
            return refuse(error.into());
        }
        let answer = JoinAnswer::Joined {
            proof: token.proof(Prover::Coordinator, &binding, &public_key),
            authority: self.authority_pem()?,
            certificate: self.sign_agent(&host.name, &public_key)?,
        };
        writer.send(&answer).map_err(unsent)?;
        // The agent closes the connection when it has kept its certificate.
        match reader.next::<Greeting>() {
            Ok(greeting) => {
                greeting.check("agent")?;
                Ok(JoinOutcome::Now)
            }
            Err(error) => Err(JoinError::Unconfirmed(error)),
        }
    }
}

/// An agent that waits for its coordinator.
pub(crate) struct JoiningAgent {
    token: JoinToken,
    /// One at a time.
    keys: Mutex<AgentKeys>,
}

impl JoiningAgent {
    pub(crate) fn new(token: JoinToken, keys: AgentKeys) -> JoiningAgent {
        JoiningAgent {
            token,
            keys: Mutex::new(keys),
        }
    }

    /// Deals with one who connects. Returns whether the agent has joined.
    pub(crate) fn meet(&self, socket: std::net::TcpStream) -> Result<(), JoinError> {
        let key = new_key()?;
        let (transport, binding) = tls::accept(socket, &unsigned(&key)?, true)?;
        let mut reader = FrameReader::new(transport.input);
        let writer = FrameWriter::new(transport.output);
        let public_key = key.public_key_raw();
        let request = JoinRequest {
            fathom: TO_JOIN.to_owned(),
            protocol: PROTOCOL,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            token: self.token.number.clone(),
            public_key: hex::encode(public_key),
            proof: self.token.proof(Prover::Agent, &binding, public_key),
        };
        writer.send(&request).map_err(unsent)?;
        let answer: JoinAnswer = reader.next()?;
        let (proof, authority, certificate) = match answer {
            JoinAnswer::Refused(reason) => return Err(JoinError::Refused(reason)),
            JoinAnswer::Joined {
                proof,
                authority,
                certificate,
            } => (proof, authority, certificate),
        };
        if !self
            .token
            .proves(&proof, Prover::Coordinator, &binding, public_key)
        {
            return Err(JoinError::Impostor);
        }
        let keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        if keys.have_joined() {
            return Err(JoinError::JoinedBefore);
        }
        keys.keep(&key, &authority, &certificate)?;
        writer.send(&Greeting::agent()).map_err(unsent)
    }
}
