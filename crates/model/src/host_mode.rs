//! What several hosts do beside one another: whose data each uses, and who
//! works when.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a schedule is spread over hosts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HostMode {
    /// Whose data each host uses.
    pub data: HostData,
    /// Who works when.
    pub turns: HostTurns,
}

impl HostMode {
    /// Whether it is anything but the default: the same work on every host, all
    /// at once.
    pub fn is_special(self) -> bool {
        self != HostMode::default()
    }
}

/// Whose data each host uses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HostData {
    /// The same work on every host, each with test files of its own.
    #[default]
    Own,
    /// One data set, of which each host has an equal part: of the asked-for
    /// size, files and bounds in a directory, of the range of a file or device.
    Divided,
    /// Each host has test files of its own, and who reads uses those of
    /// another one, so that nobody reads what it wrote.
    Rotated,
}

impl HostData {
    /// The word used in plans and flags.
    pub fn name(self) -> &'static str {
        match self {
            HostData::Own => "own",
            HostData::Divided => "divided",
            HostData::Rotated => "rotated",
        }
    }
}

/// Who works when.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HostTurns {
    /// All hosts at the same time.
    #[default]
    Together,
    /// One host after the other, each alone.
    OneByOne,
    /// The first host, the first two, the first four and so on, in the end all.
    Growing,
}

impl HostTurns {
    /// The word used in plans and flags.
    pub fn name(self) -> &'static str {
        match self {
            HostTurns::Together => "together",
            HostTurns::OneByOne => "one_by_one",
            HostTurns::Growing => "growing",
        }
    }
}

/// Which part of the hosts' data a trial uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HostPart {
    /// Whose test files: place of a host.
    pub whose: u32,
    /// Place of that host among those that take part.
    pub number: u32,
    /// How many hosts take part; at least 1.
    pub of: u32,
    /// Sizes and bounds are those of all hosts together.
    pub divided: bool,
}

/// 1, 2, 4, 8 and so on, in the end `most`. Empty for 0.
pub fn growing_numbers(most: usize) -> Vec<usize> {
    let powers = std::iter::successors(Some(1usize), |n| n.checked_mul(2));
    let mut numbers: Vec<usize> = powers.take_while(|n| *n < most).collect();
    numbers.extend((most > 0).then_some(most));
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_double_and_end_with_all() {
        assert!(growing_numbers(0).is_empty());
        assert_eq!(growing_numbers(1), [1]);
        assert_eq!(growing_numbers(4), [1, 2, 4]);
        assert_eq!(growing_numbers(6), [1, 2, 4, 6]);
    }
}
