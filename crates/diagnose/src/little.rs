//! Little's law: operations in flight are their rate times their time.
//!
//! Where a recording states all three and they contradict one another, its queue
//! shows no room: one of the figures is false, and which is not known.

use fathom_model::unit;
use fathom_rules::diagnosis::in_flight_contradicted::{LEAST_IN_FLIGHT, THRESHOLD as TIMES};

use crate::load::{self, Samples};
use crate::recording::Recording;
use crate::series::Series;

/// In words, for the device whose figures are furthest apart.
pub(crate) fn contradiction(recording: &Recording) -> Option<String> {
    let disks = load::by_disk(recording);
    let apart = disks.iter().filter_map(|(name, samples)| {
        let (stated, computed) = in_flight(samples)?;
        let apart = computed >= LEAST_IN_FLIGHT && computed > TIMES * stated;
        apart.then_some((*name, stated, computed))
    });
    let (name, stated, computed) = apart.max_by(|a, b| a.2.total_cmp(&b.2))?;
    Some(format!(
        "{name}: its figures contradict one another: rate times time of an operation are {} in \
         flight, and its queue is given as {stated:.2}",
        unit::count(computed)
    ))
}

/// Operations in flight as stated, and by rate and time.
fn in_flight(samples: &Samples<'_>) -> Option<(f64, f64)> {
    let both = samples.iter().filter_map(|(disk, seconds)| {
        let computed = (disk.reads + disk.writes) * disk.mean_wait_ms()? / 1000.0;
        Some((disk.in_flight()?, computed, *seconds))
    });
    let both: Vec<(f64, f64, f64)> = both.collect();
    let stated = both.iter().map(|(stated, _, s)| (*stated, *s));
    let computed = both.iter().map(|(_, computed, s)| (*computed, *s));
    Some((
        stated.collect::<Series>().mean()?,
        computed.collect::<Series>().mean()?,
    ))
}
