//! Systems with which nothing is wrong.

use fathom_model::verdict::Limiter;
use fathom_model::workload::{Arrival, CacheMode, OpMix, Rate, RateUnit, SyncPolicy, Workload};

use super::{Draw, GIB, random_reads, random_writes, sequential};
use crate::case::{Case, Expected, Scenario};

const DEVICE: &[Limiter] = &[Limiter::Device];
const DEPTH: &[Limiter] = &[Limiter::QueueDepth];

fn sound(name: &'static str, limiters: &[Limiter], draw: fn(&mut Draw) -> Case) -> Scenario {
    Scenario {
        name,
        expected: Expected::Sound {
            limiters: limiters.to_vec(),
        },
        draw,
    }
}

pub(super) fn scenarios() -> Vec<Scenario> {
    vec![
        sound("sound: SSD, one read at a time", DEPTH, ssd_one_read),
        sound("sound: SSD, deep random reads", &[], ssd_deep_reads),
        sound("sound: SSD, sequential writes", DEVICE, ssd_writes),
        sound(
            "sound: hard disk, random reads",
            &[Limiter::Device, Limiter::QueueDepth],
            disk_random,
        ),
        sound(
            "sound: hard disk, sequential reads",
            DEVICE,
            disk_sequential,
        ),
        sound("sound: mixed load", &[], mixed),
        sound("sound: open loop at half load", &[Limiter::Rate], open_loop),
        sound(
            "sound: durable writes one by one",
            &[Limiter::Flush],
            durable,
        ),
        sound("sound: cloud volume at its cap", &[Limiter::Cap], cloud_cap),
        sound("sound: cloud volume below its cap", DEPTH, cloud_below),
        sound("sound: ten seconds only", DEPTH, short),
        sound("sound: three iterations", DEPTH, iterations),
        sound(
            "sound: two depths of one workload",
            &[Limiter::Device, Limiter::QueueDepth],
            depths,
        ),
        sound("sound: bare device", DEPTH, bare_device),
        sound(
            "sound: buffered reads of a large cold set",
            &[],
            buffered_cold,
        ),
    ]
}

pub(super) fn ssd(d: &mut Draw) -> String {
    format!(
        "ssd?read_us={:.1},write_us={:.1},units={},tail={:.2},read_mibs={:.0},write_mibs={:.0}",
        d.log(150.0, 600.0),
        d.log(60.0, 300.0),
        d.one_of(&[4, 8, 16]),
        d.even(0.1, 0.4),
        d.log(500.0, 3500.0),
        d.log(300.0, 2500.0),
    )
}

fn ssd_one_read(d: &mut Draw) -> Case {
    Case::new(ssd(d), random_reads(1, d.whole(20, 60)))
}

fn ssd_deep_reads(d: &mut Draw) -> Case {
    let depth = d.one_of(&[16, 32, 64]);
    Case::new(ssd(d), random_reads(depth, d.whole(20, 40)))
}

fn ssd_writes(d: &mut Draw) -> Case {
    let depth = d.one_of(&[4, 8, 16]);
    let seconds = d.whole(30, 90);
    Case::new(ssd(d), sequential(OpMix::WRITE, depth, seconds))
}

pub(super) fn disk(d: &mut Draw) -> String {
    let outer = d.even(180.0, 280.0);
    format!(
        "hdd?rpm={},seek_max_ms={:.1},outer_mibs={outer:.0},inner_mibs={:.0}",
        d.one_of(&[5400, 7200]),
        d.even(12.0, 20.0),
        outer * d.even(0.42, 0.55),
    )
}

fn on_disk(case: Case) -> Case {
    case.on(|host| {
        host.device.rotational = Some(true);
        host.device.scheduler = Some("mq-deadline".to_owned());
    })
}

fn disk_random(d: &mut Draw) -> Case {
    let depth = d.one_of(&[1, 4, 16]);
    let seconds = d.whole(60, 180);
    let case = Case::new(disk(d), random_reads(depth, seconds));
    let mut case = on_disk(case);
    for trial in &mut case.trials {
        trial.workload.data_set.size_bytes = Some(4_000 * GIB);
    }
    case
}

