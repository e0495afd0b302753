//! The answers of a sitting, counted and printed.

use std::collections::BTreeMap;
use std::fmt;

use fathom_model::diagnosis::{Answer, Shortage};
use serde_json::{Value, json};

use super::case::{DiagnosisCase, Truth};
use super::sitting::Attempt;

/// Schema of [`DiagnosisPaper::to_json`].
const SCHEMA: &str = "fathom.lab.diagnosis/1";
/// Right answers that an exam needs.
pub(super) const PASS: f64 = 0.95;

/// How a case was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CaseGrade {
    /// Answer and limiter are those of the truth.
    Right,
    /// They are not.
    Wrong,
    /// YES for a host whose storage did not hold it back.
    FalseYes,
    /// Others were at work in both attempts: the host was not what the case
    /// says, so that nothing is learnt.
    Disturbed,
    /// This machine cannot set it up.
    Skipped,
}

impl CaseGrade {
    /// In one or two words.
    pub fn word(self) -> &'static str {
        match self {
            CaseGrade::Right => "right",
            CaseGrade::Wrong => "wrong",
            CaseGrade::FalseYes => "FALSE YES",
            CaseGrade::Disturbed => "disturbed",
            CaseGrade::Skipped => "skipped",
        }
    }
}

/// A case with what was said.
#[derive(Debug, Clone)]
pub struct CaseResult {
    /// Its number in the exam.
    pub number: u32,
    /// What kind of trouble.
    pub family: &'static str,
    /// The figures that were drawn.
    pub figures: String,
    /// What must be said.
    pub truth: Truth,
    /// How it was answered.
    pub grade: CaseGrade,
    /// Every attempt, the last one counts.
    pub attempts: Vec<Attempt>,
    /// Why it was skipped.
    pub reason: Option<String>,
}

impl CaseResult {
    pub(super) fn new(
        number: u32,
        case: &DiagnosisCase,
        grade: CaseGrade,
        attempts: Vec<Attempt>,
        reason: Option<String>,
    ) -> CaseResult {
        CaseResult {
            number,
            family: case.family,
            figures: case.figures.clone(),
            truth: case.truth.clone(),
            grade,
            attempts,
            reason,
        }
    }

    fn to_json(&self) -> Value {
        let attempts = self.attempts.iter().map(|attempt| {
            json!({
                "answer": attempt.said.answer,
                "limiter": attempt.said.limiter,
                "evidence": attempt.said.evidence,
                "right": attempt.right,
                "stolen_share": attempt.disturbance.stolen,
                "others_share": attempt.disturbance.others,
                "others_in_flight": attempt.disturbance.in_flight,
                "broken": attempt.broken,
            })
        });
        json!({
            "case": self.number,
            "family": self.family,
            "figures": self.figures,
            "expected": {"answer": self.truth.answer, "limiters": self.truth.limiters},
            "grade": self.grade.word(),
            "reason": self.reason,
            "attempts": attempts.collect::<Vec<_>>(),
        })
    }

    /// `yes, volume_cap`.
    fn said(&self) -> String {
        match (self.attempts.last(), &self.reason) {
            (Some(last), _) => in_words(last.said.answer, &[last.said.limiter]),
            (None, _) => "-".to_owned(),
        }
    }

    fn remark(&self) -> String {
        if let Some(reason) = &self.reason {
            return reason.clone();
        }
        let disturbed = self.attempts.iter().filter_map(|attempt| {
            if let Some(broken) = &attempt.broken {
                return Some(broken.clone());
            }
            let d = attempt.disturbance;
            d.is_much().then(|| d.to_string())
        });
        let disturbed: Vec<String> = disturbed.collect();
        match (disturbed.is_empty(), self.attempts.len()) {
            (true, _) => String::new(),
            (false, 1) => disturbed.join("; "),
            (false, _) => format!("sat twice: {}", disturbed.join("; ")),
        }
    }
}

/// As they stand in JSON.
fn in_words(answer: Answer, limiters: &[Shortage]) -> String {
    let word = |value: Value| value.as_str().unwrap_or_default().to_owned();
    let names = limiters.iter().map(|limiter| word(json!(limiter)));
    let names: Vec<String> = names.collect();
    format!("{}, {}", word(json!(answer)), names.join(" or "))
}

/// An exam that was sat.
#[derive(Debug, Clone, Default)]
pub struct DiagnosisPaper {
    /// From which the cases were drawn.
    pub seed: u64,
    /// The cases, in order.
    pub results: Vec<CaseResult>,
}

impl DiagnosisPaper {
    /// Cases with this grade.
    pub fn count(&self, grade: CaseGrade) -> usize {
        self.results.iter().filter(|one| one.grade == grade).count()
    }

