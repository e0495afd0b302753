//! The hosts of a run as tables of words: one a workload, the same for text,
//! HTML and Markdown.

use fathom_model::estimate::Unit;
use fathom_model::figure::{Figure, Throughput};
use fathom_model::fleet::{Finish, FleetReport, FleetTurn, FleetWorkload, HostFigure};
use fathom_model::host_mode::{HostData, HostTurns};
use fathom_model::{JudgedRun, unit};

use crate::summary;

/// The hosts, ready to be printed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FleetView {
    pub(crate) tables: Vec<HostTable>,
    /// Who is missing, who lags, in what they differ.
    pub(crate) remarks: Vec<String>,
}

/// The hosts under one workload.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct HostTable {
    pub(crate) title: String,
    pub(crate) head: Vec<String>,
    /// Each as long as the head.
    pub(crate) rows: Vec<Vec<String>>,
    /// When they began, and what older tools would have said.
    pub(crate) lines: Vec<String>,
}

/// The hosts of a run, where there are several.
pub(crate) fn view(run: &JudgedRun, throughput: Throughput) -> Option<FleetView> {
    let fleet = run.fleet.as_ref()?;
    let tables = fleet.workloads.iter();
    let tables = tables.map(|workload| table(run, fleet, workload, throughput));
    let missing = fleet.hosts.iter().filter_map(|host| {
        let why = host.lost.as_ref()?;
        Some(format!("{} took no part: {why}", host.name))
    });
    let slow = fleet.workloads.iter().flat_map(|workload| {
        let hosts = workload.hosts.iter();
        hosts.filter_map(|host| slow_line(fleet, workload, host))
    });
    let mode = mode_line(fleet);
    let differences = fleet.differences.iter();
    let differences = differences.map(|difference| format!("Hosts differ in {difference}"));
    Some(FleetView {
        tables: tables.collect(),
        remarks: mode
            .into_iter()
            .chain(missing)
            .chain(slow)
            .chain(differences)
            .collect(),
    })
}

fn name(fleet: &FleetReport, host: u32) -> &str {
    fleet
        .hosts
        .get(host as usize)
        .map_or("?", |host| host.name.as_str())
}

/// A host, and whose data it used.
fn who(fleet: &FleetReport, host: &HostFigure) -> String {
    let own = name(fleet, host.host);
    let mut whose: Vec<&str> = host.data_of.iter().map(|of| name(fleet, *of)).collect();
    whose.dedup();
    match whose.is_empty() {
        true => own.to_owned(),
        false => format!("{own} with data of {}", whose.join(", ")),
    }
}

/// What the hosts did beside one another, where it is not the same work on all
/// of them at once.
fn mode_line(fleet: &FleetReport) -> Option<String> {
    let data = match fleet.mode.data {
        HostData::Own => "Each host had data of its own",
        HostData::Divided => "One data set was divided among the hosts",
        HostData::Rotated => "Who read used the data that another host had written",
    };
    let turns = match fleet.mode.turns {
        HostTurns::Together => "all worked at once",
        HostTurns::OneByOne => "they worked one after the other",
        HostTurns::Growing => "more and more of them worked at once",
    };
    fleet.mode.is_special().then(|| format!("{data}; {turns}."))
}

fn table(
    run: &JudgedRun,
    fleet: &FleetReport,
    workload: &FleetWorkload,
    throughput: Throughput,
) -> HostTable {
    let rate = match workload.hosts.first().map(|host| host.figure.unit) {
        Some(Unit::BytesPerSecond) => throughput.name(),
        _ => "IOPS",
    };
    let head = ["host", rate, "±", "of median", "mean", "p50", "p99", ""];
    let rows = workload.hosts.iter().map(|host| {
        let figure = Figure::of(&host.figure, throughput);
        let share = host.figure.value.zip(workload.median);
        let share = share.filter(|(_, median)| *median > 0.0);
        let share = share.map(|(value, median)| format!("{:.0} %", value / median * 100.0));
        let mut cells = vec![
            who(fleet, host),
            figure.number(),
            figure.interval(false).unwrap_or_else(|| "±?".to_owned()),
            share.unwrap_or_default(),
        ];
        cells.extend(latencies(run, host, throughput));
        cells.push(if host.slow.is_some() { "slow" } else { "" }.to_owned());
        cells
    });
    HostTable {
        title: title(fleet, workload),
        head: head.map(str::to_owned).to_vec(),
        rows: rows.collect(),
        lines: workload
            .turns
            .iter()
            .flat_map(|turn| turn_lines(fleet, turn, throughput))
            .collect(),
    }
}

