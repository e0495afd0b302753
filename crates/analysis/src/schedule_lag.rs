//! Whose fault is schedule lag: the generator's or the target's?
//!
//! An operation of an open loop starts late for one of two reasons: its worker
//! did not run, or all slots of its worker's queue were taken by operations that
//! the target had not finished. In the second case the queue was full from the
//! intended start on, and that shows in the operations in flight: a wait of L
//! with a depth of D leaves at least L × D behind in their integral. What exceeds
//! that is the generator's own. The bound favours the generator, because any
//! other second of load in the same window counts as well; stops of the whole
//! process are measured by a clock of their own (`longest_stall_ns`).

use fathom_model::op::OpKind;

use crate::trial::{Second, Trial};

/// The longest schedule lag of a second that full queues do not explain, by the
/// position of the second among all of the trial.
pub(crate) fn unexplained_ns(trial: &Trial<'_>, position: usize) -> u64 {
    let Some(second) = trial.seconds.get(position) else {
        return 0;
    };
    let lag_ns = longest_ns(second);
    if !trial.open_loop() || lag_ns == 0 {
        return 0;
    }
    // What starts in this second can have waited since then.
    let since_ns = second.start_ns.saturating_sub(lag_ns);
    let mut full_ns = 0.0;
    for earlier in trial.seconds[..=position].iter().rev() {
        full_ns += queue_full_ns(trial, earlier);
        if earlier.start_ns <= since_ns {
            break;
        }
    }
    lag_ns.saturating_sub(full_ns as u64)
}

/// The longest schedule lag of the measure phase that full queues do not explain.
pub(crate) fn longest_unexplained_ns(trial: &Trial<'_>) -> u64 {
    let measured = trial.measured_positions();
    let lags = measured.map(|position| unexplained_ns(trial, position));
    lags.max().unwrap_or(0)
}

/// The largest share of the measured time in which the queues can have been full.
pub(crate) fn full_share(trial: &Trial<'_>) -> f64 {
    let measured = trial
        .measured_positions()
        .filter_map(|p| trial.seconds.get(p));
    let (mut full_ns, mut time_ns) = (0.0, 0.0);
    for second in measured {
        full_ns += queue_full_ns(trial, second);
        time_ns += second.duration_ns as f64;
    }
    (full_ns / f64::max(time_ns, 1.0)).min(1.0)
}

fn longest_ns(second: &Second<'_>) -> u64 {
    let lags = second
        .groups
        .iter()
        .filter_map(|g| g.lateness.as_ref()?.max());
    lags.max().unwrap_or(0)
}

/// Time in which the queue of a worker can have been full.
fn queue_full_ns(trial: &Trial<'_>, second: &Second<'_>) -> f64 {
    let area: f64 = second.groups.iter().map(|g| g.in_flight_ns as f64).sum();
    let flushed = second.ops(OpKind::Sync).any(|op| op.ops > 0);
    let workload = trial.workload;
    // A worker that waits for a flush, or for the trim before a write, leaves
    // slots empty on purpose.
    let sync = &workload.sync;
    let syncs = flushed || sync.every_writes > 0 || sync.ranges.is_some();
    let reserved = syncs || workload.trim_first;
    match reserved {
        true => area,
        false => area / trial.depth() as f64,
    }
}

#[cfg(test)]
mod tests {
    use fathom_model::run::TrialRecord;
    use fathom_model::verdict::FindingStatus::{Caveat, Pass};
    use fathom_model::workload::{Arrival, Rate, RateUnit};

    use crate::test_records::RecordBuilder;

    const MS: u64 = 1_000_000;

    /// 200 operations a second in flight for a millisecond each.
    fn at_200(depth: u32) -> RecordBuilder {
        RecordBuilder::reads()
            .with(move |b| {
                b.noise = 0.0;
                b.seconds = 10;
                b.ops_per_second = 200;
                b.workload.queue_depth = depth;
                b.workload.rate = Some(Rate {
                    per_second: 200.0,
                    unit: RateUnit::Ops,
                    arrival: Arrival::Constant,
                });
            })
            .edit(|trial| {
                for sample in &mut trial.samples {
                    sample.in_flight_ns = u128::from(200 * MS);
                }
            })
    }

    fn late(trial: &mut TrialRecord, at: usize, lag_ns: u64) {
        if let Some(lateness) = &mut trial.samples[at].lateness {
            lateness.record(lag_ns);
        }
    }

    #[test]
    fn lag_behind_a_full_queue_is_the_targets() {
        // All of the wait in one second; and across the boundary of two.
        let one = at_200(1).edit(|trial| {
            trial.samples[5].in_flight_ns += u128::from(600 * MS);
            late(trial, 5, 595 * MS);
        });
        assert_eq!(one.status("V27"), Some(Pass));
        let two = at_200(1).edit(|trial| {
            trial.samples[5].in_flight_ns += u128::from(300 * MS);
            trial.samples[6].in_flight_ns += u128::from(300 * MS);
            late(trial, 6, 595 * MS);
        });
        assert_eq!(two.status("V27"), Some(Pass));
        // A queue of 32 is full after 160 ms, and the lag is less by as much.
        let deep = at_200(32).edit(|trial| {
            trial.samples[5].in_flight_ns += u128::from(32 * 440 * MS);
            late(trial, 5, 440 * MS);
        });
        assert_eq!(deep.status("V27"), Some(Pass));
    }

    #[test]
    fn lag_with_room_in_the_queue_is_the_generators() {
        let stopped = at_200(32).edit(|trial| {
            // One operation was in flight while nobody reaped it.
            trial.samples[5].in_flight_ns += u128::from(600 * MS);
            late(trial, 5, 595 * MS);
        });
        let finding = stopped.finding("V27").unwrap();
        assert_eq!(
            finding.status,
            fathom_model::verdict::FindingStatus::Invalid
        );
        let brief = at_200(32).edit(|trial| late(trial, 5, 300 * MS));
        assert_eq!(brief.status("V27"), Some(Caveat));
    }
}
