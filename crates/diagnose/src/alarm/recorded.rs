//! Numbers by name from a recording, as far as it has them.

use fathom_model::machine::HostReading;

use crate::load::seconds;
use crate::recording::Recording;

/// The numbers of a recording, whoever wrote it.
pub fn readings_of(recording: &Recording) -> Vec<HostReading> {
    let mut readings = Vec::new();
    let mut at_seconds = 0.0;
    let cpus = recording.host.cpus.map(f64::from);
    for moment in &recording.moments {
        let length = seconds(moment);
        at_seconds += length;
        let mut add = |quantity: &str, instance: &str, value: Option<f64>| {
            if let Some(value) = value {
                readings.push(HostReading {
                    quantity: quantity.to_owned(),
                    instance: instance.to_owned(),
                    value,
                    at_seconds,
                    seconds: length,
                });
            }
        };
        add("cpu_busy", "", moment.cpu.map(|cpu| cpu.busy()));
        add("cpu_iowait", "", moment.cpu.map(|cpu| cpu.iowait));
        add("cpu_idle", "", moment.cpu.map(|cpu| cpu.idle));
        add("cpu_steal", "", moment.cpu.map(|cpu| cpu.steal));
        let waiting = moment.runnable.zip(cpus);
        add(
            "run_queue_per_core",
            "",
            waiting.map(|(tasks, cpus)| tasks / cpus),
        );
        let swapped = moment
            .swap_in_bytes_per_second
            .zip(moment.swap_out_bytes_per_second);
        add(
            "swap_bytes",
            "",
            swapped.map(|(read, written)| read + written),
        );
        add("io_pressure", "", moment.io_pressure_some);
        add("memory_pressure", "", moment.memory_pressure_some);
        add("nic_use", "", moment.network_use);
        for disk in &moment.disks {
            add("disk_queue", &disk.name, disk.queue);
            let wait = disk.mean_wait_ms().filter(|_| disk.operations() > 0.0);
            add("disk_wait", &disk.name, wait.map(|ms| ms / 1000.0));
            add("disk_operations", &disk.name, Some(disk.operations()));
            add("disk_bytes", &disk.name, Some(disk.bytes()));
        }
    }
    readings
}
