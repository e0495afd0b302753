//! Rules as one JSON document: the rows of the tables, as they are.

use fathom_rules::{Axis, Grade, Parameter, Rule, Severity, TABLES, TargetKind};
use schemars::JsonSchema;
use serde::Serialize;

/// Name and version of the document.
const RULES_SCHEMA: &str = "fathom.rules/1";

/// Rules of fathom's tables.
#[derive(Debug, Serialize, JsonSchema)]
struct RulesDocument<'a> {
    /// Name and version of this document.
    schema: &'static str,
    /// The rules, in the order of their tables.
    rules: Vec<RuleRow<'a>>,
}

/// One rule: a check, an alarm, or a decision of a diagnosis.
#[derive(Debug, Serialize, JsonSchema)]
struct RuleRow<'a> {
    /// Name of its table: `check`, `alarm`, `diagnosis`.
    table: &'a str,
    /// Version of the table; grows when a rule, threshold or method changes.
    table_version: u32,
    /// Stable: `V01`, `disk-space`.
    id: &'a str,
    /// Stable name in words; the id where that is words.
    name: &'a str,
    /// In a few plain words.
    title: &'a str,
    /// Of checks: which question it helps to answer, `validity` or `limiter`.
    axis: Option<&'static str>,
    /// Of others: `critical`, `warning` or `info`.
    severity: Option<&'static str>,
    /// What it finds and why that matters.
    detects: &'a str,
    /// How the measured value comes about.
    method: &'a str,
    /// Unit of the measured value and the thresholds; empty where a state decides.
    unit: &'a str,
    /// Which side of a threshold is bad: `above` or `below`.
    bad: &'static str,
    /// From here on worth knowing, without influence on validity.
    info: Option<f64>,
    /// From here on a caveat.
    caveat: Option<f64>,
    /// From here on invalid.
    invalid: Option<f64>,
    /// The other end of a range: values above it are a caveat as well.
    upper: Option<f64>,
    /// Of rules with a severity: from here on the rule fires; null where a state decides.
    threshold: Option<f64>,
    /// For how long it must hold, in seconds.
    for_seconds: u64,
    /// Further numbers that decide.
    parameters: Vec<ParameterRow<'a>>,
    /// Kinds of target on which a verdict of "trusted" rests on this check.
    required: Vec<&'static str>,
    /// What a required check needs in order to run.
    needs: Option<&'a str>,
    /// Who gives the measured value, where several can.
    read_from: &'a [&'a str],
    /// What to do.
    remedy: &'a str,
    /// What the user of another tool can do, where that differs.
    other_tools: Option<&'a str>,
    /// Public source of the method or the threshold.
    source: &'a str,
    /// Version of fathom that brought it.
    since: Option<&'a str>,
    /// The rule in terms of Prometheus.
    prometheus: Option<PrometheusRow<'a>>,
}

/// A number beside the thresholds of a rule.
#[derive(Debug, Serialize, JsonSchema)]
struct ParameterRow<'a> {
    /// Name within the rule.
    name: &'a str,
    /// The number.
    value: f64,
    /// Its unit; `share` is 0 to 1.
    unit: &'a str,
    /// The outcome that it decides, where it decides one by itself.
    grade: Option<&'static str>,
    /// What it is.
    means: &'a str,
    /// Where it is from.
    source: &'a str,
}

/// A rule in terms of an exporter's metrics.
#[derive(Debug, Serialize, JsonSchema)]
struct PrometheusRow<'a> {
    /// Who exports the metrics.
    exporter: &'a str,
    /// The expression, with the threshold in it.
    expr: String,
}

/// The rules as JSON.
///
/// # Errors
/// Only when serialisation itself fails.
pub fn json(rules: &[&Rule]) -> crate::Result<String> {
    let document = RulesDocument {
        schema: RULES_SCHEMA,
        rules: rules.iter().map(|rule| row(rule)).collect(),
    };
    Ok(fathom_model::indented_json(&document)? + "\n")
}

/// The JSON Schema of [`json`]'s document.
///
/// # Errors
/// Only when serialisation itself fails.
pub fn schema() -> crate::Result<String> {
    crate::json::schema_of::<RulesDocument<'_>>(RULES_SCHEMA, "fathom rules")
}

fn row(rule: &Rule) -> RuleRow<'_> {
    let table = TABLES.iter().find(|table| table.name == rule.table);
    RuleRow {
        table: rule.table,
        table_version: table.map_or(0, |table| table.version),
        id: rule.id,
        name: rule.name,
        title: rule.title,
        axis: rule.axis.map(Axis::name),
        severity: rule.severity.map(Severity::name),
        detects: rule.detects,
        method: rule.method,
        unit: rule.unit,
        bad: if rule.below { "below" } else { "above" },
        info: rule.info,
        caveat: rule.caveat,
        invalid: rule.invalid,
        upper: rule.upper,
        threshold: rule.threshold,
        for_seconds: rule.for_seconds,
        parameters: rule.parameters.iter().map(parameter).collect(),
        required: rule
            .required
            .iter()
            .copied()
            .map(TargetKind::words)
            .collect(),
        needs: rule.needs,
        read_from: rule.read_from,
        remedy: rule.remedy,
        other_tools: rule.other_tools,
        source: rule.source,
        since: rule.since,
        prometheus: rule.prometheus.as_ref().map(|metrics| PrometheusRow {
            exporter: metrics.exporter,
            expr: super::expression(rule, metrics),
        }),
    }
}

fn parameter(parameter: &Parameter) -> ParameterRow<'_> {
    ParameterRow {
        name: parameter.name,
        value: parameter.value,
        unit: parameter.unit,
        grade: parameter.grade.map(Grade::name),
        means: parameter.means,
        source: parameter.source,
    }
}
