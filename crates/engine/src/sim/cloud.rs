//! A cloud volume: caps on operations and bytes per second that make excess
//! load wait (generic cell rate algorithm, with a burst allowance), then a
//! network round trip with a log-normal tail.

use fathom_model::OpKind;
use fathom_model::rng::derive_seed;

use super::parameter::{Known, Parameters};
use super::tail::Tail;
use super::{Drive, SimEnd, SimOp};

#[rustfmt::skip]
pub(super) const PARAMETERS: &[Known] = &[
    Known::size(1e12),
    Known::new("iops", 3000.0, 0.001, 1e9),
    Known::new("mibs", 125.0, 0.001, 1e7),
    Known::new("burst_s", 0.0, 0.0, 1e6),
    Known::new("latency_us", 600.0, 0.0, 1e9),
    Known::new("tail", 0.2, 0.0, 5.0),
];

/// A cap: how far its schedule has been used up.
#[derive(Debug)]
struct Cap {
    burst_ns: f64,
    /// When the load so far would be over at the capped rate.
    used_until_ns: f64,
}

impl Cap {
    /// When work that takes `cost_ns` at the capped rate may start.
    fn admit(&mut self, now_ns: u64, cost_ns: f64) -> u64 {
        let earliest = now_ns as f64 - self.burst_ns;
        let start = self.used_until_ns.max(earliest);
        self.used_until_ns = start + cost_ns;
        (start as u64).max(now_ns)
    }
}

pub(super) struct Cloud {
    capacity_bytes: u64,
    op_ns: f64,
    byte_ns: f64,
    ops: Cap,
    bytes: Cap,
    latency_ns: u64,
    tail: Tail,
    last_write_ns: u64,
}

impl Cloud {
    pub(super) fn new(parameters: &Parameters, seed: u64) -> Cloud {
        let cap = || Cap {
            burst_ns: parameters.get("burst_s") * 1e9,
            used_until_ns: f64::NEG_INFINITY,
        };
        Cloud {
            capacity_bytes: parameters.whole("size"),
            op_ns: 1e9 / parameters.get("iops"),
            byte_ns: 1e9 / (parameters.get("mibs") * 1_048_576.0),
            ops: cap(),
            bytes: cap(),
            latency_ns: parameters.us("latency_us"),
            tail: Tail::new(derive_seed(seed, 0xC10D), parameters.get("tail")),
            last_write_ns: 0,
        }
    }
}

impl Drive for Cloud {
    fn submit(&mut self, now_ns: u64, op: &SimOp) -> SimEnd {
        let latency_ns = self.tail.draw(self.latency_ns);
        let at_ns = match op.kind {
            OpKind::Sync | OpKind::Commit => self.last_write_ns.max(now_ns) + latency_ns,
            OpKind::Trim => now_ns + latency_ns,
            OpKind::Read | OpKind::Write => {
                let by_ops = self.ops.admit(now_ns, self.op_ns);
                let by_bytes = self.bytes.admit(now_ns, f64::from(op.bytes) * self.byte_ns);
                by_ops.max(by_bytes) + latency_ns
            }
        };
        if op.kind == OpKind::Write {
            self.last_write_ns = self.last_write_ns.max(at_ns);
        }
        SimEnd {
            at_ns,
            result: Ok(op.bytes),
        }
    }

    fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }
}
