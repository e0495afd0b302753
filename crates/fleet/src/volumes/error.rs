//! What kept volumes from being made, found or removed.

use std::time::Duration;

use fathom_model::unit::span;

use crate::credentials::CredentialsError;
use crate::launchers::kubernetes_error::KubernetesError;
use crate::volumes::obstacle::Obstacle;

/// Why volumes cannot be made, used or removed.
#[derive(Debug, thiserror::Error)]
pub enum VolumeError {
    /// kubectl, or what the cluster says through it.
    #[error(transparent)]
    Kubernetes(#[from] KubernetesError),
    /// Names of what is made.
    #[error(transparent)]
    Credentials(#[from] CredentialsError),
    /// A class that is not there.
    #[error("the cluster has no storage class '{class}'; {}", these(known))]
    NoSuchClass {
        /// As it was typed.
        class: String,
        /// Those that there are.
        known: Vec<String>,
    },
    /// What will not pass by itself.
    #[error(transparent)]
    Obstacle(#[from] Obstacle),
    /// What might have passed.
    #[error(
        "{claim} is not ready after {}: {}; to wait longer: --wait TIME",
        span(waited.as_nanos() as u64),
        obstacle.as_ref().map_or_else(|| "the cluster says no reason".to_owned(), ToString::to_string)
    )]
    NotReady {
        /// Name of the Job and the claim.
        claim: String,
        /// How long it was waited for.
        waited: Duration,
        /// What was in the way at last.
        obstacle: Option<Box<Obstacle>>,
    },
    /// The user's wish.
    #[error("ended before all pods were ready")]
    Interrupted,
    /// What the cluster has not removed.
    #[error(
        "the cluster has not removed {} yet; `fathom kubernetes --cleanup` lists what is left",
        .0.join(", ")
    )]
    StillThere(Vec<String>),
}

impl VolumeError {
    /// Whether asking again is of no use.
    pub(super) fn is_lasting(&self) -> bool {
        let VolumeError::Kubernetes(error) = self else {
            return true;
        };
        matches!(
            error,
            KubernetesError::Forbidden(_) | KubernetesError::Start(_)
        )
    }
}

fn these(known: &[String]) -> String {
    match known {
        [] => "it has none at all: install a provisioner first".to_owned(),
        known => format!("name one of these: {}", known.join(", ")),
    }
}
