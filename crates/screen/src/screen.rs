//! The screen: words on top, tables below, keys at the bottom.

use fathom_diagnose::recording::{DiskMoment, DoerMoment, Moment, RecordedHost};
use fathom_model::diagnosis::Answer;
use fathom_model::unit;
use fathom_report::table::wrap;
use ratatui::Frame;
use ratatui::layout::{Alignment, Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span, Text};
use ratatui::widgets::{Block, Borders, Cell, Clear, Paragraph, Row, Table, Wrap};

use crate::cells::{
    self, DEVICE_HEADS, DOER_HEADS, LINK_HEADS, MOUNT_HEADS, cpu_line, memory_line, pressure_line,
    words,
};
use crate::history::Seen;
use crate::keys::{Pane, View};

/// From this width on there is room for more columns and lines.
const WIDE: u16 = 120;
/// Longer names are cut.
const WIDEST_NAME: u16 = 60;
/// Lines of the summary on CPUs, stalls and memory.
const FACTS: usize = 3;
/// An empty line, a head and three devices.
const LEAST_TABLE: u16 = 5;
/// Of all tables only that of devices is shown where there is less room.
const LEAST_TABLES: u16 = 9;
/// Bars of a graph in a line, from low to high.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const KEYS: &str = "q quit  s sort  f freeze  ←/→ time  tab pane  ? help";
const HELP: &str = "\
q          quit
s          sort by queue, operations, bytes, wait or name
f, space   freeze, and go on
←, →       back and forth in time; page up and down go half a minute
home, end  the oldest reading that is kept, and live again
tab        all, devices, processes and groups, network

The first lines judge the last 30 readings as `fathom diagnose` does.
%util is not shown: a device that serves several operations at once is
not at its end when there is always one. Look at queue and ms.
r ms, w ms   mean time of an operation, queueing included
queue        mean number of operations in flight
I/O wait     share of the time that a task waited for a device, where the
             kernel counts it (sysctl kernel.task_delayacct=1)";

/// Draws all of it.
pub fn draw(frame: &mut Frame<'_>, host: &RecordedHost, seen: Option<&Seen<'_>>, view: &View) {
    let area = frame.area();
    let Some(seen) = seen else {
        frame.render_widget(
            Paragraph::new("watching: the first reading comes soon"),
            area,
        );
        return;
    };
    let wide = area.width >= WIDE;
    let top = fitted(summary(host, seen, view, area.width), area.height);
    let [above, tables, below] = Layout::vertical([
        Constraint::Length(top.len() as u16),
        Constraint::Min(0),
        Constraint::Length(1),
    ])
    .areas(area);
    frame.render_widget(Paragraph::new(top), above);
    draw_tables(frame, tables, seen, view, wide);
    let dim = Style::new().add_modifier(Modifier::DIM);
    let sort = format!("{KEYS}   sorted by {}", view.sort.word());
    frame.render_widget(Paragraph::new(Span::styled(sort, dim)), below);
    if view.helps {
        help(frame, area);
    }
}

