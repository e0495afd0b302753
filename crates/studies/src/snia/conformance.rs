//! What the standard asks for, and whether this run kept it.

use fathom_analysis::judgement::{Trial, add};
use fathom_model::OpKind;
use fathom_model::run::RunState;
use fathom_model::schedule::TrialRole;
use fathom_model::snia::{
    SniaPart, SniaRequirement, SniaSettings, SniaTarget, SniaTest, WINDOW_ROUNDS,
};
use fathom_model::unit;
use fathom_model::verdict::Validity;
use fathom_model::workload::{CacheMode, Content};
use fathom_rules::method::snia::{
    PASSES, RANGE_TOLERANCE_BYTES, ROUND_NS, ROUNDS_MAX, WSAT_CAPACITIES, WSAT_ROUNDS,
};

use super::judge::Test;
use super::plan::{TRIM, blocks};

/// Every requirement in the order of the standard.
pub(super) fn requirements(test: &Test<'_>, parts: &[SniaPart]) -> Vec<SniaRequirement> {
    let mut all = vec![target(test), purge(test, parts)];
    if test.test != SniaTest::Wsat {
        all.push(independent(test, parts));
    }
    all.extend([
        active_range(test.settings),
        round_length(test.settings),
        block_sizes(test),
        data_pattern(test),
        past_the_cache(test),
        write_cache(test),
    ]);
    all.push(match test.test {
        SniaTest::Wsat => saturated(test, parts),
        _ => steady(test, parts),
    });
    all.push(complete(test));
    all.push(valid(test));
    all
}

/// What may be claimed.
pub(super) fn claim(test: &Test<'_>, conforming: bool, all: &[SniaRequirement]) -> String {
    let title = test.test.title();
    if conforming {
        return format!("{title} of the SNIA SSS PTS 2.0.2: every requirement listed was kept");
    }
    let missed: Vec<&str> = all
        .iter()
        .filter(|r| !r.kept)
        .map(|r| r.name.as_str())
        .collect();
    let style = match test.settings.on {
        SniaTarget::Device => format!("{title} after the SNIA SSS PTS 2.0.2"),
        SniaTarget::File => format!("SNIA-style {title} on a file"),
        SniaTarget::Simulated => format!("SNIA-style {title} on a simulated drive"),
    };
    format!("{style}, not conforming: {}", missed.join(", "))
}

fn requirement(name: &str, kept: bool, evidence: impl Into<String>) -> SniaRequirement {
    SniaRequirement {
        name: name.to_owned(),
        kept,
        evidence: evidence.into(),
    }
}

fn target(test: &Test<'_>) -> SniaRequirement {
    let (kept, words) = match test.settings.on {
        SniaTarget::Device => device(test),
        SniaTarget::File => (
            false,
            "a file: its file system and what else lies on the drive take part, and the rest of \
             the drive keeps its state"
                .to_owned(),
        ),
        SniaTarget::Simulated => (false, "a simulated drive under a virtual clock".to_owned()),
    };
    requirement("whole device", kept, words)
}

/// A drive that can be named, and not a part of one or several together.
fn device(test: &Test<'_>) -> (bool, String) {
    let before = test
        .trials
        .iter()
        .find_map(|t| t.record.target_before.as_ref());
    let Some(top) = before.and_then(|target| target.devices.first()) else {
        return (false, "what the device is made of is not known".to_owned());
    };
    match (top.kind.as_str(), &top.model) {
        ("disk" | "nvme", Some(_)) => (true, "a block device, written to directly".to_owned()),
        ("disk" | "nvme", None) => (
            false,
            format!("{} has no model: what it is made of is not known", top.name),
        ),
        (kind, _) => (
            false,
            format!("{} is not a drive but of the kind {kind}", top.name),
        ),
    }
}

