//! The live line: how far the run is, the time left, current throughput and p99.
//!
//! On a terminal one line is rewritten in place, and each result stays above it as
//! soon as it is there; elsewhere a plain line is printed when a trial begins, every ten
//! seconds and with each result. All of it goes to standard error, so that standard
//! output holds only the result.

mod expected;
mod tally;
mod words;

use std::collections::BTreeMap;
use std::io::{IsTerminal, stderr};
use std::time::{Duration, Instant};

use fathom_fleet::{Event, TrialEnding, TrialInterval};
use fathom_model::sample::Phase;
use fathom_model::schedule::{Schedule, TrialRole};
use fathom_model::{RunState, Sample, ScheduledTrial, unit};
use fathom_report::table::display_width;

use self::tally::Tally;
use self::words::{bar, clock, step_text};
use crate::present;

/// How often a plain line is printed while a phase goes on: in the time of the
/// load, and, because virtual time flies, in the user's.
const PLAIN_EVERY_NS: u64 = 10_000_000_000;
const SHOWN_EVERY: Duration = Duration::from_millis(100);
const PLAIN_PAUSE: Duration = Duration::from_secs(5);

/// How progress is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Not at all.
    Quiet,
    /// Plain lines.
    Plain,
    /// One line, rewritten.
    Live,
}

impl Style {
    /// The style that fits standard error.
    pub fn choose(quiet: bool) -> Style {
        match (quiet, stderr().is_terminal()) {
            (true, _) => Style::Quiet,
            (false, true) => Style::Live,
            (false, false) => Style::Plain,
        }
    }
}

/// Shows what a run is doing.
pub(crate) struct Progress {
    style: Style,
    trials: Vec<u64>,
    /// Whether anything was measured so far.
    measured_any: bool,
    /// Trials that are no results: probes and controls.
    beside: Vec<u32>,
    /// Positions of the trials that are under way, and their labels.
    open: Vec<(usize, String)>,
    /// The one of them that is being dealt with alone.
    alone: Option<usize>,
    /// The latest interval of each.
    latest: BTreeMap<u32, Sample>,
    /// What each measured so far.
    tallies: BTreeMap<u32, Tally>,
    phase: Phase,
    phase_expected_ns: Option<u64>,
    measured_ns: u64,
    /// Load time at which the last plain line was printed.
    last_plain_ns: u64,
    last_percent: u64,
    line_shown: bool,
    /// When an interval was last shown.
    shown_at: Option<Instant>,
    /// When the phase began, or a step of it was last printed.
    stepped_at: Instant,
}

/// The result of a trial; below its name where one line would be cut within a number.
fn result_line(label: &str, figures: &str, columns: usize) -> String {
    let line = format!("{label:<19}  {figures}");
    match display_width(&line) <= columns {
        true => line,
        false => format!("{label}\n    {figures}"),
    }
}

/// Whether a trial is a probe or a control, and no result.
fn is_beside(trial: &ScheduledTrial) -> bool {
    trial.role.is_probe() || trial.role == TrialRole::Control
}

impl Progress {
    pub(crate) fn new(style: Style, schedule: &Schedule) -> Progress {
        Progress {
            style,
            trials: schedule.trials.iter().map(expected::trial_ns).collect(),
            measured_any: false,
            beside: schedule
                .trials
                .iter()
                .filter(|trial| is_beside(trial))
                .map(|trial| trial.index)
                .collect(),
            open: Vec::new(),
            alone: None,
            latest: BTreeMap::new(),
            tallies: BTreeMap::new(),
            phase: Phase::Prepare,
            phase_expected_ns: None,
            measured_ns: 0,
            last_plain_ns: 0,
            last_percent: 0,
            line_shown: false,
            shown_at: None,
            stepped_at: Instant::now(),
        }
    }