/// Title, what is the matter, CPUs, stalls, memory.
fn summary(host: &RecordedHost, seen: &Seen<'_>, view: &View, width: u16) -> Vec<Line<'static>> {
    let bold = Style::new().add_modifier(Modifier::BOLD);
    let name = host.name.as_deref().unwrap_or("this host");
    let name = fathom_report::table::clean(name);
    let when = match (seen.place, view.position) {
        (Some((place, all)), _) => Span::styled(
            format!("recorded, reading {place} of {all}{}", after_gap(seen)),
            Style::new().fg(Color::Cyan),
        ),
        (None, None) => Span::styled("live", Style::new().fg(Color::Green)),
        (None, Some(_)) => Span::styled(
            format!("frozen, {} ago", unit::counted(seen.back, "reading")),
            Style::new().fg(Color::Yellow),
        ),
    };
    let title = Line::from(vec![
        Span::styled(name, bold),
        Span::raw(format!("  {}  ", cells::clock(seen.moment))),
        when,
    ]);
    let color = match seen.found.answer {
        Answer::Yes => Color::Red,
        Answer::No => Color::Green,
        Answer::NotProven => Color::Yellow,
    };
    let (headline, evidence) = words(seen);
    let width = usize::from(width).max(8);
    let mut lines = vec![title, Line::styled(cut(&headline, width), bold.fg(color))];
    // What follows does not jump when there is less to say.
    let (shown, evidence) = match width >= usize::from(WIDE) {
        true => (3, evidence),
        false => (
            2,
            wrap(evidence.first().map_or("", String::as_str), width - 2),
        ),
    };
    for line in evidence.iter().take(shown) {
        lines.push(Line::raw(cut(&format!("  {line}"), width)));
    }
    lines.resize(2 + shown, Line::default());
    let facts: [(&str, String); FACTS] = [
        ("CPU     ", cpu_line(seen.moment, host.cpus)),
        ("stalls  ", pressure_line(seen.moment, seen.is_recorded())),
        ("memory  ", memory_line(seen.moment, seen.is_recorded())),
    ];
    for (name, text) in facts {
        let text = cut(&text, width.saturating_sub(name.len()));
        lines.push(Line::from(vec![Span::styled(name, bold), Span::raw(text)]));
    }
    lines
}

/// As many lines of the summary as leave room for devices: evidence goes first,
/// then what is known of memory and stalls.
fn fitted(mut lines: Vec<Line<'static>>, height: u16) -> Vec<Line<'static>> {
    let most = usize::from(height.saturating_sub(1 + LEAST_TABLE)).max(2);
    let mut facts = FACTS;
    while lines.len() > most {
        if lines.len() > 2 + facts {
            lines.remove(lines.len() - facts - 1);
        } else {
            lines.pop();
            facts -= 1;
        }
    }
    lines
}

fn after_gap(seen: &Seen<'_>) -> String {
    seen.gap_seconds.map_or(String::new(), |seconds| {
        let span = unit::span((seconds * 1e9) as u64);
        format!(", after {span} without one")
    })
}

/// The first columns of a text, with a mark where more was.
fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let kept: String = text.chars().take(width.saturating_sub(1)).collect();
    kept + "…"
}

/// The last columns of a name: paths differ at their end.
fn cut_start(text: &str, width: usize) -> String {
    let count = text.chars().count();
    if count <= width {
        return text.to_owned();
    }
    let kept = text.chars().skip(count + 1 - width.max(1));
    std::iter::once('…').chain(kept).collect()
}

fn draw_tables(frame: &mut Frame<'_>, area: Rect, seen: &Seen<'_>, view: &View, wide: bool) {
    match view.pane {
        Pane::Devices => devices(frame, area, seen, view, wide),
        Pane::Doers => {
            let [above, below] =
                Layout::vertical([Constraint::Fill(2), Constraint::Fill(1)]).areas(area);
            processes(frame, above, seen, view);
            groups(frame, below, seen, view);
        }
        Pane::Network => {
            let mounts = seen.moment.nfs.len() as u16;
            let below = if mounts == 0 { 0 } else { mounts + 2 };
            let [above, below] =
                Layout::vertical([Constraint::Fill(1), Constraint::Length(below)]).areas(area);
            links(frame, above, seen);
            nfs(frame, below, seen);
        }
        Pane::All if area.height < LEAST_TABLES => devices(frame, area, seen, view, wide),
        Pane::All => {
            let moment = seen.moment;
            // A line between tables, a head, and the rows that there are.
            let rows = |count: usize, most: u16| 2 + (count as u16).clamp(1, most);
            let half = area.height / 2;
            let (shown, more) = chosen(seen, view);
            let of_devices = rows(
                shown.len() + usize::from(more > 0),
                half.saturating_sub(2).max(1),
            );
            let of_links = rows(moment.links.len().max(1), 3);
            let mounts = match moment.nfs.len() {
                0 => 0,
                count => rows(count, 3),
            };
            let [first, second, third, fourth] = Layout::vertical([
                Constraint::Length(of_devices),
                Constraint::Min(3),
                Constraint::Length(of_links),
                Constraint::Length(mounts),
            ])
            .areas(area);
            devices(frame, first, seen, view, wide);
            processes(frame, second, seen, view);
            links(frame, third, seen);
            nfs(frame, fourth, seen);
        }
    }
}

/// A table under its head, below an empty line.
fn table<const N: usize>(
    frame: &mut Frame<'_>,
    area: Rect,
    heads: [&str; N],
    rows: Vec<[String; N]>,
    widths: [u16; N],
) {
    if area.height < 3 {
        return;
    }
    let area = Rect {
        y: area.y + 1,
        height: area.height - 1,
        ..area
    };
    // A cell that is cut would be another number: what has no room is left out.
    let shown = columns_that_fit(&widths, area.width);
    // Names take what is left, so far as names need it.
    let others: u16 = shown[1..].iter().map(|place| widths[*place] + 1).sum();
    let names = area
        .width
        .saturating_sub(others)
        .clamp(widths[0], WIDEST_NAME);
    if rows.is_empty() {
        let text = format!("{}: none did anything", heads[0]);
        frame.render_widget(Paragraph::new(text), area);
        return;
    }
    let cell = |place: usize, text: &str| {
        let align = if place == 0 {
            Alignment::Left
        } else {
            Alignment::Right
        };
        let text = if place == 0 {
            cut_start(text, names.into())
        } else {
            text.to_owned()
        };
        Cell::from(Text::from(text).alignment(align))
    };
    let row = |cells: &[&str]| -> Row<'static> {
        let cells = shown.iter().map(|place| cell(*place, cells[*place]));
        Row::new(cells.collect::<Vec<_>>())
    };
    let head = row(&heads).style(Style::new().add_modifier(Modifier::REVERSED));
    let rows = rows
        .iter()
        .map(|cells| row(&cells.each_ref().map(String::as_str)));
    let constraints = shown.iter().map(|place| match place {
        0 => Constraint::Length(names),
        place => Constraint::Length(widths[*place]),
    });
    let table = Table::new(rows, constraints).header(head).column_spacing(1);
    frame.render_widget(table, area);
}

