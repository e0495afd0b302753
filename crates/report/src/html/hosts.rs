//! The hosts of a run beside one another: who is slow, what each did over time, and
//! the figures of all.

use fathom_model::estimate::Unit;
use fathom_model::figure::Throughput;
use fathom_model::fleet::{FleetReport, FleetWorkload, HostFigure};
use fathom_model::{JudgedRun, JudgedTrial};

use crate::chart::figure::ChartFigure;
use crate::chart::host_cells::CellValue;
use crate::chart::host_strip::{Strip, StripHost};
use crate::fleet::{self, HostTable};

/// Pictures of one page at most.
const MOST_PICTURES: usize = 12;
/// Tables of more hosts are folded: the picture shows them.
const OPEN_HOSTS: usize = 24;
/// Remarks that stand above the pictures.
const OPEN_REMARKS: usize = 3;
/// Hosts that the line about the slowest names.
const MOST_NAMED: usize = 5;
/// Without a slow host this many are named, to have names to look at.
const NAMED: usize = 3;

/// What the section is filled with.
pub(super) struct HostsSection {
    pub(super) remarks: Vec<String>,
    /// Remarks that are folded.
    pub(super) more_remarks: Vec<String>,
    pub(super) workloads: Vec<HostsOfWorkload>,
    /// Pictures that are left out.
    pub(super) undrawn: usize,
}

/// The hosts under one workload.
pub(super) struct HostsOfWorkload {
    pub(super) table: HostTable,
    pub(super) is_long: bool,
    pub(super) slowest: Option<String>,
    pub(super) strips: Vec<ChartFigure>,
}

impl HostsSection {
    /// The section; nothing for a run of one host.
    pub(super) fn of(run: &JudgedRun) -> Option<HostsSection> {
        let fleet = run.fleet.as_ref()?;
        let view = fleet::view(run, Throughput::Binary)?;
        let mut room = MOST_PICTURES;
        let mut undrawn = 0;
        let workloads = fleet.workloads.iter().zip(view.tables);
        let workloads = workloads.map(|(workload, table)| {
            let slowest = slowest(fleet, workload);
            let mut strips = strips(run, fleet, workload, slowest.as_deref());
            undrawn += strips.len().saturating_sub(room);
            strips.truncate(room);
            room -= strips.len();
            HostsOfWorkload {
                is_long: table.rows.len() > OPEN_HOSTS,
                table,
                slowest,
                strips,
            }
        });
        let mut remarks = view.remarks;
        let more_remarks = remarks.split_off(remarks.len().min(OPEN_REMARKS));
        Some(HostsSection {
            remarks,
            more_remarks,
            workloads: workloads.collect(),
            undrawn,
        })
    }
}

fn name(fleet: &FleetReport, host: &HostFigure) -> String {
    let host = fleet.hosts.get(host.host as usize);
    host.map_or("?".to_owned(), |host| host.name.clone())
}

/// Who is slowest, in one sentence; nothing for a single host.
fn slowest(fleet: &FleetReport, workload: &FleetWorkload) -> Option<String> {
    let median = workload.median.filter(|median| *median > 0.0)?;
    let share = |host: &HostFigure| Some(host.figure.value? / median);
    let mut hosts: Vec<(&HostFigure, f64)> = workload
        .hosts
        .iter()
        .filter_map(|host| Some((host, share(host)?)))
        .collect();
    if hosts.len() < 2 {
        return None;
    }
    hosts.sort_by(|a, b| a.1.total_cmp(&b.1));
    let slow = hosts.iter().filter(|(host, _)| host.slow.is_some()).count();
    let named = hosts
        .iter()
        .take(slow.clamp(NAMED.min(hosts.len() - 1), MOST_NAMED));
    let named: Vec<String> = named
        .map(|(host, share)| format!("{} {:.0} %", name(fleet, host), share * 100.0))
        .collect();
    let rest = match slow.saturating_sub(MOST_NAMED) {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    let of = match slow {
        0 => "no host is far below the median",
        1 => "1 host is far below the median",
        _ => "hosts are far below the median",
    };
    let count = if slow > 1 {
        format!("{slow} ")
    } else {
        String::new()
    };
    Some(format!(
        "Slowest by share of the median: {}{rest}. {}.",
        named.join(", "),
        capital(&format!("{count}{of}"))
    ))
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).collect()
}

