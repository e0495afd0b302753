//! What recording one latency costs on this host, for `benches/`.

use std::hint::black_box;
use std::sync::Arc;

use fathom_model::rng::Rng;
use fathom_model::{Histogram, OpKind};

use super::{Cuts, Exchange, Recorder, Shape};
use crate::Error;
use crate::clock::{Clock, HostClock};

const VALUES: usize = 4096;
const PASSES: usize = 64;

/// Nanoseconds for one value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RecordingCost {
    /// By a worker, with bytes, sum, minimum and maximum.
    pub worker_ns: f64,
    /// By [`Histogram::record`].
    pub histogram_ns: f64,
}

/// Records latencies from 1 µs to 1 ms for `rounds` rounds of 262,144 and
/// gives the cost in the least disturbed round, reading the latency included.
///
/// # Errors
/// When the system gives no memory.
pub fn measure_recording(rounds: u32) -> Result<RecordingCost, Error> {
    let shape = Shape::new(vec![OpKind::Read], false);
    let exchange = Exchange::new(shape, 0)
        .map_err(|error| Error::Workload(format!("no memory to record into ({error})")))?;
    let mut recorder = Recorder::new(Arc::new(exchange), Cuts::new(1, 0, None));
    let mut histogram = Histogram::new();
    let mut rng = Rng::new(1);
    let values: Vec<u64> = (0..VALUES)
        .map(|_| 1000 << rng.below(10) | rng.below(1000))
        .collect();
    let mut cost = RecordingCost {
        worker_ns: f64::MAX,
        histogram_ns: f64::MAX,
    };
    for _ in 0..rounds.max(1) {
        let worker_ns = each(&values, |value| {
            recorder.complete(OpKind::Read, 4096, value);
        });
        let histogram_ns = each(&values, |value| histogram.record(value));
        cost.worker_ns = cost.worker_ns.min(worker_ns);
        cost.histogram_ns = cost.histogram_ns.min(histogram_ns);
    }
    black_box((&recorder, &histogram));
    Ok(cost)
}

/// Nanoseconds that `record` takes for each value.
fn each(values: &[u64], mut record: impl FnMut(u64)) -> f64 {
    let clock = HostClock::new();
    let start_ns = clock.now();
    for _ in 0..PASSES {
        for value in black_box(values) {
            record(*value);
        }
    }
    (clock.now() - start_ns) as f64 / (values.len() * PASSES) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recording_costs_something() {
        let cost = measure_recording(1).unwrap();
        assert!(cost.worker_ns > 0.0 && cost.histogram_ns > 0.0, "{cost:?}");
        assert!(cost.worker_ns < f64::MAX && cost.histogram_ns < f64::MAX);
    }
}
