//! What is done, from the several keys that say so: shares of reads, writes
//! and trims, order and spread of offsets.

use fathom_model::workload::{Between, ByKind, Distribution, OpMix, Pattern, Sequencer};

use crate::diagnostic::{Problems, error};
use crate::keys::WorkloadKeys;
use crate::limits::within;
use crate::node::{Located, Span};
use crate::spelling::Spelling;
use crate::value::{Mix, PatternValue, Percent, Rw};

pub(super) fn mix(keys: &WorkloadKeys, spelling: Spelling, problems: &mut Problems) -> OpMix {
    let rw = keys.rw.as_ref().map(|rw| rw.value);
    let mixed = rw.is_some_and(Rw::is_mixed);
    if let Some(mix) = &keys.mix {
        return explicit_mix(keys, mix, spelling, problems);
    }
    let share = read_share(keys, spelling, problems);
    if let (Some((span, name, _)), false) = (share, mixed) {
        let message = format!(
            "{} has no effect: {} is not a mixed pattern",
            spelling.key(name),
            spelling.pair("rw", rw.map_or("randread", Rw::word))
        );
        let help = format!(
            "write {} or {}",
            spelling.pair("rw", "randrw"),
            spelling.pair("rw", "rw")
        );
        problems.push(error("rwmix_without_mix", span, message).help(help));
    }
    match rw {
        None | Some(Rw::Read | Rw::RandRead) => OpMix::READ,
        Some(Rw::Write | Rw::RandWrite) => OpMix::WRITE,
        Some(Rw::Trim | Rw::RandTrim) => OpMix {
            read_percent: 0,
            write_percent: 0,
            trim_percent: 100,
        },
        Some(Rw::TrimWrite | Rw::RandTrimWrite) => OpMix {
            read_percent: 0,
            write_percent: 50,
            trim_percent: 50,
        },
        Some(Rw::Mixed | Rw::RandMixed) => {
            let read = share.map_or(50, |(_, _, read)| read);
            OpMix {
                read_percent: read,
                write_percent: 100 - read,
                trim_percent: 0,
            }
        }
    }
}

fn explicit_mix(
    keys: &WorkloadKeys,
    mix: &Located<Mix>,
    spelling: Spelling,
    problems: &mut Problems,
) -> OpMix {
    if mix.value.total() != 100 {
        let message = format!("the mix adds up to {} %, not 100 %", mix.value.total());
        problems.push(
            error("mix_not_100", mix.span, message)
                .help("reads, writes and trims together must be 100"),
        );
    }
    if let Some(rw) = keys.rw.as_ref().filter(|rw| !rw.value.is_mixed()) {
        let message = format!(
            "{} already says what is done; {} contradicts it",
            spelling.pair("rw", rw.value.word()),
            spelling.key("mix")
        );
        let word = if rw.value.is_random() { "randrw" } else { "rw" };
        problems.push(
            error("conflict", mix.span, message)
                .relate(rw.span, "the other one")
                .help(format!(
                    "write {}, or remove the mix",
                    spelling.pair("rw", word)
                )),
        );
    }
    let shares = [
        ("rwmixread", &keys.rwmixread),
        ("rwmixwrite", &keys.rwmixwrite),
    ];
    for (name, share) in shares {
        if let Some(share) = share {
            let message = format!(
                "{} and {} say the same",
                spelling.key(name),
                spelling.key("mix")
            );
            problems.push(
                error("conflict", share.span, message)
                    .relate(mix.span, "the other one")
                    .help("remove one of the two"),
            );
        }
    }
    mix.value.op_mix()
}

