//! Waiting for what a server says: a silence is told of, and an interrupt is
//! heeded while it lasts.

use std::io::{self, Read};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::data::LoadControl;

/// How often somebody who waits looks at the interrupt.
pub(super) const LOOK: Duration = Duration::from_millis(100);
/// A silence of this length is worth a line.
const NOTABLE: Duration = Duration::from_secs(3);
/// Distance of two lines.
const AGAIN: Duration = Duration::from_secs(10);
/// How often somebody who waits for long asks whether the server is still there.
const ASK_EVERY: Duration = Duration::from_secs(3);
/// How long a server may still take once the user wants the end.
const LAST_WORDS: Duration = Duration::from_millis(1200);

/// The end of a control connection that listens. Its stream has a read timeout
/// of [`LOOK`].
pub(super) struct Listener<'l> {
    control: &'l TcpStream,
    server: SocketAddr,
    load_control: &'l LoadControl,
    /// Before this the server has nothing to say.
    expected: Instant,
    /// How long after that it may be silent.
    patience: Duration,
    told: Option<Instant>,
    stopped: Option<Instant>,
    /// Whether the server answers at all.
    alive: Option<&'l dyn Fn() -> bool>,
    asked: Instant,
    /// How long it did not answer whether it is there.
    silent_for: Duration,
}

impl<'l> Listener<'l> {
    /// Listens for an answer that is `work` away.
    pub(super) fn new(
        control: &'l TcpStream,
        server: SocketAddr,
        load_control: &'l LoadControl,
        work: Duration,
        patience: Duration,
    ) -> Listener<'l> {
        Listener {
            control,
            server,
            load_control,
            expected: Instant::now() + work,
            patience,
            told: None,
            stopped: None,
            alive: None,
            asked: Instant::now(),
            silent_for: Duration::ZERO,
        }
    }

    /// Asks now and then whether the server is still there, also before its answer
    /// is expected.
    pub(super) fn asking(self, alive: &'l dyn Fn() -> bool) -> Listener<'l> {
        Listener {
            alive: Some(alive),
            ..self
        }
    }

    /// How long the server has been silent when it should have spoken.
    pub(super) fn waited(&self) -> Duration {
        self.expected.elapsed().max(self.silent_for)
    }

    /// Whether it has been waited for long enough; tells of a silence.
    fn gives_up(&mut self) -> bool {
        if self.load_control.stop.load(Ordering::Relaxed) {
            let stopped = *self.stopped.get_or_insert_with(Instant::now);
            return stopped.elapsed() >= LAST_WORDS;
        }
        let waited = self.waited();
        let due = self.told.is_none_or(|at| at.elapsed() >= AGAIN);
        if waited >= NOTABLE && due {
            self.told = Some(Instant::now());
            if let Some(tell) = self.load_control.waiting {
                let seconds = waited.as_secs();
                tell(&format!(
                    "{} is not responding (waited {seconds} s)",
                    self.server
                ));
            }
        }
        waited >= self.patience || self.is_dead()
    }

    /// Whether the server has gone silent: a packet may be lost, twice is silence.
    fn is_dead(&mut self) -> bool {
        let Some(alive) = self.alive.filter(|_| self.asked.elapsed() >= ASK_EVERY) else {
            return false;
        };
        let begun = Instant::now();
        let dead = !alive() && !alive();
        if dead {
            self.silent_for = begun.elapsed();
        }
        self.asked = Instant::now();
        dead && !self.load_control.stop.load(Ordering::Relaxed)
    }
}

impl Read for Listener<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.control.read(buffer) {
                Err(error) if is_silence(&error) && !self.gives_up() => {}
                Ok(bytes) => {
                    self.expected = self.expected.max(Instant::now());
                    return Ok(bytes);
                }
                other => return other,
            }
        }
    }
}

/// Whether a time was up without an answer.
pub(super) fn is_silence(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
    )
}
