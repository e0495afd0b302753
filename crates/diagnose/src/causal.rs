//! A test with a smaller volume: does the application slow down with it?
//!
//! A limit at a share below what the volume can give is put on and taken off in
//! blocks of four parts, ABBA or BAAB by chance: a drift that is straight over a
//! block hits both sides alike, and nothing periodic keeps in step. Each block
//! gives one difference; their mean is the effect, with a t interval over the
//! blocks, which are far enough apart to be taken as independent (the tests hold
//! that against noise that is not).
//!
//! The limit is below the *ceiling*, never below what the application happens to
//! do: a limit below its use holds back any application, also one that the
//! storage did not.

use fathom_model::diagnosis::{Answer, CausalTest, Diagnosis, Shortage};
use fathom_model::rng::Rng;
use fathom_rules::diagnosis::smaller_volume::{
    LEAST_BLOCKS, SETTLE_MOST_SECONDS, SETTLE_SHARE, THRESHOLD as MATTERS,
};
use fathom_stats::moments::{Moments, mean};
use fathom_stats::student::student_975;

/// How the test is made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CausalDesign {
    /// Blocks of four parts, at least [`LEAST_BLOCKS`].
    pub blocks: u32,
    /// Length of a part in seconds.
    pub part_seconds: f64,
    /// By how much the volume is made smaller, above 0 and below 1.
    pub throttle: f64,
    /// Of the order of parts.
    pub seed: u64,
}

/// An application and the limit on its volume.
pub trait Experiment {
    /// Puts the limit on or takes it off: once for each part, and at the end.
    ///
    /// # Errors
    /// It could not be changed; in words.
    fn limit(&mut self, on: bool) -> Result<(), String>;
    /// How far the application has come: a number that only grows.
    ///
    /// # Errors
    /// It could not be read; in words.
    fn progress(&mut self) -> Result<f64, String>;
    /// Operations of the application on the volume so far, where they are
    /// counted.
    fn operations(&mut self) -> Option<f64>;
    /// Seconds since some moment.
    fn now_seconds(&mut self) -> f64;
    /// Waits. False when the test is to end.
    fn wait(&mut self, seconds: f64) -> bool;
}

/// What was seen in one part.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Part {
    limited: bool,
    /// Progress per second.
    progress: f64,
    /// Operations per second.
    operations: Option<f64>,
}

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

/// Whether each part is limited, in order.
fn order(design: &CausalDesign) -> Vec<bool> {
    let mut rng = Rng::new(design.seed);
    let block = |_| match rng.next_u64() & 1 {
        0 => [false, true, true, false],
        _ => [true, false, false, true],
    };
    (0..design.blocks).flat_map(block).collect()
}

/// Makes the test, or as much of it as there is time for. The limit is off
/// at the end, whatever happens in between.
///
/// # Errors
/// What the experiment says.
pub fn experiment(design: &CausalDesign, on: &mut dyn Experiment) -> Result<CausalEffect, String> {
    let parts = carry_out(design, on);
    let off = on.limit(false);
    let parts = parts?;
    off?;
    Ok(effect(&parts))
}

fn carry_out(design: &CausalDesign, on: &mut dyn Experiment) -> Result<Vec<Part>, String> {
    let order = order(design);
    let settle = (SETTLE_SHARE * design.part_seconds).min(SETTLE_MOST_SECONDS);
    let mut parts = Vec::new();
    for limited in order {
        on.limit(limited)?;
        if !on.wait(settle) {
            break;
        }
        let (from, before, operations) = (on.now_seconds(), on.progress()?, on.operations());
        if !on.wait(design.part_seconds - settle) {
            break;
        }
        // In the order of the first reading, so that both take as long.
        let (to, after, then) = (on.now_seconds(), on.progress()?, on.operations());
        let seconds = to - from;
        if seconds <= 0.0 {
            return Err("the clock stood still during the test".to_owned());
        }
        parts.push(Part {
            limited,
            progress: (after - before).max(0.0) / seconds,
            operations: operations
                .zip(then)
                .map(|(before, then)| (then - before).max(0.0) / seconds),
        });
    }
    Ok(parts)
}

fn effect(parts: &[Part]) -> CausalEffect {
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
fn differences(parts: &[Part], value: impl Fn(&Part) -> Option<f64>) -> Option<Vec<f64>> {
    let whole = &parts[..parts.len() - parts.len() % 4];
    let level = |parts: &[Part], limited: bool| -> Option<f64> {
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

#[cfg(test)]
#[path = "causal_tests.rs"]
mod tests;
