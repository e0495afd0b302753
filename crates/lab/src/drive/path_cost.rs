//! The cost of the way between a program and the laboratory: through the
//! kernel's FUSE door and back. It is measured at the start, on a file that
//! answers at once, and the drive then answers by so much earlier.

use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Mutex;
use std::thread::sleep;
use std::time::{Duration, Instant};

use fathom_model::OpKind;
use fathom_stats::median::median;

use crate::Error;
use crate::truth::PathTruth;

const SMALL_BYTES: usize = 4096;
const LARGE_BYTES: usize = 1 << 20;
const SMALL_ROUNDS: usize = 120;
const LARGE_ROUNDS: usize = 24;

/// Between two rounds, so that both sides sleep and are woken as they are by a
/// drive that takes its time.
const PAUSE: Duration = Duration::from_micros(500);

/// More than this is no usual cost, but a disturbance of the measurement.
const BASE_NS_MAX: f64 = 200_000.0;
const PER_BYTE_NS_MAX: f64 = 1.0;

/// Costs in nanoseconds, of all or of the sending of the reply alone.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct PathCost {
    base_ns: f64,
    read_byte_ns: f64,
    write_byte_ns: f64,
    send_base_ns: f64,
    send_byte_ns: f64,
}

/// How long the laboratory took to send the answers to the rounds.
#[derive(Debug, Default)]
pub(super) struct SendTimes {
    small_ns: Mutex<Vec<u64>>,
    large_ns: Mutex<Vec<u64>>,
}

impl SendTimes {
    /// Notes how long the answer to a read of `bytes` took.
    pub(super) fn note(&self, bytes: usize, ns: u64) {
        let list = if bytes >= LARGE_BYTES {
            &self.large_ns
        } else {
            &self.small_ns
        };
        if let Ok(mut list) = list.lock()
            && list.len() < 10_000
        {
            list.push(ns);
        }
    }

    fn medians(&self) -> (f64, f64) {
        let median_of = |list: &Mutex<Vec<u64>>| match list.lock() {
            Ok(list) => middle(&list),
            Err(_) => 0.0,
        };
        (median_of(&self.small_ns), median_of(&self.large_ns))
    }
}

impl PathCost {
    /// Measures on the file at `path`, which the laboratory serves at once.
    ///
    /// # Errors
    /// [`Error::Io`] when it cannot be read and written.
    pub(super) fn measure(path: &Path, sends: &SendTimes) -> Result<PathCost, Error> {
        let file = OpenOptions::new().read(true).write(true).open(path);
        let file = file.map_err(Error::io("open", path))?;
        let mut data = vec![0u8; LARGE_BYTES];
        let mut rounds = |n: usize, bytes: usize, write: bool| -> Result<f64, Error> {
            let mut times = Vec::with_capacity(n);
            for _ in 0..n {
                sleep(PAUSE);
                let start = Instant::now();
                if write {
                    file.write_all_at(&data[..bytes], 0)
                } else {
                    file.read_exact_at(&mut data[..bytes], 0)
                }
                .map_err(Error::io("measure", path))?;
                times.push(start.elapsed().as_nanos() as u64);
            }
            // The first rounds fill caches.
            Ok(middle(&times[n / 10..]))
        };
        let small = rounds(SMALL_ROUNDS, SMALL_BYTES, false)?;
        let read = rounds(LARGE_ROUNDS, LARGE_BYTES, false)?;
        let write = rounds(LARGE_ROUNDS, LARGE_BYTES, true)?;
        let (send_small, send_large) = sends.medians();
        let per_byte = |large: f64, small: f64| {
            ((large - small) / LARGE_BYTES as f64).clamp(0.0, PER_BYTE_NS_MAX)
        };
        Ok(PathCost {
            base_ns: small.min(BASE_NS_MAX),
            read_byte_ns: per_byte(read, small),
            write_byte_ns: per_byte(write, small),
            send_base_ns: send_small.min(small).min(BASE_NS_MAX),
            send_byte_ns: per_byte(send_large, send_small),
        })
    }

    /// The whole way of an operation, there and back.
    pub(super) fn whole_ns(&self, kind: OpKind, bytes: u64) -> u64 {
        let per_byte = match kind {
            OpKind::Read => self.read_byte_ns,
            OpKind::Write => self.write_byte_ns,
            _ => 0.0,
        };
        (self.base_ns + per_byte * bytes as f64) as u64
    }

    /// Of that, the laboratory's sending of the reply.
    pub(super) fn send_ns(&self, kind: OpKind, bytes: u64) -> u64 {
        let per_byte = match kind {
            OpKind::Read => self.send_byte_ns,
            _ => 0.0,
        };
        (self.send_base_ns + per_byte * bytes as f64) as u64
    }

    pub(super) fn truth(&self) -> PathTruth {
        PathTruth {
            base_ns: self.base_ns as u64,
            read_ns_per_mib: (self.read_byte_ns * LARGE_BYTES as f64) as u64,
            write_ns_per_mib: (self.write_byte_ns * LARGE_BYTES as f64) as u64,
        }
    }
}

/// The median of times; 0 of none.
fn middle(times_ns: &[u64]) -> f64 {
    let times: Vec<f64> = times_ns.iter().map(|ns| *ns as f64).collect();
    median(&times).unwrap_or(0.0)
}
