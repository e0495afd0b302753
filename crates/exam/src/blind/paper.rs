//! What a sitting of a batch gave.

use std::collections::BTreeSet;
use std::fmt;

use fathom_stats::proportion::interval_of_share;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::batch::BlindCase;
use super::expectation::{Expectation, Said};
use crate::diagnosis::Disturbance;

/// Schema of [`BlindPaper`].
const SCHEMA: &str = "fathom.lab.blind/1";
/// Bytes of an answer that a result keeps.
const MOST_KEPT: usize = 4096;
/// Characters that it keeps of a place at which a case looks.
const MOST_OF_A_PLACE: usize = 200;

/// How a case was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BlindGrade {
    /// As its author expects.
    Right,
    /// As the author accepts in part.
    Partly,
    /// Otherwise.
    Wrong,
    /// As it must never be answered.
    Never,
    /// Others were at work in both attempts: nothing is learnt.
    Disturbed,
    /// It could not be set up.
    Broken,
}

impl BlindGrade {
    /// In a word or two.
    pub fn word(self) -> &'static str {
        match self {
            BlindGrade::Right => "right",
            BlindGrade::Partly => "partly right",
            BlindGrade::Wrong => "wrong",
            BlindGrade::Never => "NEVER",
            BlindGrade::Disturbed => "disturbed",
            BlindGrade::Broken => "broken",
        }
    }

    /// Whether it tells something of fathom.
    pub fn counts(self) -> bool {
        !matches!(self, BlindGrade::Disturbed | BlindGrade::Broken)
    }
}

/// A case with its answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BlindResult {
    /// What it is called.
    pub name: String,
    /// What is the matter.
    pub truth: String,
    /// The command that asked.
    pub ask: String,
    /// How it was answered.
    pub grade: BlindGrade,
    /// Which mistake it is, where the answer must never be given; why it is
    /// broken or disturbed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remark: Option<String>,
    /// The answer, what it judges first, at most 4 KiB of it.
    pub said: String,
    /// The exit status.
    pub status: Option<i32>,
}

/// When, with what and where a batch was sat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sitting {
    /// The day.
    pub date: String,
    /// The version of fathom.
    pub version: String,
    /// The machine, without its name.
    pub machine: String,
}

/// A batch that was sat.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BlindPaper {
    schema: String,
    /// What the batch is called.
    pub title: String,
    /// Who wrote it.
    pub by: String,
    /// SHA-256 of its file: two papers with the same one are of the same cases.
    pub digest: String,
    /// When and where.
    pub sitting: Sitting,
    /// Its cases, in order.
    pub results: Vec<BlindResult>,
}

/// What the answer says at the places that the case looks at, a line each.
fn looked_at(case: &BlindCase, said: &Said) -> String {
    let never = case.never.iter().map(|never| &never.answer);
    let all = case.right.iter().chain(&case.partly).chain(never);
    let places: BTreeSet<&str> = all.flat_map(Expectation::pointers).collect();
    let line = |place: &str| {
        let found: Vec<String> = said.at(place).iter().map(Value::to_string).collect();
        let found: String = found.join(", ").chars().take(MOST_OF_A_PLACE).collect();
        format!("{place}: {found}\n")
    };
    places.into_iter().map(line).collect()
}

/// Why a file does not hold the result of a sitting.
#[derive(Debug, thiserror::Error)]
pub enum PaperError {
    /// It is not JSON, or not of this form.
    #[error("{0}")]
    Json(#[from] serde_json::Error),
    /// It is something else.
    #[error("its schema is '{0}' and not {SCHEMA}")]
    Schema(String),
}

impl BlindResult {
    pub(super) fn new(case: &BlindCase, said: &Said) -> BlindResult {
        let mut kept = looked_at(case, said) + &said.judgement_first();
        if let Some((end, _)) = kept.char_indices().find(|(at, _)| *at >= MOST_KEPT) {
            kept.truncate(end);
            kept.push('…');
        }
        let (grade, remark) = graded(case, said);
        BlindResult {
            name: case.name.clone(),
            truth: case.truth.trim().to_owned(),
            ask: case.ask.trim().to_owned(),
            grade,
            remark,
            said: kept,
            status: said.status,
        }
    }

    /// The same, not counted.
    pub(super) fn uncounted(mut self, grade: BlindGrade, reason: String) -> BlindResult {
        self.grade = grade;
        self.remark = Some(reason);
        self
    }

    /// The same, with what disturbed it. An answer that must never be given stays
    /// one, whoever was at work.
    pub(super) fn disturbed_by(self, by: &Disturbance) -> BlindResult {
        match self.grade {
            BlindGrade::Never | BlindGrade::Broken => self,
            _ => self.uncounted(BlindGrade::Disturbed, by.to_string()),
        }
    }
}

fn graded(case: &BlindCase, said: &Said) -> (BlindGrade, Option<String>) {
    if let Some(never) = case.never.iter().find(|never| never.answer.holds(said)) {
        return (BlindGrade::Never, Some(never.mistake.clone()));
    }
    let any = |of: &[Expectation]| of.iter().any(|one| one.holds(said));
    match (any(&case.right), any(&case.partly)) {
        (true, _) => (BlindGrade::Right, None),
        (false, true) => (BlindGrade::Partly, None),
        (false, false) => (BlindGrade::Wrong, None),
    }
}

impl BlindPaper {
    /// An empty one.
    pub fn new(title: &str, by: &str, digest: &str, sitting: Sitting) -> BlindPaper {
        BlindPaper {
            schema: SCHEMA.to_owned(),
            title: title.to_owned(),
            by: by.trim().to_owned(),
            digest: digest.to_owned(),
            sitting,
            results: Vec::new(),
        }
    }

