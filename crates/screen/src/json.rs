//! One JSON object for each reading, schema `fathom.watch/1`.

use fathom_diagnose::recording::{
    DiskMoment, DoerMoment, LinkMoment, Moment, NfsMoment, RecordedHost,
};
use fathom_model::watch_line::{
    WATCH_SCHEMA, WatchCpu, WatchDevice, WatchDeviceFigures, WatchDeviceWindow, WatchInterface,
    WatchLine, WatchMemory, WatchMount, WatchPressure, WatchUser, WatchVerdict,
};

use crate::filter::Filter;
use crate::history::Seen;
use crate::order::{self, Sort};
use crate::severity;

const NS_PER_MS: f64 = 1e6;

/// The line of a moment, with its end of line.
///
/// # Errors
/// A figure that is not finite.
pub fn json_line(
    host: &RecordedHost,
    seen: &Seen<'_>,
    sort: Sort,
    filter: &Filter,
) -> serde_json::Result<String> {
    Ok(serde_json::to_string(&line(host, seen, sort, filter))? + "\n")
}

fn line(host: &RecordedHost, seen: &Seen<'_>, sort: Sort, filter: &Filter) -> WatchLine {
    let moment = seen.moment;
    let devices = order::devices(seen, sort, filter);
    let shown = devices
        .into_iter()
        .filter(|disk| !filter.is_empty() || seen.is_of_interest(disk));
    let users = |doers: &[DoerMoment]| {
        let (order, _) = order::doers(moment, doers, sort, filter);
        order.into_iter().map(user).collect()
    };
    let links = moment.links.iter().filter(|link| filter.takes(&link.name));
    let mounts = moment.nfs.iter().filter(|mount| filter.takes(&mount.name));
    WatchLine {
        schema: WATCH_SCHEMA.to_owned(),
        host: host.name.clone().unwrap_or_default(),
        at_utc: moment.at.map(|at| format!("{}Z", at.strftime("%FT%T"))),
        interval_s: moment.seconds,
        verdict: WatchVerdict {
            answer: seen.found.answer,
            limiter: seen.found.limiter,
            evidence: seen.found.evidence.clone(),
            intervals: seen.found.samples,
            window_s: seen.found.seconds,
        },
        not_responding: moment.silent.clone(),
        cpu: cpu(moment, host.cpus),
        pressure: WatchPressure {
            io_some_share: moment.io_pressure_some,
            io_full_share: moment.io_pressure_full,
            cpu_some_share: moment.cpu_pressure_some,
            memory_some_share: moment.memory_pressure_some,
        },
        memory: memory(moment),
        devices: shown.map(|disk| device(seen, disk)).collect(),
        processes: users(&moment.processes),
        groups: users(&moment.groups),
        interfaces: links.map(interface).collect(),
        nfs_mounts: mounts.map(mount).collect(),
    }
}

fn cpu(moment: &Moment, cpus: Option<u32>) -> WatchCpu {
    WatchCpu {
        cpus,
        user_share: moment.cpu.map(|cpu| cpu.user),
        system_share: moment.cpu.map(|cpu| cpu.system),
        iowait_share: moment.cpu.map(|cpu| cpu.iowait),
        steal_share: moment.cpu.map(|cpu| cpu.steal),
        idle_share: moment.cpu.map(|cpu| cpu.idle),
        load_1m: moment.load,
        runnable_tasks: moment.runnable,
        blocked_tasks: moment.blocked,
    }
}

fn memory(moment: &Moment) -> Option<WatchMemory> {
    let memory = moment.memory?;
    Some(WatchMemory {
        total_bytes: memory.total_bytes,
        available_bytes: memory.available_bytes,
        dirty_bytes: memory.dirty_bytes,
        writeback_bytes: memory.writeback_bytes,
        swap_in_bytes_per_s: moment.swap_in_bytes_per_second,
        swap_out_bytes_per_s: moment.swap_out_bytes_per_second,
    })
}

fn device(seen: &Seen<'_>, disk: &DiskMoment) -> WatchDevice {
    let ns = |wait_ms: Option<f64>, rate: f64| {
        let wait_ms = wait_ms.filter(|_| rate > 0.0)?;
        Some(wait_ms * NS_PER_MS)
    };
    let place = seen.place_of(&disk.name);
    let window = seen.load(&disk.name).map(|load| WatchDeviceWindow {
        operations_per_s: load.operations,
        bytes_per_s: load.bytes,
        latency_ns: load.wait_ms.map(|ms| ms * NS_PER_MS),
        latency_peak_ns: load.wait_peak_ms.map(|ms| ms * NS_PER_MS),
        in_flight: load.queue,
    });
    WatchDevice {
        name: disk.name.clone(),
        severity: severity::of_device(seen, disk).word().to_owned(),
        now: WatchDeviceFigures {
            reads_per_s: disk.reads,
            writes_per_s: disk.writes,
            flushes_per_s: disk.flushes,
            discards_per_s: disk.discards,
            read_bytes_per_s: disk.read_bytes,
            write_bytes_per_s: disk.write_bytes,
            read_latency_ns: ns(disk.read_wait_ms, disk.reads),
            write_latency_ns: ns(disk.write_wait_ms, disk.writes),
            flush_latency_ns: ns(disk.flush_wait_ms, disk.flushes),
            in_flight: disk.in_flight(),
            in_flight_at_end: disk.outstanding,
        },
        window,
        mounts: place.map(|place| place.mounts.clone()).unwrap_or_default(),
        lies_on: place.map(|place| place.below.clone()).unwrap_or_default(),
    }
}

fn user(doer: &DoerMoment) -> WatchUser {
    WatchUser {
        name: doer.name.clone(),
        read_bytes_per_s: doer.read_bytes,
        write_bytes_per_s: doer.write_bytes,
        iowait_share: doer.io_wait,
        cpus: doer.cpus,
    }
}

fn interface(link: &LinkMoment) -> WatchInterface {
    WatchInterface {
        name: link.name.clone(),
        received_bytes_per_s: link.received_bytes,
        sent_bytes_per_s: link.sent_bytes,
        used_share: link.used(),
        errors_per_s: link.errors,
        drops_per_s: link.drops,
    }
}

fn mount(mount: &NfsMoment) -> WatchMount {
    WatchMount {
        name: mount.name.clone(),
        operations_per_s: mount.operations,
        bytes_per_s: mount.bytes,
        latency_ns: mount.execute_ms.map(|ms| ms * NS_PER_MS),
        reply_latency_ns: mount.round_trip_ms.map(|ms| ms * NS_PER_MS),
        in_flight: mount.queue,
    }
}
