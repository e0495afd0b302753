//! A batch of cases, as it stands in its file (TOML).

use std::time::Duration;

use serde::Deserialize;

use super::expectation::{Expectation, ExpectationError};

/// How long a set-up or an end may take, unless the case says otherwise.
const SET_UP_SECONDS: u64 = 120;
/// How long fathom may take.
const ASK_SECONDS: u64 = 300;
/// What a case may ask for at most.
const MOST_SECONDS: u64 = 3600;
/// Cases of a batch at most.
const MOST_CASES: usize = 1000;

/// A batch.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Batch {
    /// What it is called.
    pub title: String,
    /// Who wrote it, and what they had read.
    pub by: String,
    /// Its cases.
    #[serde(rename = "case")]
    pub cases: Vec<BlindCase>,
}

/// A system, the question, and the answers that are right.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlindCase {
    /// What it is called.
    pub name: String,
    /// What is the matter, in a sentence.
    pub truth: String,
    /// Commands of bash that set the system up. What they leave running is ended
    /// after the case.
    #[serde(default)]
    pub setup: String,
    /// The command that asks fathom.
    pub ask: String,
    /// Commands of bash that take the system down.
    #[serde(default)]
    pub teardown: String,
    /// The answer is right if it is one of these.
    pub right: Vec<Expectation>,
    /// It is partly right if it is one of these, and none above.
    #[serde(default)]
    pub partly: Vec<Expectation>,
    /// It must not be one of these, whatever else holds.
    #[serde(default)]
    pub never: Vec<Never>,
    /// How long fathom may take to answer, in seconds.
    #[serde(default)]
    pub seconds: Option<u64>,
}

/// An answer that must never be given.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Never {
    /// What kind of mistake it is: `false yes`, `sound system condemned`, `fathom
    /// blamed`, or another in a few words.
    pub mistake: String,
    /// The answer.
    pub answer: Expectation,
}

/// Why a file is not a batch.
#[derive(Debug, thiserror::Error)]
pub enum BatchError {
    /// It is not TOML, or has other keys.
    #[error("{0}")]
    Text(#[from] toml::de::Error),
    /// An expectation cannot be understood.
    #[error("case '{case}': {source}")]
    Expectation {
        /// Its name.
        case: String,
        /// What is wrong.
        source: ExpectationError,
    },
    /// A case cannot be sat.
    #[error("case '{case}': {reason}")]
    Case {
        /// Its name.
        case: String,
        /// Why not.
        reason: &'static str,
    },
    /// There are none, or too many.
    #[error("a batch has 1 to {MOST_CASES} cases, this one {0}")]
    Count(usize),
}

impl Batch {
    /// Reads a batch.
    ///
    /// # Errors
    /// What is not understood, with line and column where the text is at fault.
    pub fn parse(text: &str) -> Result<Batch, BatchError> {
        let batch: Batch = toml::from_str(text)?;
        if !(1..=MOST_CASES).contains(&batch.cases.len()) {
            return Err(BatchError::Count(batch.cases.len()));
        }
        for (place, case) in batch.cases.iter().enumerate() {
            let wrong = |reason| BatchError::Case {
                case: case.name.clone(),
                reason,
            };
            if batch.cases[..place].iter().any(|one| one.name == case.name) {
                return Err(wrong("another case has this name"));
            }
            if case.ask.trim().is_empty() {
                return Err(wrong("'ask' has no command"));
            }
            // A case that any answer passes tells nothing.
            if case.right.is_empty() {
                return Err(wrong("'right' has no answers"));
            }
            if case
                .seconds
                .is_some_and(|s| !(1..=MOST_SECONDS).contains(&s))
            {
                return Err(wrong("'seconds' is 1 to 3600"));
            }
            case.check().map_err(|source| BatchError::Expectation {
                case: case.name.clone(),
                source,
            })?;
        }
        Ok(batch)
    }
}

impl BlindCase {
    fn check(&self) -> Result<(), ExpectationError> {
        let never = self.never.iter().map(|never| &never.answer);
        let mut all = self.right.iter().chain(&self.partly).chain(never);
        all.try_for_each(Expectation::check)
    }

    /// How long fathom may take.
    pub(super) fn patience(&self) -> Duration {
        Duration::from_secs(self.seconds.unwrap_or(ASK_SECONDS))
    }

    /// How long the other commands may take.
    pub(super) fn patience_to_set_up(&self) -> Duration {
        Duration::from_secs(SET_UP_SECONDS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = r#"
title = "t"
by = "b"
[[case]]
name = "n"
truth = "nothing"
ask = "fathom diagnose --format json"
right = [{ "/answer" = "no" }]
never = [{ mistake = "false yes", answer = { "/answer" = "yes" } }]
"#;

    #[test]
    fn what_is_not_needed_may_be_left_out() {
        let batch = Batch::parse(SMALL).unwrap();
        let case = &batch.cases[0];
        assert_eq!((case.setup.as_str(), case.partly.len()), ("", 0));
        assert_eq!(case.patience(), Duration::from_secs(300));
        assert_eq!(case.never[0].mistake, "false yes");
    }

    #[test]
    fn what_tells_nothing_is_rejected_with_its_name() {
        for (from, to, said) in [
            (
                "right = [{ \"/answer\" = \"no\" }]",
                "right = []",
                "no answers",
            ),
            (
                "right = [{ \"/answer\" = \"no\" }]",
                "right = [{}]",
                "case 'n'",
            ),
            ("fathom diagnose --format json", " ", "no command"),
            ("truth =", "thruth =", "unknown field `thruth`"),
            ("\"/answer\" = \"no\"", "\"answer\" = \"no\"", "'answer'"),
            ("[[case]]", "[case]", "line 4"),
        ] {
            assert!(SMALL.contains(from));
            let wrong = Batch::parse(&SMALL.replacen(from, to, 1)).unwrap_err();
            assert!(wrong.to_string().contains(said), "{to}: {wrong}");
        }
        let twice = format!("{SMALL}{}", &SMALL[SMALL.find("[[case]]").unwrap()..]);
        let wrong = Batch::parse(&twice).unwrap_err().to_string();
        assert_eq!(wrong, "case 'n': another case has this name");
    }
}
