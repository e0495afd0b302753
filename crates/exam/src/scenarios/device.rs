//! Drives whose speed is not one number.

use fathom_model::verdict::Limiter;
use fathom_model::workload::{BlockSizes, Bounds, DataSet, OpMix, Pattern, Workload};

use super::sound::ssd;
use super::{Draw, GIB, MIB, faulty, limited, random_reads, random_writes, remarked, sequential};
use crate::case::{Case, Scenario, Trial};

pub(super) fn scenarios() -> Vec<Scenario> {
    let device = &[Limiter::Device];
    let cap = &[Limiter::Cap];
    let mut scenarios = vec![
        faulty(
            "SLC cache fills",
            &["V13"],
            &[Limiter::Cache, Limiter::Device],
            slc_cliff,
        ),
        faulty("burst credits run out", &["V13"], cap, credits),
        faulty("speed steps in the middle", &["V13"], device, step),
        faulty("slow drift", &["V11", "V12", "V13"], &[], drift),
        faulty(
            "fresh SSD, random writes",
            &["V10", "V11", "V12", "V13"],
            device,
            fresh_ssd,
        ),
        faulty(
            "garbage collection, two modes",
            &["V47", "V14", "V11", "V16", "V13"],
            &[],
            two_modes,
        ),
        faulty(
            "thin volume, written for the first time",
            &["V48"],
            &[],
            thin,
        ),
        faulty("runs that do not repeat", &["V18"], &[], not_repeatable),
        remarked(
            "second pass from a server's cache",
            &["V08", "V18"],
            &[Limiter::Cache],
            server_cache,
        ),
        faulty(
            "neighbour on the same drive",
            &["V30"],
            &[Limiter::ForeignLoad],
            neighbour,
        ),
        faulty(
            "drive throttles for heat",
            &["V13", "V33"],
            &[Limiter::Thermal],
            hot,
        ),
        faulty("drive hangs for seconds", &["V45"], &[], hangs),
        faulty("noisy drive", &["V16"], &[], noisy),
    ];
    scenarios.extend(of_limits());
    scenarios
}

/// Scenarios that ask for the limiter, or for a remark.
fn of_limits() -> Vec<Scenario> {
    let depth = &[Limiter::QueueDepth];
    vec![
        limited(
            "limited by depth, shown by a deeper row",
            Limiter::QueueDepth,
            depth_bound,
        ),
        limited(
            "saturated, shown by a deeper row",
            Limiter::Device,
            device_bound,
        ),
        limited("round cap of a volume", Limiter::Cap, round_cap),
        remarked(
            "writes smaller than the physical block",
            &["V09"],
            depth,
            small_blocks,
        ),
        remarked(
            "writes beside the physical blocks",
            &["V09"],
            depth,
            misaligned,
        ),
        remarked(
            "writes left in a volatile cache",
            &["V07"],
            &[Limiter::Cache],
            volatile,
        ),
    ]
}

fn long_writes(seconds: u64) -> Workload {
    Workload {
        data_set: DataSet {
            size_bytes: Some(400 * GIB),
            ..sequential(OpMix::WRITE, 8, seconds).data_set
        },
        ..sequential(OpMix::WRITE, 8, seconds)
    }
}

fn slc_cliff(d: &mut Draw) -> Case {
    let fast = d.log(800.0, 2_500.0);
    let cache_gb = d.log(8.0, 40.0);
    let fill_s = cache_gb * 1e9 / (fast * MIB as f64);
    let drive = format!(
        "slc?write_mibs={fast:.0},cache={:.0},drain_mibs={:.0},units=64",
        cache_gb * 1e9,
        fast * d.even(0.1, 0.5),
    );
    Case::new(drive, long_writes((fill_s * d.even(2.0, 4.0)) as u64 + 20))
}

fn credits(d: &mut Draw) -> Case {
    let iops = d.one_of(&[1_000.0, 2_000.0, 3_000.0]);
    let burst = iops * d.even(2.0, 4.0);
    let burst_seconds = d.even(25.0, 60.0);
    let drive = format!(
        "cloud?iops={iops:.0},mibs=1000,latency_us=500,burst_iops={burst:.0},credit_ops={:.0}",
        burst_seconds * (burst - iops),
    );
    let seconds = (burst_seconds * d.even(2.0, 3.0)) as u64;
    Case::new(drive, random_reads(32, seconds)).on(|host| host.virtualization = "kvm".to_owned())
}

fn step(d: &mut Draw) -> Case {
    let seconds = d.whole(60, 120);
    let factor = d.one_of(&[0.5, 0.6, 0.75]);
    let drive = format!(
        "{},step_at_s={:.0},step_factor={factor}",
        ssd(d),
        seconds as f64 * d.even(0.3, 0.7)
    );
    Case::new(drive, random_reads(8, seconds))
}

fn drift(d: &mut Draw) -> Case {
    let seconds = d.whole(120, 300);
    // 12 to 25 percent over the trial.
    let percent = d.even(12.0, 25.0) / (seconds as f64 / 60.0);
    let drive = format!("{},drift_percent=-{percent:.2},noise_cv=0.01", ssd(d));
    Case::new(drive, random_reads(8, seconds))
}

fn fresh_ssd(d: &mut Draw) -> Case {
    let drive = format!(
        "enterprise?size=2GiB,spare_percent={:.0},media_mibs={:.0},write_us=100,units=16",
        d.even(8.0, 28.0),
        d.even(30.0, 60.0),
    );
    let mut workload = random_writes(16, 200);
    workload.data_set.size_bytes = Some(2 * GIB);
    Case::new(drive, workload)
}

