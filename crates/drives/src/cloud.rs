//! A cloud volume: caps on operations and bytes per second that make excess
//! load wait (generic cell rate algorithm), with credits saved in quiet times
//! that allow a burst; then a network round trip with a log-normal tail.

use fathom_model::OpKind;
use fathom_model::rng::derive_seed;

use super::log_normal::LogNormal;
use super::mechanism::Mechanism;
use super::parameter::{Parameter, Parameters};
use super::throttle::Throttled;
use super::truth::{Expected, Inside};
use super::{MIB, SimAnswer, SimEnd, SimOp};

#[rustfmt::skip]
pub(super) const PARAMETERS: &[Parameter] = &[
    Parameter::size(1e12),
    Parameter::number("iops", 3000.0, 0.001, 1e9, "lasting cap on operations per second"),
    Parameter::number("mibs", 125.0, 0.001, 1e7, "lasting cap on throughput, MiB/s"),
    Parameter::number("burst_s", 0.0, 0.0, 1e6, "credits that can be saved, in seconds at the lasting caps"),
    Parameter::number("credit_ops", 0.0, 0.0, 1e15, "operations that can be saved; 0 is what burst_s says"),
    Parameter::bytes("credit", 0.0, 0.0, "bytes that can be saved; 0 is what burst_s says"),
    Parameter::number("burst_iops", 0.0, 0.0, 1e9, "cap on operations while credits last; 0 is none"),
    Parameter::number("burst_mibs", 0.0, 0.0, 1e7, "cap on throughput while credits last, MiB/s; 0 is none"),
    Parameter::number("latency_us", 600.0, 0.0, 1e9, "mean time of an operation that nothing holds back"),
    Parameter::number("tail", 0.2, 0.0, 5.0, "standard deviation of its logarithm"),
];

/// One rate limit: how far its schedule has been used up.
#[derive(Debug)]
struct Limit {
    /// Time of one unit at the rate.
    unit_ns: f64,
    saved_ns: f64,
    used_until_ns: f64,
}

impl Limit {
    fn new(per_second: f64, saved_ns: f64) -> Limit {
        Limit {
            unit_ns: 1e9 / per_second,
            saved_ns,
            used_until_ns: f64::NEG_INFINITY,
        }
    }

    /// When so many units may start.
    fn admit(&mut self, now_ns: u64, units: f64) -> f64 {
        let earliest = now_ns as f64 - self.saved_ns;
        let start = self.used_until_ns.max(earliest);
        self.used_until_ns = start + units * self.unit_ns;
        start
    }
}

/// A lasting cap with credits, and the cap on bursts.
#[derive(Debug)]
struct Cap {
    lasting: Limit,
    burst: Option<Limit>,
}

impl Cap {
    fn new(per_second: f64, credit: f64, burst_per_second: f64) -> Cap {
        let saved_ns = credit * 1e9 / per_second;
        // A burst below the lasting rate would be the cap itself.
        let burst =
            (burst_per_second > 0.0).then(|| Limit::new(burst_per_second.max(per_second), 0.0));
        Cap {
            lasting: Limit::new(per_second, saved_ns),
            burst,
        }
    }

    /// When so many units may start, and whether credits had run out.
    fn admit(&mut self, now_ns: u64, units: f64) -> (u64, bool) {
        let lasting = self.lasting.admit(now_ns, units);
        let burst = self
            .burst
            .as_mut()
            .map_or(0.0, |limit| limit.admit(now_ns, units));
        let start = lasting.max(burst).max(0.0) as u64;
        let spent = self.lasting.saved_ns > 0.0 && lasting > now_ns as f64;
        (start.max(now_ns), spent)
    }

    fn credit(&self) -> f64 {
        self.lasting.saved_ns / self.lasting.unit_ns
    }

    fn rate(&self) -> f64 {
        1e9 / self.lasting.unit_ns
    }

    fn burst_rate(&self) -> Option<f64> {
        self.burst.as_ref().map(|limit| 1e9 / limit.unit_ns)
    }
}

pub(super) struct Cloud {
    capacity_bytes: u64,
    ops: Cap,
    bytes: Cap,
    latency_ns: u64,
    tail: LogNormal,
    last_write_ns: u64,
    throttled: Throttled,
    written_bytes: u64,
    cliff_at_bytes: Option<u64>,
}

impl Cloud {
    pub(super) fn new(parameters: &Parameters, seed: u64) -> Cloud {
        let cap = |rate: f64, credit: &str, burst: f64| {
            let given = parameters.get(credit);
            let credit = if given > 0.0 {
                given
            } else {
                parameters.get("burst_s") * rate
            };
            Cap::new(rate, credit, burst)
        };
        Cloud {
            capacity_bytes: parameters.whole("size"),
            ops: cap(
                parameters.get("iops"),
                "credit_ops",
                parameters.get("burst_iops"),
            ),
            bytes: cap(
                parameters.get("mibs") * MIB,
                "credit",
                parameters.get("burst_mibs") * MIB,
            ),
            latency_ns: parameters.us("latency_us"),
            tail: LogNormal::new(derive_seed(seed, 0xC10D), parameters.get("tail")),
            last_write_ns: 0,
            throttled: Throttled::default(),
            written_bytes: 0,
            cliff_at_bytes: None,
        }
    }

    /// When a read or write may start.
    fn admit(&mut self, now_ns: u64, op: &SimOp) -> u64 {
        let (by_ops_ns, ops_spent) = self.ops.admit(now_ns, 1.0);
        let (by_bytes_ns, bytes_spent) = self.bytes.admit(now_ns, f64::from(op.bytes));
        let start_ns = by_ops_ns.max(by_bytes_ns);
        self.throttled.hold(now_ns, start_ns);
        if op.kind == OpKind::Write {
            if (ops_spent || bytes_spent) && self.cliff_at_bytes.is_none() {
                self.cliff_at_bytes = Some(self.written_bytes);
            }
            self.written_bytes += u64::from(op.bytes);
        }
        start_ns
    }
}

impl Mechanism for Cloud {
    fn submit(&mut self, now_ns: u64, op: &SimOp) -> SimAnswer {
        let latency_ns = self.tail.draw(self.latency_ns);
        let at_ns = match op.kind {
            OpKind::Trim => now_ns + latency_ns,
            OpKind::Read | OpKind::Write => self.admit(now_ns, op) + latency_ns,
            _ => self.last_write_ns.max(now_ns) + latency_ns,
        };
        if op.kind == OpKind::Write {
            self.last_write_ns = self.last_write_ns.max(at_ns);
        }
        SimAnswer::Ends(SimEnd {
            at_ns,
            result: Ok(op.bytes),
        })
    }

    fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    fn expected(&self) -> Expected {
        let latency = Some(self.tail.latency(self.latency_ns as f64, 0.0));
        Expected {
            cap_iops: Some(self.ops.rate()),
            cap_bytes_per_second: Some(self.bytes.rate()),
            burst_iops: self.ops.burst_rate(),
            burst_bytes_per_second: self.bytes.burst_rate(),
            credit_ops: Some(self.ops.credit()),
            credit_bytes: Some(self.bytes.credit()),
            random_read_mean_ns: Some(self.latency_ns as f64),
            read_4k: latency,
            write_4k: latency,
            ..Expected::default()
        }
    }

    fn inside(&self, now_ns: u64) -> Inside {
        let (throttled_ns, throttle_events) = self.throttled.up_to(now_ns);
        Inside {
            throttled_ns,
            throttle_events,
            cliff_at_bytes: self.cliff_at_bytes,
            ..Inside::default()
        }
    }
}
