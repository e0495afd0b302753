//! What of a result holds: the findings by side of the result.

use fathom_model::op::OpKind;
use fathom_model::opinion::{Aspect, Holds, Stand};
use fathom_model::verdict::{Finding, FindingStatus, Validity};
use fathom_rules::check::id;
use fathom_rules::check::v20::IMPOSSIBLE;

use super::Entry;
use super::device::flushes;
use super::identity::contradictions;
use super::missing;
use super::said::EngineWay;

/// The checks of a side. Those after the bar only lower it when they speak;
/// those before it must have been made for a yes.
const SIDES: [(Aspect, &[&str], &[&str]); 6] = [
    (
        Aspect::Throughput,
        &[id::V25],
        &[
            id::V01,
            id::V06,
            id::V07,
            id::V26,
            id::V30,
            id::V60,
            id::V63,
            id::V65,
            id::V68,
            id::V71,
        ],
    ),
    (
        Aspect::Latency,
        &[id::V61],
        &[
            id::V01,
            id::V06,
            id::V20,
            id::V26,
            id::V30,
            id::V60,
            id::V62,
            id::V63,
        ],
    ),
    (
        Aspect::Percentiles,
        &[id::V17],
        &[id::V01, id::V06, id::V26, id::V63, id::V66, id::V67],
    ),
    (Aspect::QueueDepth, &[id::V20], &[id::V62]),
    (
        Aspect::Steadiness,
        &[id::V16],
        &[
            id::V63,
            id::V64,
            id::V70,
            id::V11,
            id::V12,
            id::V13,
            id::V14,
        ],
    ),
    (Aspect::Durability, &[id::V07], &[]),
];

/// Each side that the entry has.
pub(super) fn of(entry: &Entry<'_>, findings: &[Finding], validity: Validity) -> Vec<Stand> {
    let writes = entry
        .job
        .directions
        .iter()
        .any(|d| matches!(d.kind, Some(OpKind::Write) | None));
    let depth = findings.iter().any(|f| f.id == id::V20);
    SIDES
        .iter()
        .filter(|(aspect, _, _)| match aspect {
            Aspect::Durability => writes && findings.iter().any(|f| f.id == id::V07),
            Aspect::QueueDepth => depth,
            _ => true,
        })
        .map(|(aspect, deciding, lowering)| {
            let mut stand = stand(*aspect, deciding, lowering, findings);
            // What the page lists as missing is not believed on the same page.
            stand.holds = stand.holds.max(missing::at_most(entry, *aspect));
            disprove(&mut stand, entry, findings);
            if *aspect == Aspect::Durability && is_never_flushed(entry) {
                stand.holds = Holds::No;
                stand.checks = vec![id::V07.to_owned()];
            }
            // Where too few checks could run for a verdict, nothing is believed.
            if validity == Validity::NotDetermined {
                stand.holds = stand.holds.max(Holds::Unknown);
            }
            stand
        })
        .collect()
}

/// What contradictions disprove is not believed, and what was computed from it is
/// not known.
fn disprove(stand: &mut Stand, entry: &Entry<'_>, findings: &[Finding]) {
    let contradictions = contradictions(entry);
    let disproved = |aspect: Aspect| contradictions.iter().any(|c| c.sides.contains(&aspect));
    let mut say = |holds: Holds, id: &str| {
        stand.holds = stand.holds.max(holds);
        if !stand.checks.iter().any(|check| check == id) {
            stand.checks.push(id.to_owned());
        }
    };
    if disproved(stand.aspect) {
        say(Holds::No, id::V25);
    }
    let by_little = |aspect| disproved(aspect) && stand.aspect == Aspect::QueueDepth;
    if by_little(Aspect::Latency) || by_little(Aspect::Throughput) {
        say(Holds::Unknown, id::V25);
    }
    // One of rate and latency is false: unless it is known to be the latency, the
    // rate may be it.
    let little = findings.iter().find(|f| f.id == id::V20);
    let impossible = little
        .and_then(|f| f.measured)
        .is_some_and(|r| r > IMPOSSIBLE);
    if impossible && stand.aspect == Aspect::Throughput && !disproved(Aspect::Latency) {
        say(Holds::No, id::V20);
    }
}

/// Buffered writes without any flush: even what the devices had received by
/// chance was not made durable.
fn is_never_flushed(entry: &Entry<'_>) -> bool {
    let real = entry.said.way != EngineWay::Nothing;
    real && entry.said.direct == Some(false) && flushes(entry).is_none()
}

fn stand(aspect: Aspect, deciding: &[&str], lowering: &[&str], findings: &[Finding]) -> Stand {
    let status = |id: &str| findings.iter().find(|f| f.id == id).map(|f| f.status);
    let mut holds = Holds::Yes;
    let mut checks: Vec<String> = Vec::new();
    let known = |id: &&str| {
        let status = status(id);
        status.is_some() && status != Some(FindingStatus::NotMeasured)
    };
    if !deciding.iter().all(known) {
        holds = Holds::Unknown;
        checks.extend(deciding.iter().map(|id| (*id).to_owned()));
    }
    for id in deciding.iter().chain(lowering) {
        let answer = match status(id) {
            // It lowers the sides whose figures contradict one another.
            Some(FindingStatus::Invalid) if *id == id::V25 => continue,
            Some(FindingStatus::Invalid) => Holds::No,
            // At a depth of one the rest of the time went by in the tool;
            // the latencies are right.
            Some(FindingStatus::Caveat) if (*id, aspect) == (id::V20, Aspect::Latency) => continue,
            Some(FindingStatus::Caveat) => Holds::WithinLimits,
            // What is only information elsewhere decides on its own side:
            // unsupported percentiles, no latency, a rate without latencies.
            Some(FindingStatus::Info)
                if matches!(*id, id::V17 | id::V61 | id::V66 | id::V67 | id::V16) =>
            {
                Holds::WithinLimits
            }
            _ => continue,
        };
        // Where no latency was recorded there is nothing to believe.
        let answer = match (*id, aspect) {
            (id::V61, Aspect::Latency) => Holds::Unknown,
            // What nobody flushed is not durable, however much of it was
            // written back by chance.
            (id::V07, Aspect::Durability) => Holds::No,
            _ => answer,
        };
        checks.push((*id).to_owned());
        holds = holds.max(answer);
    }
    checks.dedup();
    Stand {
        aspect,
        holds,
        checks,
    }
}
