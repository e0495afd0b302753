//! The values that keys take. One type serves the plan file and the flags: it
//! knows how it is written, read, described and bounded.

mod block;
mod choice;
mod cpus;
mod distribution;
mod endpoints;
mod engine;
mod fail_if;
mod files;
mod mix;
mod number;
mod objects;
mod pace;
mod parts;
mod payload;
mod ranges;
mod rate;
mod replay;
mod shares;
mod slo;
mod text;
mod until;
mod zones;

pub use block::Blocks;
pub use choice::{
    AllocationChoice, ArrivalChoice, BetweenChoice, ChecksumChoice, HandoverChoice, HostDataChoice,
    HostTurnsChoice, OnErrorChoice, Order, PathsChoice, PreconditionChoice, RegionChoice, Rw,
    SyncChoice, VerifyByChoice, VerifyChoice, VisitChoice,
};
pub use cpus::CpuList;
pub use distribution::{DistributionValue, PatternValue};
pub use endpoints::EndpointsValue;
pub use fail_if::FailIfValue;
pub(crate) use files::operation;
pub use files::{FileSizesValue, OperationsValue};
pub use mix::Mix;
pub use number::{Count, Percent, Seconds, Size, Switch, Time};
pub use objects::{KeyLayoutValue, ObjectSizesValue, RequestsValue};
pub(crate) use pace::zone_fault;
pub use pace::{LatencyTargetValue, RatesValue, ZoneWalkValue};
pub use payload::ContentValue;
pub use ranges::RangeSyncValue;
pub use rate::RateValue;
pub use replay::{KindsValue, SpeedValue};
pub use shares::Shares;
pub use slo::SloValue;
pub use text::{Name, Targets};
pub use until::UntilValue;

use schemars::Schema;

use crate::diagnostic::{Problems, error};
use crate::node::{Node, Out};

/// A value of a key.
pub(crate) trait Value: Sized + Clone + PartialEq {
    /// What it is, for the reference: `size`, `time`, `number`, …
    const KIND: &'static str;

    /// Reads the value of a flag or a scalar. The error says what is wrong
    /// and gives an example.
    fn from_text(text: &str) -> Result<Self, String>;

    /// Reads a value of a plan file. Values that are more than one scalar
    /// override it.
    fn from_node(node: &Node, problems: &mut Problems) -> Option<Self> {
        let Some(text) = node.text() else {
            problems.push(
                error(
                    "wrong_type",
                    node.span,
                    format!("expected a {}, found {}", Self::KIND, node.describe()),
                )
                .help(format!("write {}", Self::example())),
            );
            return None;
        };
        match Self::from_text(text) {
            Ok(value) => Some(value),
            Err(message) => {
                problems.error("bad_value", node.span, message);
                None
            }
        }
    }

    /// Takes over what `over` says; sections key by key.
    fn update(&mut self, over: &Self) {
        self.clone_from(over);
    }

    /// The value as it is written to a plan file.
    fn to_out(&self) -> Out;

    /// The value as it is written in a flag.
    fn to_text(&self) -> String {
        match self.to_out() {
            Out::Text(text) => text,
            Out::Number(number) => number.to_string(),
            Out::Switch(on) => on.to_string(),
            Out::Row(_) | Out::List(_) | Out::Map(_) => String::new(),
        }
    }

    /// An example of a right value.
    fn example() -> &'static str;

    /// Its JSON Schema.
    fn schema() -> Schema;
}
