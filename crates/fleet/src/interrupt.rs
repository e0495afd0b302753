//! How a run is asked to end early.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, OnceLock};

/// How urgently a run should end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Urgency {
    /// Go on.
    None,
    /// End the load, wait for operations in flight, keep and clean up everything.
    Soon,
    /// Leave operations in flight behind; keep what was measured.
    Now,
}

/// A flag shared by whoever may end a run (a signal handler) and whoever runs
/// it. Setting it is async-signal-safe.
#[derive(Debug, Clone, Default)]
pub struct Interrupt {
    level: Arc<AtomicU8>,
    /// How often the user asked.
    wishes: Arc<AtomicU8>,
    /// Why, where it was not the user.
    why: Arc<OnceLock<String>>,
    /// The limit of CPU time was reached.
    at_cpu_limit: Arc<AtomicBool>,
}

impl Interrupt {
    /// A flag that nobody has set.
    pub fn new() -> Interrupt {
        Interrupt::default()
    }

    /// The user asks once more: the first time is `Soon`, from then on `Now`.
    pub fn raise(&self) {
        let wishes = self.wishes.load(Ordering::Relaxed);
        self.wishes
            .store(wishes.saturating_add(1), Ordering::Relaxed);
        self.raise_level();
    }

    fn raise_level(&self) {
        let level = self.level.load(Ordering::Relaxed);
        self.level
            .store(level.saturating_add(1).min(2), Ordering::Relaxed);
    }

    /// The same for another reason than the user's wish. The first one counts.
    pub(crate) fn raise_because(&self, why: &str) {
        let _ = self.why.set(why.to_owned());
        self.raise_level();
    }

    /// The soft limit of CPU time was reached. The kernel repeats its signal every
    /// second until the hard limit, so only the first one counts.
    pub fn raise_at_cpu_limit(&self) {
        if !self.at_cpu_limit.swap(true, Ordering::Relaxed) {
            self.raise_level();
        }
    }

    /// How often the user has asked so far.
    pub fn wishes(&self) -> u8 {
        self.wishes.load(Ordering::Relaxed)
    }

    /// Why it is to end, in words.
    pub fn why(&self) -> &str {
        if self.at_cpu_limit.load(Ordering::Relaxed) {
            return "the limit of CPU time was reached (ulimit -t)";
        }
        self.why.get().map_or("ended by the user", String::as_str)
    }

    /// How urgent it is.
    pub fn urgency(&self) -> Urgency {
        match self.level.load(Ordering::Relaxed) {
            0 => Urgency::None,
            1 => Urgency::Soon,
            _ => Urgency::Now,
        }
    }

    /// Whether the run should end at all.
    pub fn is_raised(&self) -> bool {
        self.urgency() > Urgency::None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_of_cpu_time_counts_once_and_is_named() {
        let interrupt = Interrupt::new();
        interrupt.raise_at_cpu_limit();
        interrupt.raise_at_cpu_limit();
        assert_eq!(interrupt.urgency(), Urgency::Soon);
        assert!(interrupt.why().contains("ulimit -t"));
    }

    #[test]
    fn the_second_request_is_more_urgent_than_the_first() {
        let interrupt = Interrupt::new();
        assert_eq!(interrupt.urgency(), Urgency::None);
        interrupt.raise();
        assert_eq!(interrupt.urgency(), Urgency::Soon);
        for _ in 0..300 {
            interrupt.raise();
        }
        assert_eq!(interrupt.urgency(), Urgency::Now);
        assert_eq!(interrupt.why(), "ended by the user");
        assert_eq!(interrupt.wishes(), u8::MAX);
        let interrupt = Interrupt::new();
        interrupt.clone().raise_because("the sky fell");
        interrupt.raise_because("later");
        assert_eq!(interrupt.why(), "the sky fell");
        assert_eq!((interrupt.wishes(), interrupt.urgency()), (0, Urgency::Now));
    }
}
