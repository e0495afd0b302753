//! What a pair of hosts says: a few figures, one sentence, and what sets the rate.

use fathom_model::network::{FlowReport, LoadKind, LoadResult, NetLimit, NetLimitKind, PairReport};
use fathom_model::unit;
use fathom_model::view::Tone;

use super::{LEAST_FOR_P99, range, time};
use crate::html::answer::{Answer, AnswerBox, LIMITER, VALIDITY};
use crate::html::key_figures::KeyFigure;
use crate::sentence::sentence_of;

/// The first screen of a pair.
pub(super) fn of_pair(report: &PairReport) -> Answer {
    let next = report.limits.iter().map(|(_, limit)| &limit.remedy);
    let next = next
        .filter(|remedy| !remedy.is_empty())
        .map(|remedy| sentence_of(remedy));
    let remarks = report
        .remarks
        .iter()
        .map(|remark| sentence_of(&remark.text));
    Answer {
        figures: pair_figures(report),
        sentence: pair_sentence(report),
        boxes: vec![pair_validity(report), pair_limiter(report)],
        next: next.chain(remarks).next(),
    }
}

/// What a pair gives and what sets it, in one sentence.
pub(super) fn pair_sentence(report: &PairReport) -> String {
    let (ours, theirs) = (&report.ours.hostname, &report.theirs.hostname);
    let ways = [Way::There, Way::Back].map(|way| best(report, way).map(|(_, _, bits)| bits));
    let rates = match ways {
        [Some(there), Some(back)] => format!(
            "{ours} sends {} to {theirs} and receives {}",
            unit::bits(there),
            unit::bits(back)
        ),
        [Some(there), None] => format!("{ours} sends {} to {theirs}", unit::bits(there)),
        [None, Some(back)] => format!("{ours} receives {} from {theirs}", unit::bits(back)),
        [None, None] if report.loads.is_empty() => {
            return format!("No load ran between {ours} and {theirs}.");
        }
        [None, None] => return format!("No stream was measured between {ours} and {theirs}."),
    };
    let mut kinds: Vec<NetLimitKind> = Vec::new();
    for (_, limit) in &report.limits {
        if !kinds.contains(&limit.kind) {
            kinds.push(limit.kind);
        }
    }
    match kinds.as_slice() {
        [] | [NetLimitKind::Unknown] => format!("{rates}; what sets the rate is not clear."),
        [kind] => format!("{rates}, set by {}.", kind.words()),
        _ => {
            let each = report.limits.iter();
            let each: Vec<String> = each
                .map(|(way, limit)| format!("{way} by {}", limit.kind.words()))
                .collect();
            format!("{rates}, set {}.", each.join(", "))
        }
    }
}

/// Which end sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    There,
    Back,
}

impl Way {
    fn of(self, load: &LoadResult) -> Option<&FlowReport> {
        match self {
            Way::There => load.forward.as_ref(),
            Way::Back => load.reverse.as_ref(),
        }
    }
}

/// The load that moved most this way, alone where one ran alone.
fn best(report: &PairReport, way: Way) -> Option<(&LoadResult, &FlowReport, f64)> {
    let streams = report
        .loads
        .iter()
        .filter(|load| load.spec.kind == LoadKind::Stream);
    let found = streams.filter_map(|load| {
        let flow = way.of(load)?;
        Some((load, flow, flow.receiver.bits_per_second()?))
    });
    let both = |load: &LoadResult| load.forward.is_some() && load.reverse.is_some();
    found.max_by(|a, b| both(b.0).cmp(&both(a.0)).then(a.2.total_cmp(&b.2)))
}

