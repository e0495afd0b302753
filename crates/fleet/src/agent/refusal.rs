//! Why an agent does not carry out a trial.

use crate::admission::{AdmissionError, PolicyError};
use crate::agent::host_part::HostPartError;

/// Why a trial is not carried out on this host.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TrialRefusal {
    /// The coordinator sent what no agent accepts.
    #[error("this agent refuses the trial: {0}")]
    Inadmissible(AdmissionError),
    /// The owner of the host does not allow it.
    #[error(transparent)]
    Forbidden(#[from] PolicyError),
    /// Its data cannot be divided among hosts.
    #[error(transparent)]
    Indivisible(#[from] HostPartError),
}
