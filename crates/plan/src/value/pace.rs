//! Values of keys that say how a load moves and keeps pace: zones, rates by
//! kind of operation, and a latency that the depth adapts to.

use fathom_model::unit::bytes_exact;
use fathom_model::workload::{Arrival, ByKind, LatencyTarget, Rate, ZoneWalk};
use schemars::{Schema, json_schema};

use super::{RateValue, Seconds, Size, Time, Value};
use crate::node::Out;

/// How long each depth is tried, where nothing is said.
const USUAL_WINDOW_NS: u64 = 5_000_000_000;

/// Zones as written: `256m` (one zone after the other), `16m/64m` (64 MiB are
/// moved in each zone of 16 MiB), `256m+2g` (2 GiB between two zones).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ZoneWalkValue(pub ZoneWalk);

impl Value for ZoneWalkValue {
    const KIND: &'static str = "zones";

    fn from_text(text: &str) -> Result<Self, String> {
        let (zones, skip) = text.split_once('+').unwrap_or((text, "0"));
        let (zone, stay) = zones.split_once('/').unwrap_or((zones, zones));
        let size = |part: &str| Size::from_text(part.trim()).map(|size| size.0);
        let walk = ZoneWalk {
            zone_bytes: size(zone)?,
            stay_bytes: size(stay)?,
            skip_bytes: size(skip)?,
        };
        match walk.zone_bytes > 0 && walk.stay_bytes > 0 {
            true => Ok(ZoneWalkValue(walk)),
            false => Err(format!(
                "'{text}': a zone holds something; write for example 256m+2g"
            )),
        }
    }

    fn to_out(&self) -> Out {
        let size = |bytes: u64| Size(bytes).to_text();
        let ZoneWalk {
            zone_bytes,
            stay_bytes,
            skip_bytes,
        } = self.0;
        let mut text = size(zone_bytes);
        if stay_bytes != zone_bytes {
            text += &format!("/{}", size(stay_bytes));
        }
        if skip_bytes > 0 {
            text += &format!("+{}", size(skip_bytes));
        }
        Out::Text(text)
    }

    fn example() -> &'static str {
        "256m+2g"
    }

    fn schema() -> Schema {
        json_schema!({
            "description": "Length of a zone, what is moved in each after a /, what lies between two after a +: 16m/64m+1g.",
            "type": "string"
        })
    }
}

/// Rates of reads, writes and trims, as written: `50MiB/s,1000/s`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RatesValue(pub ByKind<RateValue>);

impl RatesValue {
    /// The rates of all workers; `times` where they count for each.
    pub(crate) fn rates(&self, arrival: Arrival, times: u32) -> ByKind<Rate> {
        let of = |rate: Option<RateValue>| {
            rate.map(|rate| Rate {
                per_second: rate.per_second * f64::from(times.max(1)),
                unit: rate.unit,
                arrival,
            })
        };
        ByKind {
            read: of(self.0.read),
            write: of(self.0.write),
            trim: of(self.0.trim),
        }
    }
}

impl Value for RatesValue {
    const KIND: &'static str = "rates";

    fn from_text(text: &str) -> Result<Self, String> {
        let parts: Vec<&str> = text.split(',').map(str::trim).collect();
        if !(2..=3).contains(&parts.len()) {
            return Err(format!(
                "'{text}' gives {} rates; write those of reads, writes and trims, for example \
                 50MiB/s,1000/s",
                parts.len()
            ));
        }
        let of = |at: usize| match parts.get(at) {
            None | Some(&"") => Ok(None),
            Some(part) => {
                let rate = RateValue::from_text(part)?;
                match rate.per_second > 0.0 {
                    true => Ok(Some(rate)),
                    false => Err(format!("'{part}' is not a rate above 0")),
                }
            }
        };
        Ok(RatesValue(ByKind {
            read: of(0)?,
            write: of(1)?,
            trim: of(2)?,
        }))
    }

    fn to_out(&self) -> Out {
        let text = |rate: Option<RateValue>| rate.map_or(String::new(), |rate| rate.to_text());
        let mut all = vec![text(self.0.read), text(self.0.write)];
        if self.0.trim.is_some() {
            all.push(text(self.0.trim));
        }
        Out::Text(all.join(","))
    }

    fn example() -> &'static str {
        "50MiB/s,1000/s"
    }

    fn schema() -> Schema {
        json_schema!({
            "description": "Rates of reads, writes and trims: 50MiB/s,1000/s.",
            "type": "string",
            "pattern": ","
        })
    }
}

