//! Measured figures held against a known truth.
//!
//! Whatever else runs on the machine moves such figures, so these tests run one
//! after another and beside nothing else: `scripts/run-tests measured`. One round
//! decides. Where it fails, two more have to be right to outvote it: the rule is fixed
//! beforehand, every round is printed, and a second failure fails the test.

mod caches;
mod diagnosis_exam;
mod drives;
mod exam;
mod limits;
mod links;
mod objects;

/// Rounds that have to be right after one that was not.
const OUTVOTING: usize = 2;

/// Runs a round, and after a failed one [`OUTVOTING`] more, and prints each. Fails at
/// the second failure.
#[track_caller]
pub(crate) fn expect_mostly(what: &str, mut round: impl FnMut() -> Result<(), String>) {
    let mut wrong: Option<String> = None;
    let mut missing = 1;
    for number in 1.. {
        match round() {
            Ok(()) => {
                println!("{what}, round {number}: as expected");
                missing -= 1;
            }
            Err(why) => {
                println!("{what}, round {number}: {why}");
                assert!(
                    wrong.is_none(),
                    "{what}: {}; {why}",
                    wrong.unwrap_or_default()
                );
                wrong = Some(why);
                missing = OUTVOTING;
            }
        }
        if missing == 0 {
            return;
        }
    }
}

/// Whether a figure is within a share of the truth.
pub(crate) fn near(what: &str, measured: f64, truth: f64, share: f64) -> Result<(), String> {
    match (measured / truth - 1.0).abs() <= share {
        true => Ok(()),
        false => Err(format!("{what}: measured {measured}, in truth {truth}")),
    }
}
