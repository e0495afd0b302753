//! An application of this host, held back by its control group.

use std::io;
use std::time::{Duration, Instant};

use fathom_fleet::Interrupt;
use fathom_observe::GroupLimit;
use fathom_studies::causal::Experiment;
use rustix::thread::nanosleep;
use rustix::time::Timespec;

use super::progress::{Progress, ProgressError};
use crate::changed_limits::ChangedLimits;
use crate::present;

/// The longest sleep at once: a signal that comes just before one is seen after
/// it.
const LONGEST: Duration = Duration::from_millis(100);

/// Why the test of an application cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum HeldBackError {
    /// Its limit stays as it is.
    #[error("the limit of {group} cannot be changed ({error}); root may")]
    Limit {
        /// Its control group.
        group: String,
        /// What the kernel says.
        error: io::Error,
    },
    /// Its progress is not known.
    #[error("{0}")]
    Progress(#[from] ProgressError),
}

/// The application, its limit and how far it has come.
pub(super) struct HeldBack<'h> {
    group: GroupLimit,
    limits: [u64; 2],
    changed: &'h ChangedLimits,
    progress: Progress,
    interrupt: &'h Interrupt,
    began: Instant,
    shown: bool,
    /// Parts that have begun.
    part: u32,
}

impl<'h> HeldBack<'h> {
    pub(super) fn new(
        group: GroupLimit,
        limits: [u64; 2],
        changed: &'h ChangedLimits,
        progress: Progress,
        interrupt: &'h Interrupt,
        shown: bool,
    ) -> HeldBack<'h> {
        HeldBack {
            group,
            limits,
            changed,
            progress,
            interrupt,
            began: Instant::now(),
            shown,
            part: 0,
        }
    }

    fn show(&mut self) {
        self.part += 1;
        if self.shown {
            present::rewrite_line(&format!(
                "test with a smaller volume: part {} (Ctrl-C ends it and sets the limit back)",
                self.part
            ));
        }
    }
}

impl Experiment for HeldBack<'_> {
    type Error = HeldBackError;

    fn limit(&mut self, on: bool) -> Result<(), HeldBackError> {
        self.show();
        let changed = match on {
            true => self
                .changed
                .are_own()
                .and_then(|()| self.group.set(self.limits[0], self.limits[1])),
            false => self.changed.write_back(),
        };
        changed.map_err(|error| HeldBackError::Limit {
            group: self.group.name().to_owned(),
            error,
        })
    }

    fn progress(&mut self) -> Result<f64, HeldBackError> {
        Ok(self.progress.read()?)
    }

    fn operations(&mut self) -> Option<f64> {
        self.group.operations()
    }

    fn now_seconds(&mut self) -> f64 {
        self.began.elapsed().as_secs_f64()
    }

    fn wait(&mut self, seconds: f64) -> bool {
        let end = Instant::now() + Duration::from_secs_f64(seconds.max(0.0));
        loop {
            if self.interrupt.is_raised() {
                return false;
            }
            let left = end.saturating_duration_since(Instant::now()).min(LONGEST);
            if left.is_zero() {
                return true;
            }
            let _ = nanosleep(&Timespec {
                tv_sec: 0,
                tv_nsec: left.subsec_nanos() as _,
            });
        }
    }
}