    /// Takes note of an event and shows it.
    pub(crate) fn event(&mut self, event: &Event) {
        if self.style == Style::Quiet {
            // Silence would be taken for work.
            if let Event::Waiting(text) = event {
                present::write_stderr(&format!("fathom: {text}\n"));
            }
            return;
        }
        match event {
            Event::TrialsStarted(starts) => {
                let specs = starts.iter().map(|start| &start.spec);
                self.open = specs
                    .map(|spec| (spec.index as usize, spec.label.clone()))
                    .collect();
                // A study may choose its trials as it goes.
                for start in starts {
                    self.beside.retain(|index| *index != start.spec.index);
                    let is_beside = is_beside(&start.spec);
                    self.beside.extend(is_beside.then_some(start.spec.index));
                }
                self.latest.clear();
                self.tallies.clear();
                self.measured_ns = 0;
            }
            Event::PhaseStarted {
                trial,
                phase,
                expected_ns,
            } => {
                self.alone = trial.map(|trial| trial as usize);
                self.phase_started(*phase, *expected_ns);
            }
            Event::Progress {
                what,
                done_bytes,
                total_bytes,
            } => {
                self.step(what, *done_bytes, *total_bytes);
            }
            Event::Interval(intervals) => self.intervals(intervals),
            Event::Note(text) | Event::Waiting(text) => self.line(text),
            Event::Pausing { .. } => self.pausing(),
            Event::TrialsEnded(endings) => self.ended(endings),
            // Told at the end, however quiet the progress is.
            Event::FileCreating(_)
            | Event::FileCreated { .. }
            | Event::FileFound { .. }
            | Event::FileRemoved(_)
            | Event::LeftBehind(_) => {}
        }
    }

    /// Prints a line that stays.
    pub(crate) fn line(&mut self, text: &str) {
        if self.style != Style::Quiet {
            self.clear();
            present::write_stderr(&format!("{text}\n"));
        }
    }

    /// Removes the live line.
    pub(crate) fn clear(&mut self) {
        if std::mem::take(&mut self.line_shown) {
            present::rewrite_line("");
        }
    }

    fn phase_started(&mut self, phase: Phase, expected_ns: Option<u64>) {
        self.phase = phase;
        self.phase_expected_ns = expected_ns;
        self.last_plain_ns = 0;
        self.last_percent = 0;
        self.stepped_at = Instant::now();
        match self.style {
            Style::Live => self.live(&format!("{}…", phase.name())),
            // Preparing and cleaning up are usually over at once; they get a
            // line of their own only when they advance step by step. A warm-up is part
            // of the time that is told.
            Style::Plain if matches!(phase, Phase::Warmup | Phase::Measure) => {
                let warmed = if phase == Phase::Warmup {
                    " with its warm-up"
                } else {
                    ""
                };
                let span = expected_ns.map(|ns| format!(", {}{warmed}", unit::span(ns)));
                let left = self.time_left().filter(|_| self.trials.len() > 1);
                let left = left.map(|ns| format!("; {} left", clock(ns)));
                let parts = [Some(self.place()), span, left];
                self.line(&parts.into_iter().flatten().collect::<String>());
            }
            Style::Plain | Style::Quiet => {}
        }
    }

    fn step(&mut self, what: &str, done_bytes: u64, total_bytes: u64) {
        let text = step_text(what, done_bytes, total_bytes);
        let percent = (done_bytes * 100).checked_div(total_bytes);
        let style = self.style;
        match style {
            Style::Live => self.live(&text),
            Style::Plain if self.step_is_due(percent) => {
                let text = format!("{} {text}", self.place());
                self.line(&text);
            }
            Style::Plain | Style::Quiet => {}
        }
    }

    /// Whether a plain line is due: at each quarter, and after a while.
    fn step_is_due(&mut self, percent: Option<u64>) -> bool {
        let quarter = percent.is_some_and(|percent| percent >= self.last_percent + 25);
        let due = quarter || self.stepped_at.elapsed() >= PLAIN_PAUSE;
        if due {
            self.stepped_at = Instant::now();
            self.last_percent = percent.map_or(0, |percent| percent - percent % 25);
        }
        due
    }

    /// Says why trials ended early, a reason that many share only once.
    fn ended(&mut self, endings: &[TrialEnding]) {
        self.show_results(endings);
        let mut said: Vec<&str> = Vec::new();
        for ending in endings {
            let Some(reason) = ending.end.reason.as_deref() else {
                continue;
            };
            // The run ends with it as its only message.
            if ending.state == RunState::Failed && !self.measured_any {
                continue;
            }
            if said.contains(&reason) {
                continue;
            }
            said.push(reason);
            let index = ending.trial as usize;
            let label = self.open.iter().find(|(at, _)| *at == index);
            let label = label.map_or("", |(_, label)| label);
            self.line(&format!("{label}: {reason}"));
        }
    }