    /// Cases that tell something.
    pub fn graded(&self) -> usize {
        let told = [CaseGrade::Right, CaseGrade::Wrong, CaseGrade::FalseYes];
        told.into_iter().map(|grade| self.count(grade)).sum()
    }

    /// Right ones among them; nothing without any.
    pub fn right_share(&self) -> Option<f64> {
        let graded = self.graded();
        (graded > 0).then(|| self.count(CaseGrade::Right) as f64 / graded as f64)
    }

    /// At least 95 % right, no false YES, and something graded at all.
    pub fn passed(&self) -> bool {
        self.count(CaseGrade::FalseYes) == 0
            && self.right_share().is_some_and(|share| share >= PASS)
    }

    /// The score in a sentence.
    pub fn score(&self) -> String {
        let share = match self.right_share() {
            Some(share) => format!(" ({:.1} %)", 100.0 * share),
            None => String::new(),
        };
        format!(
            "{} of {} diagnoses are right{share}; {} wrong; {} YES for a system that is not \
             disk-bound; {} disturbed and {} skipped, which do not count",
            self.count(CaseGrade::Right),
            self.graded(),
            self.count(CaseGrade::Wrong),
            self.count(CaseGrade::FalseYes),
            self.count(CaseGrade::Disturbed),
            self.count(CaseGrade::Skipped),
        )
    }

    /// Everything, for programs.
    pub fn to_json(&self) -> Value {
        json!({
            "schema": SCHEMA,
            "seed": self.seed,
            "right": self.count(CaseGrade::Right),
            "wrong": self.count(CaseGrade::Wrong),
            "false_yes": self.count(CaseGrade::FalseYes),
            "disturbed": self.count(CaseGrade::Disturbed),
            "skipped": self.count(CaseGrade::Skipped),
            "right_share": self.right_share(),
            "passed": self.passed(),
            "cases": self.results.iter().map(CaseResult::to_json).collect::<Vec<_>>(),
        })
    }

    /// The cases of each family, and the right ones among the graded.
    fn by_family(&self) -> Vec<(&'static str, usize, usize, String)> {
        let mut families: BTreeMap<&'static str, (usize, usize, usize, String)> = BTreeMap::new();
        for (order, one) in self.results.iter().enumerate() {
            let new = || (order, 0, 0, in_words(one.truth.answer, one.truth.limiters));
            let family = families.entry(one.family).or_insert_with(new);
            let graded = !matches!(one.grade, CaseGrade::Disturbed | CaseGrade::Skipped);
            family.1 += usize::from(graded);
            family.2 += usize::from(one.grade == CaseGrade::Right);
        }
        let mut rows: Vec<_> = families.into_iter().collect();
        rows.sort_by_key(|(_, row)| row.0);
        let row = |(family, (_, graded, right, truth))| (family, graded, right, truth);
        rows.into_iter().map(row).collect()
    }

    /// Tables for a page.
    pub(super) fn to_markdown(&self) -> String {
        let mut text = "| family | right | truth |\n|---|---:|---|\n".to_owned();
        for (family, graded, right, truth) in self.by_family() {
            text += &format!("| {family} | {right} of {graded} | {truth} |\n");
        }
        text += "\n| case | family | drawn | said | grade |\n|---:|---|---|---|---|\n";
        for one in &self.results {
            let remark = match one.remark() {
                remark if remark.is_empty() => String::new(),
                remark => format!(" ({remark})"),
            };
            text += &format!(
                "| {} | {} | {} | {} | {}{remark} |\n",
                one.number,
                one.family,
                one.figures,
                one.said(),
                one.grade.word(),
            );
        }
        text
    }
}

impl fmt::Display for CaseResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:>3}  {:<9}  {:<32}  {:<24}  {}",
            self.number,
            self.grade.word(),
            self.family,
            self.said(),
            self.figures,
        )?;
        let remark = self.remark();
        if !remark.is_empty() {
            write!(f, "\n     {remark}")?;
        }
        let wrong = matches!(self.grade, CaseGrade::Wrong | CaseGrade::FalseYes);
        if let Some(last) = self.attempts.last().filter(|_| wrong) {
            write!(
                f,
                "\n     the truth: {}",
                in_words(self.truth.answer, self.truth.limiters)
            )?;
            for line in &last.said.evidence {
                write!(f, "\n     said: {line}")?;
            }
        }
        Ok(())
    }
}

/// The score; the cases are told while they are sat.
impl fmt::Display for DiagnosisPaper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "\n{:<32}  {:>5}  truth", "family", "right")?;
        for (family, graded, right, truth) in self.by_family() {
            writeln!(f, "{family:<32}  {right:>2}/{graded:<2}  {truth}")?;
        }
        writeln!(f, "\n{}", self.score())
    }
}
