//! What ends a trial as failed: `iops<1000, latency>20ms`.

use fathom_model::unit::{parse_count, parse_duration};
use fathom_model::workload::{FailIf, RateUnit};
use schemars::{Schema, json_schema};

use super::rate::RateValue;
use super::{Time, Value};
use crate::node::Out;

/// Conditions as written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FailIfValue(pub FailIf);

const KNOWN: &str = "iops<1000, throughput<50MiB/s or latency>20ms";

impl Value for FailIfValue {
    const KIND: &'static str = "conditions";

    fn from_text(text: &str) -> Result<Self, String> {
        let mut rule = FailIf::default();
        for condition in text.split(',').flat_map(|part| part.split(" and ")) {
            add(&mut rule, condition.trim())?;
        }
        Ok(FailIfValue(rule))
    }

    fn to_out(&self) -> Out {
        let rule = &self.0;
        let bytes = rule.bytes_per_second_below.map(|per_second| {
            let unit = RateUnit::Bytes;
            let rate = RateValue { per_second, unit };
            format!("throughput<{}", rate.to_text())
        });
        let parts = [
            rule.ops_per_second_below.map(|ops| format!("iops<{ops}")),
            bytes,
            rule.latency_above_ns
                .map(|ns| format!("latency>{}", Time(ns).to_text())),
        ];
        Out::Text(parts.into_iter().flatten().collect::<Vec<_>>().join(", "))
    }

    fn example() -> &'static str {
        "iops<1000"
    }

    fn schema() -> Schema {
        json_schema!({
            "description": "Conditions joined by commas or `and`: iops<NUMBER, throughput<RATE, latency>TIME.",
            "type": "string",
            "pattern": "^.*[<>].*$"
        })
    }
}

fn add(rule: &mut FailIf, condition: &str) -> Result<(), String> {
    let wrong = || format!("'{condition}' is not a condition; write {KNOWN}");
    let twice = || format!("'{condition}' is a second condition of its kind");
    if let Some((name, floor)) = condition.split_once('<') {
        let floor = floor.trim();
        let (slot, value) = match name.trim() {
            "iops" => {
                let value = parse_count(floor).map_err(|_| wrong())? as f64;
                (&mut rule.ops_per_second_below, value)
            }
            "throughput" | "bandwidth" | "bw" => {
                let rate = RateValue::from_text(floor).map_err(|_| wrong())?;
                if rate.unit != RateUnit::Bytes {
                    return Err(wrong());
                }
                (&mut rule.bytes_per_second_below, rate.per_second)
            }
            _ => return Err(wrong()),
        };
        if value <= 0.0 {
            return Err(wrong());
        }
        return match slot.replace(value) {
            None => Ok(()),
            Some(_) => Err(twice()),
        };
    }
    let limit = match condition.split_once('>') {
        Some((name, limit)) if name.trim() == "latency" => limit.trim(),
        _ => return Err(wrong()),
    };
    let limit_ns = parse_duration(limit).map_err(|_| wrong())?;
    match rule.latency_above_ns.replace(limit_ns) {
        _ if limit_ns == 0 => Err(wrong()),
        None => Ok(()),
        Some(_) => Err(twice()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_read_back_as_written() {
        for text in [
            "iops<1000",
            "throughput<50MiB/s",
            "latency>20ms",
            "iops<1000, throughput<50MiB/s, latency>20ms",
        ] {
            assert_eq!(FailIfValue::from_text(text).unwrap().to_text(), text);
        }
        let joined = FailIfValue::from_text("iops<1k and latency>1s").unwrap();
        assert_eq!(joined.to_text(), "iops<1000, latency>1s");
    }

    #[test]
    fn what_is_no_condition_is_refused() {
        for text in [
            "",
            "iops",
            "iops>5",
            "iops<0",
            "latency<5ms",
            "latency>5",
            "latency>0",
            "throughput<5/s",
            "iops<5, iops<6",
            "latency>1s,latency>2s",
            "iops<x",
        ] {
            assert!(FailIfValue::from_text(text).is_err(), "{text}");
        }
    }
}
