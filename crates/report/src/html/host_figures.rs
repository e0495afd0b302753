//! The key figures of a run of several hosts: what they did together, and the hosts in
//! the middle and at the end.

use fathom_model::estimate::Unit;
use fathom_model::fleet::{FleetReport, FleetWorkload, HostFigure};
use fathom_model::together::SetSum;
use fathom_model::{JudgedRun, Validity, unit};
use fathom_stats::median::median;

use super::key_figures::{self, KeyFigure, figure};

/// The figures; nothing where hosts did not work together, or one alone.
pub(super) fn of(run: &JudgedRun) -> Option<Vec<KeyFigure>> {
    let fleet = run.fleet.as_ref()?;
    let sums = fleet.workloads.iter().filter_map(|workload| {
        let sum = sum(run, workload)?;
        Some((workload, sum))
    });
    let sums: Vec<(&FleetWorkload, &SetSum)> = sums.collect();
    let mut figures: Vec<KeyFigure> = match sums.as_slice() {
        [] => return None,
        [(workload, sum)] => of_one(run, fleet, workload, sum),
        several => {
            let each = several.iter();
            each.map(|(workload, sum)| {
                let figure = together(workload, sum, workload.label.clone());
                figure.judged(worst(run, workload))
            })
            .collect()
        }
    };
    figures.truncate(key_figures::MOST);
    Some(figures)
}

/// What all hosts of a workload did at the same time; nothing where others did
/// something else meanwhile.
fn sum<'a>(run: &'a JudgedRun, workload: &FleetWorkload) -> Option<&'a SetSum> {
    let first = workload
        .hosts
        .first()
        .filter(|_| workload.hosts.len() > 1)?;
    let set = run.sets.get(run.rows.get(first.row)?.set?)?;
    let is_alone = set.rows.len() == workload.hosts.len();
    set.sum.as_ref().filter(|_| is_alone)
}

/// How far to trust a host's figure.
fn validity(run: &JudgedRun, host: &HostFigure) -> Validity {
    let row = run.rows.get(host.row);
    row.map_or(Validity::Trusted, |row| row.verdict.validity)
}

/// How far to trust what all hosts of a workload did.
fn worst(run: &JudgedRun, workload: &FleetWorkload) -> Validity {
    let hosts = workload.hosts.iter().map(|host| validity(run, host));
    hosts.max().unwrap_or(Validity::Trusted)
}

fn counts_bytes(workload: &FleetWorkload) -> bool {
    let unit = workload.hosts.first().map(|host| host.figure.unit);
    unit == Some(Unit::BytesPerSecond)
}

fn together(workload: &FleetWorkload, sum: &SetSum, row: String) -> KeyFigure {
    let rate = match counts_bytes(workload) {
        true => &sum.bytes_per_second,
        false => &sum.ops_per_second,
    };
    let hosts = unit::counted(workload.hosts.len() as u64, "host");
    let name = format!("{hosts} together");
    KeyFigure {
        row,
        ..figure(rate, name, "IOPS")
    }
}

fn of_one(
    run: &JudgedRun,
    fleet: &FleetReport,
    workload: &FleetWorkload,
    sum: &SetSum,
) -> Vec<KeyFigure> {
    let p99 = sum.service.percentile(99.0);
    let mut hosts: Vec<&HostFigure> = workload
        .hosts
        .iter()
        .filter(|host| host.figure.value.is_some())
        .collect();
    let value = |host: &HostFigure| host.figure.value.unwrap_or(0.0);
    hosts.sort_by(|a, b| value(a).total_cmp(&value(b)));
    let of_host = |host: &&HostFigure, name: &str| KeyFigure {
        row: fleet
            .hosts
            .get(host.host as usize)
            .map_or("?".to_owned(), |host| host.name.clone()),
        ..figure(&host.figure, name.to_owned(), "IOPS").judged(validity(run, host))
    };
    let values: Vec<f64> = hosts.iter().map(|host| value(host)).collect();
    let usual = median(&values).and_then(|usual| {
        let away = |host: &HostFigure| (value(host) - usual).abs();
        hosts.iter().min_by(|a, b| away(a).total_cmp(&away(b)))
    });
    let usual = usual.map(|host| of_host(host, "Median host"));
    let slowest = hosts.first().map(|host| of_host(host, "Slowest host"));
    let of_all = [
        together(workload, sum, String::new()),
        figure(&p99, "p99 of all".to_owned(), ""),
    ];
    let of_all = of_all.map(|figure| figure.judged(worst(run, workload)));
    of_all.into_iter().chain(usual).chain(slowest).collect()
}