/// How the target was purged, and whether that was asked for everywhere.
pub(super) fn purge(test: &Test<'_>, parts: &[SniaPart]) -> SniaRequirement {
    let discards = || test.trials.iter().filter(|t| t.workload.mix == TRIM);
    let discarded = add(discards().map(|t| t.total(OpKind::Trim).bytes));
    let refused = add(discards().map(|t| t.total(OpKind::Trim).errors.total()));
    let needed = test
        .settings
        .capacity_bytes
        .saturating_mul(parts.len().max(1) as u64);
    let kept = discards().next().is_some() && refused == 0 && discarded >= needed;
    let words = match test.settings.on {
        SniaTarget::Simulated => {
            "not purged: a simulated drive begins as its model says".to_owned()
        }
        SniaTarget::File => "not purged: a file cannot be".to_owned(),
        SniaTarget::Device if refused > 0 => format!(
            "not purged: the device refused {} discards",
            unit::group(refused)
        ),
        SniaTarget::Device if kept => {
            "the whole device was discarded (TRIM, UNMAP); no secure erase".to_owned()
        }
        SniaTarget::Device if discarded > 0 => format!(
            "only {} were discarded of {}",
            unit::bytes(discarded),
            unit::bytes(needed)
        ),
        SniaTarget::Device if test.settings.discards => "not purged yet".to_owned(),
        SniaTarget::Device => "not purged: the device takes no discards".to_owned(),
    };
    requirement("purge", kept, words)
}

fn independent(test: &Test<'_>, parts: &[SniaPart]) -> SniaRequirement {
    let name = "preconditioning (WIPC)";
    let first = |t: &&Trial<'_>| {
        t.record.spec.role == TrialRole::Precondition && t.workload.mix.write_percent == 100
    };
    let written = add(test
        .trials
        .iter()
        .filter(first)
        .map(|t| t.total(OpKind::Write).bytes));
    let range = test.settings.active_bytes;
    let needed = range
        .saturating_mul(u64::from(PASSES))
        .saturating_mul(parts.len().max(1) as u64);
    if written == 0 {
        return requirement(name, false, "nothing was written before the rounds");
    }
    let each = match parts.len() {
        0 | 1 => "",
        _ => ", over all block sizes",
    };
    requirement(
        name,
        written >= needed,
        format!(
            "{} in sequence in 128 KiB; twice the active range is {}{each}",
            unit::bytes(written),
            unit::bytes(needed)
        ),
    )
}

fn active_range(settings: &SniaSettings) -> SniaRequirement {
    let (capacity, active) = (settings.capacity_bytes, settings.active_bytes);
    let whole = capacity > 0 && active.saturating_add(RANGE_TOLERANCE_BYTES) > capacity;
    let share = match capacity {
        0 => String::new(),
        _ => format!(
            ", {} % of the target",
            (active as f64 / capacity as f64 * 1000.0).round() / 10.0
        ),
    };
    let evidence = format!("{}{share}", unit::bytes(active));
    requirement("active range 100 %", whole, evidence)
}

fn round_length(settings: &SniaSettings) -> SniaRequirement {
    let evidence = format!("{} for each cell of a round", unit::span(settings.round_ns));
    requirement(
        "rounds of one minute",
        settings.round_ns == ROUND_NS,
        evidence,
    )
}

fn block_sizes(test: &Test<'_>) -> SniaRequirement {
    let settings = test.settings;
    let sizes = |sizes: &[u64]| {
        let names: Vec<String> = sizes.iter().map(|b| unit::bytes_exact(*b)).collect();
        names.join(", ")
    };
    let evidence = match settings.skipped_blocks.as_slice() {
        [] => sizes(blocks(test.test)),
        skipped => format!("without {}: {}", sizes(skipped), settings.skipped_because),
    };
    requirement("block sizes", settings.skipped_blocks.is_empty(), evidence)
}

fn data_pattern(test: &Test<'_>) -> SniaRequirement {
    let random = test.trials.iter().all(|trial| {
        let payload = &trial.workload.payload;
        payload.content == Content::Random
            && payload.compress_percent == 0
            && payload.duplicate_percent == 0
    });
    let evidence = if random {
        "random, incompressible, no block twice"
    } else {
        "not random"
    };
    requirement("data pattern random", random, evidence)
}

