//! Puts cases before the judge and compares what it says with the truth.

use fathom_model::judged::JudgedRun;
use fathom_model::rng::{Rng, derive_seed};
use fathom_model::verdict::{FindingStatus, Limiter, Validity};

use crate::bench::{self, CaseError};
use crate::case::{Case, Expected, Scenario};
use crate::fio_view::{FioView, fio_view};
use crate::scenarios::{self, Draw};

/// How one case ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grade {
    /// The judgement is right.
    Right,
    /// A fault was not seen, or not by its name.
    Missed,
    /// A sound system got a caveat.
    Doubted,
    /// A sound system was called not trusted.
    Condemned,
    /// The limiter has a wrong name.
    Misnamed,
}

/// One case and what became of it.
#[derive(Debug, Clone)]
pub struct GradedCase {
    /// The scenario's name.
    pub scenario: &'static str,
    /// What a right judgement would have said.
    pub expected: Expected,
    /// The seed from which the case was drawn.
    pub seed: u64,
    /// The drive and the workload, for whoever looks into it.
    pub case: String,
    /// How the judgement compares with the truth.
    pub grade: Grade,
    /// What the judge said: validity.
    pub validity: Validity,
    /// What the judge said: limiter.
    pub limiter: Limiter,
    /// Checks that objected, with their evidence.
    pub objections: Vec<String>,
    /// What a user of fio would have seen.
    pub fio: FioView,
    /// What was said about steadiness of the first trial.
    pub steadiness: Option<String>,
    /// The whole judgement.
    pub judged: Box<JudgedRun>,
}

/// All answers of an exam.
#[derive(Debug, Clone, Default)]
pub struct Paper {
    /// In the order of the scenarios.
    pub answers: Vec<GradedCase>,
    /// Cases that could not be carried out: faults of the exam itself.
    pub broken: Vec<String>,
}

impl Paper {
    /// How many cases got this grade.
    pub fn count(&self, grade: Grade) -> usize {
        self.answers.iter().filter(|a| a.grade == grade).count()
    }

    /// Share of right answers, 0 to 1.
    pub fn right_share(&self) -> f64 {
        self.count(Grade::Right) as f64 / self.answers.len().max(1) as f64
    }
}

/// Draws `repeats` cases of every scenario and has them judged.
pub fn sit(seed: u64, repeats: u32) -> Paper {
    sit_some(seed, repeats, |_| true)
}

/// The same with the scenarios whose name is chosen.
pub fn sit_some(seed: u64, repeats: u32, chosen: impl Fn(&str) -> bool) -> Paper {
    let mut paper = Paper::default();
    for (number, scenario) in scenarios::all().iter().enumerate() {
        if !chosen(scenario.name) {
            continue;
        }
        for repeat in 0..repeats {
            let label = (number as u64) << 32 | u64::from(repeat);
            match answer(scenario, derive_seed(seed, label)) {
                Ok(answer) => paper.answers.push(answer),
                Err(why) => paper.broken.push(format!("{}: {why}", scenario.name)),
            }
        }
    }
    paper
}

fn answer(scenario: &Scenario, seed: u64) -> Result<GradedCase, CaseError> {
    let mut draw = Draw::new(Rng::new(seed));
    let case = (scenario.draw)(&mut draw);
    let record = bench::run(&case, seed)?;
    let judged = fathom_analysis::judge(&record);
    Ok(GradedCase {
        scenario: scenario.name,
        expected: scenario.expected.clone(),
        seed,
        case: describe(&case),
        grade: grade(&scenario.expected, &judged),
        validity: judged.verdict.validity,
        limiter: limiter_of(&judged),
        objections: objections(&judged),
        fio: fio_view(&record),
        steadiness: judged
            .trials
            .first()
            .and_then(|trial| trial.steadiness.as_ref())
            .map(|steadiness| format!("{:?}: {}", steadiness.class, steadiness.sentence)),
        judged: Box::new(judged),
    })
}

fn describe(case: &Case) -> String {
    let first = case.trials.first();
    let workload = first.map(|trial| {
        let w = &trial.workload;
        format!("{} {:?} q{} j{}", w.name, w.block, w.queue_depth, w.workers)
    });
    format!("{} {}", case.drive, workload.unwrap_or_default())
}

pub(crate) fn grade(expected: &Expected, judged: &JudgedRun) -> Grade {
    let limiter = limiter_of(judged);
    let named_right = |allowed: &[Limiter]| named_right(limiter, allowed);
    match expected {
        Expected::Sound { limiters } => match judged.verdict.validity {
            Validity::NotTrusted => Grade::Condemned,
            Validity::Caveats | Validity::NotDetermined => Grade::Doubted,
            Validity::Trusted if named_right(limiters) => Grade::Right,
            Validity::Trusted => Grade::Misnamed,
        },
        Expected::Faulty {
            findings,
            least,
            limiters,
        } => {
            let seen = judged
                .trials
                .iter()
                .flat_map(|trial| &trial.verdict.findings)
                .chain(&judged.verdict.findings)
                .any(|f| f.status >= *least && findings.contains(&f.id.as_str()));
            match seen {
                false => Grade::Missed,
                true if named_right(limiters) => Grade::Right,
                true => Grade::Misnamed,
            }
        }
        Expected::Limited { limiter: true_one } => match judged.verdict.validity {
            Validity::NotTrusted => Grade::Condemned,
            _ if limiter == *true_one => Grade::Right,
            _ if limiter.wants_evidence() && named_right(&[*true_one]) => Grade::Missed,
            _ => Grade::Misnamed,
        },
    }
}

/// Whether a limiter is none, the true one, or one of two of which one is true.
pub(crate) fn named_right(limiter: Limiter, allowed: &[Limiter]) -> bool {
    match limiter {
        Limiter::Unknown => true,
        Limiter::DeviceOrCap => {
            allowed.contains(&Limiter::Device) || allowed.contains(&Limiter::Cap)
        }
        named => allowed.contains(&named),
    }
}

/// The limiter of the first row: scenarios ask about that one.
pub(crate) fn limiter_of(judged: &JudgedRun) -> Limiter {
    judged
        .rows
        .first()
        .map_or(Limiter::Unknown, |row| row.verdict.limiter)
}

pub(crate) fn objections(judged: &JudgedRun) -> Vec<String> {
    let mut seen: Vec<String> = Vec::new();
    for finding in &judged.verdict.findings {
        if finding.status >= FindingStatus::Caveat {
            seen.push(format!("{} {}", finding.id, finding.evidence));
        }
    }
    seen
}
