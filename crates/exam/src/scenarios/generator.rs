//! Faults of the generator, its host, and whoever else is there.

use fathom_model::run::{RunState, TrialRecord};
use fathom_model::verdict::Limiter;
use fathom_model::workload::{Arrival, Rate, RateUnit};

use super::sound::ssd;
use super::{Draw, faulty, random_reads, random_writes, remarked};
use crate::case::{Case, Scenario};

pub(super) fn scenarios() -> Vec<Scenario> {
    let cpu = &[Limiter::GeneratorCpu];
    let depth = &[Limiter::QueueDepth];
    vec![
        remarked("too few seconds", &["V15", "V16", "V17"], depth, too_short),
        faulty(
            "asynchronous turned synchronous",
            &["V20"],
            &[],
            turned_synchronous,
        ),
        faulty("generator at its ceiling", &["V22"], cpu, at_ceiling),
        faulty(
            "rate that cannot be kept",
            &["V23"],
            &[Limiter::Cap],
            rate_not_kept,
        ),
        faulty("bad clock", &["V24"], depth, bad_clock),
        faulty("errors on the drive", &["V26"], &[], io_errors),
        faulty("bandwidth in the wrong unit", &["V25"], &[], wrong_unit),
        faulty("generator stood still", &["V27"], &[], stood_still),
        faulty("direct I/O refused", &["V28"], &[Limiter::Cache], fell_back),
        faulty("ended by the user", &["V29"], &[], interrupted),
        faulty(
            "somebody else's load",
            &["V30"],
            &[Limiter::ForeignLoad],
            foreign,
        ),
        faulty("CPU taken by the hypervisor", &["V37"], &[], stolen),
        faulty("everybody waits for a CPU", &["V37"], &[], crowded),
    ]
}

fn too_short(d: &mut Draw) -> Case {
    Case::new(ssd(d), random_reads(1, d.whole(2, 4)))
}

fn turned_synchronous(d: &mut Draw) -> Case {
    let mut case = Case::new(ssd(d), random_reads(1, d.whole(20, 40)));
    case.trials[0].claimed_depth = Some(d.one_of(&[8, 32]));
    case
}

fn at_ceiling(d: &mut Draw) -> Case {
    let cost_ns = d.log(8_000.0, 30_000.0);
    let depth = 32;
    // The drive could do more than one worker can ask for.
    let latency_us = cost_ns * f64::from(depth) / 1e3;
    let drive = format!("ideal?latency_us={latency_us:.2},parallel={depth}");
    let share = d.even(0.82, 0.99);
    Case::new(drive, random_reads(depth, d.whole(10, 30))).on(|host| {
        host.cpu_ns_per_op = (cost_ns * 0.99) as u64;
        host.ceiling_ops = 1e9 / cost_ns / share;
    })
}

fn rate_not_kept(d: &mut Draw) -> Case {
    let iops = d.log(500.0, 5_000.0);
    let mut workload = random_reads(32, d.whole(20, 40));
    workload.rate = Some(Rate {
        per_second: iops * d.even(1.1, 2.0),
        unit: RateUnit::Ops,
        arrival: Arrival::Constant,
    });
    Case::new(format!("cloud?iops={iops:.0},mibs=1000"), workload)
}

fn bad_clock(d: &mut Draw) -> Case {
    let source = d.one_of(&["jiffies", "refined-jiffies", "acpi_pm", "hpet"]);
    Case::new(ssd(d), random_reads(1, d.whole(20, 40)))
        .on(|host| host.clocksource = source.to_owned())
}

fn io_errors(d: &mut Draw) -> Case {
    let every = d.whole(50, 5_000);
    let mut workload = random_reads(8, d.whole(10, 30));
    workload.on_error = fathom_model::workload::OnError::Continue;
    Case::new(format!("flaky?eio_every={every}"), workload)
}

fn wrong_unit(d: &mut Draw) -> Case {
    fn edit(record: &mut TrialRecord) {
        let ops = record.samples.iter_mut().flat_map(|s| &mut s.ops);
        for op in ops {
            op.bytes = op.bytes * 1000 / 1024;
        }
    }
    Case::new(ssd(d), random_writes(8, d.whole(20, 40))).edit(edit)
}

fn stood_still(d: &mut Draw) -> Case {
    fn edit(record: &mut TrialRecord) {
        let middle = record.samples.len() / 2;
        let sample = &mut record.samples[middle];
        sample.longest_stall_ns = 700_000_000;
        for op in &mut sample.ops {
            op.ops = op.ops * 3 / 10;
            op.bytes = op.bytes * 3 / 10;
        }
    }
    Case::new(ssd(d), random_reads(4, d.whole(20, 60))).edit(edit)
}

fn fell_back(d: &mut Draw) -> Case {
    Case::new(ssd(d), random_reads(8, d.whole(20, 40))).on(|host| {
        host.direct = false;
        host.fallbacks =
            vec!["the file system refused direct I/O: buffered I/O was used".to_owned()];
    })
}

fn interrupted(d: &mut Draw) -> Case {
    fn edit(record: &mut TrialRecord) {
        record.state = RunState::Interrupted;
        record.samples.truncate(record.samples.len() / 2);
        if let Some(end) = &mut record.end {
            end.reason = Some("ended by the user".to_owned());
        }
    }
    let mut case = Case::new(ssd(d), random_reads(8, d.whole(20, 40))).edit(edit);
    case.run_edits
        .push(|run| run.meta.state = RunState::Interrupted);
    case
}

fn foreign(d: &mut Draw) -> Case {
    let foreign_bytes = d.log(60e6, 400e6) as u64;
    let write = d.one_of(&[true, false]);
    let drive = "ssd?read_us=200,units=16,read_mibs=600";
    Case::new(drive, random_reads(16, d.whole(15, 40))).on(|host| match write {
        true => host.foreign_write_bytes = foreign_bytes,
        false => host.foreign_read_bytes = foreign_bytes,
    })
}

fn stolen(d: &mut Draw) -> Case {
    let share = d.even(0.02, 0.3);
    Case::new(ssd(d), random_reads(8, d.whole(20, 40))).on(|host| {
        host.virtualization = "kvm".to_owned();
        host.steal_share = share;
    })
}

fn crowded(d: &mut Draw) -> Case {
    let pressure = d.even(0.15, 0.9);
    let delay = d.even(0.07, 0.4);
    Case::new(ssd(d), random_reads(8, d.whole(20, 40))).on(|host| {
        host.cpu_pressure = pressure;
        host.other_cpus = 7.5;
        host.run_delay_share = delay;
    })
}