type Share = (Option<Span>, &'static str, u8);

fn read_share(keys: &WorkloadKeys, spelling: Spelling, problems: &mut Problems) -> Option<Share> {
    let read = keys
        .rwmixread
        .as_ref()
        .map(|r| (r.span, "rwmixread", r.value.0));
    let write = keys.rwmixwrite.as_ref();
    if let (
        Some((span, _, read)),
        Some(Located {
            value: Percent(write),
            span: at,
        }),
    ) = (read, write)
        && u32::from(read) + u32::from(*write) != 100
    {
        let message = format!(
            "{} {read} and {} {write} add up to {}, not 100",
            spelling.key("rwmixread"),
            spelling.key("rwmixwrite"),
            u32::from(read) + u32::from(*write)
        );
        let problem = error("mix_not_100", *at, message).relate(span, "the other one");
        problems.push(problem.help("remove one of the two; it follows from the other"));
    }
    read.or_else(|| write.map(|w| (w.span, "rwmixwrite", 100 - w.value.0)))
}

pub(super) fn pattern(keys: &WorkloadKeys, spelling: Spelling, problems: &mut Problems) -> Pattern {
    let random = match (&keys.rw, &keys.pattern) {
        (Some(rw), _) => rw.value.is_random(),
        (None, Some(pattern)) => pattern.value == PatternValue::Random,
        (None, None) => true,
    };
    let order = match &keys.pattern {
        Some(pattern) => pattern.value,
        None if random => PatternValue::Random,
        None => PatternValue::Sequential,
    };
    if let (Some(rw), Some(pattern)) = (&keys.rw, &keys.pattern)
        && random != (order == PatternValue::Random)
    {
        let message = format!(
            "{} contradicts {}",
            spelling.key("pattern"),
            spelling.pair("rw", rw.value.word())
        );
        problems.push(
            error("conflict", pattern.span, message)
                .relate(rw.span, "the other one")
                .help("read, write, trim and rw are in order; those with rand are random"),
        );
    }
    order.pattern(distribution(keys, order, spelling, problems))
}

fn distribution(
    keys: &WorkloadKeys,
    order: PatternValue,
    spelling: Spelling,
    problems: &mut Problems,
) -> Distribution {
    if let (Some(distribution), false) = (&keys.distribution, order == PatternValue::Random) {
        let message = format!(
            "{} has no effect on offsets in sequence",
            spelling.key("distribution")
        );
        let help = format!("write {} or the like", spelling.pair("rw", "randread"));
        problems.push(error("distribution_not_random", distribution.span, message).help(help));
    }
    let repeats = keys.norandommap.as_ref().filter(|n| n.value.0);
    match (&keys.distribution, repeats) {
        (Some(distribution), Some(repeats)) if distribution.value.0 == Distribution::EachOnce => {
            let message = format!(
                "{} contradicts {}",
                spelling.key("norandommap"),
                spelling.pair("distribution", "each_once")
            );
            let problem = error("conflict", repeats.span, message);
            problems.push(problem.relate(distribution.span, "the other one"));
            Distribution::Uniform
        }
        (Some(distribution), _) => distribution.value.0.clone(),
        (None, Some(_)) => Distribution::Uniform,
        (None, None) => Distribution::EachOnce,
    }
}

/// What becomes of random offsets between two draws.
pub(super) fn sequencer(
    keys: &WorkloadKeys,
    spelling: Spelling,
    problems: &mut Problems,
) -> Sequencer {
    let draw_every = keys.draw_every.as_ref();
    let between = keys.between_draws.as_ref();
    let draw_every_ops = within("draw_every", draw_every, 1, spelling, problems);
    if let Some(between) = between.filter(|_| draw_every_ops == 1) {
        let message = format!(
            "{} has no effect: every offset is drawn",
            spelling.key("between_draws")
        );
        let help = format!("add {}", spelling.pair("draw_every", "8"));
        problems.push(error("between_without_draws", between.span, message).help(help));
    }
    let shares = keys.random_share.as_ref().map(|shares| shares.value.0);
    let all = ByKind {
        read: Some(100),
        write: Some(100),
        trim: Some(100),
    };
    Sequencer {
        draw_every_ops,
        between: between.map_or(Between::Onward, |b| b.value.between()),
        random_percent: shares.filter(|shares| *shares != all).unwrap_or_default(),
        each_kind: keys.stream_per_kind.as_ref().is_some_and(|s| s.value.0),
    }
}
