//! Rules as data: each table is compiled in and read once. Code holds no
//! threshold of its own, and the pages of documentation are written from the
//! same text.

use std::sync::LazyLock;

use serde::Deserialize;

/// A table of rules.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuleTable {
    /// Grows when a rule or threshold changes.
    pub version: u32,
    /// The rules, in the order of the table.
    #[serde(rename = "rule")]
    pub rules: Vec<Rule>,
}

/// One rule.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Its name, never used for another: `disk-space`.
    pub name: String,
    /// In a few words.
    pub title: String,
    /// What it finds and why that matters.
    pub detects: String,
    /// How it is computed, and from what.
    pub computed: String,
    /// Unit of the threshold; empty where there is none.
    #[serde(default)]
    pub unit: String,
    /// From here on it speaks; absent where a state and not a number decides.
    pub threshold: Option<f64>,
    /// Whether values under the threshold are bad.
    #[serde(default)]
    pub below: bool,
    /// For how long it must hold, in seconds.
    #[serde(default)]
    pub for_seconds: u64,
    /// How grave it is: `critical`, `warning`, `info`.
    pub severity: String,
    /// Where the rule comes from.
    pub source: String,
    /// What to do.
    pub remedy: String,
    /// What is read for it, where a reader gives numbers by name.
    pub quantity: Option<String>,
    /// Which readers give it: `host`, `recording`, …
    #[serde(default)]
    pub told_by: Vec<String>,
    /// The same for Prometheus.
    pub prometheus: Option<PrometheusRule>,
}

/// A rule in terms of metrics of an exporter.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PrometheusRule {
    /// Who exports the metrics: `node_exporter`, `ceph-mgr`, …
    pub exporter: String,
    /// The expression, without the threshold's comparison where `{threshold}`
    /// stands for the number.
    pub expr: String,
}

impl Rule {
    /// The threshold; rules that are asked for one have it, which a test checks.
    pub(crate) fn limit(&self) -> f64 {
        self.threshold.unwrap_or(f64::INFINITY)
    }
}

impl RuleTable {
    /// The rule of this name.
    pub fn find(&self, name: &str) -> Option<&Rule> {
        self.rules.iter().find(|rule| rule.name == name)
    }
}

fn parsed(text: &str, file: &str) -> RuleTable {
    match toml::from_str(text) {
        Ok(table) => table,
        // Compiled in and tested, so this is never seen.
        Err(error) => unreachable!("{file}: {error}"),
    }
}

static STACK: LazyLock<RuleTable> =
    LazyLock::new(|| parsed(include_str!("../../rules/tables/stack.toml"), "stack.toml"));

static ALARMS: LazyLock<RuleTable> =
    LazyLock::new(|| parsed(include_str!("../../rules/tables/alarm.toml"), "alarms.toml"));

/// The alarms.
pub fn alarm_rules() -> &'static RuleTable {
    &ALARMS
}

static CLUSTER: LazyLock<RuleTable> =
    LazyLock::new(|| parsed(include_str!("../../rules/tables/cluster.toml"), "cluster.toml"));

/// The rules for dumps of clusters.
pub fn cluster_rules() -> &'static RuleTable {
    &CLUSTER
}

static DIAGNOSIS: LazyLock<RuleTable> =
    LazyLock::new(|| parsed(include_str!("../../rules/tables/diagnosis.toml"), "diagnosis.toml"));

/// The rules of `fathom diagnose`.
pub fn diagnosis_rules() -> &'static RuleTable {
    &DIAGNOSIS
}

/// The threshold of a rule of `fathom diagnose`. Names are constants of the code,
/// and a test asks for each.
pub(crate) fn diagnosis_limit(name: &str) -> f64 {
    diagnosis_rules().find(name).map_or(f64::NAN, Rule::limit)
}

/// The rules of `fathom stack`.
pub fn stack_rules() -> &'static RuleTable {
    &STACK
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decisions_find_their_thresholds() {
        for name in [
            "hung-device",
            "in-use",
            "unseen-stall",
            "ceiling-contradicted",
            "least-evidence",
            "slow-device",
            "load-average",
        ] {
            assert!(diagnosis_limit(name).is_finite(), "{name}");
        }
    }

    #[test]
    fn tables_are_whole() {
        let all = [
            stack_rules(),
            alarm_rules(),
            cluster_rules(),
            diagnosis_rules(),
        ];
        for table in all {
            let mut names: Vec<&str> = table.rules.iter().map(|r| r.name.as_str()).collect();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), table.rules.len(), "a name is used twice");
            for rule in &table.rules {
                let name = &rule.name;
                assert!(
                    rule.threshold.is_none() == rule.unit.is_empty(),
                    "{name}: unit"
                );
                let severity = ["critical", "warning", "info"].contains(&rule.severity.as_str());
                assert!(severity, "{name}: severity");
                for text in [&rule.detects, &rule.computed, &rule.remedy, &rule.source] {
                    assert!(text.len() > 5, "{name}: {text}");
                }
            }
        }
    }
}
