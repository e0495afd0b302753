//! Levels and their edges in words: "2.90 GB/s for the first 23.0 GB, then
//! 414 MB/s". Decimal units, as drives and their caches are sold.

use fathom_model::steadiness::SteadinessClass;
use fathom_model::unit;
use fathom_stats::warmup::WarmupCut;

use super::assess::Assessment;
use super::levels::Level;
use super::track::{Track, TrackCell};

/// Blocks up to this size are counted in operations.
const SMALL_BLOCK_BYTES: f64 = 65_536.0;
/// Levels that a sentence names.
const MOST_LEVELS: usize = 4;

/// Bytes per shown unit and its name, for the formula of a line.
pub(crate) fn rate_scale(track: &Track) -> (f64, &'static str) {
    let block = block_bytes(track);
    match track.in_bytes() {
        true if block > SMALL_BLOCK_BYTES => (1_048_576.0, "MiB/s"),
        true => (block.max(1.0), "IOPS"),
        false => (1.0, "IOPS"),
    }
}

fn block_bytes(track: &Track) -> f64 {
    let add = |sum: (f64, f64), cell: &TrackCell| (sum.0 + cell.ops, sum.1 + cell.bytes);
    let (ops, bytes) = track.cells.iter().fold((0.0, 0.0), add);
    if ops > 0.0 { bytes / ops } else { 0.0 }
}

/// A rate in the terms that the workload is known by.
pub(crate) fn rate_words(track: &Track, rate: f64) -> String {
    let block = block_bytes(track);
    match track.in_bytes() {
        true if block > SMALL_BLOCK_BYTES => unit::throughput(rate),
        true => format!("{} IOPS", unit::count(rate / block.max(1.0))),
        false => format!("{} IOPS", unit::count(rate)),
    }
}

/// A size in decimal units.
pub(crate) fn bytes_words(bytes: f64) -> String {
    let text = unit::throughput_decimal(bytes);
    text.strip_suffix("/s").unwrap_or(&text).to_owned()
}

/// One sentence about the whole.
pub(crate) fn sentence(track: &Track, found: &Assessment) -> String {
    let time = unit::span((track.seconds() * 1e9) as u64);
    if let Some((low, high, share)) = mode_rates(track, found) {
        return format!(
            "back and forth between {} ({:.0} % of the time) and {} ({:.0} %)",
            rate_words(track, high),
            100.0 * (1.0 - share),
            rate_words(track, low),
            100.0 * share
        );
    }
    if found.levels.len() > 1 {
        let levels = level_words(track, &found.levels);
        return match (found.class, found.drift) {
            (SteadinessClass::NeverSteady, _) => format!("{levels}; it had not settled"),
            _ => levels,
        };
    }
    let mean = rate_words(track, found.levels.first().map_or(0.0, |l| l.rate));
    match found.class {
        SteadinessClass::TooShort => format!("needs more than {time}"),
        SteadinessClass::Drifting => match found.drift {
            Some(drift) => format!(
                "the rate {} by {:.0} % over {time} (90 % interval {:.0} to {:.0} %)",
                if drift.change < 0.0 { "falls" } else { "rises" },
                100.0 * drift.change.abs(),
                100.0 * drift.low.abs().min(drift.high.abs()),
                100.0 * drift.low.abs().max(drift.high.abs()),
            ),
            None => match found.trend {
                Some(change) => format!(
                    "the rate {} by {:.0} % from the first to the last third of {time}",
                    if change < 0.0 { "falls" } else { "rises" },
                    100.0 * change.abs(),
                ),
                None => format!("the rate moves throughout {time}"),
            },
        },
        SteadinessClass::NeverSteady => format!("the rate had not settled after {time}"),
        _ => match found.warmup {
            WarmupCut::Cut(cut) if cut > 0 => format!(
                "settled after {} at {}",
                unit::span((cells_seconds(track, 0, found.last.start) * 1e9) as u64),
                rate_words(track, track.mean_rate(found.last.clone()))
            ),
            _ => format!("one level of {mean} over {time}"),
        },
    }
}

/// Lower and higher rate and the share of time at the lower.
pub(crate) fn mode_rates(track: &Track, found: &Assessment) -> Option<(f64, f64, f64)> {
    let modes = found.modes.as_ref()?;
    let mut sums = [(0.0, 0.0); 2];
    for (high, cell) in modes.high.iter().zip(&track.cells[found.modes_from..]) {
        let sum = &mut sums[usize::from(*high)];
        sum.0 += track.amount(cell);
        sum.1 += cell.seconds;
    }
    let [low, high] = sums;
    let time = low.1 + high.1;
    (low.1 > 0.0 && high.1 > 0.0).then(|| (low.0 / low.1, high.0 / high.1, low.1 / time))
}

fn cells_seconds(track: &Track, from: usize, to: usize) -> f64 {
    track.cells[from..to].iter().map(|c| c.seconds).sum()
}

fn level_words(track: &Track, levels: &[Level]) -> String {
    let extent = |level: &Level| match level.bytes() > 0.0 {
        true => bytes_words(level.bytes()),
        false => unit::span((level.seconds() * 1e9) as u64),
    };
    let rate = |level: &Level| rate_words(track, level.rate);
    let (Some(first), Some(last)) = (levels.first(), levels.last()) else {
        return String::new();
    };
    let start = format!("{} for the first {}", rate(first), extent(first));
    if levels.len() > MOST_LEVELS {
        return format!(
            "{start}, {} more levels, then {}",
            levels.len() - 2,
            rate(last)
        );
    }
    let mut text = start;
    for level in &levels[1..levels.len() - 1] {
        text.push_str(&format!(", {} for the next {}", rate(level), extent(level)));
    }
    format!("{text}, then {}", rate(last))
}

/// A disk's sweep.
pub(crate) fn zone_words(profile: &fathom_model::steadiness::ZoneProfile) -> String {
    let rate = |zone: Option<&fathom_model::steadiness::Zone>| {
        unit::throughput(zone.map_or(0.0, |z| z.bytes_per_second))
    };
    let ratio = match profile.outer_over_inner.value {
        Some(ratio) => format!(", {ratio:.2} times"),
        None => String::new(),
    };
    format!(
        "by position: {} at the start of the range, {} at its end{ratio}",
        rate(profile.zones.first()),
        rate(profile.zones.last())
    )
}