/// Columns of devices that are left out on a narrow screen, in this order: flushes,
/// blocks, bytes, times, rates; the queue stays.
const LEFT_OUT: [&[usize]; 5] = [&[9], &[8], &[3, 4], &[5, 6], &[1, 2]];

/// Places of the columns for which there is room.
fn columns_that_fit<const N: usize>(widths: &[u16; N], room: u16) -> Vec<usize> {
    let mut shown: Vec<usize> = (0..N).collect();
    let mut of_devices = LEFT_OUT.iter().filter(|_| N == DEVICE_HEADS.len());
    let needed = |shown: &[usize]| shown.iter().map(|place| widths[*place] + 1).sum::<u16>();
    while shown.len() > 1 && needed(&shown) > room + 1 {
        match of_devices.next() {
            Some(places) => shown.retain(|place| !places.contains(place)),
            None => drop(shown.pop()),
        }
    }
    shown
}

fn devices(frame: &mut Frame<'_>, area: Rect, seen: &Seen<'_>, view: &View, wide: bool) {
    let (mut order, mut more) = chosen(seen, view);
    let room = usize::from(area.height.saturating_sub(2));
    if order.len() + usize::from(more > 0) > room {
        // The last line says how many there are; a device is worth more.
        let kept = room.saturating_sub(1).max(1);
        more += order.len().saturating_sub(kept);
        order.truncate(kept);
    }
    let more = (more > 0).then(|| format!("+{more} more"));
    if !wide {
        let mut rows: Vec<_> = order.iter().map(|disk| cells::device(disk)).collect();
        rows.extend(more.map(alone));
        let widths = [9, 7, 7, 7, 7, 6, 6, 6, 7, 7];
        table(frame, area, DEVICE_HEADS, rows, widths);
        return;
    }
    let mut heads = [""; 11];
    heads[..10].copy_from_slice(&DEVICE_HEADS);
    heads[10] = "queue of the last readings";
    let rows = order.iter().map(|disk| {
        let mut row: [String; 11] = Default::default();
        for (place, cell) in cells::device(disk).into_iter().enumerate() {
            row[place] = cell;
        }
        row[10] = bars(&seen.queues(&disk.name));
        row
    });
    let widths = [12, 10, 10, 10, 10, 9, 9, 9, 9, 9, 32];
    table(
        frame,
        area,
        heads,
        rows.chain(more.map(alone)).collect(),
        widths,
    );
}

