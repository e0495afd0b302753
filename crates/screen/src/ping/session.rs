//! A ping under way: what its server reports is counted and shown.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use anyhow::Context;
use fathom_console::{Exit, complain, fail, reader_is_gone, write_stderr};
use fathom_engine::ping::{News, Pace, Server};
use fathom_engine::{OneByOneFacts, Single};
use fathom_fleet::Interrupt;
use fathom_model::{Job, Target};

use super::described::describe;
use super::json::Json;
use super::lines::Lines;
use super::tally::Tally;

/// How long the request in flight may take to end after Ctrl-C.
const GRACE: Duration = Duration::from_secs(2);
/// How long the removal of objects may then take to end.
const LEAVE: Duration = Duration::from_secs(1);
/// A request of this age is told of where no line can be rewritten, and again.
const OUTSTANDING: Duration = Duration::from_secs(5);
const OUTSTANDING_AGAIN: Duration = Duration::from_secs(10);
/// A store that is not ready after this time is told of, and again.
const UNREADY: Duration = Duration::from_secs(2);
const UNREADY_AGAIN: Duration = Duration::from_secs(10);
/// How often it is looked whether the user wants to stop.
const LOOK: Duration = Duration::from_millis(100);

/// How requests and the end are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PingForm {
    /// A line for each request, then a summary.
    Lines {
        /// Only the summary.
        quiet: bool,
        /// With colour.
        color: bool,
    },
    /// A JSON object a line.
    Json,
}

/// Where requests and the end are shown.
enum Shown {
    Lines(Lines),
    Json(Json),
}

/// Sends the requests of a job at this pace and shows each, until they, the user
/// or the deadline end it. The first `warmup` of them are not counted.
///
/// # Errors
/// No thread can be started, or nothing can be printed.
pub fn show_ping(
    job: Job,
    pace: Pace,
    warmup: u64,
    form: PingForm,
    interrupt: &Interrupt,
) -> anyhow::Result<Exit> {
    let described = describe(&job.target);
    let shown = match form {
        PingForm::Json => Shown::Json(Json::new(&described)),
        PingForm::Lines { quiet, color } => Shown::Lines(Lines::new(&described, quiet, color)),
    };
    let bucket = matches!(job.target, Target::Bucket(_)).then(|| job.target.to_string());
    let target = job.target.to_string();
    let (interval_ns, deadline_ns) = (pace.interval_ns, pace.deadline_ns);
    let server = Server::start(job, pace).context("cannot start a thread")?;
    let mut session = Session {
        bucket,
        shown,
        tally: Tally::new(warmup, interval_ns),
        facts: None,
        interrupted: false,
        outstanding: None,
        begun: Instant::now(),
        unready: None,
        target,
        coloured_errors: matches!(form, PingForm::Lines { color: true, .. })
            && std::io::stderr().is_terminal(),
    };
    let ended = session.follow(&server, interrupt, deadline_ns);
    if ended.is_err() {
        // Nobody can be shown anything; what was made is removed all the same.
        server.stop();
        session.leave(&server, GRACE);
    }
    ended
}

/// A ping under way.
struct Session {
    /// Where objects are made.
    bucket: Option<String>,
    shown: Shown,
    tally: Tally,
    facts: Option<OneByOneFacts>,
    interrupted: bool,
    /// The request of which was told that it is outstanding, and when.
    outstanding: Option<(u64, Instant)>,
    begun: Instant,
    /// When was told that the store is not ready.
    unready: Option<Instant>,
    target: String,
    /// Whether an error may be in colour.
    coloured_errors: bool,
}

