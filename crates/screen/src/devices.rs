//! The table of devices: figures of now and of the time of the verdict, and how they
//! went over the last minutes.

use fathom_diagnose::recording::DiskMoment;
use fathom_model::diagnosis::DiskLoad;
use fathom_report::table::{clean, display_width};
use ratatui::style::{Color, Style};
use ratatui::text::Line;

use crate::cells::{MIB, figure};
use crate::grid::{Grid, GridCell, GridColumn, GridRow, HEAD_LINES};
use crate::history::Seen;
use crate::order::{self, Sort};
use crate::severity::{self, Severity};
use crate::trend::Trend;
use crate::view::{Pane, View};

/// Readings that a graph of a row shows at least.
const TREND_READINGS: usize = 120;
/// Columns of the mark in front of a name.
const MARK: usize = 2;
/// Columns of names, shortest and longest.
const NAMES: (usize, usize) = (6, 14);
/// More columns of a graph do not help.
const LONGEST_GRAPH: usize = 60;

/// A figure of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Figure {
    Reads,
    Writes,
    Operations,
    ReadBytes,
    WriteBytes,
    Bytes,
    ReadWait,
    WriteWait,
    Wait,
    Queue,
    Block,
    Flushes,
}

use Figure::{
    Block, Bytes, Flushes, Operations, Queue, ReadBytes, ReadWait, Reads, Wait, WriteBytes,
    WriteWait, Writes,
};

impl Figure {
    fn head(self) -> &'static str {
        match self {
            Reads => "r/s",
            Writes => "w/s",
            Operations => "op/s",
            ReadBytes => "rMiB/s",
            WriteBytes => "wMiB/s",
            Bytes => "MiB/s",
            ReadWait => "r ms",
            WriteWait => "w ms",
            Wait => "ms",
            Queue => "queue",
            Block => "KiB/op",
            Flushes => "flush/s",
        }
    }

    fn width(self) -> usize {
        match self {
            Operations | Flushes => 7,
            ReadWait | WriteWait | Wait => 5,
            _ => 6,
        }
    }

    fn of(self, disk: &DiskMoment) -> f64 {
        let operations = disk.operations();
        match self {
            Reads => disk.reads,
            Writes => disk.writes,
            Operations => operations,
            ReadBytes => disk.read_bytes / MIB,
            WriteBytes => disk.write_bytes / MIB,
            Bytes => disk.bytes() / MIB,
            ReadWait => disk.read_wait_ms.unwrap_or(0.0),
            WriteWait => disk.write_wait_ms.unwrap_or(0.0),
            Wait => disk.mean_wait_ms().unwrap_or(0.0),
            Queue => disk.in_flight().unwrap_or(0.0),
            Block if operations > 0.0 => disk.bytes() / operations / 1024.0,
            Block => 0.0,
            Flushes => disk.flushes,
        }
    }

    /// Of the time of the verdict.
    fn over(self, load: &DiskLoad) -> f64 {
        match self {
            Wait => load.wait_ms.unwrap_or(0.0),
            Queue => load.queue.unwrap_or(0.0),
            Bytes => load.bytes / MIB,
            _ => load.operations,
        }
    }

    fn style(self, disk: &DiskMoment, colored: bool) -> Style {
        match self {
            ReadWait | WriteWait | Wait => severity::of_wait(self.of(disk)).style(colored),
            _ => Style::new(),
        }
    }
}

/// The columns for a width: figures of now, of the time of the verdict, and graphs with the
/// columns that each needs.
struct Tier {
    now: &'static [Figure],
    window: &'static [Figure],
    graphs: usize,
    least: usize,
}

/// From much room to none; the queue stays.
const TIERS: &[Tier] = &[
    Tier {
        now: &[
            Reads, Writes, ReadBytes, WriteBytes, ReadWait, WriteWait, Queue, Block, Flushes,
        ],
        window: &[Operations, Wait, Queue],
        graphs: 2,
        least: 20,
    },
    Tier {
        now: &[
            Reads, Writes, ReadBytes, WriteBytes, ReadWait, WriteWait, Queue,
        ],
        window: &[Wait, Queue],
        graphs: 2,
        least: 15,
    },
    Tier {
        now: &[Reads, Writes, Bytes, Wait, Queue],
        window: &[Wait, Queue],
        graphs: 1,
        least: 12,
    },
    Tier {
        now: &[Operations, Bytes, Wait, Queue],
        window: &[Wait, Queue],
        graphs: 1,
        least: 6,
    },
    Tier {
        now: &[Operations, Wait, Queue],
        window: &[Wait, Queue],
        graphs: 0,
        least: 0,
    },
    Tier {
        now: &[Operations, Queue],
        window: &[Wait, Queue],
        graphs: 0,
        least: 0,
    },
    Tier {
        now: &[Queue],
        window: &[Wait, Queue],
        graphs: 0,
        least: 0,
    },
    Tier {
        now: &[],
        window: &[Queue],
        graphs: 0,
        least: 0,
    },
];

