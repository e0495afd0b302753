use fathom_model::verdict::FindingStatus::{Caveat, Info, Invalid, NotMeasured, Pass};
use fathom_model::verdict::Limiter;

use crate::test_records::RecordBuilder;

/// The workload reads 4 MB/s.
fn foreign_reads(bytes: u64) -> RecordBuilder {
    RecordBuilder::reads().with(|b| b.foreign_read_bytes = bytes)
}

#[test]
fn reads_of_others_are_found() {
    assert_eq!(foreign_reads(0).status("V30"), Some(Pass));
    assert_eq!(foreign_reads(300_000).status("V30"), Some(Caveat));
    let heavy = foreign_reads(4_000_000);
    let finding = heavy.finding("V30").unwrap();
    assert_eq!(finding.status, Invalid, "{finding:?}");
    assert_eq!(heavy.limiter(), Limiter::ForeignLoad);
}

#[test]
fn the_background_noise_of_a_system_is_not_an_alarm() {
    assert_eq!(foreign_reads(20_000).status("V30"), Some(Pass));
    // A slow disk at 100 reads/s with a log written now and then.
    let slow = RecordBuilder::reads()
        .with(|b| b.ops_per_second = 100)
        .edit(|t| {
            t.observations
                .iter_mut()
                .for_each(|o| o.devices[0].write_bytes += 40_000);
        });
    assert_eq!(slow.status("V30"), Some(Pass));
}

#[test]
fn read_ahead_of_buffered_reads_is_own() {
    let read_ahead = RecordBuilder::reads()
        .buffered()
        .with(|b| b.device_share = 8.0);
    assert_eq!(read_ahead.status("V30"), Some(Pass));
    let unknown = read_ahead.edit(|t| t.observations.iter_mut().for_each(|o| o.own = None));
    assert_eq!(unknown.status("V30"), Some(Pass));
}

#[test]
fn writes_during_a_read_test_are_a_caveat_at_most() {
    let writing = |bytes: u64| {
        RecordBuilder::reads().edit_with(move |t| {
            t.observations
                .iter_mut()
                .for_each(|o| o.devices[0].write_bytes += bytes);
        })
    };
    assert_eq!(writing(3_000_000).status("V30"), Some(Caveat));
    assert_eq!(writing(3_000_000).limiter(), Limiter::Unknown);
    // The workload reads 4 MB/s: most of what the device does is for others.
    assert_eq!(writing(30_000_000).status("V30"), Some(Caveat));
    assert_eq!(writing(30_000_000).limiter(), Limiter::ForeignLoad);
    // Left behind by the preparation.
    let left_over = RecordBuilder::reads().edit(|t| {
        for observation in &mut t.observations {
            observation.devices[0].write_bytes += 1_000_000;
            if let Some(memory) = &mut observation.memory {
                memory.dirty_bytes = 80_000_000;
            }
        }
    });
    assert_eq!(left_over.status("V30"), Some(Pass));
}

#[test]
fn journal_and_metadata_of_own_writes_are_own() {
    let syncing = RecordBuilder::writes().with(|b| b.device_share = 1.9);
    assert_eq!(syncing.status("V30"), Some(Pass));
    let foreign = RecordBuilder::writes().with(|b| b.device_share = 6.0);
    assert_eq!(foreign.status("V30"), Some(Caveat));
    let mirrored = RecordBuilder::writes().edit(|t| {
        for observation in &mut t.observations {
            let mut twin = observation.devices[0].clone();
            twin.name = "nvme1n1".to_owned();
            observation.devices.push(twin);
        }
    });
    assert_eq!(mirrored.status("V30"), Some(NotMeasured));
}

#[test]
fn an_unobserved_host_is_not_measured() {
    let unobserved = RecordBuilder::reads().with(|b| b.observed = false);
    assert_eq!(unobserved.status("V30"), Some(NotMeasured));
    let no_delay = unobserved.edit(|t| t.samples.iter_mut().for_each(|s| s.run_delay_ns = 0));
    assert_eq!(no_delay.status("V37"), Some(NotMeasured));
}

#[test]
fn stolen_time_is_graded() {
    let stolen = |per_second: u64| match per_second {
        0 => RecordBuilder::reads(),
        1 => RecordBuilder::reads().edit(|t| steal(t, 200_000_000)),
        _ => RecordBuilder::reads().edit(|t| steal(t, 3_000_000_000)),
    };
    assert_eq!(stolen(0).status("V37"), Some(Pass));
    assert_eq!(stolen(1).status("V37"), Some(Caveat));
    assert_eq!(stolen(2).status("V37"), Some(Invalid));
}

#[test]
fn what_is_stolen_from_a_light_generator_is_a_caveat_up_to_a_fifth() {
    let stolen = |share: f64, ceiling_times: f64| {
        let record = RecordBuilder::reads().with_end(|end| {
            if let Some(ceiling) = &mut end.ceiling {
                ceiling.ops_per_second *= ceiling_times;
            }
        });
        record.edit_with(move |t| {
            for observation in &mut t.observations {
                if let Some(cpu) = &mut observation.cpu {
                    let others = [cpu.user_ns, cpu.system_ns, cpu.interrupt_ns, cpu.idle_ns];
                    let rest: u64 = others.iter().sum::<u64>() + cpu.iowait_ns;
                    cpu.steal_ns = (rest as f64 * share / (1.0 - share)) as u64;
                }
            }
        })
    };
    assert_eq!(stolen(0.09, 100.0).status("V37"), Some(Caveat));
    assert_eq!(stolen(0.30, 100.0).status("V37"), Some(Invalid));
    assert_eq!(stolen(0.09, 0.01).status("V37"), Some(Invalid));
}

fn steal(trial: &mut fathom_model::TrialRecord, nanoseconds: u64) {
    for observation in &mut trial.observations {
        if let Some(cpu) = &mut observation.cpu {
            cpu.steal_ns = nanoseconds;
        }
    }
}

#[test]
fn pressure_counts_when_the_workers_waited_or_nobody_knows() {
    let pressed = RecordBuilder::reads().edit(|t| {
        for observation in &mut t.observations {
            if let Some(pressure) = &mut observation.pressure {
                pressure.cpu_some_ns = 300_000_000;
            }
        }
    });
    assert_eq!(pressed.status("V37"), Some(Info));
    let unknown = pressed
        .clone()
        .edit(|t| t.samples.iter_mut().for_each(|s| s.run_delay_ns = 0));
    assert_eq!(unknown.status("V37"), Some(Caveat));
    let waited = pressed.edit(|t| {
        t.samples
            .iter_mut()
            .for_each(|s| s.run_delay_ns = s.duration_ns / 5);
    });
    assert_eq!(waited.status("V37"), Some(Caveat));
    // Nobody else ran: the kernel's own threads carry out what the workers ask for.
    let alone = waited.edit(|t| {
        for observation in &mut t.observations {
            let own = observation.own.get_or_insert_default();
            // Of the workers, and of the threads that watch and store.
            own.cpu_user_ns = t.samples[0].cpu_user_ns + 30_000_000;
            if let Some(cpu) = &mut observation.cpu {
                cpu.user_ns = own.cpu_user_ns + 5_000_000;
            }
        }
    });
    let finding = alone.finding("V37").unwrap();
    assert_eq!(finding.status, Info, "{finding:?}");
    assert!(finding.evidence.contains("0.5 % of a CPU"), "{finding:?}");
}
