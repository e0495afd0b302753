//! One device in detail: its times, how its figures went, who uses the devices, and
//! what it lies on.

use fathom_diagnose::recording::DiskMoment;
use fathom_model::unit;
use fathom_report::table::{Align, clean, display_width, pad};
use fathom_rules::diagnosis::slow_device::FEW_PER_SECOND;
use fathom_rules::method::observed::PEAK_QUANTILE;
use fathom_stats::quantile::nearest_rank;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};

use crate::cells::{MIB, number};
use crate::fitting;
use crate::history::Seen;
use crate::order::{self, Sort};
use crate::severity;
use crate::trend::Trend;
use crate::view::View;

/// A title and a few lines: less says nothing.
pub(crate) const LEAST_LINES: usize = 3;
/// All that is said beside other tables.
pub(crate) const MOST_LINES: usize = 13;
/// Readings that a graph shows at least: five minutes of one a second.
const TREND_READINGS: usize = 300;
/// Columns of the words before a graph or text.
const LEAD: usize = 11;
/// Columns of the highest value after a graph.
const HIGHEST: usize = 17;
/// An empty line and the title of the distribution.
const HEAD_LINES: usize = 2;
/// Fewer classes say nothing.
const LEAST_CLASSES: usize = 3;
/// The kernel counts whole milliseconds: below this class, means are made of few. A power
/// of two of milliseconds.
const FASTEST_CLASS: i32 = -6;
/// Columns of the bounds of a class, and of its count with the blanks around it.
const RANGE: usize = 20;
const CLASS_COUNT: usize = 10;
/// Columns of a process in a line of several.
const LONGEST_NAME: usize = 28;
/// Those who do most.
const NAMED: usize = 3;

/// A line with its importance: the lowest numbers are shown first.
struct Ranked {
    rank: u8,
    line: Line<'static>,
}

/// The detail of a device in this room: the most important lines, in order.
pub(crate) fn lines(
    seen: &Seen<'_>,
    view: &View,
    disk: &DiskMoment,
    width: usize,
    height: usize,
) -> Vec<Line<'static>> {
    if height < 2 {
        return Vec::new();
    }
    let mut all = vec![Ranked {
        rank: 0,
        line: title(seen, view, disk, width),
    }];
    all.extend(texts_of_times(seen, disk, width));
    all.extend(graphs(seen, view, disk, width));
    all.extend(users(seen, width));
    all.extend(places(seen, disk, width));
    let mut ranks: Vec<u8> = all.iter().map(|one| one.rank).collect();
    ranks.sort_unstable();
    let worst = ranks.get(height - 1).copied().unwrap_or(u8::MAX);
    let kept = all.into_iter().filter(|one| one.rank <= worst);
    kept.map(|one| one.line).take(height).collect()
}

