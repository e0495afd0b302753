//! Stop rules of trials that are under way.

use std::collections::HashMap;

use fathom_model::ScheduledTrial;
use fathom_model::sample::Phase;
use fathom_model::seconds::BySecond;
use fathom_model::stop::{Decision, StopRule};

use crate::protocol::message::Event;

/// Makes the stop rule of a trial, if it has one.
pub type StopRules<'a> = &'a dyn Fn(&ScheduledTrial) -> Option<Box<dyn StopRule>>;

/// The stop rules of trials that are under way, by their index.
pub(crate) type Rules = HashMap<u32, Box<dyn StopRule>>;

/// The rules of a set.
pub(crate) fn of_set(set: &[ScheduledTrial], rules: StopRules<'_>) -> Rules {
    let of_set = set.iter();
    of_set
        .filter_map(|spec| Some((spec.index, by_second(spec, rules(spec)?))))
        .collect()
}

/// A rule sees seconds, however finely they are recorded.
fn by_second(spec: &ScheduledTrial, rule: Box<dyn StopRule>) -> Box<dyn StopRule> {
    match spec.workload.recording.interval_ns {
        Some(_) => Box::new(BySecond::new(rule)),
        None => rule,
    }
}

/// The trials that their stop rules end now, and why. A rule speaks once.
pub(crate) fn stop_reasons(rules: &mut Rules, event: &Event) -> Vec<(u32, String)> {
    let Event::Interval(intervals) = event else {
        return Vec::new();
    };
    let mut reasons = Vec::new();
    for interval in intervals {
        let Some(rule) = rules.get_mut(&interval.trial) else {
            continue;
        };
        let mut measured = interval
            .samples
            .iter()
            .filter(|s| s.phase == Phase::Measure);
        let reason = measured.find_map(|sample| match rule.observe(sample) {
            Decision::Stop(reason) => Some(reason),
            Decision::Continue => None,
        });
        if let Some(reason) = reason {
            rules.remove(&interval.trial);
            reasons.push((interval.trial, reason));
        }
    }
    reasons
}
