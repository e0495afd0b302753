//! What is good enough.

use fathom_model::Slo;
use schemars::{Schema, json_schema};

use super::Value;
use crate::node::Out;

/// Conditions on latency and rates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SloValue(pub Slo);

impl Value for SloValue {
    const KIND: &'static str = "target to hold";

    fn from_text(text: &str) -> Result<Self, String> {
        let slo = text.parse::<Slo>();
        slo.map(SloValue).map_err(|error| error.to_string())
    }

    fn to_out(&self) -> Out {
        Out::Text(self.0.to_string())
    }

    fn example() -> &'static str {
        "p99<2ms"
    }

    fn schema() -> Schema {
        json_schema!({
            "description": "Conditions joined by `and`: p99<2ms, read.p99.9<5ms, mean<1ms, \
                            iops>10k, throughput>500MB/s.",
            "type": "string"
        })
    }
}