    /// Leaves a line with the result of each trial: people wait for them. One trial alone
    /// is the result of the run, which a pipe gets anyway.
    fn show_results(&mut self, endings: &[TrialEnding]) {
        let is_result = |ending: &&TrialEnding| {
            ending.state == RunState::Complete && !self.beside.contains(&ending.trial)
        };
        if self.style == Style::Plain && self.trials.len() < 2 {
            return;
        }
        let line = |ending: &TrialEnding| {
            let tally = self.tallies.get(&ending.trial)?;
            let at = ending.trial as usize;
            let (_, label) = self.open.iter().find(|(open, _)| *open == at)?;
            Some(result_line(label, &tally.words(), terminal_width()))
        };
        let lines: Vec<String> = endings.iter().filter(is_result).filter_map(line).collect();
        for line in lines {
            self.line(&line);
        }
    }

    /// Takes note of what was measured; that of several trials is added up.
    fn intervals(&mut self, intervals: &[TrialInterval]) {
        let mut some = false;
        for interval in intervals {
            if let Some(sample) = interval.samples.last() {
                self.measured_any |= !self.beside.contains(&interval.trial);
                self.latest.insert(interval.trial, sample.clone());
                let tally = self.tallies.entry(interval.trial).or_default();
                let measured = interval.samples.iter();
                measured
                    .filter(|sample| sample.phase == Phase::Measure)
                    .for_each(|sample| tally.add(sample));
                let reached_ns = sample.start_ns + sample.duration_ns;
                self.measured_ns = self.measured_ns.max(reached_ns);
                self.phase = sample.phase;
                some = true;
            }
        }
        if some {
            let latest = std::mem::take(&mut self.latest);
            self.interval(&latest.values().collect::<Vec<_>>());
            self.latest = latest;
        }
    }

    fn interval(&mut self, samples: &[&Sample]) {
        let pause = match self.style {
            Style::Plain => PLAIN_PAUSE,
            Style::Live | Style::Quiet => SHOWN_EVERY,
        };
        let has_rates = samples.iter().all(|sample| has_rate(sample.phase));
        if !has_rates || self.shown_at.is_some_and(|at| at.elapsed() < pause) {
            return;
        }
        let mut now = Tally::default();
        samples.iter().for_each(|sample| now.add_beside(sample));
        let text = format!("{:<8} {}", self.phase.name(), now.words());
        match self.style {
            Style::Live => {
                self.shown_at = Some(Instant::now());
                let done = self.done().unwrap_or_default();
                self.live_parts(&[self.place(), done, now.rates(), now.tail()]);
            }
            Style::Plain if self.measured_ns >= self.last_plain_ns + PLAIN_EVERY_NS => {
                self.last_plain_ns = self.measured_ns;
                self.shown_at = Some(Instant::now());
                let text = format!("{} {} {text}", self.place(), clock(self.measured_ns));
                self.line(&text);
            }
            Style::Plain | Style::Quiet => {}
        }
    }

    /// A bar, the share of the run that is done, and the time left; `None` when a
    /// trial has no time bound.
    fn done(&self) -> Option<String> {
        let left_ns = self.time_left()?;
        let all_ns: u64 = self.trials.iter().sum();
        let done_ns = all_ns.saturating_sub(left_ns);
        Some(format!(
            "{} {:>2} %  {} left",
            bar(done_ns, all_ns),
            (done_ns * 100).checked_div(all_ns)?,
            clock(left_ns)
        ))
    }

    /// Time left of the whole run; `None` when a trial has no time bound.
    fn time_left(&self) -> Option<u64> {
        let after = self.open.last().map_or(0, |(at, _)| at + 1);
        let rest: &[u64] = self.trials.get(after..).unwrap_or_default();
        if self.trials.contains(&0) {
            return None;
        }
        let this = self.phase_expected_ns?.saturating_sub(self.measured_ns);
        Some(this + rest.iter().sum::<u64>())
    }

    /// Between two trials: how many are done, and the time left.
    fn pausing(&mut self) {
        let place = match self.open.last() {
            Some((at, _)) if *at < self.trials.len() => {
                format!("[{} of {} done]", at + 1, self.trials.len())
            }
            Some((at, _)) if self.is_probe(*at) => "[probe done]".to_owned(),
            Some((at, _)) => format!("[{} done]", at + 1),
            None => self.place(),
        };
        let done = self.done().unwrap_or_default();
        self.live_parts(&[place, done, "waiting until the device is quiet".to_owned()]);
    }

    /// Whether a trial is none of those that were planned, and no result.
    fn is_probe(&self, at: usize) -> bool {
        let is_beside = |index| self.beside.contains(&index);
        at >= self.trials.len() && u32::try_from(at).is_ok_and(is_beside)
    }

