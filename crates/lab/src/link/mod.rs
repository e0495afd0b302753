//! A link whose truth is known: two interfaces with a wire between them that
//! delays, loses and limits. It needs nothing of the kernel's traffic control,
//! of which many machines have but a part.

mod tap;
mod wire;

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde::Serialize;

use crate::Error;
use crate::punctual::{Priority, be_punctual};
pub use wire::Wire;
use wire::{FrameFate, WireDirection};

/// Larger than any frame.
const FRAME_BYTES: usize = 65_536 + 64;

/// Frames that are on the way at once, at most.
const FRAMES_MAX: usize = 1 << 17;

/// How long the end of the link may go unnoticed.
const LOOK_NS: u64 = 50_000_000;

/// How often an interface that is down is looked at.
const DOWN: Duration = Duration::from_millis(5);

/// What passed in one direction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct WayTruth {
    /// Frames that arrived.
    pub frames: u64,
    /// Their bytes, Ethernet headers included.
    pub bytes: u64,
    /// Frames that were lost at random.
    pub lost: u64,
    /// Frames that found the buffer before the wire full.
    pub dropped: u64,
    /// Frames that were delivered more than a millisecond late: the machine
    /// was too busy for the laboratory.
    pub late: u64,
}

#[derive(Debug, Default)]
struct WireCounters {
    frames: AtomicU64,
    bytes: AtomicU64,
    lost: AtomicU64,
    dropped: AtomicU64,
    late: AtomicU64,
}

impl WireCounters {
    fn truth(&self) -> WayTruth {
        WayTruth {
            frames: self.frames.load(Relaxed),
            bytes: self.bytes.load(Relaxed),
            lost: self.lost.load(Relaxed),
            dropped: self.dropped.load(Relaxed),
            late: self.late.load(Relaxed),
        }
    }
}

/// Two interfaces and the wire between them. They are gone when it is dropped.
#[derive(Debug)]
pub struct SimulatedLink {
    over: Arc<AtomicBool>,
    ways: Vec<Arc<WireCounters>>,
    threads: Vec<JoinHandle<()>>,
}

impl SimulatedLink {
    /// Makes the interfaces `a` and `b`, down and without addresses, joined by
    /// `wire`. The same `seed` loses the same frames.
    ///
    /// # Errors
    /// [`Error::Absent`] where interfaces cannot be made (it takes root),
    /// [`Error::Description`] for names or a wire that cannot be.
    pub fn make((a, b): (&str, &str), wire: Wire, seed: u64) -> Result<SimulatedLink, Error> {
        if !(0.0..=1.0).contains(&wire.loss) {
            return Err(Error::Description(format!(
                "a share of {} cannot be lost: 0 to 1",
                wire.loss
            )));
        }
        let ends = [Arc::new(tap::make(a)?), Arc::new(tap::make(b)?)];
        let mut link = SimulatedLink {
            over: Arc::default(),
            ways: vec![Arc::default(), Arc::default()],
            threads: Vec::new(),
        };
        for (number, counters) in link.ways.iter().enumerate() {
            let carrier = Carrier {
                from: Arc::clone(&ends[number]),
                to: Arc::clone(&ends[1 - number]),
                way: WireDirection::new(wire, seed.wrapping_mul(2).wrapping_add(number as u64)),
                counters: Arc::clone(counters),
                over: Arc::clone(&link.over),
                origin: Instant::now(),
                on_the_way: VecDeque::new(),
                spare: Vec::new(),
            };
            let thread = std::thread::Builder::new()
                .name(format!("lab-link-{number}"))
                .spawn(move || carrier.carry());
            let thread = thread.map_err(Error::io("start a thread for", a.as_ref()))?;
            link.threads.push(thread);
        }
        Ok(link)
    }

    /// What passed so far, from the first interface to the second and back.
    pub fn truth(&self) -> (WayTruth, WayTruth) {
        (self.ways[0].truth(), self.ways[1].truth())
    }
}