/// A latency that the depth adapts to, as written: `p99<2ms over 5s`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LatencyTargetValue(pub LatencyTarget);

impl Value for LatencyTargetValue {
    const KIND: &'static str = "latency";

    fn from_text(text: &str) -> Result<Self, String> {
        let wrong =
            || format!("'{text}' is not a latency to keep; write for example p99<2ms over 5s");
        let (target, window) = match text.split_once(" over ") {
            Some((target, window)) => (target, Some(window)),
            None => (text, None),
        };
        let (share, latency) = target.split_once('<').ok_or_else(wrong)?;
        let share = share.trim().strip_prefix(['p', 'P']).ok_or_else(wrong)?;
        let plain = |c: char| c.is_ascii_digit() || c == '.';
        let percentile = share
            .parse::<f64>()
            .ok()
            .filter(|_| share.chars().all(plain));
        let percentile = percentile.filter(|p| *p > 0.0 && *p <= 100.0);
        let latency_ns = Time::from_text(latency.trim())?.0;
        let window_ns = match window {
            Some(window) => Seconds::from_text(window.trim())?.0,
            None => USUAL_WINDOW_NS,
        };
        if latency_ns == 0 || window_ns == 0 {
            return Err(wrong());
        }
        Ok(LatencyTargetValue(LatencyTarget {
            latency_ns,
            window_ns,
            percentile: percentile.ok_or_else(wrong)?,
            goes_on: true,
        }))
    }

    fn to_out(&self) -> Out {
        let target = self.0;
        let latency = Time(target.latency_ns).to_text();
        let window = Seconds(target.window_ns).to_text();
        Out::Text(format!("p{}<{latency} over {window}", target.percentile))
    }

    fn example() -> &'static str {
        "p99<2ms over 5s"
    }

    fn schema() -> Schema {
        json_schema!({
            "description": "A share of operations, the latency that they keep within, and how long each depth is tried: p99<2ms over 5s.",
            "type": "string",
            "pattern": "^ *[pP][0-9.]+ *<"
        })
    }
}

/// Whether a zone has room for blocks, in words if not.
pub(crate) fn zone_fault(walk: &ZoneWalk, block_bytes: u64) -> Option<String> {
    (walk.zone_bytes < block_bytes).then(|| {
        format!(
            "a zone of {} is smaller than a block of {}",
            bytes_exact(walk.zone_bytes),
            bytes_exact(block_bytes)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_are_read_and_written() {
        for text in ["256m", "16m/64m", "256m+2g", "4k/1m+8k"] {
            assert_eq!(ZoneWalkValue::from_text(text).unwrap().to_text(), text);
        }
        assert!(ZoneWalkValue::from_text("0").is_err());
        assert!(ZoneWalkValue::from_text("").is_err());
        assert!(ZoneWalkValue::from_text("1m/0").is_err());
    }

    #[test]
    fn rates_of_kinds_are_read_and_written() {
        for text in ["50MiB/s,1000/s", ",1000/s", "5/s,6/s,7/s"] {
            assert_eq!(RatesValue::from_text(text).unwrap().to_text(), text);
        }
        let rates = RatesValue::from_text("5/s,6/s").unwrap();
        let each = rates.rates(Arrival::Constant, 3);
        assert_eq!(each.write.map(|rate| rate.per_second), Some(18.0));
        for text in ["5/s", "1/s,2/s,3/s,4/s", "0/s,1/s", "x,y"] {
            assert!(RatesValue::from_text(text).is_err(), "{text}");
        }
    }

    #[test]
    fn latencies_to_keep_are_read_and_written() {
        for text in ["p99<2ms over 5s", "p99.9<500us over 10s"] {
            assert_eq!(LatencyTargetValue::from_text(text).unwrap().to_text(), text);
        }
        let usual = LatencyTargetValue::from_text("p90<1ms").unwrap();
        assert_eq!(usual.0.window_ns, USUAL_WINDOW_NS);
        for text in [
            "2ms",
            "p0<1ms",
            "p101<1ms",
            "p99<0",
            "p99<1ms over 0s",
            "pNaN<1ms",
        ] {
            assert!(LatencyTargetValue::from_text(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_zone_holds_a_block() {
        let walk = ZoneWalkValue::from_text("4k").unwrap().0;
        assert!(zone_fault(&walk, 8192).is_some() && zone_fault(&walk, 4096).is_none());
    }
}
