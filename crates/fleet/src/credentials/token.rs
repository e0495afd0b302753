//! Join tokens: each lets one agent into the fleet, once, until it expires.
//!
//! A token is a number and a secret. The coordinator keeps both until the token
//! is used; the agent is given them by its owner. Neither sends the secret:
//! both prove that they know it, for this one connection.

use std::fs;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use fathom_deadline::paths;
use fathom_observe::unix_now_ns;
use ring::hmac;
use ring::rand::{SecureRandom, SystemRandom};
use serde::{Deserialize, Serialize};

use crate::credentials::{CoordinatorKeys, CredentialsError, TokenError, make_directory, write};
use crate::transport::tls::Binding;

const PREFIX: &str = "fathom-join-";
const NUMBER_CHARS: usize = 8;
const SECRET_CHARS: usize = 32;

/// A token as its owner carries it from the coordinator to the agent.
#[derive(Clone, PartialEq, Eq)]
pub struct JoinToken {
    pub(crate) number: String,
    secret: String,
}

impl std::fmt::Debug for JoinToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "JoinToken({})", self.number)
    }
}

/// A text that is no token. It may be a secret all the same and is not repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "this is not a join token; they look like fathom-join-1a2b3c4d-… and come from: fathom fleet token"
)]
pub struct NoToken;

impl FromStr for JoinToken {
    type Err = NoToken;

    fn from_str(text: &str) -> Result<JoinToken, NoToken> {
        let rest = text.trim().strip_prefix(PREFIX).ok_or(NoToken)?;
        let (number, secret) = rest.split_once('-').ok_or(NoToken)?;
        let is_hex =
            |part: &str, chars| part.len() == chars && part.bytes().all(|b| b.is_ascii_hexdigit());
        if !is_hex(number, NUMBER_CHARS) || !is_hex(secret, SECRET_CHARS) {
            return Err(NoToken);
        }
        Ok(JoinToken {
            number: number.to_ascii_lowercase(),
            secret: secret.to_ascii_lowercase(),
        })
    }
}

/// Characters of a text in hexadecimal at most.
const MOST_HEX_CHARS: usize = 1024;

/// Who proves that it knows the secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Prover {
    Agent,
    Coordinator,
}

impl JoinToken {
    /// The text that the owner of an agent is given. Whoever has it can join.
    pub fn reveal(&self) -> String {
        format!("{PREFIX}{}-{}", self.number, self.secret)
    }

    /// Proof of knowing the secret, for one connection and one key.
    pub(crate) fn proof(&self, who: Prover, binding: &Binding, public_key: &[u8]) -> String {
        let tag = hmac::sign(&self.key(), &message(who, binding, public_key));
        hex::encode(tag.as_ref())
    }

    /// Whether the other side knows the secret.
    pub(crate) fn proves(
        &self,
        proof: &str,
        who: Prover,
        binding: &Binding,
        public_key: &[u8],
    ) -> bool {
        let Some(tag) = unhex(proof) else {
            return false;
        };
        hmac::verify(&self.key(), &message(who, binding, public_key), &tag).is_ok()
    }

    fn key(&self) -> hmac::Key {
        hmac::Key::new(hmac::HMAC_SHA256, self.secret.as_bytes())
    }
}

fn message(who: Prover, binding: &Binding, public_key: &[u8]) -> Vec<u8> {
    let who: &[u8] = match who {
        Prover::Agent => b"fathom join, agent",
        Prover::Coordinator => b"fathom join, coordinator",
    };
    [who, binding, public_key].concat()
}

/// A token as the coordinator keeps it.
#[derive(Serialize, Deserialize)]
struct StoredToken {
    secret: String,
    expires_unix_ns: u64,
}

impl CoordinatorKeys {
    fn tokens(&self) -> PathBuf {
        self.directory.join("tokens")
    }

