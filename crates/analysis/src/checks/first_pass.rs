//! V48: is the first pass over the range slower than the next one?
//!
//! A thin volume, a snapshot or a sparse image allocates space at the first write. A
//! load that goes through its range in order shows it as a step where the second pass
//! begins. Random writes show no such border: with large extents all space is
//! allocated long before every block was written.

use fathom_model::OpKind;
use fathom_model::unit;
use fathom_model::workload::Pattern;
use fathom_rules::check::v48::{LEAST_SECONDS, OVER_DRIFT};
use fathom_rules::{Rule, check};

use super::Facts;
use crate::outcome::Outcome;
use crate::trial::{Second, add};

const RULE: &Rule = check::V48;

/// V48: how much slower the first pass is, where two passes were written.
pub(super) fn first_pass(facts: &Facts<'_>) -> Option<Outcome> {
    let range_bytes = unwritten_range_bytes(facts)?;
    let parts = parts(&facts.trial.seconds, range_bytes as f64);
    let [before, first, second] = parts;
    if parts.iter().any(|part| part.seconds < LEAST_SECONDS) {
        return None;
    }
    let (first_rate, second_rate) = (first.bytes_per_second(), second.bytes_per_second());
    let slower = 1.0 - first_rate / second_rate;
    let drift = (1.0 - before.bytes_per_second() / first_rate).abs();
    // A rate that changes all the time changes here as well.
    let at_the_border = slower >= OVER_DRIFT * drift;
    let evidence = format!(
        "{} were written for the first time at {}, then again at {}",
        unit::bytes(range_bytes),
        unit::throughput(first_rate),
        unit::throughput(second_rate),
    );
    let measured = if at_the_border { slower.max(0.0) } else { 0.0 };
    Some(Outcome::graded(RULE, measured, evidence))
}

/// The range, where a load that only writes goes through it in order and neither this
/// run nor an earlier one has written there.
fn unwritten_range_bytes(facts: &Facts<'_>) -> Option<u64> {
    let trial = facts.trial;
    let data = &trial.end()?.data;
    let written = data.reused || data.prepared_bytes > 0 || facts.written_before > 0;
    let in_order = matches!(trial.workload.pattern, Pattern::Sequential);
    let only_writes = trial.total(OpKind::Read).ops == 0 && trial.workload.mix.modifies();
    let concerned = !written && in_order && only_writes && !trial.part && trial.set_size == 1;
    (concerned && data.active_bytes > 0).then_some(data.active_bytes)
}

/// Part of a pass: what was written, and in what time.
#[derive(Clone, Copy, Default)]
struct PassPart {
    bytes: f64,
    seconds: f64,
}

impl PassPart {
    fn bytes_per_second(&self) -> f64 {
        self.bytes / self.seconds
    }
}

/// Both halves of the first pass, and what there is of the second. A second belongs to
/// the part in which it begins.
fn parts(seconds: &[Second<'_>], range_bytes: f64) -> [PassPart; 3] {
    let mut parts = [PassPart::default(); 3];
    let mut written = 0.0;
    for second in seconds {
        let bytes = add(second.ops(OpKind::Write).map(|op| op.bytes)) as f64;
        let at = match written / range_bytes {
            passes if passes < 0.5 => 0,
            passes if passes < 1.0 => 1,
            passes if passes < 2.0 => 2,
            _ => break,
        };
        written += bytes;
        parts[at].bytes += bytes;
        parts[at].seconds += second.duration_ns as f64 / 1e9;
    }
    parts
}

#[cfg(test)]
mod tests {
    use fathom_model::run::TrialRecord;
    use fathom_model::verdict::FindingStatus::{Caveat, Pass};
    use fathom_model::workload::Pattern;

    use crate::test_records::RecordBuilder;

    /// Writes in order at 1,000 blocks a second: 60 s, of which the range takes 20 s.
    fn two_passes(slow: impl Fn(usize) -> f64 + 'static) -> RecordBuilder {
        RecordBuilder::writes()
            .with(|b| {
                b.workload.pattern = Pattern::Sequential;
                b.noise = 0.0;
            })
            .edit_with(move |record: &mut TrialRecord| {
                for (at, sample) in record.samples.iter_mut().enumerate() {
                    for op in &mut sample.ops {
                        op.bytes = (op.bytes as f64 * slow(at)) as u64;
                    }
                }
                let data = &mut record.end.as_mut().expect("an end").data;
                data.active_bytes = 20 * 1000 * 4096;
                data.prepared_bytes = 0;
                data.reused = false;
            })
    }

    #[test]
    fn a_first_pass_that_is_slower_is_shown_beside_the_second() {
        // 20,000 blocks at 500 a second are 40 s.
        let thin = two_passes(|at| if at < 40 { 0.5 } else { 1.0 });
        let finding = thin.finding("V48").unwrap();
        assert_eq!(finding.status, Caveat, "{finding:?}");
        for part in ["78.1 MiB", "at 1.95 MiB/s", "at 3.91 MiB/s"] {
            assert!(finding.evidence.contains(part), "{finding:?}");
        }
    }

    #[test]
    fn a_steady_rate_and_one_that_rises_all_the_time_pass() {
        assert_eq!(two_passes(|_| 1.0).status("V48"), Some(Pass));
        let rising = two_passes(|at| 0.4 + 0.01 * at as f64);
        assert_eq!(rising.status("V48"), Some(Pass));
        // A fast cache that fills makes the first pass the faster one.
        let cache = two_passes(|at| if at < 20 { 1.0 } else { 0.4 });
        assert_eq!(cache.status("V48"), Some(Pass));
    }

    #[test]
    fn written_ranges_and_random_writes_have_no_first_pass() {
        let slow = |at: usize| if at < 40 { 0.5 } else { 1.0 };
        let prepared = two_passes(slow).edit(|record| {
            let data = &mut record.end.as_mut().expect("an end").data;
            data.prepared_bytes = data.active_bytes;
        });
        assert_eq!(prepared.status("V48"), None);
        let stored = RecordBuilder::reads().workload.pattern;
        let random = two_passes(slow).with(|b| b.workload.pattern = stored);
        assert_eq!(random.status("V48"), None);
    }
}
