//! Rates over time: of characters for the terminal, as SVG for the page.

use fathom_model::diagnosis::DiskLoad;
use fathom_model::unit;

const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Room for the words before and behind the graph.
const MARGIN: usize = 20;

/// Reads and writes of a device, a line each, on one scale.
pub(super) fn lines(disk: &DiskLoad, ceiling: Option<f64>, width: usize) -> String {
    let columns = width
        .saturating_sub(MARGIN)
        .clamp(10, disk.series.len().max(10));
    let top = top(disk, ceiling);
    let line = |name: &str, of: usize| {
        let bars: String = columns_of(disk, of, columns)
            .map(|rate| level(rate, top))
            .collect();
        let most = disk
            .series
            .iter()
            .map(|sample| sample[of])
            .fold(0.0, f64::max);
        format!("{name:<7}{bars}  max {}\n", unit::count(most))
    };
    let scale = match ceiling {
        Some(ceiling) => format!("full height: the ceiling, {} IOPS", unit::count(ceiling)),
        None => format!("full height: {} IOPS", unit::count(top)),
    };
    let lines = match disk.read_share {
        Some(_) => line("reads", 1) + &line("writes", 2),
        // Kinds were not told apart.
        None => line("all", 1),
    };
    format!(
        "{} over time ({scale})\n{lines}",
        crate::table::clean(&disk.name)
    )
}

/// The top of the scale: the ceiling where it is known and not exceeded.
pub(super) fn top(disk: &DiskLoad, ceiling: Option<f64>) -> f64 {
    disk.operations_peak.max(ceiling.unwrap_or(0.0)).max(1.0)
}

/// The highest rate of each column.
fn columns_of(disk: &DiskLoad, of: usize, columns: usize) -> impl Iterator<Item = f64> {
    let samples = disk.series.len();
    let columns = columns.min(samples);
    (0..columns).map(move |column| {
        let part = column * samples / columns..((column + 1) * samples / columns).max(1);
        disk.series[part]
            .iter()
            .map(|sample| sample[of])
            .fold(0.0, f64::max)
    })
}

fn level(rate: f64, top: f64) -> char {
    match rate > 0.0 {
        true => LEVELS[((rate / top * 8.0) as usize).min(7)],
        false => ' ',
    }
}

/// The end of the last sample, seconds: it is taken to be as long as the one before.
pub(super) fn end(disk: &DiskLoad) -> f64 {
    let last = match disk.series.as_slice() {
        [.., before, last] => 2.0 * last[0] - before[0],
        _ => 0.0,
    };
    if last > 0.0 { last } else { 1.0 }
}

/// Points of a polyline in a picture of this size: each rate from its sample's begin, the
/// last one to its end.
pub(super) fn points(disk: &DiskLoad, of: usize, top: f64, size: (f64, f64)) -> String {
    let end = end(disk);
    let last = disk.series.last().map(|sample| (end, sample[of]));
    let each = disk.series.iter().map(|sample| (sample[0], sample[of]));
    let points = each.chain(last).map(|(at, rate)| {
        let (x, y) = (at / end * size.0, size.1 - rate / top * size.1);
        format!("{x:.1},{y:.1}")
    });
    points.collect::<Vec<_>>().join(" ")
}