impl Tier {
    fn figures_width(&self, name: usize) -> usize {
        let figures = self.now.iter().chain(self.window);
        name + figures.map(|figure| figure.width() + 1).sum::<usize>()
    }

    fn fits(&self, name: usize, width: usize) -> bool {
        self.figures_width(name) + self.graphs * (self.least + 1) <= width
    }
}

/// The table, and the line and name of each device in it.
pub(crate) struct DeviceTable {
    pub(crate) lines: Vec<Line<'static>>,
    pub(crate) places: Vec<(usize, String)>,
}

/// Devices that are shown, in order, and how many there are besides: the pane of
/// devices shows all.
pub(crate) fn shown<'a>(seen: &Seen<'a>, view: &View) -> (Vec<&'a DiskMoment>, usize) {
    let mut order = order::devices(seen, view.sort, &view.filter);
    let all = order.len();
    let shows_all = view.pane == Pane::Devices || !view.filter.is_empty();
    order.retain(|disk| shows_all || seen.is_of_interest(disk));
    let more = all - order.len();
    (order, more)
}

/// The marked device, where it is among those that are shown.
pub(crate) fn marked<'a>(seen: &Seen<'a>, view: &View) -> Option<&'a DiskMoment> {
    let name = view.selected.as_deref()?;
    let (order, _) = shown(seen, view);
    order.into_iter().find(|disk| disk.name == name)
}

/// The device that is looked at first: the gravest, then the one with the longest queue.
pub(crate) fn worst<'a>(seen: &Seen<'a>, view: &View) -> Option<&'a DiskMoment> {
    let (order, _) = shown(seen, view);
    let graded = order
        .into_iter()
        .map(|disk| (severity::of_device(seen, disk), disk));
    let worst = graded.reduce(|worst, other| match other.0 > worst.0 {
        true => other,
        false => worst,
    });
    worst.map(|(_, disk)| disk)
}

/// Lines of the table, as many as it would like to have.
pub(crate) struct WantedLines {
    /// With the devices that did something.
    pub(crate) busy: usize,
    /// With all devices.
    pub(crate) all: usize,
}

/// Lines that the table wants.
pub(crate) fn wanted_lines(seen: &Seen<'_>, view: &View) -> WantedLines {
    let (order, more) = shown(seen, view);
    let is_busy = |disk: &&&DiskMoment| severity::of_device(seen, disk) != Severity::Idle;
    let busy = order.iter().filter(is_busy).count();
    let lines = |rows: usize, more: usize| HEAD_LINES + rows.max(1) + usize::from(more > 0);
    let idle = order.len() - busy;
    let all = lines(order.len(), more);
    WantedLines {
        busy: lines(busy, more + idle).min(all),
        all,
    }
}

/// The table in this room.
pub(crate) fn table(seen: &Seen<'_>, view: &View, width: usize, height: usize) -> DeviceTable {
    let (order, mut more) = shown(seen, view);
    let room = height.saturating_sub(HEAD_LINES);
    let mut kept = order.len();
    if order.len() + usize::from(more > 0) > room {
        // The last line says how many there are; a device is worth more.
        kept = room.saturating_sub(1).max(1);
        more += order.len().saturating_sub(kept);
    }
    let selected = view
        .selected
        .as_ref()
        .and_then(|name| order.iter().position(|disk| disk.name == *name));
    // The marked one is among those that are seen.
    let passed = selected.map_or(0, |place| (place + 1).saturating_sub(kept));
    let longest = order.iter().map(|disk| display_width(&disk.name)).max();
    let name = MARK + longest.unwrap_or(0).clamp(NAMES.0, NAMES.1);
    let tier = TIERS.iter().find(|tier| tier.fits(name, width));
    let tier = tier.unwrap_or(&TIERS[TIERS.len() - 1]);
    let cells = graph_cells(tier, name, width);
    let mut grid = empty_grid(seen, view, tier, name, cells);
    let rows = order.iter().enumerate().skip(passed).take(kept);
    grid.rows = rows
        .map(|(place, disk)| GridRow {
            cells: row(seen, view, disk, tier, cells),
            selected: selected == Some(place),
        })
        .collect();
    let visible = order.iter().skip(passed).take(kept);
    let places = visible
        .enumerate()
        .map(|(line, disk)| (HEAD_LINES + line, disk.name.clone()));
    let places = places.collect();
    if more > 0 && !grid.rows.is_empty() {
        grid.rows.push(GridRow::alone(format!("  +{more} more")));
    }
    DeviceTable {
        lines: grid.lines(width, height),
        places,
    }
}

