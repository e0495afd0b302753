//! What a test will do and take, said before it begins.

use fathom_model::snia::{SniaSettings, SniaTarget, SniaTest, WINDOW_ROUNDS};
use fathom_model::workload::OpMix;
use fathom_model::{Schedule, unit};
use fathom_plan::{Cost, CostAssumptions};

use super::SniaRounds;

/// No test is steady with fewer rounds.
pub const LEAST_ROUNDS: u32 = WINDOW_ROUNDS as u32;

/// A few lines, each ended by a newline.
pub fn estimate(
    test: SniaTest,
    settings: &SniaSettings,
    rounds: &SniaRounds,
    schedule: &Schedule,
    destructive: bool,
) -> String {
    let mut lines = vec![head(test, settings)];
    lines.extend(steps(test, settings, rounds));
    lines.push(took(test, settings, rounds, schedule));
    if settings.on == SniaTarget::Device {
        lines.push(match destructive {
            true => "ALL DATA ON THE DEVICE ARE LOST.".to_owned(),
            false => "All data on the device would be lost: needs --destructive.".to_owned(),
        });
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn head(test: SniaTest, settings: &SniaSettings) -> String {
    let on = match settings.on {
        SniaTarget::Device => "on a device",
        SniaTarget::File => "SNIA-style on a file, not conforming",
        SniaTarget::Simulated => "SNIA-style on a simulated drive, not conforming",
    };
    format!(
        "{} of the SNIA SSS PTS 2.0.2, {on}: {} of {}",
        test.title(),
        unit::bytes(settings.active_bytes),
        unit::bytes(settings.capacity_bytes)
    )
}

fn steps(test: SniaTest, settings: &SniaSettings, rounds: &SniaRounds) -> Vec<String> {
    let one = rounds.expected(1);
    let trims = |mix: OpMix| mix.trim_percent > 0;
    let purges = one.iter().any(|t| trims(t.workload.mix));
    let cells = one
        .iter()
        .filter(|t| t.role == fathom_model::schedule::TrialRole::Measure)
        .count();
    let mut lines = vec![match purges {
        true => "  purge: the whole device is discarded".to_owned(),
        false => "  purge: none".to_owned(),
    }];
    let span = unit::span(settings.round_ns);
    if test == SniaTest::Wsat {
        lines.push(format!(
            "  random writes of 4 KiB: {} rounds of {span}, or {}",
            unit::group(u64::from(settings.rounds_max)),
            unit::bytes(settings.active_bytes.saturating_mul(4))
        ));
        return lines;
    }
    if settings.passes > 0 {
        let bytes = settings
            .active_bytes
            .saturating_mul(u64::from(settings.passes));
        lines.push(format!(
            "  preconditioning: {} in sequence{}",
            unit::bytes(bytes),
            if test == SniaTest::Throughput {
                ", before each block size"
            } else {
                ""
            }
        ));
    }
    lines.push(format!(
        "  rounds: {cells} cells of {span}, {} to {} rounds",
        LEAST_ROUNDS.min(settings.rounds_max),
        settings.rounds_max
    ));
    lines.extend((!settings.skipped_blocks.is_empty()).then(|| {
        let skipped = settings
            .skipped_blocks
            .iter()
            .map(|b| unit::bytes_exact(*b));
        let skipped: Vec<String> = skipped.collect();
        format!(
            "  without {}: {}",
            skipped.join(", "),
            settings.skipped_because
        )
    }));
    lines
}

/// Time and bytes from the least to the most.
fn took(
    test: SniaTest,
    settings: &SniaSettings,
    rounds: &SniaRounds,
    schedule: &Schedule,
) -> String {
    let cost = |count: u32| -> Cost {
        let schedule = Schedule {
            trials: rounds.expected(count),
            ..schedule.clone()
        };
        fathom_plan::cost(&schedule, &CostAssumptions::default())
    };
    let (least, most) = (cost(LEAST_ROUNDS), cost(settings.rounds_max));
    let range = |low: String, high: String| match low == high {
        true => low,
        false => format!("{low} to {high}"),
    };
    if settings.on == SniaTarget::Simulated {
        let measured = |count: u32| {
            let times = rounds.expected(count);
            let times = times.iter().filter_map(|t| t.workload.bounds.time_ns);
            unit::span(times.sum())
        };
        let time = range(measured(LEAST_ROUNDS), measured(settings.rounds_max));
        return format!("Takes {time} of virtual time.");
    }
    let time = match test {
        SniaTest::Wsat => format!("up to {}", unit::span(most.time_ns)),
        _ => range(unit::span(least.time_ns), unit::span(most.time_ns)),
    };
    format!(
        "Takes {time} on a drive of usual speed, and writes {}.",
        range(
            unit::bytes(least.bytes_written_min).to_string(),
            unit::bytes(most.bytes_written_max).to_string()
        )
    )
}