fn pair_figures(report: &PairReport) -> Vec<KeyFigure> {
    let mut figures = Vec::new();
    for (way, host, word) in [
        (Way::There, &report.theirs, "To"),
        (Way::Back, &report.theirs, "From"),
    ] {
        let Some((load, flow, bits)) = best(report, way) else {
            continue;
        };
        let name = format!("{word} {}", host.hostname);
        let figure = KeyFigure::measured(name, &unit::bits(bits));
        let each = flow.receiver.bits_each_second();
        let low = each.iter().copied().fold(f64::INFINITY, f64::min);
        let high = each.iter().copied().fold(0.0, f64::max);
        let mut figure = match each.len() > 1 {
            true => figure
                .within(bits, low, high)
                .below(format!("{} in each second", range(low, high))),
            false => figure,
        };
        figure.row.clone_from(&load.name);
        figures.push(figure);
    }
    let both = report
        .loads
        .iter()
        .find(|load| load.forward.is_some() && load.reverse.is_some());
    if let Some((load, bits)) = both.and_then(|load| Some((load, load.bits_per_second()?))) {
        let figure = KeyFigure::measured("Both ways together", &unit::bits(bits));
        figures.push(figure.below(load.name.clone()));
    }
    if let Some(idle) = report.idle.as_ref().map(|idle| &idle.latency) {
        let loaded = report.loads.iter().filter_map(|load| load.loaded.as_ref());
        let loaded = loaded.filter_map(|trip| trip.latency.quantile(0.5)).max();
        let figure = KeyFigure::measured("Round trip, p50", &time(idle.quantile(0.5)));
        let words = match loaded {
            Some(ns) => format!("without load; beside it {}", time(Some(ns))),
            None => "without load".to_owned(),
        };
        figures.push(figure.below(words));
    }
    figures.extend(request_figure(report));
    figures.extend(resent_figure(report));
    figures
}

/// The first kind of request: what storage on this network would wait.
fn request_figure(report: &PairReport) -> Option<KeyFigure> {
    let load = report
        .loads
        .iter()
        .find(|load| load.spec.kind != LoadKind::Stream)?;
    let latency = load.forward.as_ref()?.sender.latency();
    let p50 = latency.quantile(0.5)?;
    let name = format!("Request, {}, p50", load.name);
    let figure = KeyFigure::measured(name, &time(Some(p50)));
    Some(match latency.count() >= LEAST_FOR_P99 {
        true => figure.below(format!("p99 {}", time(latency.quantile(0.99)))),
        false => figure.below("too few for a p99"),
    })
}

fn resent_figure(report: &PairReport) -> Option<KeyFigure> {
    let worst = report.loads.iter().flat_map(|load| {
        let flows = [&load.forward, &load.reverse].into_iter().flatten();
        flows.map(move |flow| (load, flow))
    });
    let worst = worst.filter_map(|(load, flow)| {
        let share = flow.sender.retransmit_share()?;
        Some((load, share, flow.sender.retransmits()))
    });
    let (load, share, segments) = worst.max_by(|a, b| a.1.total_cmp(&b.1))?;
    let figure = KeyFigure::measured("Sent again, at most", &percent(share));
    Some(figure.below(match segments {
        0 => "no segment".to_owned(),
        n => format!("{}, {}", unit::counted(n, "segment"), load.name),
    }))
}

fn percent(share: f64) -> String {
    match 100.0 * share {
        0.0 => "0 %".to_owned(),
        small if small < 0.1 => format!("{small:.3} %"),
        other => format!("{other:.1} %"),
    }
}

fn pair_validity(report: &PairReport) -> AnswerBox {
    let errors = report.loads.iter().filter_map(|load| {
        let error = load.error.as_ref()?;
        Some(format!("{}: {error}", load.name))
    });
    let errors: Vec<String> = errors.collect();
    let shape = unit::counted(report.loads.len() as u64, "load");
    if !errors.is_empty() {
        let words = format!("{} of {shape} failed", errors.len());
        return AnswerBox::new(VALIDITY, Tone::Bad, words).with(errors);
    }
    if report.is_one_machine() {
        return AnswerBox::new(VALIDITY, Tone::Warning, "both ends are one machine")
            .because("what goes between them crosses no network");
    }
    let words = "every load was measured at both ends";
    AnswerBox::new(VALIDITY, Tone::Good, words).because(format!("{shape}; payload that arrived"))
}

fn pair_limiter(report: &PairReport) -> AnswerBox {
    let line = |(way, limit): &(String, NetLimit)| match limit.wire_bits {
        Some(bits) => format!(
            "{way}: {} at {} on the wire; {}",
            limit.kind.words(),
            unit::bits(bits),
            limit.evidence
        ),
        None => format!("{way}: {}; {}", limit.kind.words(), limit.evidence),
    };
    let lines: Vec<String> = report.limits.iter().map(line).collect();
    let Some((_, first)) = report.limits.first() else {
        return AnswerBox::new(LIMITER, Tone::Strong, "not determined")
            .because("no stream was measured that could tell");
    };
    let same = report
        .limits
        .iter()
        .all(|(_, limit)| limit.kind == first.kind);
    let words = match same {
        true => first.kind.words(),
        false => "differs by direction",
    };
    AnswerBox::new(LIMITER, Tone::Strong, words)
        .because(first.evidence.clone())
        .with(lines)
}
