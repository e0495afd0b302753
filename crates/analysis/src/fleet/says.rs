//! What a slow host's own observations say, beside those of the others.

use fathom_model::JudgedRun;
use fathom_model::fleet::{FleetWorkload, HostFigure};
use fathom_rules::check::v41::NOTABLE;
use fathom_stats::median::median;

use crate::trial::Trial;

/// What happened on one host while it was measured, as shares of time.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Shares {
    cpu_busy: Option<f64>,
    stolen: Option<f64>,
    io_stalled: Option<f64>,
    device_busy: Option<f64>,
}

/// A share by its name.
type Field = (&'static str, fn(&Shares) -> Option<f64>);

/// In words; what can be compared with other hosts is.
pub(super) fn of_host(
    host: &HostFigure,
    workload: &FleetWorkload,
    run: &JudgedRun,
    trials: &[Trial<'_>],
) -> Vec<String> {
    let shares = |host: &HostFigure| {
        let row = run.rows.get(host.row)?;
        let trial = trials.get(*row.trials.first()?)?;
        Some(shares(trial))
    };
    let Some(own) = shares(host) else {
        return Vec::new();
    };
    let others = workload
        .hosts
        .iter()
        .filter(|other| other.host != host.host);
    let others: Vec<Shares> = others.filter_map(shares).collect();
    let fields: [Field; 4] = [
        ("CPUs busy", |s| s.cpu_busy),
        ("stolen by the hypervisor", |s| s.stolen),
        ("some task waited for I/O", |s| s.io_stalled),
        ("device busy", |s| s.device_busy),
    ];
    let mut says = Vec::new();
    for (name, field) in fields {
        let Some(own) = field(&own) else {
            continue;
        };
        let theirs: Vec<f64> = others.iter().filter_map(field).collect();
        let Some(median) = median(&theirs) else {
            continue;
        };
        if (own - median).abs() >= NOTABLE {
            says.push(format!(
                "{name} {:.0} %, elsewhere {:.0} %",
                own * 100.0,
                median * 100.0
            ));
        }
    }
    says
}

fn shares(trial: &Trial<'_>) -> Shares {
    let (mut cpu_ns, mut busy_ns, mut steal_ns) = (0.0, 0.0, 0.0);
    let (mut length_ns, mut device_ns, mut stalled_ns) = (0.0, None, None);
    for observation in &trial.record.observations {
        length_ns += observation.duration_ns as f64;
        if let Some(cpu) = &observation.cpu {
            let busy = cpu.user_ns + cpu.system_ns + cpu.interrupt_ns;
            busy_ns += busy as f64;
            steal_ns += cpu.steal_ns as f64;
            cpu_ns += (busy + cpu.idle_ns + cpu.iowait_ns + cpu.steal_ns) as f64;
        }
        let leaves = observation.devices.iter().filter(|device| device.leaf);
        if let Some(busiest) = leaves.filter_map(|device| device.busy_ns).max() {
            *device_ns.get_or_insert(0.0) += busiest as f64;
        }
        if let Some(pressure) = &observation.pressure {
            *stalled_ns.get_or_insert(0.0) += pressure.io_some_ns as f64;
        }
    }
    let over = |part: f64, whole: f64| (whole > 0.0).then(|| part / whole);
    Shares {
        cpu_busy: over(busy_ns, cpu_ns),
        stolen: over(steal_ns, cpu_ns),
        io_stalled: stalled_ns.and_then(|ns: f64| over(ns, length_ns)),
        device_busy: device_ns.and_then(|ns: f64| over(ns, length_ns)),
    }
}
