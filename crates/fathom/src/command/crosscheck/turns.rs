//! Trials of both tools in turns. fathom's go down the usual line; between
//! them fio is run on the same files.

use std::collections::VecDeque;
use std::fs::DirEntry;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fathom_analysis::CrossSide;
use fathom_compat::results::{ResultJob, cross_side};
use fathom_deadline::paths;
use fathom_fleet::Interrupt;
use fathom_model::ScheduledTrial;
use fathom_model::conduct::{Conductor, Step};
use fathom_model::run::TrialRecord;
use fathom_model::unit;
use fathom_observe::CpuTicks;

use super::keep::Keep;
use super::peer::{Call, Peer};
use super::repeats::{Repeats, cpu_ticks};
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
    results: Vec<(usize, u32, CrossSide)>,
    /// Wait before the next turn.
    pause: Duration,
    repeats: Repeats,
    /// fathom's trial that was handed out: row, pair, and the CPUs before.
    open: Option<(usize, u32, Option<CpuTicks>)>,
    /// Number of the next trial that was not planned.
    next_index: u32,
}

impl<'a> Turns<'a> {
    pub(super) fn new(
        rows: &'a Rows,
        (pairs, repeats): (u32, Repeats),
        peer: &'a Peer,
        keep: &'a Keep,
        interrupt: &'a Interrupt,
        quiet: bool,
    ) -> Turns<'a> {
        let trials = rows.trials(pairs);
        Turns {
            next_index: u32::try_from(trials.len()).unwrap_or(u32::MAX),
            left: trials.into_iter().flat_map(turns_of).collect(),
            repeats,
            open: None,
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

    /// Which pairs were measured again.
    pub(super) fn repeats(&self) -> &Repeats {
        &self.repeats
    }

    /// One trial of a pair has ended.
    fn ended(&mut self, row: usize, pair: u32, before: Option<CpuTicks>) {
        if let (Some(before), Some(now)) = (before, cpu_ticks()) {
            self.repeats.trial(row, pair, now.since(&before));
        }
        // It was the second one where the other is no longer to come.
        if self.left.front().map(Turn::pair) == Some((row, pair)) {
            return;
        }
        let again = self.repeats.again(row, pair);
        let (Some(again), Some(of)) = (again, self.rows.get(row)) else {
            return;
        };
        let mut spec = of.trial_of(u32::try_from(row).unwrap_or(u32::MAX), again);
        spec.index = self.next_index;
        self.next_index += 1;
        // After the others of its row: files are resized for the next one.
        let place = self.left.iter().position(|turn| turn.pair().0 > row);
        let place = place.unwrap_or(self.left.len());
        for turn in turns_of(spec).into_iter().rev() {
            self.left.insert(place, turn);
        }
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
    fn fio(&self, number: usize, pair: u32) -> Result<ResultJob, String> {
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
        let of = match pair < self.pairs {
            true => format!("of {}", self.pairs),
            false => "in place of a disturbed one".to_owned(),
        };
        let what = format!("fio: {label}, pair {} {of}", pair + 1);
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

impl Turn {
    /// Row and pair.
    fn pair(&self) -> (usize, u32) {
        match self {
            Turn::Fathom(spec) => (spec.row as usize, spec.iteration),
            Turn::Fio { row, pair } => (*row, *pair),
        }
    }
}

/// Both trials of a pair in their order.
fn turns_of(trial: ScheduledTrial) -> [Turn; 2] {
    let (row, pair) = (trial.row as usize, trial.iteration);
    let (ours, theirs) = (Turn::Fathom(Box::new(trial)), Turn::Fio { row, pair });
    match peer_first(pair) {
        true => [theirs, ours],
        false => [ours, theirs],
    }
}

/// The files or the device that a trial uses.
fn files_of(trial: &ScheduledTrial) -> Vec<PathBuf> {
    let Some(path) = trial.target.path() else {
        return Vec::new();
    };
    match paths::entries(path) {
        Ok(entries) => entries
            .iter()
            .map(DirEntry::path)
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
        if let Some((row, pair, before)) = self.open.take() {
            self.ended(row, pair, before);
        }
        loop {
            let Some(turn) = self.left.pop_front() else {
                return Step::End(None);
            };
            let (number, pair) = turn.pair();
            let floor_ns = self.rows.get(number).map_or(0, |row| row.pause.floor_ns);
            self.pause(Duration::from_nanos(floor_ns));
            let before = cpu_ticks();
            if let Turn::Fathom(spec) = turn {
                self.open = Some((number, pair, before));
                return Step::Run(spec);
            }
            if self.interrupt.is_raised() {
                return Step::Fail("interrupted".to_owned());
            }
            match self.fio(number, pair) {
                Ok(job) => self.results.push((number, pair, cross_side(&job))),
                Err(reason) => return Step::Fail(reason),
            }
            self.ended(number, pair, before);
        }
    }

    fn looks(&self) -> bool {
        false
    }
}