impl Drop for SimulatedLink {
    fn drop(&mut self) {
        self.over.store(true, Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// Carries the frames of one direction.
struct Carrier {
    from: Arc<File>,
    to: Arc<File>,
    way: WireDirection,
    counters: Arc<WireCounters>,
    over: Arc<AtomicBool>,
    origin: Instant,
    /// In the order of arrival, which is that of sending.
    on_the_way: VecDeque<(u64, Vec<u8>)>,
    spare: Vec<Vec<u8>>,
}

impl Carrier {
    fn carry(mut self) {
        be_punctual(Priority::Intake);
        let mut frame = vec![0; FRAME_BYTES];
        while !self.over.load(Relaxed) {
            self.deliver();
            match self.take_in(&mut frame) {
                Ok(true) => self.wait(),
                // The kernel does not wait for an interface that is down.
                Ok(false) => std::thread::sleep(DOWN),
                // An interface that was removed from outside ends the link.
                Err(_) => return,
            }
        }
    }

    fn now_ns(&self) -> u64 {
        self.origin.elapsed().as_nanos() as u64
    }

    /// Takes what has been sent, until something is due. False when the
    /// interface is down.
    fn take_in(&mut self, frame: &mut [u8]) -> io::Result<bool> {
        loop {
            let bytes = match (&*self.from).read(frame) {
                Ok(bytes) => bytes,
                Err(error) => {
                    return match error.kind() {
                        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => Ok(true),
                        _ if error.raw_os_error() == Some(libc::EIO) => Ok(false),
                        _ => Err(error),
                    };
                }
            };
            let now_ns = self.now_ns();
            match self.way.fate(now_ns, bytes as u64) {
                FrameFate::Arrives(at_ns) if self.on_the_way.len() < FRAMES_MAX => {
                    let mut kept = self.spare.pop().unwrap_or_default();
                    kept.clear();
                    kept.extend_from_slice(&frame[..bytes]);
                    self.on_the_way.push_back((at_ns, kept));
                }
                FrameFate::Lost => _ = self.counters.lost.fetch_add(1, Relaxed),
                FrameFate::Arrives(_) | FrameFate::Dropped => {
                    _ = self.counters.dropped.fetch_add(1, Relaxed);
                }
            }
            if self
                .on_the_way
                .front()
                .is_some_and(|(at_ns, _)| *at_ns <= now_ns)
            {
                return Ok(true);
            }
        }
    }

    /// Hands over what has arrived.
    fn deliver(&mut self) {
        let now_ns = self.now_ns();
        while self
            .on_the_way
            .front()
            .is_some_and(|(at_ns, _)| *at_ns <= now_ns)
        {
            let Some((at_ns, frame)) = self.on_the_way.pop_front() else {
                return;
            };
            // An interface that is down takes nothing, like a port without a cable.
            if (&*self.to).write(&frame).is_ok() {
                self.counters.frames.fetch_add(1, Relaxed);
                self.counters.bytes.fetch_add(frame.len() as u64, Relaxed);
            } else {
                self.counters.dropped.fetch_add(1, Relaxed);
            }
            if now_ns - at_ns > 1_000_000 {
                self.counters.late.fetch_add(1, Relaxed);
            }
            self.spare.push(frame);
        }
    }

    /// Until a frame is sent or one arrives.
    fn wait(&self) {
        let now_ns = self.now_ns();
        let next_ns = self
            .on_the_way
            .front()
            .map_or(u64::MAX, |(at_ns, _)| *at_ns);
        let wait_ns = next_ns.saturating_sub(now_ns).min(LOOK_NS);
        let limit = Duration::from_nanos(wait_ns);
        let Ok(limit) = Timespec::try_from(limit) else {
            return;
        };
        let from = self.from.as_fd();
        let mut sources = [PollFd::new(&from, PollFlags::IN)];
        let _ = poll(&mut sources, Some(&limit));
    }
}

#[cfg(test)]
#[path = "link_tests.rs"]
mod tests;
