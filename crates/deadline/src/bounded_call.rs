//! Helper threads that make calls which may not return.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::mpsc::{
    Receiver, RecvTimeoutError, Sender, SyncSender, TryRecvError, channel, sync_channel,
};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::starved::{TURNS, wants_cpu};

/// How long anything may take to answer. A drive that spins up has its metadata
/// cached; a server that takes longer than this is a finding anyway.
pub const PATIENCE: Duration = Duration::from_secs(2);
/// Helpers that may be held at the same time, each by something else.
const HELD_MAX: usize = 64;
/// Helpers without work that are kept for the next call.
const SPARE_MAX: usize = 4;
const STACK_BYTES: usize = 1 << 20;

/// A device, mount, server or service that did not answer in time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotResponding {
    /// Its name: a mount point, a device, a host.
    pub what: String,
    /// For how long an answer has been waited for.
    pub waited: Duration,
    /// Why it was never asked, if it was not.
    pub unasked: Option<Unasked>,
}

/// Why a call was not made at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unasked {
    /// No thread could be started for it.
    NoThread,
    /// As many others as may be waited for at a time do not answer.
    TooManySilent,
}

impl fmt::Display for Unasked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unasked::NoThread => f.write_str(
                "no thread can be started; raise the limit of processes (ulimit -u, TasksMax of \
                 the service)",
            ),
            Unasked::TooManySilent => write!(
                f,
                "{HELD_MAX} other paths or devices do not answer; mend or unmount those first"
            ),
        }
    }
}

impl fmt::Display for NotResponding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(why) = self.unasked {
            return write!(f, "{} could not be looked at: {why}", self.what);
        }
        let seconds = self.waited.as_secs_f64();
        write!(f, "{} is not responding (waited {seconds:.0} s)", self.what)
    }
}

impl std::error::Error for NotResponding {}

impl From<NotResponding> for io::Error {
    fn from(silent: NotResponding) -> io::Error {
        io::Error::new(io::ErrorKind::TimedOut, silent)
    }
}

/// A call that did not return in time.
#[derive(Debug, Clone, Copy)]
struct HeldCall {
    since: Instant,
    call: u64,
}

#[derive(Debug, Default)]
struct Helpers {
    /// By the name of what holds the helper.
    held: BTreeMap<String, HeldCall>,
    spare: Vec<Sender<BoundedWork>>,
    calls: u64,
}

type BoundedWork = Box<dyn FnOnce() + Send>;

static HELPERS: Mutex<Helpers> = Mutex::new(Helpers {
    held: BTreeMap::new(),
    spare: Vec::new(),
    calls: 0,
});

fn helpers() -> MutexGuard<'static, Helpers> {
    HELPERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes a call on `what` with the usual patience.
///
/// # Errors
/// [`NotResponding`] when it did not return in time, or an earlier call on
/// `what` has still not returned.
pub fn ask<T: Send + 'static>(
    what: &str,
    call: impl FnOnce() -> T + Send + 'static,
) -> Result<T, NotResponding> {
    ask_within(PATIENCE, what, call)
}

/// Makes a call on `what` and waits for it for at most `patience`.
///
/// # Errors
/// [`NotResponding`] as for [`ask`].
pub fn ask_within<T: Send + 'static>(
    patience: Duration,
    what: &str,
    call: impl FnOnce() -> T + Send + 'static,
) -> Result<T, NotResponding> {
    let begun = Instant::now();
    let silent = |since: Instant| NotResponding {
        what: what.to_owned(),
        waited: since.elapsed(),
        unasked: None,
    };
    let unasked = |why: Unasked| NotResponding {
        unasked: Some(why),
        ..silent(begun)
    };
    let number = {
        let mut helpers = helpers();
        if let Some(held) = helpers.held.get(what) {
            return Err(silent(held.since));
        }
        if helpers.held.len() >= HELD_MAX {
            return Err(unasked(Unasked::TooManySilent));
        }
        helpers.calls += 1;
        helpers.calls
    };
    let (answer, answered) = sync_channel(1);
    let came_back = CameBack {
        what: what.to_owned(),
        call: number,
        answer: Some(answer),
    };
    // Of the thread that makes the call; 0 until it has begun.
    let thread = Arc::new(AtomicI32::new(0));
    let own = Arc::clone(&thread);
    let work = move || {
        own.store(
            rustix::thread::gettid().as_raw_nonzero().get(),
            Ordering::Relaxed,
        );
        came_back.with(call());
    };
    if !hand_over(Box::new(work)) {
        return Err(unasked(Unasked::NoThread));
    }
    match wait_for(&answered, patience, &thread) {
        Ok(found) => return Ok(found),
        Err(RecvTimeoutError::Disconnected) => return Err(silent(begun)),
        Err(RecvTimeoutError::Timeout) => {}
    }
    // The answer may arrive in this moment: it is given under the lock.
    let mut helpers = helpers();
    match answered.try_recv() {
        Ok(found) => return Ok(found),
        Err(TryRecvError::Disconnected) => {}
        Err(TryRecvError::Empty) => {
            let held = HeldCall {
                since: begun,
                call: number,
            };
            helpers.held.insert(what.to_owned(), held);
        }
    }
    Err(silent(begun))
}

