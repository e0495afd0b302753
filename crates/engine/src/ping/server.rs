//! The thread that makes the requests. It only measures and tells; whoever
//! shows them can therefore never hold one up, and can go when one hangs.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::time::{Duration, Instant};

use fathom_model::Job;

use super::one::One;
use crate::error::Error;
use crate::one_by_one::{OneByOneFacts, Single};
use crate::prepare::{CreationRefused, Hurry, PrepareHooks, PrepareProgress};

/// News that may wait to be shown.
const NEWS_MAX: usize = 1024;

/// When requests are made, and how many.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// From the start of a request to that of the next; 0 is none.
    pub interval_ns: u64,
    /// Requests after which it ends.
    pub count: Option<u64>,
    /// Time after which it ends.
    pub deadline_ns: Option<u64>,
}

/// What the thread tells.
pub enum News {
    /// The target is ready.
    Opened(OneByOneFacts),
    /// A request has ended, with what was said of its failure.
    Ended(Single, Option<String>),
    /// The target cannot be used.
    Failed(String),
    /// No more requests come.
    Done,
}

/// What can be seen of the thread while a request is in flight.
#[derive(Default)]
struct Flight {
    /// Number of the request, 0 for none.
    number: AtomicU64,
    /// When it began, from the server's start.
    since_ns: AtomicU64,
    stop: AtomicBool,
    /// Nobody waits any more until what was made is removed.
    leaves: AtomicBool,
}

/// The thread's other end.
pub struct Server {
    news: Receiver<News>,
    wake: Sender<()>,
    flight: Arc<Flight>,
    started: Instant,
}

impl Server {
    /// Starts the thread.
    ///
    /// # Errors
    /// The system starts none.
    pub fn start(job: Job, pace: Pace) -> io::Result<Server> {
        let (sender, news) = sync_channel(NEWS_MAX);
        let (wake, woken) = channel();
        let flight = Arc::new(Flight::default());
        let started = Instant::now();
        let work = PingWork {
            pace,
            news: sender,
            woken,
            flight: Arc::clone(&flight),
            started,
        };
        std::thread::Builder::new()
            .name("ping".to_owned())
            .spawn(move || work.serve(&job))?;
        Ok(Server {
            news,
            wake,
            flight,
            started,
        })
    }

    /// The next news; `None` when there are none for this long.
    pub fn next(&self, patience: Duration) -> Option<News> {
        match self.news.recv_timeout(patience) {
            Ok(news) => Some(news),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(News::Done),
        }
    }

    /// Asks for an end after the request in flight.
    pub fn stop(&self) {
        self.flight.stop.store(true, Ordering::Relaxed);
        // A thread that has ended needs no waking.
        let _ = self.wake.send(());
    }

    /// Asks for an end of the removal of what was made, too.
    pub fn leave(&self) {
        self.flight.leaves.store(true, Ordering::Relaxed);
    }

    /// Number and age of the request in flight.
    pub fn in_flight(&self) -> Option<(u64, Duration)> {
        let number = self.flight.number.load(Ordering::Acquire);
        let since = Duration::from_nanos(self.flight.since_ns.load(Ordering::Acquire));
        (number > 0).then(|| (number, self.started.elapsed().saturating_sub(since)))
    }
}

struct PingWork {
    pace: Pace,
    news: SyncSender<News>,
    woken: Receiver<()>,
    flight: Arc<Flight>,
    started: Instant,
}

impl PingWork {
    fn serve(self, job: &Job) {
        let mut hooks = Hooks {
            flight: Arc::clone(&self.flight),
            removes: false,
        };
        match One::open(job, &mut hooks) {
            Ok(one) => self.requests(one, &mut hooks),
            Err(Error::Stopped) => self.tell(News::Done),
            Err(error) => self.tell(News::Failed(error.in_lines())),
        };
    }

    /// False when nobody listens any more.
    fn tell(&self, news: News) -> bool {
        self.news.send(news).is_ok()
    }

    fn requests(&self, mut one: One, hooks: &mut Hooks) -> bool {
        if !self.tell(News::Opened(one.facts())) {
            return false;
        }
        let begun_ns = one.now_ns();
        let end_ns = self.pace.deadline_ns.map(|ns| begun_ns.saturating_add(ns));
        let mut number = 0;
        loop {
            number += 1;
            self.flight
                .since_ns
                .store(self.started.elapsed().as_nanos() as u64, Ordering::Release);
            self.flight.number.store(number, Ordering::Release);
            let (single, said) = one.next();
            self.flight.number.store(0, Ordering::Release);
            if !self.tell(News::Ended(single, said)) {
                break;
            }
            let due_ns = single.started_ns.saturating_add(self.pace.interval_ns);
            let enough = self.pace.count.is_some_and(|count| number >= count);
            if enough || self.ends_before(due_ns.max(one.now_ns()), end_ns) {
                break;
            }
            self.wait_until(&mut one, due_ns);
            if self.flight.stop.load(Ordering::Relaxed) {
                break;
            }
        }
        hooks.removes = true;
        match one.finish(hooks) {
            Ok(()) => self.tell(News::Done),
            Err(error) => self.tell(News::Failed(error.in_lines())),
        }
    }

    fn ends_before(&self, due_ns: u64, end_ns: Option<u64>) -> bool {
        end_ns.is_some_and(|end_ns| due_ns >= end_ns)
    }

    fn wait_until(&self, one: &mut One, due_ns: u64) {
        if one.is_simulated() {
            one.rest_until(due_ns);
            return;
        }
        let now_ns = one.now_ns();
        if due_ns > now_ns {
            // Woken early when the user wants to stop.
            let _ = self
                .woken
                .recv_timeout(Duration::from_nanos(due_ns - now_ns));
        }
    }
}

struct Hooks {
    flight: Arc<Flight>,
    /// What was made is being removed: the wish to end is no reason to leave it.
    removes: bool,
}

impl PrepareHooks for Hooks {
    fn progress(&mut self, _: PrepareProgress<'_>) {}

    fn creating(&mut self, _: &std::path::Path) -> Result<(), CreationRefused> {
        Ok(())
    }

    fn removed(&mut self, _: &std::path::Path) {}

    fn stop_requested(&self) -> bool {
        let flag = match self.removes {
            true => &self.flight.leaves,
            false => &self.flight.stop,
        };
        flag.load(Ordering::Relaxed)
    }

    fn hurries(&self) -> Hurry {
        match self.flight.stop.load(Ordering::Relaxed) {
            true => Hurry::Awaited,
            false => Hurry::No,
        }
    }
}
