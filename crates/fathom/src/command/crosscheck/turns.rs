//! Trials of both tools in turns. fathom's go down the usual line; between
//! them fio is run on the same files.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fathom_fleet::Interrupt;
use fathom_model::ScheduledTrial;
use fathom_model::conduct::{Conductor, Step};
use fathom_model::foreign::ForeignJob;
use fathom_model::run::TrialRecord;
use fathom_model::unit;

use super::keep::Keep;
use super::peer::{Call, Peer};
use super::rows::{Results, Row, Rows, peer_first};
use crate::pipeline::FILE_PREFIX;
use crate::present;
use crate::progress::Style;

/// Whose turn it is.
enum Turn {
    Fathom(Box<ScheduledTrial>),
    Fio { row: usize, pair: u32 },
}

/// Hands out fathom's trials, and runs fio's in between.
pub(super) struct Turns<'a> {
    left: VecDeque<Turn>,
    rows: &'a [Row],
    pairs: u32,
    peer: &'a Peer,
    keep: &'a Keep,
    interrupt: &'a Interrupt,
    style: Style,
    results: Vec<(usize, u32, ForeignJob)>,
    /// Wait before the next turn.
    pause: Duration,
}

impl<'a> Turns<'a> {
    pub(super) fn new(
        rows: &'a Rows,
        pairs: u32,
        peer: &'a Peer,
        keep: &'a Keep,
        interrupt: &'a Interrupt,
        quiet: bool,
    ) -> Turns<'a> {
        let left = rows.trials(pairs).into_iter().flat_map(|trial| {
            let (row, pair) = (trial.row as usize, trial.iteration);
            let (ours, theirs) = (Turn::Fathom(Box::new(trial)), Turn::Fio { row, pair });
            match peer_first(pair) {
                true => [theirs, ours],
                false => [ours, theirs],
            }
        });
        Turns {
            left: left.collect(),
            rows: &rows.rows,
            pairs,
            peer,
            keep,
            interrupt,
            style: Style::choose(quiet),
            results: Vec::new(),
            pause: Duration::ZERO,
        }
    }

    /// What fio gave so far.
    pub(super) fn results(&self) -> &Results {
        &self.results
    }

    /// Waits, unless the user does not want to.
    fn pause(&mut self, next: Duration) {
        let until = Instant::now() + self.pause;
        self.pause = next;
        while Instant::now() < until && !self.interrupt.is_raised() {
            let left = until.saturating_duration_since(Instant::now());
            std::thread::sleep(left.min(Duration::from_millis(50)));
        }
    }

    /// One trial of fio.
    fn fio(&self, number: usize, pair: u32) -> Result<ForeignJob, String> {
        let Some(row) = self.rows.get(number) else {
            return Err("there is no such row".to_owned());
        };
        if row.drop_cache {
            let files = files_of(&row.trial);
            fathom_observe::drop_page_cache(&files, false);
        }
        let label = &row.trial.label;
        let kept = self.keep.of_pair(number, label, pair);
        let job_file = self.keep.job_file(&kept, &row.job_text(pair))?;
        let workload = &row.trial.workload;
        let load_ns = workload.bounds.time_ns.map(|ns| ns + workload.warmup_ns);
        let load = load_ns
            .filter(|_| !row.prepares())
            .map(Duration::from_nanos);
        let call = Call {
            job_file: &job_file,
            document: &kept.document,
            messages: &kept.messages,
            read_only: !workload.mix.modifies() && !row.prepares(),
            load,
        };
        let what = format!("fio: {label}, pair {} of {}", pair + 1, self.pairs);
        if self.style == Style::Plain {
            present::write_stderr(&format!("{what}\n"));
        }
        let mut look = |elapsed: Duration| self.live(&what, elapsed, load_ns);
        let result = self.peer.run(&call, self.interrupt, &mut look);
        if self.style == Style::Live {
            present::write_stderr("\r\x1b[K");
        }
        result.map_err(|reason| {
            format!(
                "pair {} of {label}: {reason} (job file {})",
                pair + 1,
                job_file.display()
            )
        })
    }

    fn live(&self, what: &str, elapsed: Duration, load_ns: Option<u64>) {
        if self.style != Style::Live {
            return;
        }
        let so_far = u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX);
        let whole_seconds = so_far / 1_000_000_000 * 1_000_000_000;
        let of = load_ns.map_or(String::new(), |ns| format!(" of {}", unit::span(ns)));
        present::write_stderr(&format!(
            "\r{what}: {}{of}\x1b[K",
            unit::span(whole_seconds)
        ));
    }
}

/// The files or the device that a trial uses.
fn files_of(trial: &ScheduledTrial) -> Vec<PathBuf> {
    let Some(path) = trial.target.path() else {
        return Vec::new();
    };
    match std::fs::read_dir(path) {
        Ok(entries) => entries
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| is_test_file(path))
            .collect(),
        // It is a file or a device.
        Err(_) => vec![path.to_owned()],
    }
}

/// `fathom-test.` and a number.
fn is_test_file(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    let number = name.and_then(|name| name.strip_prefix(FILE_PREFIX)?.strip_prefix('.'));
    number.is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
}

impl Conductor for Turns<'_> {
    fn next(&mut self, _last: &[TrialRecord]) -> Step {
        loop {
            let Some(turn) = self.left.pop_front() else {
                return Step::End(None);
            };
            let number = match &turn {
                Turn::Fathom(spec) => spec.row as usize,
                Turn::Fio { row, .. } => *row,
            };
            let floor_ns = self.rows.get(number).map_or(0, |row| row.pause.floor_ns);
            self.pause(Duration::from_nanos(floor_ns));
            let (row, pair) = match turn {
                Turn::Fathom(spec) => return Step::Run(spec),
                Turn::Fio { row, pair } => (row, pair),
            };
            if self.interrupt.is_raised() {
                return Step::Fail("interrupted".to_owned());
            }
            match self.fio(row, pair) {
                Ok(job) => self.results.push((row, pair, job)),
                Err(reason) => return Step::Fail(reason),
            }
        }
    }

    fn looks(&self) -> bool {
        false
    }
}