fn disk_sequential(d: &mut Draw) -> Case {
    let depth = d.one_of(&[2, 8]);
    let seconds = d.whole(30, 90);
    on_disk(Case::new(disk(d), sequential(OpMix::READ, depth, seconds)))
}

fn mixed(d: &mut Draw) -> Case {
    let read_percent = d.one_of(&[50, 70, 90]);
    let mut workload = random_reads(d.one_of(&[8, 32]), d.whole(20, 40));
    workload.name = "randrw-4k".to_owned();
    workload.mix = OpMix {
        read_percent,
        write_percent: 100 - read_percent,
        trim_percent: 0,
    };
    Case::new(ssd(d), workload)
}

fn open_loop(d: &mut Draw) -> Case {
    let read_us = d.log(200.0, 600.0);
    // Eight units in parallel; half of what they can do at most.
    let rate = 8.0 / (read_us * 1e-6) * d.even(0.2, 0.45);
    let mut workload = random_reads(64, d.whole(20, 40));
    workload.rate = Some(Rate {
        per_second: rate,
        unit: RateUnit::Ops,
        arrival: d.one_of(&[Arrival::Constant, Arrival::Poisson]),
    });
    Case::new(
        format!("ssd?read_us={read_us:.1},units=8,tail=0.2"),
        workload,
    )
}

fn durable(d: &mut Draw) -> Case {
    let mut workload = random_writes(1, d.whole(20, 60));
    workload.sync = SyncPolicy {
        every_writes: 1,
        ..SyncPolicy::default()
    };
    let flush_us = d.log(200.0, 2000.0);
    let drive = format!(
        "ssd?write_us=20,flush_us={flush_us:.0},tail={:.2}",
        d.even(0.1, 0.4)
    );
    Case::new(drive, workload).on(|host| host.device.write_cache = Some("write back".to_owned()))
}

fn cloud_cap(d: &mut Draw) -> Case {
    let iops = d.one_of(&[1000, 2000, 3000, 5000, 7500]);
    let drive = format!(
        "cloud?iops={iops},mibs=1000,latency_us={:.0}",
        d.log(300.0, 900.0)
    );
    let workload = random_reads(d.one_of(&[16, 32, 64]), d.whole(30, 60));
    Case::new(drive, workload).on(|host| host.virtualization = "kvm".to_owned())
}

fn cloud_below(d: &mut Draw) -> Case {
    let drive = format!(
        "cloud?iops=16000,mibs=1000,latency_us={:.0}",
        d.log(300.0, 900.0)
    );
    Case::new(drive, random_reads(1, d.whole(30, 60)))
        .on(|host| host.virtualization = "kvm".to_owned())
}

fn short(d: &mut Draw) -> Case {
    Case::new(ssd(d), random_reads(d.one_of(&[1, 32]), 10))
}

fn iterations(d: &mut Draw) -> Case {
    let workload = random_reads(d.one_of(&[1, 8, 32]), d.whole(15, 30));
    Case::new(ssd(d), workload).iterations(3)
}

fn depths(d: &mut Draw) -> Case {
    let depth = d.one_of(&[4, 16]);
    let mut case = Case::new(ssd(d), random_reads(depth, 20));
    let mut deeper = case.trials[0].clone();
    deeper.row = 1;
    deeper.workload.queue_depth = 4 * depth;
    case.trials.push(deeper);
    case
}

fn bare_device(d: &mut Draw) -> Case {
    Case::new(ssd(d), random_reads(d.one_of(&[1, 32]), d.whole(20, 40))).on(|host| {
        host.filesystem = None;
        host.data.unwritten_method = Some("sampled blocks".to_owned());
        host.data.files = vec!["/dev/sda".to_owned()];
    })
}

fn buffered_cold(d: &mut Draw) -> Case {
    let workload = Workload {
        cache: CacheMode::Buffered,
        ..sequential(OpMix::READ, 4, d.whole(20, 40))
    };
    Case::new(ssd(d), workload).on(|host| host.memory_bytes = 32 * GIB)
}
