//! The exam for machine readers, schema `fathom.exam/1`.

use serde_json::{Value, json};

use crate::case::Expected;
use crate::fio_view::{Sign, Visibility};
use crate::grade::{Grade, GradedCase, Paper};

/// Right judgements below this share fail the exam.
const LEAST_RIGHT: f64 = 0.95;

impl Paper {
    /// Whether at least 95 % are right, no sound system is condemned, and every
    /// case could be carried out.
    pub fn passed(&self) -> bool {
        let whole = self.broken.is_empty();
        whole && self.right_share() >= LEAST_RIGHT && self.count(Grade::Condemned) == 0
    }

    /// Schema `fathom.exam/1`: every answer, in the order of the scenarios.
    pub fn to_json(&self, seed: u64) -> Value {
        json!({
            "schema": "fathom.exam/1",
            "seed": seed,
            "cases": self.answers.len(),
            "right": self.count(Grade::Right),
            "condemned": self.count(Grade::Condemned),
            "passed": self.passed(),
            "answers": self.answers.iter().map(answer).collect::<Vec<_>>(),
            "broken": self.broken,
        })
    }
}

fn answer(answer: &GradedCase) -> Value {
    let truth = match answer.expected {
        Expected::Sound { .. } => "sound",
        Expected::Faulty { .. } => "faulty",
        Expected::Limited { .. } => "limited",
    };
    json!({
        "scenario": answer.scenario,
        "truth": truth,
        "seed": answer.seed,
        "case": answer.case,
        "grade": format!("{:?}", answer.grade).to_lowercase(),
        "validity": answer.validity,
        "limiter": answer.limiter,
        "objections": answer.objections,
        "fio": {
            "headline": answer.fio.headline,
            "signs": signs(&answer.fio.signs),
            "hints": signs(&answer.fio.hints),
        },
    })
}

fn signs(signs: &[Sign]) -> Vec<Value> {
    let word = |shown: Visibility| match shown {
        Visibility::Plainly => "plainly",
        Visibility::ToAnExpert => "expert",
        Visibility::Not => "not",
    };
    signs
        .iter()
        .map(|sign| json!({"shown": word(sign.shown), "words": sign.words}))
        .collect()
}
