//! How long a set will take, as far as its bounds tell.

use std::collections::HashMap;

use fathom_model::sample::Phase;

use crate::agent::member::Member;
use crate::protocol::link::Link;
use crate::protocol::message::Event;

/// Tells the coordinator how long the whole set will take.
pub(crate) fn announce(link: &Link, members: &[Member], places: &HashMap<u32, usize>) {
    let phase = match members.iter().all(|m| m.job.workload.warmup_ns > 0) {
        true => Phase::Warmup,
        false => Phase::Measure,
    };
    let ends = members.iter().map(|m| expected_end_ns(m, members, places));
    let ends = ends.collect::<Option<Vec<u64>>>();
    link.send(Event::PhaseStarted {
        trial: None,
        phase,
        expected_ns: ends.and_then(|ends| ends.into_iter().max()),
    });
}

/// When a trial ends, from the opening of the set's gate; `None` without a
/// bound of time.
fn expected_end_ns(
    member: &Member,
    members: &[Member],
    places: &HashMap<u32, usize>,
) -> Option<u64> {
    let (mut at, mut sum) = (member, 0u64);
    loop {
        let workload = &at.job.workload;
        let own = workload
            .bounds
            .time_ns?
            .saturating_add(workload.warmup_ns)
            .saturating_add(at.spec.start_delay_ns);
        sum = sum.saturating_add(own);
        match at.spec.follows {
            None => return Some(sum),
            Some(followed) => at = &members[*places.get(&followed)?],
        }
    }
}
