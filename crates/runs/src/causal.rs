//! A test with a smaller volume on this host: the limit of an application's
//! control group is changed in turns and set back in any case.

mod bench;
mod progress;

use std::io::{self, IsTerminal, stderr};

use fathom_diagnose::only_limits_of;
use fathom_diagnose::recording::Recording;
use fathom_fleet::Interrupt;
use fathom_model::diagnosis::{CausalTest, Diagnosis};
use fathom_model::unit;
use fathom_observe::{GroupLimit, GroupLimitError, Sysroot};
use fathom_studies::causal::{
    CausalDesign, CausalSubject, ExperimentError, LimitsApart, SmallerVolume, causal_test,
    experiment,
};

use self::bench::{HeldBack, HeldBackError};
use self::progress::Progress;
use crate::changed_limits::{ChangedLimits, LeftAsTheyStand};
use crate::output_flags::StorePath;
use crate::{present, signals};

/// What is tested, and how.
#[derive(Debug, Clone, Copy)]
pub struct CausalRequest<'r> {
    /// A process of the application.
    pub pid: u32,
    /// A command that prints how far the application has come; without one it is the
    /// CPU time of the group.
    pub progress: Option<&'r str>,
    /// Blocks, parts and how much smaller the volume is made.
    pub design: CausalDesign,
}

/// Why there is no test, or none that counts.
#[derive(Debug, thiserror::Error)]
pub enum CausalError {
    /// A smaller volume than what?
    #[error("no test with a smaller volume: what the volume can give is not known")]
    NoCeiling,
    /// What it can give with another load says nothing of this one.
    #[error(
        "no test with a smaller volume: what the volume can give is known for another mix or \
         another block size"
    )]
    OtherMix,
    /// The load was on something else.
    #[error("no test with a smaller volume: {0} is not a block device here")]
    NoDevice(String),
    /// The application has no group that can be limited.
    #[error("no test with a smaller volume: {0}")]
    Group(#[from] GroupLimitError),
    /// No limit does the same as a smaller volume.
    #[error("no test with a smaller volume: {0}")]
    Limits(#[from] LimitsApart),
    /// The user does not want it.
    #[error("no test with a smaller volume: no consent was given")]
    NoConsent,
    /// The old limit could not be written down.
    #[error("no test with a smaller volume: {0}")]
    NotNoted(io::Error),
    /// Somebody else has a say in the limit.
    #[error(
        "somebody else changed the limit of {group} during the test with a smaller volume, which \
         ended there; the limit was left as it stands: {left}"
    )]
    Left {
        /// The control group.
        group: String,
        /// How its limit stands.
        left: String,
    },
    /// The old limit is not there again.
    #[error(
        "the old limit of {group} could not be set back ({error}); `fathom clean --yes` tries it \
         again"
    )]
    NotSetBack {
        /// The control group.
        group: String,
        /// What the kernel says.
        error: io::Error,
    },
    /// It began and did not end.
    #[error("the test with a smaller volume failed: {0}; the old limit is set back")]
    Failed(ExperimentError<HeldBackError>),
}

/// Whether a process has a control group that can be limited. Of the device it is
/// not known yet which one it will be.
///
/// # Errors
/// It has none.
pub fn check_group(pid: u32) -> Result<(), GroupLimitError> {
    GroupLimit::of_process(&Sysroot::host(), pid, "0:0").map(drop)
}

/// The recording as it bears on the application of a process: what holds back
/// other control groups of the host does not answer for it.
#[must_use]
pub fn without_limits_of_others(pid: u32, mut load: Recording) -> Recording {
    if let Ok(group) = GroupLimit::of_process(&Sysroot::host(), pid, "0:0") {
        only_limits_of(&mut load, group.name());
    }
    load
}

/// A test that can be made.
pub struct CausalOrder<'r> {
    request: CausalRequest<'r>,
    group: GroupLimit,
    limits: [u64; 2],
    subject: CausalSubject,
}