fn past_the_cache(test: &Test<'_>) -> SniaRequirement {
    let asked = |t: &&Trial<'_>| t.workload.mix != TRIM && t.duration_ns > 0;
    let mut loads = test.trials.iter().filter(asked).peekable();
    if test.settings.on == SniaTarget::Simulated {
        return requirement("no page cache", true, "a simulated drive has none above it");
    }
    let none = loads.peek().is_none();
    let direct = loads.all(|t| t.workload.cache == CacheMode::Direct && t.direct());
    let evidence = match (none, direct) {
        (true, _) => "nothing was measured",
        (_, true) => "O_DIRECT",
        (_, false) => "the page cache of the host took part",
    };
    requirement("no page cache", direct && !none, evidence)
}

fn write_cache(test: &Test<'_>) -> SniaRequirement {
    let state = super::facts::write_cache(test);
    let known = state.is_some();
    let evidence = state.unwrap_or_else(|| "not known".to_owned());
    requirement("write-cache state known", known, evidence)
}

fn steady(test: &Test<'_>, parts: &[SniaPart]) -> SniaRequirement {
    let most = test.settings.rounds_max;
    let name = "steady state";
    let words = |part: &SniaPart| {
        let rounds = part.rounds();
        let what = match parts.len() {
            1 => String::new(),
            _ => format!("{}: ", part.name),
        };
        if part.steady {
            let from = part.window_from.unwrap_or(1);
            return format!("{what}achieved in rounds {from} to {rounds}");
        }
        match rounds {
            few if few < WINDOW_ROUNDS => {
                format!("{what}not achieved: {few} of the {WINDOW_ROUNDS} rounds of a window")
            }
            _ => format!(
                "{what}not achieved in {} of at most {most}",
                unit::counted(rounds as u64, "round")
            ),
        }
    };
    let evidence: Vec<String> = parts.iter().map(words).collect();
    let asked = match test.test {
        SniaTest::Throughput => blocks(test.test).len() - test.settings.skipped_blocks.len(),
        _ => 1,
    };
    let all = parts.len() == asked && parts.iter().all(|part| part.steady);
    let within = parts.iter().all(|p| p.rounds() <= ROUNDS_MAX as usize);
    let evidence = match evidence.is_empty() {
        true => "no round was measured".to_owned(),
        false => evidence.join("; "),
    };
    requirement(name, all && within, evidence)
}

/// Four capacities written, or a day gone.
fn saturated(test: &Test<'_>, parts: &[SniaPart]) -> SniaRequirement {
    let part = parts.first();
    let rounds = part.map_or(0, SniaPart::rounds);
    let load = test
        .trials
        .iter()
        .find(|t| t.record.spec.role == TrialRole::Measure);
    let written = load.map_or(0, |t| t.total(OpKind::Write).bytes);
    let needed = test.settings.active_bytes.saturating_mul(WSAT_CAPACITIES);
    let kept = needed > 0 && written >= needed || rounds >= WSAT_ROUNDS as usize;
    let times = match test.settings.active_bytes {
        0 => String::new(),
        active => format!(
            " ({:.2} times the active range)",
            written as f64 / active as f64
        ),
    };
    let evidence = format!(
        "{}, {}{times} written",
        unit::counted(rounds as u64, "round"),
        unit::bytes(written)
    );
    requirement("four capacities or 24 hours", kept, evidence)
}

fn complete(test: &Test<'_>) -> SniaRequirement {
    let meta = &test.record.meta;
    let kept = meta.state == RunState::Complete;
    let reason = meta.reason.as_deref();
    let evidence = match kept {
        true => "the run ended as planned".to_owned(),
        false => format!(
            "the run did not: {}",
            reason.unwrap_or("no reason is known")
        ),
    };
    requirement("complete", kept, evidence)
}

fn valid(test: &Test<'_>) -> SniaRequirement {
    let window = || {
        let result = |t: &&fathom_model::JudgedTrial| t.role == TrialRole::Measure;
        test.judged.iter().filter(result)
    };
    let bad = window().find(|t| t.verdict.validity == Validity::NotTrusted);
    let evidence = match bad {
        Some(trial) => format!("{} is not trusted; see the findings", trial.label),
        None if window().next().is_none() => "nothing was measured".to_owned(),
        None => "no trial of the result is called not trusted".to_owned(),
    };
    let kept = bad.is_none() && window().next().is_some();
    requirement("measurements trusted", kept, evidence)
}
