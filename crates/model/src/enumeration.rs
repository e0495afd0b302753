//! How listing scales with the number of entries: what `fathom enumerate`
//! gives.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::estimate::Estimate;
use crate::op::OpKind;

/// Listings of directories of growing size.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Enumeration {
    /// What was measured, by kind of listing and then by entries.
    pub points: Vec<EnumerationPoint>,
    /// How the time of a listing grows, by kind of listing.
    pub growth: Vec<EnumerationGrowth>,
    /// What that says, in sentences.
    pub answers: Vec<String>,
}

/// Listings of one directory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EnumerationPoint {
    /// Row of the run.
    pub row: u32,
    /// Names alone, or names with the facts of each.
    pub kind: OpKind,
    /// Entries of the directory.
    pub entries: u64,
    /// Listings that were measured.
    pub listings: u64,
    /// Mean time of a listing.
    pub listing_ns: Estimate,
    /// The shortest.
    pub fastest_ns: Option<u64>,
}

/// How the time of a listing grows with the entries.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EnumerationGrowth {
    /// Of which kind of listing.
    pub kind: OpKind,
    /// The exponent: 1 is in proportion.
    pub exponent: Estimate,
    /// Directories from which it follows.
    pub points: u32,
}
