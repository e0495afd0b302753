//! The text that Prometheus scrapes (exposition format 0.0.4).

use std::fmt::Write;

use super::{BOUNDS, FAMILIES, FamilyKind, Labels, Metrics, Value, bound_seconds};

impl Metrics {
    /// All metrics as Prometheus reads them.
    pub fn to_prometheus(&self) -> String {
        let mut out = String::new();
        for family in FAMILIES {
            let series = self.of_family(family.name);
            if series.is_empty() {
                continue;
            }
            let name = family.name;
            let kind = match family.kind {
                FamilyKind::Counter => "counter",
                FamilyKind::Gauge => "gauge",
                FamilyKind::Histogram => "histogram",
            };
            let _ = writeln!(out, "# HELP {name} {}", family.help);
            let _ = writeln!(out, "# TYPE {name} {kind}");
            for (labels, value) in series {
                write_series(&mut out, name, labels, &value);
            }
        }
        out
    }
}

fn write_series(out: &mut String, name: &str, labels: &Labels, value: &Value) {
    match value {
        Value::Number(number) => {
            let _ = writeln!(out, "{name}{} {number}", braces(labels, None));
        }
        Value::Counts(counts) => {
            let mut below = 0;
            for (bucket, count) in counts.buckets.iter().enumerate() {
                below += count;
                let bound = match bucket < BOUNDS {
                    true => bound_seconds(bucket).to_string(),
                    false => "+Inf".to_owned(),
                };
                let labels = braces(labels, Some(&bound));
                let _ = writeln!(out, "{name}_bucket{labels} {below}");
            }
            let labels = braces(labels, None);
            let sum = counts.sum_ns as f64 / 1e9;
            let _ = writeln!(out, "{name}_sum{labels} {sum}");
            let _ = writeln!(out, "{name}_count{labels} {}", counts.count);
        }
    }
}

fn braces(labels: &Labels, bound: Option<&str>) -> String {
    let parts = labels
        .iter()
        .map(|(name, value)| format!("{name}=\"{}\"", escaped(value)))
        .chain(bound.map(|bound| format!("le=\"{bound}\"")));
    let parts: Vec<String> = parts.collect();
    match parts.is_empty() {
        true => String::new(),
        false => format!("{{{}}}", parts.join(",")),
    }
}

fn escaped(value: &str) -> String {
    value
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}
