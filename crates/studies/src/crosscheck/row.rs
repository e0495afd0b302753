//! What was measured of one workload, pair by pair.

use fathom_model::run::TrialRecord;

use super::figures::CrossSide;

/// What the other tool gave in one pair.
pub(super) struct PeerResult {
    /// Number of the row, from 0.
    pub(super) row: usize,
    /// Number of the pair, from 0.
    pub(super) pair: u32,
    pub(super) side: CrossSide,
}

/// One pair of trials. Either may be missing.
#[derive(Debug, Clone, Copy)]
pub(super) struct CrossPair<'a> {
    /// Number of the pair, from 0.
    pub(super) pair: u32,
    /// The other tool ran before fathom.
    pub(super) peer_first: bool,
    /// fathom's trial.
    pub(super) fathom: Option<&'a TrialRecord>,
    /// What the other tool gave.
    pub(super) peer: Option<&'a CrossSide>,
}

/// All pairs of one workload on one target.
#[derive(Debug, Clone)]
pub(super) struct CrossRow<'a> {
    /// What it is called.
    pub(super) label: String,
    /// What was measured.
    pub(super) target: String,
    /// What the other tool is known to do otherwise, in words.
    pub(super) differences: Vec<String>,
    /// The pairs in order.
    pub(super) pairs: Vec<CrossPair<'a>>,
}

/// A pair of whole trials.
pub(super) struct WholePair {
    /// Number of the pair, from 0.
    pub(super) pair: u32,
    /// The other tool ran before fathom.
    pub(super) peer_first: bool,
    pub(super) fathom: CrossSide,
    pub(super) peer: CrossSide,
}
