//! What the test says of the bottleneck.

use fathom_model::diagnosis::{Answer, CausalTest, Diagnosis, Shortage};
use fathom_rules::diagnosis::smaller_volume::{LEAST_BLOCKS, THRESHOLD as MATTERS};
use fathom_stats::moments::{Moments, mean};
use fathom_stats::student::student_975;

use super::part::{CausalDesign, CausalPart};

/// What was seen in all whole blocks.
#[derive(Debug, Clone, PartialEq)]
pub struct CausalEffect {
    /// Whole blocks.
    pub blocks: u32,
    /// Relative change of progress, and its 95 % interval.
    pub progress: Option<(f64, [f64; 2])>,
    /// Relative change of operations.
    pub operations: Option<f64>,
}

pub(super) fn effect(parts: &[CausalPart]) -> CausalEffect {
    let blocks = parts.chunks_exact(4);
    let progress: Option<Vec<f64>> = differences(parts, |part| Some(part.progress));
    let operations = differences(parts, |part| part.operations);
    CausalEffect {
        blocks: u32::try_from(blocks.len()).unwrap_or(u32::MAX),
        progress: progress.and_then(|differences| interval(&differences)),
        operations: operations.and_then(|differences| mean(&differences)),
    }
}

/// Of each block, limited less free over the mean of all free parts; nothing
/// without blocks or without progress.
fn differences(
    parts: &[CausalPart],
    value: impl Fn(&CausalPart) -> Option<f64>,
) -> Option<Vec<f64>> {
    let whole = &parts[..parts.len() - parts.len() % 4];
    let level = |parts: &[CausalPart], limited: bool| -> Option<f64> {
        let values: Option<Vec<f64>> = parts
            .iter()
            .filter(|part| part.limited == limited)
            .map(&value)
            .collect();
        mean(&values?)
    };
    let free = level(whole, false).filter(|free| *free > 0.0)?;
    let of_block = |block| Some((level(block, true)? - level(block, false)?) / free);
    whole.chunks_exact(4).map(of_block).collect()
}

/// Mean and its 95 % t interval.
fn interval(values: &[f64]) -> Option<(f64, [f64; 2])> {
    if values.len() < LEAST_BLOCKS as usize {
        return None;
    }
    let moments = Moments::of(values)?;
    let half = student_975(moments.count - 1.0) * moments.standard_error()?;
    Some((moments.mean, [moments.mean - half, moments.mean + half]))
}

/// What a test was made of, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CausalSubject {
    /// The control group that was held back.
    pub group: String,
    /// What was limited.
    pub limit: String,
    /// How progress was read.
    pub progress: String,
    /// Whether progress that stays proves that nothing waits: CPU time does
    /// not, since a program may spin while it waits.
    pub stands_for_all: bool,
}

/// What the effect says of the bottleneck.
pub fn causal_test(
    design: &CausalDesign,
    subject: CausalSubject,
    effect: &CausalEffect,
) -> CausalTest {
    let matters = -MATTERS * design.throttle;
    let answer = match effect.progress {
        Some((_, [_, upper])) if upper < matters => Answer::Yes,
        Some((_, [lower, _])) if lower > matters && subject.stands_for_all => Answer::No,
        _ => Answer::NotProven,
    };
    let smaller = 100.0 * design.throttle;
    let words = match effect.progress {
        None => format!(
            "with a volume {smaller:.0} % smaller nothing can be said: {}",
            match effect.blocks < LEAST_BLOCKS {
                true => "the test ended too early",
                false => "there was no progress",
            }
        ),
        Some((mean, [lower, upper])) => {
            let unmoved = match effect.progress {
                Some((_, [lower, _])) if lower > matters => {
                    ": too little to matter, but a program may spin while it waits (--progress \
                     would tell)"
                }
                _ => ": it takes more blocks, or a longer test",
            };
            format!(
                "with a volume {smaller:.0} % smaller the progress ({}) changes by {:+.1} % ({:+.1} to \
                 {:+.1}){}",
                subject.progress,
                100.0 * mean,
                100.0 * lower,
                100.0 * upper,
                match answer {
                    Answer::Yes => ": the storage sets its pace",
                    Answer::No => ": the storage does not set its pace",
                    Answer::NotProven => unmoved,
                }
            )
        }
    };
    CausalTest {
        group: subject.group,
        limit: subject.limit,
        progress: subject.progress,
        throttle: design.throttle,
        blocks: effect.blocks,
        part_seconds: design.part_seconds,
        effect: effect.progress.map(|(mean, _)| mean),
        interval: effect.progress.map(|(_, interval)| interval),
        operations_effect: effect.operations,
        answer,
        words,
    }
}

/// Evidence that is shown.
const MOST_LINES: usize = 3;

/// A diagnosis with what the test says: it decides what the recording does not,
/// and where the two contradict each other nothing is proven.
pub fn with_causal(mut diagnosis: Diagnosis, test: CausalTest) -> Diagnosis {
    let elsewhere = diagnosis.answer == Answer::No
        && !matches!(diagnosis.limiter, Shortage::Nothing | Shortage::OneByOne);
    let (answer, limiter) = match (test.answer, diagnosis.answer) {
        (Answer::NotProven, before) => (before, diagnosis.limiter),
        (Answer::Yes, _) if elsewhere => (Answer::NotProven, Shortage::Unknown),
        (Answer::Yes, Answer::Yes) | (Answer::No, Answer::No) => {
            (diagnosis.answer, diagnosis.limiter)
        }
        (Answer::Yes, _) => (Answer::Yes, Shortage::Disk),
        (Answer::No, Answer::Yes) => (Answer::NotProven, Shortage::Unknown),
        (Answer::No, Answer::NotProven) => (Answer::No, Shortage::Nothing),
    };
    if answer == Answer::NotProven && diagnosis.answer != Answer::NotProven {
        diagnosis.settle = vec![
            "another test: the one with a smaller volume contradicts the recording, so that one of \
             them did not see the usual"
                .to_owned(),
        ];
    } else if answer != Answer::NotProven {
        diagnosis.settle.clear();
    }
    let at = usize::from(test.answer == Answer::NotProven) * diagnosis.evidence.len();
    diagnosis.evidence.insert(at, test.words.clone());
    diagnosis.evidence.truncate(MOST_LINES);
    (diagnosis.answer, diagnosis.limiter) = (answer, limiter);
    diagnosis.causal = Some(test);
    diagnosis
}
