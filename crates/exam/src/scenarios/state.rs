//! What the machine says of itself: layers, jobs, heat, health, links, limits.

use fathom_model::host_load::QuotaUse;
use fathom_model::verdict::Limiter;
use fathom_model::workload::OpMix;

use super::sound::ssd;
use super::{Draw, GIB, faulty, random_reads, random_writes, remarked, sequential};
use crate::case::{Case, Scenario};
use crate::host::Host;

pub(super) fn scenarios() -> Vec<Scenario> {
    let heat = &[Limiter::Thermal];
    let cap = &[Limiter::Cap];
    vec![
        faulty(
            "compressing file system, compressible data",
            &["V05"],
            &[],
            compressed,
        ),
        faulty("array is being rebuilt", &["V31"], &[], rebuild),
        faulty("balance of the file system", &["V31"], &[], balance),
        faulty("array lacks a disk", &["V32"], &[], degraded),
        faulty(
            "drive throttled for heat, by its log",
            &["V33"],
            heat,
            throttled,
        ),
        faulty("drive is failing", &["V34"], &[], failing),
        faulty("link runs slower than it could", &["V35"], &[], slow_link),
        faulty("CPU throttled for heat", &["V36"], &[], hot_cpu),
        remarked("limit of the control group", &["V38"], cap, group_limit),
        faulty("host swaps", &["V39"], &[Limiter::Memory], swapping),
        faulty("file system nearly full", &["V44"], &[], nearly_full),
        faulty(
            "CPU quota of the control group",
            &["V22", "V37"],
            &[Limiter::GeneratorCpu],
            quota,
        ),
    ]
}

fn fact(host: &mut Host, name: &str, value: &str) {
    host.device.facts.insert(name.to_owned(), value.to_owned());
}

fn after(host: &mut Host, name: &str, value: String) {
    host.device_after.insert(name.to_owned(), value);
}

fn on_filesystem(host: &mut Host, kind: &str, fact: Option<(&str, &str)>) {
    if let Some(filesystem) = &mut host.filesystem {
        filesystem.kind = kind.to_owned();
        if let Some((name, value)) = fact {
            filesystem.facts.insert(name.to_owned(), value.to_owned());
        }
    }
}

fn reads(d: &mut Draw) -> Case {
    let depth = d.one_of(&[8, 16]);
    Case::new(ssd(d), random_reads(depth, d.whole(20, 40)))
}

fn compressed(d: &mut Draw) -> Case {
    let mut workload = sequential(OpMix::WRITE, 4, d.whole(20, 40));
    workload.payload.compress_percent = d.one_of(&[50, 75, 90]);
    Case::new(ssd(d), workload).on(|host| {
        on_filesystem(host, "btrfs", None);
        if let Some(filesystem) = &mut host.filesystem {
            filesystem.options.push("compress=zstd:3".to_owned());
        }
    })
}

fn rebuild(d: &mut Draw) -> Case {
    let action = d.one_of(&["resync", "recover", "check", "reshape"]);
    reads(d).on(|host| {
        host.device.kind = "md".to_owned();
        fact(host, "sync_action", "idle");
        after(host, "sync_action", action.to_owned());
    })
}

fn balance(d: &mut Draw) -> Case {
    let operation = d.one_of(&["balance", "device remove", "device replace"]);
    reads(d).on(|host| on_filesystem(host, "btrfs", Some(("exclusive_operation", operation))))
}

fn degraded(d: &mut Draw) -> Case {
    let missing = d.whole(1, 2);
    reads(d).on(|host| {
        host.device.kind = "md".to_owned();
        fact(host, "level", "raid6");
        fact(host, "degraded", &missing.to_string());
    })
}

fn throttled(d: &mut Draw) -> Case {
    let seconds = d.whole(3, 18);
    reads(d).on(|host| {
        fact(host, "health_thermal_1_seconds", "100");
        fact(host, "health_thermal_2_seconds", "0");
        after(
            host,
            "health_thermal_1_seconds",
            (100 + seconds).to_string(),
        );
    })
}

fn failing(d: &mut Draw) -> Case {
    let warning = d.one_of(&[1, 4, 8]);
    reads(d).on(|host| {
        fact(host, "health_critical_warning", &warning.to_string());
        fact(host, "health_percentage_used", "97");
    })
}

fn slow_link(d: &mut Draw) -> Case {
    let lanes = d.one_of(&["1", "2"]);
    reads(d).on(|host| {
        fact(host, "pcie_link_width", lanes);
        fact(host, "pcie_link_width_max", "4");
        fact(host, "pcie_port_link_width_max", "4");
    })
}

fn hot_cpu(d: &mut Draw) -> Case {
    let throttles = d.whole(5, 500);
    reads(d).on(|host| host.load.core_throttles = Some(throttles))
}

fn group_limit(d: &mut Draw) -> Case {
    let iops = d.whole(300, 3_000);
    let drive = format!(
        "cloud?iops={iops},mibs=1000,latency_us={:.0}",
        d.log(100.0, 400.0)
    );
    Case::new(drive, random_reads(16, d.whole(30, 60)))
        .on(|host| fact(host, "cgroup_read_ops", &iops.to_string()))
}

fn swapping(d: &mut Draw) -> Case {
    let bytes = d.log(100e6, 5e9) as u64;
    reads(d).on(|host| {
        host.load.duration_ns = 30_000_000_000;
        host.load.swap_in_bytes = Some(bytes / 2);
        host.load.swap_out_bytes = Some(bytes);
        host.memory_pressure = 0.2;
    })
}

fn nearly_full(d: &mut Draw) -> Case {
    let free = d.even(0.005, 0.04);
    Case::new(ssd(d), random_writes(8, d.whole(20, 40))).on(|host| {
        if let Some(filesystem) = &mut host.filesystem {
            filesystem.available_bytes = (filesystem.total_bytes as f64 * free) as u64;
        }
        host.memory_bytes = 32 * GIB;
    })
}

fn quota(d: &mut Draw) -> Case {
    let share = d.even(0.3, 0.9);
    Case::new(ssd(d), random_reads(8, d.whole(20, 40))).on(|host| {
        host.run_delay_share = share / 2.0;
        host.cpu_pressure = 0.3;
        host.load.cpu_quota = Some(QuotaUse {
            group: "/lab".to_owned(),
            periods: 1_000,
            throttled_periods: (1_000.0 * share) as u64,
            throttled_ns: (30e9 * share) as u64,
        });
    })
}