impl<'r> CausalOrder<'r> {
    /// For the busiest device of a load.
    ///
    /// # Errors
    /// The volume cannot be made smaller for this application.
    pub fn new(
        request: CausalRequest<'r>,
        load: &Recording,
        found: &Diagnosis,
    ) -> Result<CausalOrder<'r>, CausalError> {
        let known = found.disks.first().zip(found.ceiling.as_ref());
        let (disk, used) = known.ok_or(CausalError::NoCeiling)?;
        if !used.comparable {
            return Err(CausalError::OtherMix);
        }
        let number = format!("/sys/class/block/{}/dev", disk.name.replace('/', "!"));
        let device = Sysroot::host().text(number);
        let device = device.ok_or_else(|| CausalError::NoDevice(disk.name.clone()))?;
        let group = GroupLimit::of_process(&Sysroot::host(), request.pid, &device)?;
        let volume = SmallerVolume {
            operations: used.operations,
            read_share: disk.read_share,
            samples: samples(load, &disk.name),
            own: group.now(),
        };
        let limits = request.design.limits(&volume)?;
        let subject = CausalSubject {
            group: group.name().to_owned(),
            limit: format!(
                "{} of {} to {} reads and {} writes per second",
                group.mechanism(),
                disk.name,
                unit::group(limits[0]),
                unit::group(limits[1])
            ),
            progress: Progress::words(request.progress.is_some()).to_owned(),
            stands_for_all: request.progress.is_some(),
        };
        Ok(CausalOrder {
            request,
            group,
            limits,
            subject,
        })
    }

    /// What will be done, for who is to allow it.
    #[must_use]
    pub fn in_words(&self) -> String {
        let CausalSubject { group, limit, .. } = &self.subject;
        self.request.design.in_words(group, limit)
    }

    /// Makes the test. The inner error is why it says nothing.
    ///
    /// # Errors
    /// No signal can be caught, or there is no place for a note of the old limit.
    pub fn carry_out(self, store: &StorePath) -> anyhow::Result<Result<CausalTest, CausalError>> {
        let interrupt = Interrupt::new();
        signals::raise_on_signals(&interrupt)?;
        let store = present::store_path(store)?;
        let wrote = self.group.setting(self.limits[0], self.limits[1]);
        let changed = ChangedLimits::note(&store, self.group.set_back(), &wrote);
        Ok(match changed {
            Ok(changed) => self.test(&changed, &interrupt),
            Err(error) => Err(CausalError::NotNoted(error)),
        })
    }

    fn test(
        self,
        changed: &ChangedLimits,
        interrupt: &Interrupt,
    ) -> Result<CausalTest, CausalError> {
        let CausalRequest {
            progress, design, ..
        } = self.request;
        let progress = Progress::new(progress, self.group.clone());
        let shown = stderr().is_terminal();
        let mut held = HeldBack::new(self.group, self.limits, changed, progress, interrupt, shown);
        let effect = experiment(&design, &mut held);
        let back = changed.set_back();
        if shown {
            present::rewrite_line("");
        }
        if let Err(error) = back {
            return Err(not_set_back(self.subject.group, error));
        }
        let effect = effect.map_err(CausalError::Failed)?;
        Ok(causal_test(&design, self.subject, &effect))
    }
}

/// Reads and writes per second of each sample of a disk.
fn samples(load: &Recording, disk: &str) -> Vec<[f64; 2]> {
    let moments = load.moments.iter().flat_map(|m| &m.disks);
    let of_disk = moments.filter(|d| d.name == disk);
    of_disk.map(|d| [d.reads, d.writes]).collect()
}

/// Why the old limit of a group is not there again.
fn not_set_back(group: String, error: io::Error) -> CausalError {
    match LeftAsTheyStand::of(&error) {
        Some(left) => CausalError::Left {
            group,
            left: left.to_string(),
        },
        None => CausalError::NotSetBack { group, error },
    }
}

#[cfg(test)]
#[path = "causal_tests.rs"]
mod tests;
