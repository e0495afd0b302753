//! Agents coming to life: who is awaited, who watches, and how the user ends
//! the wait.
//!
//! A scheduler may take minutes to start what it was asked for. Meanwhile the
//! user is told who is awaited, and an interrupt ends the wait in order: what
//! was started is ended, what was applied is removed.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::interrupt::Interrupt;

/// Nobody is told of what takes less.
const SAID_FROM: Duration = Duration::from_secs(2);

/// How often it is said again.
const SAID_EVERY: Duration = Duration::from_secs(5);

const LOOK_EVERY: Duration = Duration::from_millis(50);

/// How hosts are gathered.
pub struct Gathering<'a> {
    /// Go on when up to this many hosts cannot be used.
    pub allow_missing: usize,
    /// Ends the wait when it is raised.
    pub interrupt: &'a Interrupt,
    /// Told now and then, from the third second on.
    pub tell: &'a (dyn Fn(&GatheringProgress) + Sync),
}

impl fmt::Debug for Gathering<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gathering")
            .field("allow_missing", &self.allow_missing)
            .finish_non_exhaustive()
    }
}

/// Who has not come yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GatheringProgress {
    /// The hosts whose agents are there, or cannot be had.
    pub settled: usize,
    /// All hosts.
    pub of: usize,
    /// The others, in the order of the list.
    pub waiting: Vec<String>,
}

/// What the threads that greet hosts and the one that watches them share.
pub(crate) struct GatheringState {
    names: Vec<String>,
    settled: Mutex<BTreeSet<usize>>,
    over: AtomicBool,
}

impl GatheringState {
    pub(crate) fn new(names: Vec<String>) -> GatheringState {
        GatheringState {
            names,
            settled: Mutex::default(),
            over: AtomicBool::new(false),
        }
    }

    pub(crate) fn settle(&self, place: usize) {
        let mut settled = self.settled.lock().unwrap_or_else(PoisonError::into_inner);
        settled.insert(place);
        self.over.store(settled.len() == self.names.len(), Relaxed);
    }

    fn awaited(&self) -> GatheringProgress {
        let settled = self.settled.lock().unwrap_or_else(PoisonError::into_inner);
        let places = self.names.iter().enumerate();
        GatheringProgress {
            settled: settled.len(),
            of: self.names.len(),
            waiting: places
                .filter(|(place, _)| !settled.contains(place))
                .map(|(_, name)| name.clone())
                .collect(),
        }
    }

    /// Tells of those who are awaited until all have settled or the user
    /// ends it.
    pub(crate) fn watch(&self, gathering: &Gathering<'_>) {
        let began = Instant::now();
        let mut next = SAID_FROM;
        while !self.over.load(Relaxed) && !gathering.interrupt.is_raised() {
            if began.elapsed() >= next {
                (gathering.tell)(&self.awaited());
                next = began.elapsed() + SAID_EVERY;
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_who_have_not_come_are_named_in_order() {
        let roll = GatheringState::new(["a", "b", "c"].map(str::to_owned).to_vec());
        roll.settle(1);
        let awaited = roll.awaited();
        assert_eq!((awaited.settled, awaited.of), (1, 3));
        assert_eq!(awaited.waiting, ["a", "c"]);
        assert!(!roll.over.load(Relaxed));
        roll.settle(0);
        roll.settle(2);
        assert!(roll.over.load(Relaxed));
        assert!(roll.awaited().waiting.is_empty());
    }

    #[test]
    fn the_watch_ends_when_the_user_wishes() {
        let roll = GatheringState::new(vec!["a".to_owned()]);
        let interrupt = Interrupt::new();
        interrupt.raise();
        roll.watch(&Gathering {
            allow_missing: 0,
            interrupt: &interrupt,
            tell: &|_| panic!("nothing is said once it is over"),
        });
        assert_eq!(roll.awaited().settled, 0);
    }
}