fn title(fleet: &FleetReport, workload: &FleetWorkload) -> String {
    let growing = fleet.mode.turns == HostTurns::Growing;
    let label = match workload.label.rsplit_once(" by ") {
        Some((label, _)) if growing => label,
        _ => &workload.label,
    };
    match (workload.hosts.len(), fleet.mode.turns) {
        (1, _) => format!("{label} on 1 host"),
        (n, HostTurns::OneByOne) => format!("{label} on {n} hosts, one by one"),
        (n, _) => format!("{label} on {n} hosts"),
    }
}

/// Mean, median and 99th percentile of the operation that a row does most.
fn latencies(run: &JudgedRun, host: &HostFigure, throughput: Throughput) -> [String; 3] {
    let row = run.rows.get(host.row);
    let data = row.iter().flat_map(|row| &row.ops);
    let data = data.filter(|op| op.kind.is_data() && op.ops > 0);
    let Some(op) = data.max_by_key(|op| op.ops) else {
        return Default::default();
    };
    let latency = op.response.as_ref().unwrap_or(&op.service);
    let figures = [
        Figure::of(&latency.mean_ns, throughput),
        summary::percentile(latency, 50.0),
        summary::percentile(latency, 99.0),
    ];
    figures.map(|figure| figure.value())
}

fn turn_lines(fleet: &FleetReport, turn: &FleetTurn, throughput: Throughput) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(skew_ns) = turn.start_skew_ns {
        lines.push(format!(
            "All hosts started within {} (clock error ± {}).",
            unit::latency(skew_ns as f64),
            unit::latency(turn.clock_uncertainty_ns as f64)
        ));
    }
    let told = |finish: &Finish| {
        let bytes = match throughput {
            Throughput::Binary => unit::throughput(finish.bytes_per_second),
            Throughput::Decimal => unit::throughput_decimal(finish.bytes_per_second),
        };
        format!(
            "{} IOPS, {bytes} in {}",
            unit::count(finish.ops_per_second),
            unit::span(finish.after_ns)
        )
    };
    if let (Some(first), Some(last)) = (&turn.first_finisher, &turn.last_finisher) {
        lines.push(format!(
            "While all hosts were running (until {}): {}; until the last ({}): {}.",
            name(fleet, first.host),
            told(first),
            name(fleet, last.host),
            told(last)
        ));
    }
    lines
}

fn slow_line(fleet: &FleetReport, workload: &FleetWorkload, host: &HostFigure) -> Option<String> {
    let slow = host.slow.as_ref()?;
    let says = match slow.says.is_empty() {
        true => "its own observations are like those of the others".to_owned(),
        false => slow.says.join("; "),
    };
    Some(format!(
        "{} lags in {}: {:.0} % of the median; {says}",
        name(fleet, host.host),
        workload.label,
        slow.share * 100.0
    ))
}

/// As Markdown.
pub(crate) fn push_markdown(out: &mut String, view: &FleetView, escape: impl Fn(&str) -> String) {
    for each in &view.tables {
        out.push_str(&format!("\n**{}**\n\n", escape(&each.title)));
        let head: Vec<String> = each.head.iter().map(|cell| escape(cell)).collect();
        out.push_str(&format!("| {} |\n", head.join(" | ")));
        out.push_str(&format!("|{}\n", "---|".repeat(each.head.len())));
        for row in &each.rows {
            let cells: Vec<String> = row.iter().map(|cell| escape(cell)).collect();
            out.push_str(&format!("| {} |\n", cells.join(" | ")));
        }
        out.push('\n');
        for line in &each.lines {
            out.push_str(&format!("{}\n", escape(line)));
        }
    }
    for remark in &view.remarks {
        out.push_str(&format!("- {}\n", escape(remark)));
    }
}
