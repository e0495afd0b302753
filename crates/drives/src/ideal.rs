//! A fixed latency, some operations at once: what queueing theory is checked
//! against.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use fathom_model::OpKind;

use super::mechanism::Mechanism;
use super::parameter::{Parameter, Parameters};
use super::truth::{Expected, Inside, Latency};
use super::{SimAnswer, SimEnd, SimOp};

const TIB: f64 = 1_099_511_627_776.0;

#[rustfmt::skip]
pub(super) const PARAMETERS: &[Parameter] = &[
    Parameter::size(TIB),
    Parameter::number("latency_us", 100.0, 0.0, 1e9, "time of every operation"),
    Parameter::number("parallel", 32.0, 1.0, 65_536.0, "operations at once"),
];

#[rustfmt::skip]
pub(super) const FLAKY_PARAMETERS: &[Parameter] = &[
    Parameter::size(TIB),
    Parameter::number("latency_us", 100.0, 0.0, 1e9, "time of every operation"),
    Parameter::number("parallel", 32.0, 1.0, 65_536.0, "operations at once"),
    Parameter::number("eio_every", 1000.0, 0.0, 1e15, "every so many operations one fails with EIO"),
];

/// `parallel` servers, each busy for `latency_us` per operation, one queue.
pub(super) struct Ideal {
    capacity_bytes: u64,
    latency_ns: u64,
    /// When each server is free.
    free_ns: BinaryHeap<Reverse<u64>>,
    last_end_ns: u64,
}

impl Ideal {
    pub(super) fn new(parameters: &Parameters) -> Ideal {
        let parallel = parameters.whole("parallel").max(1);
        Ideal {
            capacity_bytes: parameters.whole("size"),
            latency_ns: parameters.us("latency_us"),
            free_ns: (0..parallel).map(|_| Reverse(0)).collect(),
            last_end_ns: 0,
        }
    }
}

impl Mechanism for Ideal {
    fn submit(&mut self, now_ns: u64, op: &SimOp) -> SimAnswer {
        // A flush ends after everything before it.
        let at_ns = if op.kind == OpKind::Sync {
            self.last_end_ns.max(now_ns) + self.latency_ns
        } else {
            let Reverse(free_ns) = self.free_ns.pop().unwrap_or(Reverse(0));
            let end_ns = free_ns.max(now_ns) + self.latency_ns;
            self.free_ns.push(Reverse(end_ns));
            end_ns
        };
        self.last_end_ns = self.last_end_ns.max(at_ns);
        SimAnswer::Ends(SimEnd {
            at_ns,
            result: Ok(op.bytes),
        })
    }

    fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    fn expected(&self) -> Expected {
        let latency_ns = self.latency_ns as f64;
        let latency = Some(Latency {
            median_ns: latency_ns,
            p99_ns: latency_ns,
        });
        Expected {
            most_read_iops: (latency_ns > 0.0)
                .then(|| self.free_ns.len() as f64 * 1e9 / latency_ns),
            random_read_mean_ns: Some(latency_ns),
            read_4k: latency,
            write_4k: latency,
            ..Expected::default()
        }
    }

    fn inside(&self, _now_ns: u64) -> Inside {
        Inside::default()
    }
}
