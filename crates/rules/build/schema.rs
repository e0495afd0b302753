//! What a table may say, and what it has to.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

/// A file with rules.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Table {
    pub(crate) version: u32,
    #[serde(rename = "rule")]
    pub(crate) rules: Vec<Rule>,
    #[serde(default)]
    pub(crate) missing: Vec<Missing>,
}

/// One rule; `src/rule.rs` says what each key means.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rule {
    pub(crate) id: String,
    pub(crate) name: Option<String>,
    pub(crate) title: String,
    pub(crate) axis: Option<String>,
    pub(crate) severity: Option<String>,
    pub(crate) detects: String,
    pub(crate) method: String,
    #[serde(default)]
    pub(crate) unit: String,
    #[serde(default)]
    pub(crate) below: bool,
    pub(crate) info: Option<f64>,
    pub(crate) caveat: Option<f64>,
    pub(crate) invalid: Option<f64>,
    pub(crate) upper: Option<f64>,
    pub(crate) threshold: Option<f64>,
    #[serde(default)]
    pub(crate) for_seconds: u64,
    #[serde(default)]
    pub(crate) parameters: BTreeMap<String, Parameter>,
    #[serde(default)]
    pub(crate) required: Vec<String>,
    pub(crate) needs: Option<String>,
    pub(crate) source: String,
    pub(crate) remedy: String,
    pub(crate) other_tools: Option<String>,
    pub(crate) since: Option<String>,
    pub(crate) quantity: Option<String>,
    #[serde(default)]
    pub(crate) read_from: Vec<String>,
    pub(crate) prometheus: Option<Prometheus>,
}

/// A number beside the thresholds.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Parameter {
    pub(crate) value: Number,
    /// Rust type of a whole number where it is not `usize`.
    #[serde(rename = "type")]
    pub(crate) integer: Option<String>,
    pub(crate) unit: String,
    pub(crate) grade: Option<String>,
    pub(crate) means: String,
    /// That of the rule where it has none of its own.
    pub(crate) source: Option<String>,
}

/// A number as the table has it.
#[derive(Deserialize)]
#[serde(untagged)]
pub(crate) enum Number {
    Whole(i64),
    Real(f64),
}

/// A rule in terms of an exporter's metrics.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Prometheus {
    pub(crate) exporter: String,
    pub(crate) expr: String,
}

/// What is not checked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Missing {
    pub(crate) what: String,
    pub(crate) reason: String,
}

const AXES: [&str; 2] = ["validity", "limiter"];
const SEVERITIES: [&str; 3] = ["critical", "warning", "info"];
const GRADES: [&str; 3] = ["info", "caveat", "invalid"];
const INTEGERS: [&str; 4] = ["u32", "u64", "i64", "usize"];

/// The table, or why it is none.
pub(crate) fn read(text: &str) -> Result<Table, String> {
    let table: Table = toml::from_str(text).map_err(|error| error.to_string())?;
    let mut seen = BTreeSet::new();
    for rule in &table.rules {
        check(rule).map_err(|error| format!("rule {}: {error}", rule.id))?;
        for name in [Some(&rule.id), rule.name.as_ref()].into_iter().flatten() {
            if !seen.insert(name.to_ascii_lowercase()) {
                return Err(format!("{name} stands for two rules"));
            }
        }
    }
    Ok(table)
}

fn check(rule: &Rule) -> Result<(), String> {
    let texts = [
        ("title", &rule.title),
        ("detects", &rule.detects),
        ("method", &rule.method),
        ("source", &rule.source),
        ("remedy", &rule.remedy),
    ];
    for (key, text) in texts {
        if text.len() <= 5 || text.contains('|') {
            return Err(format!("{key} is empty or breaks a table: '{text}'"));
        }
    }
    let word = rule
        .id
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || c == '-');
    if !word || !rule.id.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return Err("an id is made of letters, digits and hyphens".to_owned());
    }
    if rule.axis.is_some() == rule.severity.is_some() {
        return Err("it takes an axis or a severity".to_owned());
    }
    one_of("axis", rule.axis.as_deref(), &AXES)?;
    one_of("severity", rule.severity.as_deref(), &SEVERITIES)?;
    let limits = [
        rule.info,
        rule.caveat,
        rule.invalid,
        rule.upper,
        rule.threshold,
    ];
    if limits.iter().flatten().any(|limit| !limit.is_finite()) {
        return Err("a threshold is not a number".to_owned());
    }
    let graded = rule.info.or(rule.caveat).or(rule.invalid).is_some();
    if graded != rule.axis.is_some() || rule.threshold.is_some() && graded {
        return Err(
            "an axis goes with info, caveat and invalid, a severity with a threshold".into(),
        );
    }
    if (graded || rule.threshold.is_some()) == rule.unit.is_empty() {
        return Err("a threshold takes a unit, and a unit a threshold".to_owned());
    }
    let own = [
        "info",
        "caveat",
        "invalid",
        "upper",
        "threshold",
        "for_seconds",
    ];
    for (name, parameter) in &rule.parameters {
        if own.contains(&name.as_str()) {
            return Err(format!("{name} is a key of the rule itself"));
        }
        number(parameter).map_err(|error| format!("{name}: {error}"))?;
    }
    Ok(())
}

fn number(parameter: &Parameter) -> Result<(), String> {
    one_of("grade", parameter.grade.as_deref(), &GRADES)?;
    one_of("type", parameter.integer.as_deref(), &INTEGERS)?;
    let texts = [
        Some(&parameter.unit),
        Some(&parameter.means),
        parameter.source.as_ref(),
    ];
    if texts
        .into_iter()
        .flatten()
        .any(|text| text.is_empty() || text.contains('|'))
    {
        return Err("a unit, meaning or source is empty".to_owned());
    }
    match &parameter.value {
        Number::Whole(_) => Ok(()),
        Number::Real(value) if value.is_finite() && parameter.integer.is_none() => Ok(()),
        _ => Err("a value is a number, and a type is for whole ones".to_owned()),
    }
}

fn one_of(key: &str, value: Option<&str>, known: &[&str]) -> Result<(), String> {
    match value {
        Some(value) if !known.contains(&value) => {
            Err(format!("{key} '{value}' is none of {}", known.join(", ")))
        }
        _ => Ok(()),
    }
}