    /// Makes a token that is good once, for so long.
    ///
    /// # Errors
    /// When it cannot be kept.
    pub fn make_token(&self, valid_for: Duration) -> Result<JoinToken, CredentialsError> {
        let mut random = [0; (NUMBER_CHARS + SECRET_CHARS) / 2];
        SystemRandom::new()
            .fill(&mut random)
            .map_err(|_| CredentialsError::NoRandomNumbers)?;
        let (number, secret) = random.split_at(NUMBER_CHARS / 2);
        let token = JoinToken {
            number: hex::encode(number),
            secret: hex::encode(secret),
        };
        let valid_ns = u64::try_from(valid_for.as_nanos()).unwrap_or(u64::MAX);
        let kept = StoredToken {
            secret: token.secret.clone(),
            expires_unix_ns: unix_now_ns().saturating_add(valid_ns),
        };
        make_directory(&self.tokens())?;
        let text = serde_json::to_string(&kept).map_err(CredentialsError::Encoding)?;
        write(&self.tokens(), &token.number, &text)?;
        Ok(token)
    }

    /// The token with this number, if it is still good.
    pub(crate) fn token(&self, number: &str) -> Result<JoinToken, TokenError> {
        let plain = number.len() == NUMBER_CHARS && number.bytes().all(|b| b.is_ascii_hexdigit());
        if !plain {
            return Err(TokenError::Malformed);
        }
        let file = self.tokens().join(number);
        let text = paths::on(&file, |file| fs::read_to_string(file));
        let text = text.map_err(|_| TokenError::Unknown)?;
        let kept: StoredToken = serde_json::from_str(&text).map_err(|_| TokenError::Damaged)?;
        if unix_now_ns() > kept.expires_unix_ns {
            return Err(TokenError::Expired);
        }
        Ok(JoinToken {
            number: number.to_owned(),
            secret: kept.secret,
        })
    }

    /// Uses a token up. Of several who try at the same time one succeeds.
    pub(crate) fn use_up(&self, token: &JoinToken) -> Result<(), TokenError> {
        let file = self.tokens().join(&token.number);
        paths::change(&file, |file| fs::remove_file(file)).map_err(|_| TokenError::Used)
    }
}

/// The bytes of a text in hexadecimal; others send it, so it is short or refused.
pub(crate) fn unhex(text: &str) -> Option<Vec<u8>> {
    let short = text.len() <= MOST_HEX_CHARS;
    short.then(|| hex::decode(text).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_survives_being_typed_and_never_shows_in_a_log() {
        let text = "fathom-join-0011aaff-000102030405060708090a0b0c0d0e0f";
        let token: JoinToken = format!(" {text}\n").parse().unwrap();
        assert_eq!(token.reveal(), text);
        assert_eq!(format!("{token:?}"), "JoinToken(0011aaff)");
        for wrong in [
            "",
            "fathom-join-0011aaff",
            "fathom-join-0011aaff-00",
            "fathom-join-0011aafg-000102030405060708090a0b0c0d0e0f",
            "fathom-join-../../..-000102030405060708090a0b0c0d0e0f",
        ] {
            assert!(wrong.parse::<JoinToken>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_proof_is_good_for_one_connection_one_key_and_one_side() {
        let token: JoinToken = "fathom-join-0011aaff-000102030405060708090a0b0c0d0e0f"
            .parse()
            .unwrap();
        let (one, two) = ([1; 32], [2; 32]);
        let proof = token.proof(Prover::Agent, &one, b"key");
        assert!(token.proves(&proof, Prover::Agent, &one, b"key"));
        assert!(!token.proves(&proof, Prover::Agent, &two, b"key"));
        assert!(!token.proves(&proof, Prover::Agent, &one, b"yek"));
        assert!(!token.proves(&proof, Prover::Coordinator, &one, b"key"));
        assert!(!token.proves("zz", Prover::Agent, &one, b"key"));
    }

    #[test]
    fn a_token_serves_once_and_not_after_its_time() {
        let directory = tempfile::tempdir().unwrap();
        let keys = CoordinatorKeys::create(directory.path()).unwrap();
        let token = keys.make_token(Duration::from_secs(60)).unwrap();
        assert_eq!(keys.token(&token.number).unwrap(), token);
        keys.use_up(&token).unwrap();
        assert!(keys.use_up(&token).is_err());
        assert_eq!(keys.token(&token.number), Err(TokenError::Unknown));
        let late = keys.make_token(Duration::ZERO).unwrap();
        assert_eq!(keys.token(&late.number), Err(TokenError::Expired));
        assert!(keys.token("../../x").is_err());
    }
}
