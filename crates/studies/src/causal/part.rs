//! How the test is made, and what was seen in a part of it.

/// How the test is made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CausalDesign {
    /// Blocks of four parts, at least `LEAST_BLOCKS` of the rule.
    pub blocks: u32,
    /// Length of a part in seconds.
    pub part_seconds: f64,
    /// By how much the volume is made smaller, above 0 and below 1.
    pub throttle: f64,
    /// Of the order of parts.
    pub seed: u64,
}

/// What was seen in one part.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct CausalPart {
    /// Whether the limit was on.
    pub(super) limited: bool,
    /// Progress per second.
    pub(super) progress: f64,
    /// Operations per second.
    pub(super) operations: Option<f64>,
}
