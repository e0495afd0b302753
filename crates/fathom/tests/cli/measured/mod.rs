//! Measured figures held against a known truth.
//!
//! Whatever else runs on the machine moves such figures, so these tests run one
//! after another and beside nothing else: `scripts/run-tests measured`. Each is
//! decided by the majority of three rounds. The rule is fixed beforehand, every
//! round is printed, and a round that failed counts against the outcome: two
//! failures fail the test whatever the third round gives.

mod caches;
mod diagnosis_exam;
mod drives;
mod exam;
mod links;
mod objects;

/// Rounds that decide.
const MAJORITY: usize = 2;

/// Runs rounds until two of them agree, prints each, and fails when the two are
/// failures. With a bound on one figure that is the same as the median of three
/// rounds within the bound.
#[track_caller]
pub(crate) fn expect_majority(what: &str, mut round: impl FnMut() -> Result<(), String>) {
    let (mut right, mut wrong) = (0, Vec::new());
    while right < MAJORITY && wrong.len() < MAJORITY {
        let number = right + wrong.len() + 1;
        match round() {
            Ok(()) => {
                println!("{what}, round {number}: as expected");
                right += 1;
            }
            Err(why) => {
                println!("{what}, round {number}: {why}");
                wrong.push(why);
            }
        }
    }
    assert!(right == MAJORITY, "{what}: {}", wrong.join("; "));
}

/// Whether a figure is within a share of the truth.
pub(crate) fn near(what: &str, measured: f64, truth: f64, share: f64) -> Result<(), String> {
    match (measured / truth - 1.0).abs() <= share {
        true => Ok(()),
        false => Err(format!("{what}: measured {measured}, in truth {truth}")),
    }
}
