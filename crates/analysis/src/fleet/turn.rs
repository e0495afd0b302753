//! One time that a workload ran on all hosts: when they began, how long they
//! overlapped, what was done when the first and the last were done.

use fathom_model::JudgedRun;
use fathom_model::fleet::{Finish, FleetTurn, FleetWorkload};

use crate::trial::{Second, Trial, data_kinds};

/// One host's part, on the axis of the set.
struct TurnPart<'t, 'a> {
    host: u32,
    seconds: Vec<&'t Second<'a>>,
    began_ns: u64,
    trial: &'t Trial<'a>,
}

impl TurnPart<'_, '_> {
    fn first_ns(&self) -> u64 {
        let first = self.seconds.first().map_or(0, |s| s.start_ns);
        self.began_ns.saturating_add(first)
    }

    fn last_ns(&self) -> u64 {
        let last = self.seconds.last().map_or(0, |s| s.end_ns());
        self.began_ns.saturating_add(last)
    }

    /// Operations and bytes up to a moment; of a second that it cuts, the same
    /// share.
    fn done_by(&self, at_ns: u64) -> (f64, f64) {
        let (mut ops, mut bytes) = (0.0, 0.0);
        for second in &self.seconds {
            let start_ns = self.began_ns.saturating_add(second.start_ns);
            let within_ns = at_ns.saturating_sub(start_ns).min(second.duration_ns);
            let share = within_ns as f64 / second.duration_ns.max(1) as f64;
            for op in data_kinds().flat_map(|kind| second.ops(kind)) {
                ops += op.ops as f64 * share;
                bytes += op.bytes as f64 * share;
            }
        }
        (ops, bytes)
    }
}

/// Every time that the workload ran.
pub(super) fn turns(
    workload: &FleetWorkload,
    run: &JudgedRun,
    trials: &[Trial<'_>],
) -> Vec<FleetTurn> {
    let rows = workload.hosts.iter();
    let rows = rows.filter_map(|host| Some((host.host, run.rows.get(host.row)?)));
    let rows: Vec<_> = rows.collect();
    let count = rows.iter().map(|(_, row)| row.trials.len()).max();
    (0..count.unwrap_or(0))
        .map(|at| {
            let parts = rows.iter().filter_map(|(host, row)| {
                let trial = trials.get(*row.trials.get(at)?)?;
                Some(TurnPart {
                    host: *host,
                    seconds: trial.measured().filter(|s| s.duration_ns > 0).collect(),
                    began_ns: trial.record.load_started_ns(),
                    trial,
                })
            });
            let parts: Vec<TurnPart<'_, '_>> = parts.collect();
            turn(&parts)
        })
        .collect()
}

fn turn(parts: &[TurnPart<'_, '_>]) -> FleetTurn {
    let mut turn = FleetTurn::default();
    let starts = parts.iter().filter_map(|part| {
        let start = part.trial.end()?.start?;
        turn.clock_uncertainty_ns = turn
            .clock_uncertainty_ns
            .max(start.clock.map_or(0, |clock| clock.uncertainty_ns));
        Some(part.began_ns.saturating_add(start.lateness_ns))
    });
    let starts: Vec<u64> = starts.collect();
    turn.start_skew_ns = starts
        .iter()
        .max()
        .zip(starts.iter().min())
        .map(|(last, first)| last - first);
    let measured: Vec<&TurnPart<'_, '_>> = parts.iter().filter(|p| !p.seconds.is_empty()).collect();
    let (Some(begin_ns), Some(first), Some(last)) = (
        measured.iter().map(|part| part.first_ns()).min(),
        measured.iter().min_by_key(|part| part.last_ns()),
        measured.iter().max_by_key(|part| part.last_ns()),
    ) else {
        return turn;
    };
    let all_ns = last.last_ns().saturating_sub(begin_ns);
    let common_from_ns = measured.iter().map(|part| part.first_ns()).max();
    let common_ns = first.last_ns().saturating_sub(common_from_ns.unwrap_or(0));
    turn.common_share = (all_ns > 0).then(|| match measured.len() == parts.len() {
        true => common_ns as f64 / all_ns as f64,
        // Who measured nothing has no time in common with the others.
        false => 0.0,
    });
    turn.first_finisher = finish(&measured, first, begin_ns);
    turn.last_finisher = finish(&measured, last, begin_ns);
    turn
}

/// What all hosts had done when one of them was done.
fn finish(parts: &[&TurnPart<'_, '_>], of: &TurnPart<'_, '_>, begin_ns: u64) -> Option<Finish> {
    let at_ns = of.last_ns();
    let after_ns = at_ns.saturating_sub(begin_ns);
    let (ops, bytes) = parts
        .iter()
        .map(|part| part.done_by(at_ns))
        .fold((0.0, 0.0), |sum, done| (sum.0 + done.0, sum.1 + done.1));
    let seconds = after_ns as f64 / 1e9;
    (after_ns > 0).then(|| Finish {
        host: of.host,
        after_ns,
        ops: ops as u64,
        bytes: bytes as u64,
        ops_per_second: ops / seconds,
        bytes_per_second: bytes / seconds,
    })
}