/// `vda: the longest queue of the last 30 s`.
fn title(seen: &Seen<'_>, view: &View, disk: &DiskMoment, width: usize) -> Line<'static> {
    let (grave, what) = severity::of_device_and_why(seen, disk);
    let model = seen.place_of(&disk.name).map(|place| {
        let size = (place.size_bytes > 0).then(|| unit::bytes(place.size_bytes).to_string());
        let model = place.model.as_deref().map(clean);
        model.into_iter().chain(size).collect::<Vec<_>>().join(", ")
    });
    let mut parts = vec![format!("{}: {what}", clean(&disk.name))];
    parts.extend(model.filter(|model| !model.is_empty()));
    let text = format!(
        "{} {}",
        grave.mark(),
        fitting::parts(&parts, width.saturating_sub(2))
    );
    let style = grave.style(view.is_colored);
    Line::styled(
        pad(&text, width, Align::Left),
        style.add_modifier(Modifier::REVERSED),
    )
}

/// A text after its word.
fn text_line(rank: u8, word: &str, parts: &[String], width: usize) -> Ranked {
    let text = fitting::parts(parts, width.saturating_sub(LEAD));
    let lead = pad(word, LEAD, Align::Left);
    let bold = Style::new().add_modifier(Modifier::BOLD);
    Ranked {
        rank,
        line: Line::from(vec![Span::styled(lead, bold), Span::raw(text)]),
    }
}

/// What an operation took, now and in the time of the verdict.
fn texts_of_times(seen: &Seen<'_>, disk: &DiskMoment, width: usize) -> Vec<Ranked> {
    let mut lines = Vec::new();
    if let Some(load) = seen.load(&disk.name) {
        let parts = vec![format!(
            "{} ms each, {} in flight, {} op/s",
            number(load.wait_ms.unwrap_or(0.0)),
            number(load.queue.unwrap_or(0.0)),
            number(load.operations)
        )];
        lines.push(text_line(1, &seen.window(), &parts, width));
        let slowest = load.wait_peak_ms;
        let parts: Vec<String> = slowest
            .and_then(|slowest| spread(seen, disk, slowest))
            .into_iter()
            .collect();
        if !parts.is_empty() {
            lines.push(text_line(4, "readings", &parts, width));
        }
    }
    let kinds = [
        ("read", disk.read_wait_ms, disk.reads),
        ("write", disk.write_wait_ms, disk.writes),
        ("flush", disk.flush_wait_ms, disk.flushes),
        ("discard", disk.discard_wait_ms, disk.discards),
    ];
    let ended = kinds.iter().filter(|(_, _, rate)| *rate > 0.0);
    let mut parts: Vec<String> = ended
        .filter_map(|(kind, wait, _)| Some(format!("{kind} {} ms", number((*wait)?))))
        .collect();
    if let Some(waiting) = disk.outstanding.filter(|count| *count > 0.0) {
        parts.push(format!("{waiting:.0} not yet completed"));
    }
    if parts.is_empty() {
        parts.push("nothing was completed".to_owned());
    }
    lines.push(text_line(9, &seen.instant(), &parts, width));
    lines
}

/// The usual and the slow readings. The kernel counts no single operation, so these are
/// means of readings.
fn spread(seen: &Seen<'_>, disk: &DiskMoment, slowest: f64) -> Option<String> {
    let readings = seen.latest(&disk.name, seen.found.samples as usize);
    let busy = readings
        .iter()
        .filter(|disk| disk.operations() >= FEW_PER_SECOND);
    let waits: Vec<f64> = busy.filter_map(|disk| disk.mean_wait_ms()).collect();
    let usual = nearest_rank(&waits, 0.5)?;
    let slow = nearest_rank(&waits, PEAK_QUANTILE)?;
    Some(format!(
        "half of them up to {} ms, {:.0} % up to {} ms, slowest {} ms",
        number(usual),
        100.0 * PEAK_QUANTILE,
        number(slow),
        number(slowest)
    ))
}

/// How figures went, each with its highest value.
fn graphs(seen: &Seen<'_>, view: &View, disk: &DiskMoment, width: usize) -> Vec<Ranked> {
    type Of = fn(&DiskMoment) -> Option<f64>;
    let figures: [(u8, &str, Of); 4] = [
        (2, "ms", |disk| disk.mean_wait_ms().or(Some(0.0))),
        (3, "op/s", |disk| Some(disk.operations())),
        (10, "MiB/s", |disk| Some(disk.bytes() / MIB)),
        (11, "in flight", |disk| disk.in_flight()),
    ];
    let cells = width.saturating_sub(LEAD + HIGHEST);
    // A recording is seen as a whole: that is where to go back to.
    let readings = seen.recorded_readings().unwrap_or(TREND_READINGS);
    let mut lines = Vec::new();
    for (rank, word, of) in figures {
        let trend = Trend::of(seen, &disk.name, cells, readings, of);
        let grave = match word {
            "ms" => severity::of_wait(trend.most()),
            _ => severity::Severity::NotJudged,
        };
        let style = match (grave, view.is_colored) {
            (severity::Severity::NotJudged, true) => Style::new().fg(Color::Cyan),
            (grave, colored) => grave.style(colored),
        };
        let bold = Style::new().add_modifier(Modifier::BOLD);
        let line = Line::from(vec![
            Span::styled(pad(word, LEAD, Align::Left), bold),
            Span::styled(trend.bars(), style),
            Span::raw(format!(" highest {}", number(trend.most()))),
        ]);
        lines.push(Ranked { rank, line });
    }
    if let Some(Ranked { line, .. }) = lines.first_mut() {
        let trend = Trend::of(seen, "", cells, readings, |_| None);
        let lead = format!("ms, {}", trend.length());
        if display_width(&lead) < LEAD
            && let Some(first) = line.spans.first_mut()
        {
            first.content = pad(&lead, LEAD, Align::Left).into();
        }
    }
    lines
}

/// Who waits and who moves bytes. The kernel does not say on which device.
fn users(seen: &Seen<'_>, width: usize) -> Vec<Ranked> {
    let moment = seen.moment;
    let filter = crate::filter::Filter::default();
    let (by_wait, _) = order::doers(moment, &moment.processes, Sort::Wait, &filter);
    let waits = by_wait.iter().filter_map(|doer| {
        let share = doer.io_wait.filter(|share| *share >= 0.005)?;
        let name = fitting::name(&clean(&doer.name), LONGEST_NAME);
        Some(format!("{name} {:.0} %", 100.0 * share))
    });
    let (by_bytes, _) = order::doers(moment, &moment.processes, Sort::Bytes, &filter);
    let moves = by_bytes.iter().filter(|doer| doer.bytes() >= 1.0);
    let moves = moves.map(|doer| {
        let name = fitting::name(&clean(&doer.name), LONGEST_NAME);
        format!("{name} {}", unit::throughput(doer.bytes()))
    });
    let waits: Vec<String> = waits.take(NAMED).collect();
    let moves: Vec<String> = moves.take(NAMED).collect();
    let mut lines = Vec::new();
    if !waits.is_empty() {
        lines.push(text_line(5, "waiting", &waits, width));
    }
    if !moves.is_empty() {
        lines.push(text_line(8, "I/O by", &moves, width));
    }
    lines
}

/// Where it is mounted and what it lies on.
fn places(seen: &Seen<'_>, disk: &DiskMoment, width: usize) -> Vec<Ranked> {
    let Some(place) = seen.place_of(&disk.name) else {
        return Vec::new();
    };
    let line = |rank, word, names: &[String]| {
        let names: Vec<String> = names.iter().map(|name| clean(name)).collect();
        (!names.is_empty()).then(|| text_line(rank, word, &names, width))
    };
    let lines = [
        line(6, "mounted at", &place.mounts),
        line(7, "lies on", &place.below),
        line(12, "carries", &place.above),
    ];
    lines.into_iter().flatten().collect()
}

/// How many readings had which mean time, in classes of which each is twice the one
/// before; the fast ones are one class where there is no room for each.
pub(crate) fn distribution(
    seen: &Seen<'_>,
    disk: &DiskMoment,
    width: usize,
    height: usize,
) -> Vec<Line<'static>> {
    let readings = seen.latest(&disk.name, usize::MAX);
    let busy = readings.iter().filter(|disk| disk.operations() > 0.0);
    let waits = busy.filter_map(|disk| disk.mean_wait_ms());
    let class = |ms: f64| (ms.max(f64::MIN_POSITIVE).log2().floor() as i32).max(FASTEST_CLASS);
    let classes: Vec<i32> = waits.map(class).collect();
    let room = height.saturating_sub(HEAD_LINES);
    let (Some(least), Some(most)) = (classes.iter().min(), classes.iter().max()) else {
        return Vec::new();
    };
    if room < LEAST_CLASSES {
        return Vec::new();
    }
    let first = (*least).max(most - i32::try_from(room).unwrap_or(i32::MAX) + 1);
    let counts: Vec<(i32, usize)> = (first..=*most)
        .map(|class| {
            let is_in = |other: &&i32| **other == class || (class == first && **other < class);
            (class, classes.iter().filter(is_in).count())
        })
        .collect();
    let highest = counts.iter().map(|(_, count)| *count).max().unwrap_or(1);
    let longest = width.saturating_sub(RANGE + CLASS_COUNT);
    let title = format!(
        "mean time of an operation, {}",
        unit::counted(classes.len() as u64, "reading")
    );
    let dim = Style::new().add_modifier(Modifier::DIM);
    let mut lines = vec![
        Line::default(),
        Line::styled(fitting::words(&title, width), dim),
    ];
    for (class, count) in counts {
        let bound = |class: i32| unit::latency(f64::from(class).exp2() * 1e6);
        let holds_faster = class == first && (first > *least || first == FASTEST_CLASS);
        let from = match holds_faster {
            true => "up".to_owned(),
            false => bound(class),
        };
        let range = format!("{from} to {}", bound(class + 1));
        let bar = "█".repeat((count * longest).div_ceil(highest.max(1)));
        let range = pad(&range, RANGE, Align::Right);
        lines.push(Line::raw(format!(
            "{range}  {bar} {}",
            unit::group(count as u64)
        )));
    }
    lines
}
