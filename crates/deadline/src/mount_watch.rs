//! Asks the mounts that need others again and again, beside a long command.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::bounded_call::NotResponding;
use crate::mount::Mount;
use crate::mount_table::MountTable;
use crate::probe::{MountSpace, ask_mounts};

/// How often they are asked.
const EVERY: Duration = Duration::from_secs(5);
/// Mounts that are asked.
const MOUNTS_MAX: usize = 256;

/// Name of a mount, and its answer.
pub type MountAnswer = (String, Result<Option<MountSpace>, NotResponding>);

/// The mounts that need others, and what they answered last.
#[derive(Debug)]
pub struct MountWatch {
    shared: Arc<WatchedMounts>,
}

#[derive(Debug, Default)]
struct WatchedMounts {
    ended: AtomicBool,
    answers: Mutex<Vec<MountAnswer>>,
}

impl MountWatch {
    /// Asks all of them, which takes no longer than one that does not answer,
    /// and goes on asking until it is dropped.
    pub fn start() -> MountWatch {
        let shared = Arc::new(WatchedMounts::default());
        let others = shared.ask();
        let asking = Arc::clone(&shared);
        if others {
            let thread = std::thread::Builder::new().name("fathom-mounts".to_owned());
            // Without a thread the first answers stay. It is never joined.
            let _ = thread.spawn(move || asking.go_on());
        }
        MountWatch { shared }
    }

    /// The latest answers.
    pub fn answers(&self) -> Vec<MountAnswer> {
        let answers = self.shared.answers.lock();
        answers.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for MountWatch {
    fn drop(&mut self) {
        self.shared.ended.store(true, Relaxed);
    }
}

impl WatchedMounts {
    /// Whether there are any to ask.
    fn ask(&self) -> bool {
        let mut mounts = MountTable::read().needing_others();
        mounts.truncate(MOUNTS_MAX);
        let answers = ask_mounts(&mounts);
        let named = mounts.iter().map(Mount::name).zip(answers);
        let named: Vec<MountAnswer> = named.collect();
        let some = !named.is_empty();
        *self.answers.lock().unwrap_or_else(PoisonError::into_inner) = named;
        some
    }

    fn go_on(&self) {
        loop {
            std::thread::sleep(EVERY);
            if self.ended.load(Relaxed) {
                return;
            }
            self.ask();
        }
    }
}
