//! This host as the bench of both tools.

use std::fs::DirEntry;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fathom_compat::results::ResultJob;
use fathom_deadline::paths;
use fathom_fleet::Interrupt;
use fathom_model::ScheduledTrial;
use fathom_model::unit;
use fathom_observe::{CpuTicks, parse_cpu_ticks};
use fathom_outputs::Refused;
use fathom_studies::crosscheck::{CrossBench, PeerTrial};

use super::keep::Keep;
use super::peer::{Call, CallError, NOTABLE, Peer};
use crate::pipeline::FILE_PREFIX;
use crate::present;
use crate::progress::Style;

/// Why a trial of fio failed.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// Its job file cannot be written.
    #[error("{0}")]
    JobFile(#[from] Refused),
    /// It did not measure.
    #[error("pair {pair} of {label}: {error} (job file {})", .job_file.display())]
    Call {
        /// Number of the pair, from 1.
        pair: u32,
        /// The row.
        label: String,
        /// Why.
        error: CallError,
        /// What it was to do.
        job_file: PathBuf,
    },
}

/// fio on this host, and what its CPUs do.
pub struct Bench<'a> {
    peer: &'a Peer,
    keep: &'a Keep,
    interrupt: &'a Interrupt,
    style: Style,
    /// The CPUs when the trial began.
    before: Option<CpuTicks>,
}

impl<'a> Bench<'a> {
    /// The bench of one cross-check.
    #[must_use]
    pub fn new(peer: &'a Peer, keep: &'a Keep, interrupt: &'a Interrupt, quiet: bool) -> Bench<'a> {
        Bench {
            peer,
            keep,
            interrupt,
            style: Style::choose(quiet),
            before: None,
        }
    }

    /// On a line of its own.
    fn tell_of_lateness(&self, what: &str, elapsed: Duration) {
        match self.style {
            Style::Live => present::rewrite_line(""),
            Style::Plain => {}
            Style::Quiet => return,
        }
        let seconds = elapsed.as_secs();
        present::write_stderr(&format!(
            "{what}: fio has not ended {seconds} s after it was started, and its load \
             should have; waiting for it (Ctrl-C ends it)\n"
        ));
    }

    fn live(&self, what: &str, elapsed: Duration, load_ns: Option<u64>) {
        if self.style != Style::Live {
            return;
        }
        let so_far = u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX);
        let whole_seconds = so_far / 1_000_000_000 * 1_000_000_000;
        let of = load_ns.map_or(String::new(), |ns| format!(" of {}", unit::span(ns)));
        present::rewrite_line(&format!("{what}: {}{of}", unit::span(whole_seconds)));
    }
}

impl CrossBench for Bench<'_> {
    type Error = BenchError;

    fn pause(&mut self, time: Duration) {
        let until = Instant::now() + time;
        while Instant::now() < until && !self.interrupt.is_raised() {
            let left = until.saturating_duration_since(Instant::now());
            std::thread::sleep(left.min(Duration::from_millis(50)));
        }
    }

    fn is_interrupted(&self) -> bool {
        self.interrupt.is_raised()
    }

    fn trial_begins(&mut self) {
        self.before = cpu_ticks();
    }

    fn stolen_share(&mut self) -> Option<f64> {
        let did = cpu_ticks()?.since(&self.before?);
        Some(did.steal as f64 / did.total().max(1) as f64)
    }

    fn measure(&mut self, trial: &PeerTrial<'_>) -> Result<ResultJob, BenchError> {
        let (row, pair) = (trial.row, trial.pair);
        let spec = row.trial();
        if row.drops_cache() {
            fathom_observe::drop_page_cache(&files_of(spec), false);
        }
        let label = &spec.label;
        let kept = self.keep.of_pair(trial.number, label, pair);
        let job_file = self.keep.job_file(&kept, &row.job_text(pair))?;
        let workload = &spec.workload;
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
        let of = match pair < trial.planned_pairs {
            true => format!("of {}", trial.planned_pairs),
            false => "in place of a disturbed one".to_owned(),
        };
        let what = format!("fio: {label}, pair {} {of}", pair + 1);
        if self.style == Style::Plain {
            present::write_stderr(&format!("{what}\n"));
        }
        let mut told = false;
        let mut look = |elapsed: Duration| {
            self.live(&what, elapsed, load_ns);
            if !told && load.is_some_and(|load| elapsed > load + NOTABLE) {
                told = true;
                self.tell_of_lateness(&what, elapsed);
            }
        };
        let result = self.peer.run(&call, self.interrupt, &mut look);
        if self.style == Style::Live {
            present::rewrite_line("");
        }
        result.map_err(|error| BenchError::Call {
            pair: pair + 1,
            label: label.clone(),
            error,
            job_file,
        })
    }
}

/// What the CPUs of this host did so far; `None` where that cannot be read.
fn cpu_ticks() -> Option<CpuTicks> {
    let text = std::fs::read_to_string("/proc/stat").ok()?;
    parse_cpu_ticks(&text, &mut Vec::new())
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