    fn place(&self) -> String {
        let shown: Vec<&(usize, String)> = match self.alone {
            Some(alone) => self.open.iter().filter(|(at, _)| *at == alone).collect(),
            None => self.open.iter().collect(),
        };
        let (numbers, label, last) = match (shown.first(), shown.last()) {
            (Some((first, _)), Some((last, _))) if shown.len() > 1 => (
                format!("{}-{}", first + 1, last + 1),
                format!("{} together", shown.len()),
                *last,
            ),
            (Some((at, label)), _) if self.is_probe(*at) => return format!("[probe] {label}"),
            (Some((at, label)), _) => ((at + 1).to_string(), label.clone(), *at),
            (None, _) => ("1".to_owned(), String::new(), 0),
        };
        // A run that chooses its trials as it goes may need more than planned.
        match self.trials.len() {
            planned if last < planned => format!("[{numbers}/{planned}] {label}"),
            _ => format!("[{numbers}] {label}"),
        }
    }

    fn live(&mut self, text: &str) {
        self.live_parts(&[self.place(), text.to_owned()]);
    }

    /// Rewrites the line with as many of the parts as there is room for.
    fn live_parts(&mut self, parts: &[String]) {
        if self.style == Style::Live {
            present::rewrite_line(&fitting(parts, terminal_width().saturating_sub(1)));
            self.line_shown = true;
        }
    }
}

/// The parts, two spaces apart, as far as they fit whole; the first one is cut.
fn fitting(parts: &[String], room: usize) -> String {
    let mut line = String::new();
    for part in parts.iter().filter(|part| !part.is_empty()) {
        let gap = if line.is_empty() { 0 } else { 2 };
        if !line.is_empty() && line.chars().count() + gap + part.chars().count() > room {
            break;
        }
        line.push_str(&" ".repeat(gap));
        line.push_str(part);
    }
    line.chars().take(room).collect()
}

fn terminal_width() -> usize {
    rustix::termios::tcgetwinsize(stderr()).map_or(80, |size| usize::from(size.ws_col).max(20))
}

/// Whether a load goes on in this phase: what comes back after its end, in a moment, would
/// look like a rate of millions.
fn has_rate(phase: Phase) -> bool {
    !matches!(phase, Phase::Settle | Phase::Cleanup)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_keeps_whole_parts() {
        let parts = [
            "[1/9] SEQ1M".to_owned(),
            "42 %".to_owned(),
            "p99 3 ms".to_owned(),
        ];
        assert_eq!(fitting(&parts, 80), "[1/9] SEQ1M  42 %  p99 3 ms");
        assert_eq!(fitting(&parts, 26), "[1/9] SEQ1M  42 %");
        assert_eq!(fitting(&parts, 8), "[1/9] SE");
    }

    #[test]
    fn figures_of_a_long_name_stand_below_it_where_a_line_would_cut_them() {
        let line = |label, columns| result_line(label, "3.12 GiB/s  p99 2 ms", columns);
        assert_eq!(
            line("read", 60),
            "read                 3.12 GiB/s  p99 2 ms"
        );
        let long = "randread sim:ssd, all at once";
        assert_eq!(line(long, 80), format!("{long}  3.12 GiB/s  p99 2 ms"));
        assert_eq!(line(long, 40), format!("{long}\n    3.12 GiB/s  p99 2 ms"));
    }

    #[test]
    fn a_bar_is_as_full_as_the_work_is_done() {
        assert_eq!(bar(0, 90), "░░░░░░░░░░");
        assert_eq!(bar(45, 90), "█████░░░░░");
        assert_eq!(bar(100, 90), "██████████");
        assert_eq!(bar(1, 0), "░░░░░░░░░░");
    }

    #[test]
    fn what_comes_back_after_the_load_has_no_rate() {
        assert!([Phase::Prepare, Phase::Warmup, Phase::Measure].map(has_rate) == [true; 3]);
        assert!([Phase::Settle, Phase::Cleanup].map(has_rate) == [false; 2]);
    }

    #[test]
    fn a_share_is_only_told_of_what_is_known() {
        let text = step_text("filling", 1 << 20, 4 << 20);
        assert_eq!(text, "filling 25 % of 4.00 MiB");
        let text = step_text("removing", 1 << 20, 0);
        assert_eq!(text, "removing: 1.00 MiB so far");
        assert_eq!(step_text("dropping caches", 0, 0), "dropping caches");
    }
}
