//! Every metric by name. `docs/guide/metrics.md` lists the same.

/// What a metric is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FamilyKind {
    /// It only grows.
    Counter,
    /// It is what it is at the moment.
    Gauge,
    /// Values in buckets.
    Histogram,
}

/// One metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Family {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub kind: FamilyKind,
    /// What it says, one line.
    pub help: &'static str,
    /// Its labels.
    pub labels: &'static str,
}

const fn family(
    name: &'static str,
    kind: FamilyKind,
    help: &'static str,
    labels: &'static str,
) -> Family {
    Family {
        name,
        kind,
        help,
        labels,
    }
}

use FamilyKind::{Counter, Gauge, Histogram};

const TRIAL: &str = "workload, target, engine, host";
const OPERATION: &str = "workload, target, engine, host, operation, phase";

/// Every metric, in the order in which they are written.
pub const FAMILIES: [Family; 21] = [
    family(
        "fathom_run_info",
        Gauge,
        "The run that is under way; always 1.",
        "run, plan, version",
    ),
    family(
        "fathom_trials_planned",
        Gauge,
        "Trials that the run is planned to have.",
        "",
    ),
    family(
        "fathom_trials_total",
        Counter,
        "Trials that are over.",
        "state",
    ),
    family(
        "fathom_trial_active",
        Gauge,
        "1 while a trial is under way, its preparation included.",
        TRIAL,
    ),
    family(
        "fathom_operations_total",
        Counter,
        "Operations that succeeded.",
        OPERATION,
    ),
    family(
        "fathom_bytes_total",
        Counter,
        "Bytes that successful operations moved.",
        OPERATION,
    ),
    family(
        "fathom_errors_total",
        Counter,
        "Operations that failed, by class of failure; never part of the others.",
        "workload, target, engine, host, operation, phase, class",
    ),
    family(
        "fathom_service_latency_seconds",
        Histogram,
        "Latency of operations from their submission.",
        OPERATION,
    ),
    family(
        "fathom_response_latency_seconds",
        Histogram,
        "Latency of operations from when they were due; only at a given rate.",
        OPERATION,
    ),
    family(
        "fathom_lateness_seconds",
        Histogram,
        "How late operations were submitted; only at a given rate.",
        "workload, target, engine, host, phase",
    ),
    family(
        "fathom_load_seconds_total",
        Counter,
        "Time under load.",
        "workload, target, engine, host, phase",
    ),
    family(
        "fathom_operations_in_flight",
        Gauge,
        "Operations in flight, the mean of the latest second.",
        TRIAL,
    ),
    family("fathom_workers", Gauge, "Threads of the load.", TRIAL),
    family(
        "fathom_worker_cpu_seconds_total",
        Counter,
        "CPU time of the threads of the load.",
        "workload, target, engine, host, mode",
    ),
    family(
        "fathom_host_cpu_seconds_total",
        Counter,
        "CPU time of the whole host under load, all CPUs together.",
        "host, mode",
    ),
    family(
        "fathom_device_reads_total",
        Counter,
        "Reads that a device under the target completed under load.",
        "host, device",
    ),
    family(
        "fathom_device_read_bytes_total",
        Counter,
        "Bytes read from a device under the target.",
        "host, device",
    ),
    family(
        "fathom_device_writes_total",
        Counter,
        "Writes that a device under the target completed under load.",
        "host, device",
    ),
    family(
        "fathom_device_written_bytes_total",
        Counter,
        "Bytes written to a device under the target.",
        "host, device",
    ),
    family(
        "fathom_device_busy_seconds_total",
        Counter,
        "Time in which a device under the target had a request under way.",
        "host, device",
    ),
    family(
        "fathom_metrics_series_dropped_total",
        Counter,
        "Values that are not here because there are too many series.",
        "",
    ),
];