impl Session {
    /// Shows what the server tells until it, the user or the deadline ends it.
    fn follow(
        &mut self,
        server: &Server,
        interrupt: &Interrupt,
        deadline_ns: Option<u64>,
    ) -> anyhow::Result<Exit> {
        let deadline = deadline_ns.and_then(|ns| {
            let simulated = matches!(&self.shown, Shown::Lines(l) if l.simulated());
            (!simulated).then(|| Duration::from_nanos(ns) + GRACE)
        });
        let mut opened: Option<Instant> = None;
        let mut stop_at: Option<Instant> = None;
        loop {
            match server.next(LOOK) {
                Some(News::Opened(facts)) => {
                    opened = Some(Instant::now());
                    self.opened(facts)?;
                }
                Some(News::Ended(single, said)) => {
                    self.ended(&single)?;
                    if let Some(said) = said {
                        complain(&said);
                    }
                }
                Some(News::Failed(problem)) => {
                    self.clear();
                    match self.facts.is_some() {
                        true => {
                            complain(&problem);
                            self.finish()?;
                        }
                        false => fail(&problem, self.coloured_errors),
                    }
                    return Ok(Exit::Failure);
                }
                Some(News::Done) => break,
                None => self.waiting(server),
            }
            if stop_at.is_none() && (interrupt.is_raised() || reader_is_gone()) {
                self.interrupted = interrupt.is_raised();
                server.stop();
                stop_at = Some(Instant::now() + GRACE);
            }
            let late = |from: Instant| deadline.is_some_and(|most| from.elapsed() > most);
            let hung = stop_at.is_some_and(|at| Instant::now() > at);
            if hung || interrupt.wishes() > 1 || opened.is_some_and(late) {
                self.tally.unanswered(server.in_flight());
                if self.bucket.is_some() {
                    self.clear();
                    self.leave(server, LEAVE);
                }
                break;
            }
        }
        self.finish()
    }

    /// Waits a moment longer for the removal of what was made, and says what is
    /// not removed.
    fn leave(&self, server: &Server, patience: Duration) {
        server.stop();
        let until = Instant::now() + patience;
        while Instant::now() < until {
            match server.next(LOOK) {
                Some(News::Failed(problem)) => return complain(&problem),
                Some(News::Done) => return,
                _ => {}
            }
            server.leave();
        }
        if let Some(bucket) = &self.bucket {
            complain(&format!(
                "the store did not answer in time: objects that were made may still be there; \
                 `fathom clean {bucket} --yes`, with the same --endpoint, removes them"
            ));
        }
    }

    fn opened(&mut self, facts: OneByOneFacts) -> anyhow::Result<()> {
        match &mut self.shown {
            Shown::Lines(lines) => lines.opened(&facts),
            Shown::Json(json) => json.opened(&facts)?,
        }
        self.facts = Some(facts);
        Ok(())
    }

    fn ended(&mut self, single: &Single) -> anyhow::Result<()> {
        let told = self.tally.add(single);
        match &mut self.shown {
            Shown::Lines(lines) => lines.request(single, &told),
            Shown::Json(json) => json.request(single, &told),
        }
    }

    fn waiting(&mut self, server: &Server) {
        if self.facts.is_none() {
            return self.unready();
        }
        let Some((number, since)) = server.in_flight() else {
            return;
        };
        match &mut self.shown {
            Shown::Lines(lines) if lines.on_terminal() => lines.waiting(number, since),
            _ => self.outstanding(number, since),
        }
    }

    /// Says of a store that does not answer before the first request what is said
    /// of mounts and devices.
    fn unready(&mut self) {
        let waited = self.begun.elapsed();
        let due = self.unready.is_none_or(|at| at.elapsed() >= UNREADY_AGAIN);
        if self.bucket.is_some() && waited >= UNREADY && due {
            self.unready = Some(Instant::now());
            let (target, seconds) = (&self.target, waited.as_secs());
            complain(&format!(
                "{target} is not ready after {seconds} s: the store has not answered yet, or \
                 answers slowly"
            ));
        }
    }

    /// Says of a request that does not come back what other loads say of theirs.
    fn outstanding(&mut self, number: u64, since: Duration) {
        let told = self.outstanding.filter(|(told, _)| *told == number);
        let due = told.is_none_or(|(_, at)| at.elapsed() >= OUTSTANDING_AGAIN);
        if since >= OUTSTANDING && due {
            self.outstanding = Some((number, Instant::now()));
            let (seconds, target) = (since.as_secs(), &self.target);
            write_stderr(&format!(
                "1 operation outstanding for {seconds} s on {target}\n"
            ));
        }
    }

    fn clear(&mut self) {
        if let Shown::Lines(lines) = &mut self.shown {
            lines.clear();
        }
    }

    fn finish(&mut self) -> anyhow::Result<Exit> {
        let Some(facts) = &self.facts else {
            return Ok(Exit::Interrupted);
        };
        match &mut self.shown {
            Shown::Lines(lines) => lines.summary(&self.tally, facts)?,
            Shown::Json(json) => json.summary(&self.tally)?,
        }
        Ok(match self.tally.shown() {
            0 if self.interrupted => Exit::Interrupted,
            _ if self.tally.failures() > 0 || self.tally.unanswered_request().is_some() => {
                Exit::Failure
            }
            _ => Exit::Success,
        })
    }
}