fn two_modes(d: &mut Draw) -> Case {
    // Seconds in which the drive collects garbage, at random.
    let drive = format!(
        "{},hiccup_every_s={:.1},hiccup_ms={:.0},hiccup_random=1",
        ssd(d),
        d.even(3.0, 5.0),
        d.even(500.0, 800.0),
    );
    Case::new(drive, random_writes(8, d.whole(90, 180)))
}

fn thin(d: &mut Draw) -> Case {
    // Regions are allocated one at a time: that bounds the rate of the first pass.
    let extent_mib = d.one_of(&[1.0, 2.0, 4.0]);
    let slow_mibs = d.log(150.0, 600.0);
    let drive = format!(
        "thin?write_mibs={:.0},extent={:.0},alloc_us={:.0}",
        slow_mibs * d.even(1.6, 4.0),
        extent_mib * MIB as f64,
        extent_mib * 1e6 / slow_mibs,
    );
    let pass_s = d.even(10.0, 25.0);
    let mut workload = sequential(OpMix::WRITE, 8, (pass_s * d.even(2.0, 3.0)) as u64);
    workload.data_set.size_bytes = Some((slow_mibs * pass_s) as u64 * MIB);
    Case::new(drive, workload)
}

fn not_repeatable(d: &mut Draw) -> Case {
    // The drive gets slower from one iteration to the next.
    let seconds = d.whole(20, 40);
    let per_trial = d.even(12.0, 20.0);
    let percent = per_trial / (seconds as f64 / 60.0);
    let drive = format!("{},drift_percent={percent:.2}", ssd(d));
    Case::new(drive, random_reads(8, seconds)).iterations(3)
}

fn server_cache(d: &mut Draw) -> Case {
    let drive = format!(
        "array?cache=8GiB,media_read_mibs={:.0},cache_us=60,units=16",
        d.even(100.0, 300.0)
    );
    let mut workload = sequential(OpMix::READ, 4, 60);
    workload.data_set.size_bytes = Some(4 * GIB);
    workload.bounds = Bounds {
        bytes: Some(4 * GIB),
        ..Bounds::default()
    };
    Case::new(drive, workload).iterations(3)
}

fn neighbour(d: &mut Draw) -> Case {
    let drive = format!(
        "ssd?read_us=400,write_us=200,units=8,neighbour_iops={:.0},neighbour_kib=64",
        d.even(2_000.0, 5_000.0)
    );
    Case::new(drive, random_reads(8, d.whole(30, 60)))
}

fn hot(d: &mut Draw) -> Case {
    let drive = format!(
        "thermal?write_mibs={:.0},heat_c_per_gib=0.6,cool_s=200,throttle_percent={:.0},units=64",
        d.even(800.0, 1_500.0),
        d.even(20.0, 40.0),
    );
    Case::new(drive, long_writes(d.whole(240, 360)))
}

fn hangs(d: &mut Draw) -> Case {
    let seconds = d.whole(30, 60);
    let drive = format!(
        "{},stall_at_s={:.0},stall_s={:.0}",
        ssd(d),
        seconds as f64 * d.even(0.2, 0.5),
        d.even(4.0, 8.0),
    );
    Case::new(drive, random_reads(8, seconds))
}

fn noisy(d: &mut Draw) -> Case {
    let drive = format!(
        "{},noise_cv={:.2},noise_phi={:.2}",
        ssd(d),
        d.even(0.3, 0.6),
        d.even(0.0, 0.5)
    );
    Case::new(drive, random_reads(8, 30))
}

fn with_deeper(mut case: Case) -> Case {
    let first = case.trials[0].clone();
    let workload = Workload {
        queue_depth: 2 * first.workload.queue_depth,
        ..first.workload.clone()
    };
    case.trials.push(Trial {
        row: 1,
        workload,
        ..first
    });
    case
}

fn depth_bound(d: &mut Draw) -> Case {
    let drive = format!("ideal?latency_us={:.0},parallel=64", d.log(800.0, 3_000.0));
    let depth = d.one_of(&[4, 8, 16]);
    with_deeper(Case::new(drive, random_reads(depth, d.whole(20, 40))))
}

fn device_bound(d: &mut Draw) -> Case {
    let drive = format!("ideal?latency_us={:.0},parallel=4", d.log(300.0, 900.0));
    let depth = d.one_of(&[16, 32]);
    with_deeper(Case::new(drive, random_reads(depth, d.whole(20, 40))))
}

fn round_cap(d: &mut Draw) -> Case {
    let iops = d.one_of(&[500, 1000, 2000, 3000, 4000]);
    let drive = format!(
        "cloud?iops={iops},mibs=1000,latency_us={:.0}",
        d.log(300.0, 900.0)
    );
    let depth = d.one_of(&[32, 64]);
    Case::new(drive, random_reads(depth, d.whole(30, 60)))
        .on(|host| host.virtualization = "kvm".to_owned())
}

fn small_blocks(d: &mut Draw) -> Case {
    let workload = Workload {
        name: "randwrite-512".to_owned(),
        block: BlockSizes::Fixed(512),
        align_bytes: 512,
        ..random_writes(1, d.whole(20, 40))
    };
    Case::new(
        format!("rmw?read_us={:.0},write_us=60", d.log(80.0, 300.0)),
        workload,
    )
}

fn misaligned(d: &mut Draw) -> Case {
    let workload = Workload {
        misalign_bytes: d.one_of(&[512, 1024, 2048]),
        pattern: Pattern::Sequential,
        ..random_writes(1, d.whole(20, 40))
    };
    Case::new("rmw?read_us=120,write_us=60", workload)
}

fn volatile(d: &mut Draw) -> Case {
    let drive = format!("volatile?cache=8GiB,ack_us={:.0}", d.log(60.0, 200.0));
    Case::new(drive, random_writes(4, d.whole(10, 30)))
        .on(|host| host.device.write_cache = Some("write back".to_owned()))
}
