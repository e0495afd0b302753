//! Alarms: rules with thresholds, and what they say of a host.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Format of alarms as JSON.
pub const ALARMS_SCHEMA: &str = "fathom.alarms/1";

/// What all rules say.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Alarms {
    /// [`ALARMS_SCHEMA`].
    pub schema: String,
    /// The host or recording.
    pub host: String,
    /// Where the numbers come from, in words.
    pub sources: Vec<String>,
    /// Seconds that were watched or recorded; 0 where only states were read.
    pub seconds: f64,
    /// Version of the table of rules.
    pub table_version: u32,
    /// One entry for each rule, those that fire first.
    pub alarms: Vec<Alarm>,
    /// What was read, by quantity and instance.
    #[serde(default)]
    pub readings: Vec<AlarmReading>,
    /// What could not be read, and what is missing of a recording.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// The numbers of one quantity of one instance.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AlarmReading {
    /// What it is, as in [`crate::machine::HostReading::quantity`].
    pub quantity: String,
    /// Of what; empty for the host.
    pub instance: String,
    /// Mean over time, of states the last one.
    pub mean: f64,
    /// Smallest.
    pub least: f64,
    /// Largest.
    pub most: f64,
    /// Seconds that were seen; 0 of states at a moment.
    pub seconds: f64,
}

/// State of an alarm.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum AlarmState {
    /// The threshold was crossed for as long as the rule asks.
    Firing,
    /// It was not.
    Ok,
    /// Nothing tells, or too short a time was seen; the reason is given.
    #[default]
    NotMeasurable,
}

/// What one rule says.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Alarm {
    /// Name of the rule.
    pub rule: String,
    /// In a few words.
    pub title: String,
    /// `critical`, `warning`, `info`.
    pub severity: String,
    /// State over all instances: the worst.
    pub state: AlarmState,
    /// Why, in words.
    pub reason: String,
    /// Unit of values.
    pub unit: String,
    /// The threshold.
    pub threshold: f64,
    /// Whether values below the threshold are bad.
    pub below: bool,
    /// For how long it must be crossed, seconds.
    pub for_seconds: u64,
    /// Instances that fire, or that cannot be decided, worst first.
    pub instances: Vec<AlarmInstance>,
    /// What to do.
    pub remedy: String,
}

/// One device, interface or mount of an alarm.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AlarmInstance {
    /// Its name; empty for the host.
    pub name: String,
    /// Its state.
    pub state: AlarmState,
    /// The worst value that was seen for long enough, or at all.
    pub value: f64,
    /// For how long the threshold was crossed at a stretch, seconds.
    pub crossed_seconds: f64,
}
