//! The only kind of number that a report may print about a system.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Unit of an estimate, always a base unit; people-sized units are made when
/// a number is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Operations per second.
    OpsPerSecond,
    /// Bytes per second.
    BytesPerSecond,
    /// Nanoseconds.
    Nanoseconds,
    /// A share of one.
    Ratio,
    /// A plain count.
    Count,
    /// Bytes.
    Bytes,
}

/// A value with a 95 % confidence interval, or the reason why there is none.
///
/// `value` is missing when the data cannot support the number at all (a p99.9
/// from too few operations); `low` and `high` are missing when the number is a
/// fact of this run but says too little about the system behind it (a mean of
/// four seconds). In both cases `reason` says why, and `run_longer_ns` how
/// much more measuring would help, where that can be said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Estimate {
    /// Unit of `value`, `low` and `high`.
    pub unit: Unit,
    /// The number.
    pub value: Option<f64>,
    /// Lower end of the 95 % interval.
    pub low: Option<f64>,
    /// Upper end of the 95 % interval.
    pub high: Option<f64>,
    /// Independent observations that the data are worth after correction for
    /// autocorrelation.
    pub n_effective: Option<f64>,
    /// Why something above is missing.
    pub reason: Option<String>,
    /// How much longer the measure phase should be.
    pub run_longer_ns: Option<u64>,
}

impl Estimate {
    /// A value with its interval.
    pub fn known(unit: Unit, value: f64, low: f64, high: f64, n_effective: f64) -> Estimate {
        Estimate {
            unit,
            value: Some(value),
            low: Some(low),
            high: Some(high),
            n_effective: Some(n_effective),
            reason: None,
            run_longer_ns: None,
        }
    }

    /// A fact of this run without an interval, and why.
    pub fn point(unit: Unit, value: f64, reason: impl Into<String>) -> Estimate {
        Estimate {
            unit,
            value: Some(value),
            low: None,
            high: None,
            n_effective: None,
            reason: Some(reason.into()),
            run_longer_ns: None,
        }
    }

    /// No number, and why.
    pub fn unknown(unit: Unit, reason: impl Into<String>) -> Estimate {
        Estimate {
            unit,
            value: None,
            low: None,
            high: None,
            n_effective: None,
            reason: Some(reason.into()),
            run_longer_ns: None,
        }
    }

    /// The same estimate with a hint how much longer to measure.
    pub fn run_longer(mut self, nanoseconds: u64) -> Estimate {
        self.run_longer_ns = Some(nanoseconds);
        self
    }

    /// Half the width of the interval over the value.
    pub fn relative_half_width(&self) -> Option<f64> {
        match (self.value, self.low, self.high) {
            (Some(value), Some(low), Some(high)) if value != 0.0 => {
                Some((high - low) / 2.0 / value.abs())
            }
            _ => None,
        }
    }
}
