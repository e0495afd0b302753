//! `until: steady` and `until: precision N%`, asked while the trial runs.
//!
//! Whoever looks after each second and stops at the first moment that pleases
//! stops on luck: the interval is then too narrow. So the rule looks rarely,
//! each time after a quarter more than before, and a precision must hold at
//! two looks in a row. Simulated on AR(1) series, the final interval then
//! holds the truth in at least 92 % of trials (`until_tests`).

use fathom_model::sample::Sample;
use fathom_model::schedule::ScheduledTrial;
use fathom_model::steadiness::SteadinessClass;
use fathom_model::stop::{Decision, StopRule};
use fathom_model::unit;
use fathom_model::workload::{Until, Workload};
use fathom_rules::check::v10::INFO as RANGES_WRITTEN;
use fathom_rules::check::v11::{ROUND_SECONDS, ROUNDS};
use fathom_rules::check::v12::CAVEAT as DRIFT_MARGIN;
use fathom_rules::check::v13::LEAST_LAST_SECONDS;
use fathom_rules::method::until::{FIRST_SECONDS, FIRST_STEADY_SECONDS, GROWTH, LOOKS};

use super::assess::{Assessment, assess};
use super::settled_rule::SettledRule;
use super::track::Track;

/// Looks at the seconds of a trial and ends it.
pub(crate) struct UntilRule {
    until: Until,
    track: Track,
    seconds: f64,
    next_look: f64,
    held: u32,
    /// Bytes that must have been written; 0 for none.
    least_written: f64,
    /// The standard's rule must hold, not only not fail.
    needs_rounds: bool,
}

impl UntilRule {
    pub(crate) fn new(until: Until, workload: &Workload) -> UntilRule {
        let range = workload
            .data_set
            .working_set_bytes
            .or(workload.data_set.size_bytes);
        let writes = workload.mix.modifies() && until == Until::Steady;
        let rounds_ns = (ROUND_SECONDS * ROUNDS as f64 * 1e9) as u64;
        let needs_rounds = workload.bounds.time_ns.is_none_or(|ns| ns >= rounds_ns);
        UntilRule {
            until,
            track: Track::new(workload.mix),
            seconds: 0.0,
            next_look: match (until, needs_rounds) {
                (Until::Precision { .. }, _) => FIRST_SECONDS,
                (Until::Steady, true) => ROUND_SECONDS * ROUNDS as f64,
                (Until::Steady, false) => FIRST_STEADY_SECONDS,
                (Until::Settled(_), _) => f64::INFINITY,
            },
            needs_rounds,
            held: 0,
            least_written: match (writes, range) {
                (true, Some(range)) => RANGES_WRITTEN * range as f64,
                _ => 0.0,
            },
        }
    }

    fn look(&mut self) -> Decision {
        let Some(found) = assess(&self.track) else {
            return Decision::Continue;
        };
        let holds = match self.until {
            Until::Steady => self.steady(&found),
            Until::Precision { percent } => precise(&found, percent / 100.0),
            Until::Settled(_) => false,
        };
        let needed = match self.until {
            Until::Steady | Until::Settled(_) => 1,
            Until::Precision { .. } => LOOKS,
        };
        self.held = if holds { self.held + 1 } else { 0 };
        if self.held < needed {
            return Decision::Continue;
        }
        let after = unit::span((self.seconds * 1e9) as u64);
        Decision::Stop(match (self.until, found.half_width) {
            (Until::Precision { percent }, Some(half)) => format!(
                "until precision {percent} %: ± {:.1} % after {after}",
                100.0 * half
            ),
            _ => format!("until steady: held after {after}"),
        })
    }

    fn steady(&self, found: &Assessment) -> bool {
        let settled = super::settled(found);
        let last: f64 = self.track.cells[found.last.clone()]
            .iter()
            .map(|c| c.seconds)
            .sum();
        settled
            && last >= LEAST_LAST_SECONDS
            && found.drift.is_some_and(|d| d.within(DRIFT_MARGIN))
            && found
                .snia
                .as_ref()
                .map_or(!self.needs_rounds, |window| window.steady)
            && self.track.axis_total() >= self.least_written
    }
}

fn precise(found: &Assessment, share: f64) -> bool {
    let one = !matches!(
        found.class,
        SteadinessClass::TwoModes | SteadinessClass::NeverSteady | SteadinessClass::TooShort
    );
    one && found.half_width.is_some_and(|half| half <= share)
}

impl StopRule for UntilRule {
    fn observe(&mut self, sample: &Sample) -> Decision {
        self.track.observe(sample);
        self.seconds += sample.duration_ns as f64 / 1e9;
        if self.seconds + 1e-6 < self.next_look {
            return Decision::Continue;
        }
        self.next_look = self.seconds * GROWTH;
        self.look()
    }
}

/// The rule that a trial asks for, to be shown each merged second of its
/// measure phase in order.
pub fn stop_rule(trial: &ScheduledTrial) -> Option<Box<dyn StopRule>> {
    rule_of(&trial.workload)
}

/// The same of a workload.
pub(crate) fn rule_of(workload: &Workload) -> Option<Box<dyn StopRule>> {
    let until = workload.until?;
    if let Until::Settled(rule) = until {
        return Some(Box::new(SettledRule::new(rule)));
    }
    Some(Box::new(UntilRule::new(until, workload)))
}

#[cfg(test)]
#[path = "until_tests.rs"]
mod tests;