/// Columns of each graph.
fn graph_cells(tier: &Tier, name: usize, width: usize) -> usize {
    let left = width.saturating_sub(tier.figures_width(name));
    let each = left.checked_div(tier.graphs).unwrap_or(0);
    each.saturating_sub(1).min(LONGEST_GRAPH)
}

/// What graphs show: rates, or bytes where devices are sorted by them; and times. One
/// graph shows times where devices are sorted by them.
fn graphed(view: &View, graphs: usize) -> Vec<Figure> {
    let rate = match view.sort {
        Sort::Bytes => Bytes,
        _ => Operations,
    };
    match (graphs, view.sort) {
        (0, _) => vec![],
        (1, Sort::Wait) => vec![Wait],
        (1, _) => vec![rate],
        _ => vec![rate, Wait],
    }
}

fn empty_grid(seen: &Seen<'_>, view: &View, tier: &Tier, name: usize, cells: usize) -> Grid {
    let mut columns = vec![GridColumn::texts("  device", name)];
    let mut labels = vec![(1, seen.instant())];
    columns.extend(
        tier.now
            .iter()
            .map(|f| GridColumn::figures(f.head(), f.width())),
    );
    labels.retain(|_| !tier.now.is_empty());
    labels.push((columns.len(), seen.window()));
    columns.extend(
        tier.window
            .iter()
            .map(|f| GridColumn::figures(f.head(), f.width())),
    );
    let graphs = graphed(view, tier.graphs);
    if !graphs.is_empty() {
        let readings = seen.graphed_readings(TREND_READINGS);
        let trend = Trend::of(seen, "", cells, readings, |_| None);
        let length = trend.length();
        let label = format!("last {length}");
        let fits = display_width(&label) <= cells;
        labels.push((columns.len(), if fits { label } else { length }));
    }
    columns.extend(graphs.iter().map(|f| GridColumn::texts(f.head(), cells)));
    let empty = match view.filter.is_empty() {
        true => "devices: none did anything".to_owned(),
        false => format!("devices: none is called '{}'", view.filter.text()),
    };
    Grid {
        labels,
        columns,
        rows: Vec::new(),
        empty,
    }
}

fn row(
    seen: &Seen<'_>,
    view: &View,
    disk: &DiskMoment,
    tier: &Tier,
    cells: usize,
) -> Vec<GridCell> {
    let colored = view.is_colored;
    let grave = severity::of_device(seen, disk);
    let style = grave.style(colored);
    let is_selected = view.selected.as_deref() == Some(&disk.name);
    let pointer = if is_selected { '>' } else { ' ' };
    let name = format!("{pointer}{}{}", grave.mark(), clean(&disk.name));
    let mut row = vec![GridCell { text: name, style }];
    row.extend(tier.now.iter().map(|f| GridCell {
        text: figure(f.of(disk), f.width()),
        style: f.style(disk, colored),
    }));
    let load = seen.load(&disk.name);
    row.extend(tier.window.iter().map(|f| GridCell {
        text: figure(load.map_or(0.0, |load| f.over(load)), f.width()),
        style: match f {
            Wait | Queue => style,
            _ => Style::new(),
        },
    }));
    let graphs = graphed(view, tier.graphs);
    row.extend(
        graphs
            .into_iter()
            .map(|f| graph(seen, view, disk, f, cells)),
    );
    row
}

fn graph(
    seen: &Seen<'_>,
    view: &View,
    disk: &DiskMoment,
    figure: Figure,
    cells: usize,
) -> GridCell {
    let of: fn(&DiskMoment) -> Option<f64> = match figure {
        Wait => |disk| disk.mean_wait_ms().or(Some(0.0)),
        Bytes => |disk| Some(disk.bytes()),
        _ => |disk| Some(disk.operations()),
    };
    let readings = seen.graphed_readings(TREND_READINGS);
    let trend = Trend::of(seen, &disk.name, cells, readings, of);
    let grave = match figure {
        Wait => severity::of_wait(trend.most()),
        _ => Severity::NotJudged,
    };
    let style = match (grave, view.is_colored) {
        (Severity::NotJudged, true) => Style::new().fg(Color::Cyan),
        (grave, colored) => grave.style(colored),
    };
    GridCell {
        text: trend.bars(),
        style,
    }
}