/// For each time that the workload ran: rates, then latencies.
fn strips(
    run: &JudgedRun,
    fleet: &FleetReport,
    workload: &FleetWorkload,
    slowest: Option<&str>,
) -> Vec<ChartFigure> {
    if workload.hosts.len() < 2 {
        return Vec::new();
    }
    let names: Vec<String> = workload
        .hosts
        .iter()
        .map(|host| name(fleet, host))
        .collect();
    let trials_of = |host: &HostFigure| -> &[usize] {
        run.rows
            .get(host.row)
            .map_or(&[], |row| row.trials.as_slice())
    };
    let turns = workload.hosts.iter().map(|host| trials_of(host).len());
    let turns = turns.max().unwrap_or(0);
    let rate = match workload.hosts.first().map(|host| host.figure.unit) {
        Some(Unit::BytesPerSecond) => (CellValue::Bytes, "Throughput"),
        _ => (CellValue::Operations, "Rate"),
    };
    let pictures = (0..turns).flat_map(|turn| {
        let hosts = workload
            .hosts
            .iter()
            .zip(&names)
            .filter_map(|(host, name)| {
                let trial: &JudgedTrial = run.trials.get(*trials_of(host).get(turn)?)?;
                Some(StripHost {
                    name,
                    slow: host.slow.is_some(),
                    trial,
                })
            });
        let hosts: Vec<StripHost<'_>> = hosts.collect();
        let round = match turns {
            1 => String::new(),
            _ => format!(", round {}", turn + 1),
        };
        let strip = |value, title: String| {
            Strip {
                title,
                summary: slowest.unwrap_or_default(),
                hosts: &hosts,
                value,
                median: workload.median,
            }
            .render()
        };
        let latency = CellValue::Latency;
        [
            strip(rate.0, format!("{} of each host over time{round}", rate.1)),
            strip(
                latency,
                format!("Latency of each host, p99 of the worst second{round}"),
            ),
        ]
    });
    pictures.flatten().collect()
}

#[cfg(test)]
mod tests {
    use fathom_model::Estimate;
    use fathom_model::fleet::{FleetHost, SlowHost};

    use super::*;

    fn fleet(rates: &[f64]) -> FleetReport {
        let figure = |(host, rate): (usize, &f64)| HostFigure {
            host: host as u32,
            row: host,
            figure: Estimate::known(Unit::OpsPerSecond, *rate, *rate, *rate, 10.0),
            data_of: Vec::new(),
            slow: (*rate < 80.0).then(|| SlowHost {
                share: rate / 100.0,
                says: Vec::new(),
            }),
        };
        let host = |host: usize| FleetHost {
            name: format!("h{host}"),
            ..FleetHost::default()
        };
        FleetReport {
            hosts: (0..rates.len()).map(host).collect(),
            differences: Vec::new(),
            workloads: vec![FleetWorkload {
                label: "w".to_owned(),
                hosts: rates.iter().enumerate().map(figure).collect(),
                median: Some(100.0),
                turns: Vec::new(),
            }],
            slow_share: 0.8,
            mode: Default::default(),
        }
    }

    fn said(rates: &[f64]) -> Option<String> {
        let fleet = fleet(rates);
        slowest(&fleet, &fleet.workloads[0])
    }

    #[test]
    fn the_slowest_hosts_are_named_worst_first() {
        assert_eq!(said(&[100.0]), None);
        assert_eq!(
            said(&[100.0, 97.0, 101.0]).unwrap(),
            "Slowest by share of the median: h1 97 %, h0 100 %. \
             No host is far below the median."
        );
        assert_eq!(
            said(&[100.0, 60.0, 101.0, 99.0]).unwrap(),
            "Slowest by share of the median: h1 60 %, h3 99 %, h0 100 %. \
             1 host is far below the median."
        );
        let many = [100.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 100.0];
        assert_eq!(
            said(&many).unwrap(),
            "Slowest by share of the median: h1 10 %, h2 20 %, h3 30 %, h4 40 %, h5 50 %, \
             and 1 more. 6 hosts are far below the median."
        );
    }
}