/// Waits for an answer, and a few times as long while the thread that gives it waits
/// for a CPU, or has not begun.
fn wait_for<T>(
    answered: &Receiver<T>,
    patience: Duration,
    thread: &AtomicI32,
) -> Result<T, RecvTimeoutError> {
    for _ in 0..TURNS {
        match answered.recv_timeout(patience) {
            Err(RecvTimeoutError::Timeout) => {}
            ended => return ended,
        }
        let number = thread.load(Ordering::Relaxed);
        if number != 0 && !wants_cpu(number) {
            return Err(RecvTimeoutError::Timeout);
        }
    }
    answered.recv_timeout(patience)
}

/// The end of a call, panicked or not: the answer is given, and what was asked
/// is no longer held against it.
#[derive(Debug)]
struct CameBack<T> {
    what: String,
    call: u64,
    answer: Option<SyncSender<T>>,
}

impl<T> CameBack<T> {
    fn with(self, found: T) {
        if let Some(answer) = &self.answer {
            // Nobody may be waiting any more.
            let _ = answer.try_send(found);
        }
    }
}

impl<T> Drop for CameBack<T> {
    fn drop(&mut self) {
        let mut helpers = helpers();
        self.answer = None;
        let held = helpers.held.get(&self.what);
        if held.is_some_and(|held| held.call == self.call) {
            helpers.held.remove(&self.what);
        }
    }
}

/// Gives the work to a spare helper, or to a new one; false without threads.
fn hand_over(work: BoundedWork) -> bool {
    let mut work = work;
    loop {
        let spare = helpers().spare.pop();
        let Some(spare) = spare else { break };
        match spare.send(work) {
            Ok(()) => return true,
            Err(lost) => work = lost.0,
        }
    }
    let thread = std::thread::Builder::new()
        .name("fathom-ask".to_owned())
        .stack_size(STACK_BYTES);
    thread.spawn(move || help(work)).is_ok()
}

fn help(first: BoundedWork) {
    let mut work = first;
    loop {
        work();
        let (next, waiting) = channel();
        {
            let mut helpers = helpers();
            if helpers.spare.len() >= SPARE_MAX {
                return;
            }
            helpers.spare.push(next);
        }
        match waiting.recv() {
            Ok(given) => work = given,
            Err(_) => return,
        }
    }
}

/// What holds a helper.
pub(crate) fn holding() -> Vec<NotResponding> {
    let held = helpers();
    let silent = held.held.iter().map(|(what, held)| NotResponding {
        what: what.clone(),
        waited: held.since.elapsed(),
        unasked: None,
    });
    silent.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: Duration = Duration::from_millis(20);

    #[test]
    fn an_answer_comes_back_and_helpers_are_used_again() {
        for round in 0..100 {
            assert_eq!(ask("quick", move || round * 2), Ok(round * 2));
        }
        assert!(helpers().spare.len() <= SPARE_MAX);
    }

    #[test]
    fn what_was_never_asked_is_not_called_silent() {
        let reasons = [
            (Unasked::NoThread, "could not be looked at: no thread"),
            (Unasked::TooManySilent, "could not be looked at: 64 other"),
        ];
        for (why, expected) in reasons {
            let unasked = NotResponding {
                what: "/mnt/x".to_owned(),
                waited: Duration::ZERO,
                unasked: Some(why),
            };
            let told = unasked.to_string();
            assert!(told.contains(expected), "{told}");
            assert!(!told.contains("not responding"), "{told}");
        }
    }

    #[test]
    fn what_is_silent_is_asked_once_until_it_answers() {
        let (release, held) = channel::<()>();
        let stuck = ask_within(SHORT, "frozen", move || held.recv());
        assert_eq!(stuck.unwrap_err().what, "frozen");
        // No second helper: the call would panic.
        let again = ask("frozen", || panic!("asked although it is silent"));
        let waited = again.unwrap_err().waited;
        assert!(waited >= SHORT, "{waited:?}");
        let silent = holding();
        assert!(silent.iter().any(|one| one.what == "frozen"));
        release.send(()).unwrap();
        let deadline = Instant::now() + Duration::from_secs(60);
        while ask("frozen", || ()).is_err() {
            assert!(
                Instant::now() < deadline,
                "it answered and is still shunned"
            );
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn a_call_that_panics_is_no_answer_and_holds_nothing() {
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(|_| {}));
        let broken = ask("broken", || -> u32 { panic!("as a test") });
        std::panic::set_hook(hook);
        assert!(broken.is_err());
    }
}