    /// Reads one that was kept.
    ///
    /// # Errors
    /// When it is something else.
    pub fn parse(text: &str) -> Result<BlindPaper, PaperError> {
        let paper: BlindPaper = serde_json::from_str(text)?;
        match paper.schema.as_str() {
            SCHEMA => Ok(paper),
            _ => Err(PaperError::Schema(paper.schema)),
        }
    }

    /// Cases with this grade.
    pub fn count(&self, grade: BlindGrade) -> usize {
        self.results.iter().filter(|one| one.grade == grade).count()
    }

    /// Cases that tell something.
    pub fn counted(&self) -> usize {
        self.results.iter().filter(|one| one.grade.counts()).count()
    }

    /// The share of right ones with its interval, in words.
    pub fn share(&self) -> String {
        let (right, all) = (self.count(BlindGrade::Right) as u64, self.counted() as u64);
        match interval_of_share(right, all) {
            Some((low, high)) => format!(
                "{right} of {all} right ({:.0} %, 95 % interval {:.0} to {:.0} %)",
                100.0 * right as f64 / all as f64,
                100.0 * low,
                100.0 * high
            ),
            None => "no case counts".to_owned(),
        }
    }

    /// At least 95 % right, and nothing said that must never be.
    pub fn passed(&self) -> bool {
        let (right, all) = (self.count(BlindGrade::Right), self.counted());
        all > 0 && self.count(BlindGrade::Never) == 0 && right * 100 >= all * 95
    }
}

impl fmt::Display for BlindResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<12}  {}", self.grade.word(), self.name)?;
        if let Some(remark) = &self.remark {
            write!(f, "\n              {remark}")?;
        }
        if matches!(self.grade, BlindGrade::Right | BlindGrade::Broken) {
            return Ok(());
        }
        write!(f, "\n              the truth: {}", self.truth)
    }
}

impl fmt::Display for BlindPaper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{}: {}; {} partly right, {} wrong, {} as they must never be answered; {} disturbed \
             and {} broken, which do not count",
            self.title,
            self.share(),
            self.count(BlindGrade::Partly),
            self.count(BlindGrade::Wrong),
            self.count(BlindGrade::Never),
            self.count(BlindGrade::Disturbed),
            self.count(BlindGrade::Broken),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::super::batch::Batch;
    use super::*;

    fn case() -> BlindCase {
        let text = r#"
title = "t"
by = "b"
[[case]]
name = "n"
truth = "a cap"
ask = "fathom"
right = [{ text = { contains = "cap" } }]
partly = [{ text = { contains = "device" } }]
never = [{ mistake = "fathom blamed", answer = { text = { contains = "generator" } } }]
"#;
        Batch::parse(text).unwrap().cases.remove(0)
    }

    fn answered(text: &str) -> BlindResult {
        let said = Said {
            text: text.to_owned(),
            ..Said::default()
        };
        BlindResult::new(&case(), &said)
    }

    #[test]
    fn what_must_never_be_said_outweighs_what_is_right() {
        assert_eq!(answered("a cap").grade, BlindGrade::Right);
        assert_eq!(answered("the device").grade, BlindGrade::Partly);
        assert_eq!(answered("nothing").grade, BlindGrade::Wrong);
        let never = answered("a cap, or the generator");
        assert_eq!(never.grade, BlindGrade::Never);
        assert_eq!(never.remark.as_deref(), Some("fathom blamed"));
        let disturbance = Disturbance {
            stolen: 0.5,
            ..Disturbance::default()
        };
        assert_eq!(never.clone().disturbed_by(&disturbance), never);
        let disturbed = answered("nothing").disturbed_by(&disturbance);
        assert_eq!(disturbed.grade, BlindGrade::Disturbed);
        assert!(disturbed.remark.unwrap().starts_with("50 % stolen"));
    }

    #[test]
    fn a_paper_comes_back_from_its_file_and_counts_what_tells_something() {
        let sitting = Sitting {
            date: "2026-11-26".to_owned(),
            version: "0.1.0".to_owned(),
            machine: "2 CPUs".to_owned(),
        };
        let mut paper = BlindPaper::new("first", "an outsider", "00ff", sitting);
        assert!(!paper.passed(), "nothing was shown");
        for _ in 0..19 {
            paper.results.push(answered("a cap"));
        }
        paper.results.push(answered("nothing"));
        let broken = answered("").uncounted(BlindGrade::Broken, "no FUSE".to_owned());
        paper.results.push(broken);
        assert_eq!((paper.counted(), paper.count(BlindGrade::Right)), (20, 19));
        assert!(paper.passed());
        assert!(paper.share().contains("95 %, 95 % interval 76 to 99 %"));
        paper.results.push(answered("the generator"));
        assert!(!paper.passed());
        let kept = serde_json::to_string(&paper).unwrap();
        assert_eq!(BlindPaper::parse(&kept).unwrap(), paper);
        let other = kept.replace(SCHEMA, "fathom.run/1");
        assert!(BlindPaper::parse(&other).is_err());
    }
}
