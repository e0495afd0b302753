//! The exam on real components: the real fathom, and the real fio beside it,
//! on targets whose truth is known because this project shaped them.
//!
//! What a machine does not have is skipped with the reason. Nothing is asserted
//! about times: a verdict must be right, however busy the machine is.

mod caches;
mod disturbed;
mod drives;
mod limits;
mod rig;

use fathom_lab::Error;
use fathom_model::judged::JudgedRun;
use fathom_model::verdict::{FindingStatus, Limiter, Validity};

pub use self::rig::Rig;
use crate::case::Expected;
use crate::fio_view::FioView;
use crate::grade::{Grade, grade, limiter_of, named_right, objections};

/// A target of known truth, and what a right judgement of it says.
pub struct RealScenario {
    /// What it is, in a few words.
    pub name: &'static str,
    /// What a right judgement says.
    pub expected: Expected,
    /// Objections of a sound one that are true on a machine like this: it is a
    /// small and busy one, and its parts are simulated.
    pub allowed: &'static [&'static str],
    run: fn(&Rig) -> Result<Seen, Error>,
}

/// What was seen.
pub(crate) struct Seen {
    pub(crate) judged: JudgedRun,
    pub(crate) fio: Option<FioView>,
    pub(crate) held: Vec<HeldFigure>,
}

/// A figure beside its truth.
#[derive(Debug, Clone, PartialEq)]
pub struct HeldFigure {
    /// Which.
    pub name: &'static str,
    /// What fathom said; `None` when it gave no figure.
    pub measured: Option<f64>,
    /// What is true.
    pub truth: f64,
    /// The largest error that is promised, as a share.
    pub bar: f64,
}

impl HeldFigure {
    /// Relative error.
    pub fn error(&self) -> Option<f64> {
        self.measured.map(|measured| measured / self.truth - 1.0)
    }
}

/// How one real scenario ended.
#[derive(Debug, Clone)]
pub struct RealAnswer {
    /// The scenario's name.
    pub scenario: &'static str,
    /// Whether nothing was wrong with it.
    pub sound: bool,
    /// How the judgement compares with the truth.
    pub grade: Grade,
    /// What fathom said: validity.
    pub validity: Validity,
    /// What fathom said: limiter.
    pub limiter: Limiter,
    /// Checks that objected, with their evidence.
    pub objections: Vec<String>,
    /// What fio said; `None` without fio.
    pub fio: Option<FioView>,
    /// Figures with a known truth.
    pub held: Vec<HeldFigure>,
}

/// Every real scenario.
pub fn all() -> Vec<RealScenario> {
    let mut scenarios = caches::scenarios();
    scenarios.extend(limits::scenarios());
    scenarios.extend(disturbed::scenarios());
    scenarios.extend(drives::scenarios());
    scenarios
}

impl RealScenario {
    /// Sets it up, measures it with both programs and takes it away again.
    ///
    /// # Errors
    /// [`Error::Absent`] with what this machine does not have; any other is a
    /// fault of the rig.
    pub fn sit(&self, rig: &Rig) -> Result<RealAnswer, Error> {
        let seen = (self.run)(rig)?;
        let judged = &seen.judged;
        Ok(RealAnswer {
            scenario: self.name,
            sound: matches!(self.expected, Expected::Sound { .. }),
            grade: self.grade(judged),
            validity: judged.verdict.validity,
            limiter: limiter_of(judged),
            objections: objections(judged),
            fio: seen.fio,
            held: seen.held,
        })
    }

    fn grade(&self, judged: &JudgedRun) -> Grade {
        let strict = grade(&self.expected, judged);
        let others = judged.verdict.findings.iter().any(|finding| {
            finding.status >= FindingStatus::Caveat && !self.allowed.contains(&finding.id.as_str())
        });
        match (&self.expected, strict) {
            (Expected::Sound { limiters }, Grade::Doubted | Grade::Condemned) if !others => {
                let limiter = limiter_of(judged);
                match named_right(limiter, limiters) {
                    true => Grade::Right,
                    false => Grade::Misnamed,
                }
            }
            _ => strict,
        }
    }
}

fn sound(
    name: &'static str,
    limiters: &[Limiter],
    allowed: &'static [&'static str],
    run: fn(&Rig) -> Result<Seen, Error>,
) -> RealScenario {
    RealScenario {
        name,
        expected: Expected::Sound {
            limiters: limiters.to_vec(),
        },
        allowed,
        run,
    }
}

fn faulty(
    name: &'static str,
    findings: &[&'static str],
    limiters: &[Limiter],
    run: fn(&Rig) -> Result<Seen, Error>,
) -> RealScenario {
    RealScenario {
        name,
        expected: Expected::Faulty {
            findings: findings.to_vec(),
            least: FindingStatus::Caveat,
            limiters: limiters.to_vec(),
        },
        allowed: &[],
        run,
    }
}

/// Something of which a remark is enough, because the figures say it as well.
fn remarked(
    name: &'static str,
    findings: &[&'static str],
    limiters: &[Limiter],
    run: fn(&Rig) -> Result<Seen, Error>,
) -> RealScenario {
    let mut scenario = faulty(name, findings, limiters, run);
    if let Expected::Faulty { least, .. } = &mut scenario.expected {
        *least = FindingStatus::Info;
    }
    scenario
}

/// The rate of the first kind of operation.
fn rate(judged: &JudgedRun) -> Option<f64> {
    judged.rows.first()?.ops.first()?.ops_per_second.value
}
