//! The JSON that OpenTelemetry collectors take (OTLP/HTTP, `/v1/metrics`).
//! 64-bit whole numbers are texts there, as its protocol has them.

use serde_json::{Value as Json, json};

use super::{BOUNDS, FAMILIES, FamilyKind, Labels, Metrics, Value, bound_seconds};

/// Sums that count from the beginning of the run.
const CUMULATIVE: u32 = 2;

impl Metrics {
    /// All metrics at a time, of a run that began at another; both in
    /// nanoseconds since 1970-01-01 UTC.
    pub fn to_otlp(&self, started_unix_ns: u64, now_unix_ns: u64) -> String {
        let times = (started_unix_ns.to_string(), now_unix_ns.to_string());
        let metrics: Vec<Json> = FAMILIES
            .into_iter()
            .filter_map(|family| {
                let series = self.of_family(family.name);
                let points = series
                    .iter()
                    .map(|(labels, value)| point(labels, value, &times));
                let points: Vec<Json> = points.collect();
                if points.is_empty() {
                    return None;
                }
                let (field, data) = match family.kind {
                    FamilyKind::Gauge => ("gauge", json!({ "dataPoints": points })),
                    FamilyKind::Counter => (
                        "sum",
                        json!({
                            "dataPoints": points,
                            "aggregationTemporality": CUMULATIVE,
                            "isMonotonic": true,
                        }),
                    ),
                    FamilyKind::Histogram => (
                        "histogram",
                        json!({
                            "dataPoints": points,
                            "aggregationTemporality": CUMULATIVE,
                        }),
                    ),
                };
                Some(json!({
                    "name": family.name,
                    "description": family.help,
                    field: data,
                }))
            })
            .collect();
        json!({
            "resourceMetrics": [{
                "resource": {
                    "attributes": [attribute("service.name", "fathom")],
                },
                "scopeMetrics": [{
                    "scope": { "name": "fathom", "version": env!("CARGO_PKG_VERSION") },
                    "metrics": metrics,
                }],
            }],
        })
        .to_string()
    }
}

fn point(labels: &Labels, value: &Value, (started, now): &(String, String)) -> Json {
    let attributes = labels.iter().map(|(name, value)| attribute(name, value));
    let mut point = json!({
        "attributes": attributes.collect::<Vec<Json>>(),
        "startTimeUnixNano": started,
        "timeUnixNano": now,
    });
    match value {
        Value::Number(number) => point["asDouble"] = json!(number),
        Value::Counts(counts) => {
            let bounds: Vec<f64> = (0..BOUNDS).map(bound_seconds).collect();
            let buckets = counts.buckets.iter().map(u64::to_string);
            point["count"] = json!(counts.count.to_string());
            point["sum"] = json!(counts.sum_ns as f64 / 1e9);
            point["explicitBounds"] = json!(bounds);
            point["bucketCounts"] = json!(buckets.collect::<Vec<String>>());
        }
    }
    point
}

fn attribute(name: &str, value: &str) -> Json {
    json!({ "key": name, "value": { "stringValue": value } })
}