/// The devices that are shown, in order, and how many there are besides: the pane
/// of devices shows all.
fn chosen<'a>(seen: &Seen<'a>, view: &View) -> (Vec<&'a DiskMoment>, usize) {
    let mut order = cells::devices(seen.moment, view.sort);
    let all = order.len();
    order.retain(|disk| view.pane == Pane::Devices || seen.is_of_interest(disk));
    let more = all - order.len();
    (order, more)
}

/// A row with nothing but a name.
fn alone<const N: usize>(name: String) -> [String; N] {
    let mut row = [const { String::new() }; N];
    row[0] = name;
    row
}

/// Values as bars, the highest one full.
fn bars(values: &[f64]) -> String {
    let most = values.iter().copied().fold(0.0, f64::max).max(0.1);
    let bar = |value: &f64| BARS[((value / most * 7.0).round() as usize).min(7)];
    values.iter().map(bar).collect()
}

fn processes(frame: &mut Frame<'_>, area: Rect, seen: &Seen<'_>, view: &View) {
    let mut heads = DOER_HEADS;
    heads[0] = "process";
    doers(
        frame,
        area,
        heads,
        seen.moment,
        &seen.moment.processes,
        view,
    );
}

fn groups(frame: &mut Frame<'_>, area: Rect, seen: &Seen<'_>, view: &View) {
    let mut heads = DOER_HEADS;
    heads[0] = "control group";
    doers(frame, area, heads, seen.moment, &seen.moment.groups, view);
}

fn doers(
    frame: &mut Frame<'_>,
    area: Rect,
    heads: [&str; 6],
    moment: &Moment,
    of: &[DoerMoment],
    view: &View,
) {
    let (order, all) = cells::doers(moment, of, view.sort);
    let rows = order.iter().map(|doer| cells::doer(doer, all)).collect();
    table(frame, area, heads, rows, [20, 9, 9, 8, 8, 10]);
}

fn links(frame: &mut Frame<'_>, area: Rect, seen: &Seen<'_>) {
    let rows = seen.moment.links.iter().map(cells::link).collect();
    table(frame, area, LINK_HEADS, rows, [20, 9, 9, 8, 8, 10]);
}

fn nfs(frame: &mut Frame<'_>, area: Rect, seen: &Seen<'_>) {
    let rows = seen.moment.nfs.iter().map(cells::mount).collect();
    table(frame, area, MOUNT_HEADS, rows, [20, 9, 9, 8, 8, 10]);
}

fn help(frame: &mut Frame<'_>, area: Rect) {
    let (width, height) = (76.min(area.width), 20.min(area.height));
    let place = Rect {
        x: (area.width - width) / 2,
        y: (area.height - height) / 2,
        width,
        height,
    };
    let block = Block::new().borders(Borders::ALL).title(" fathom watch ");
    frame.render_widget(Clear, place);
    let text = Paragraph::new(HELP).wrap(Wrap { trim: false }).block(block);
    frame.render_widget(text, place);
}

#[cfg(test)]
#[path = "screen_tests.rs"]
mod tests;
