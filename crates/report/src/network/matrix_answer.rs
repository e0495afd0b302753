//! What a matrix of hosts says: a few figures, one sentence, and what stands out.

use fathom_model::network::{MatrixCell, MatrixMode, MatrixReport, MatrixRound};
use fathom_model::unit;
use fathom_model::view::Tone;
use fathom_rules::network as rules;
use fathom_stats::median::median;

use super::{matrix, range};
use crate::html::answer::{Answer, AnswerBox, LIMITER, VALIDITY};
use crate::html::key_figures::KeyFigure;
use crate::sentence::sentence_of;

/// The first screen of a matrix.
pub(super) fn of_matrix(report: &MatrixReport) -> Answer {
    Answer {
        figures: matrix_figures(report),
        sentence: matrix_sentence(report),
        boxes: vec![matrix_validity(report), matrix_limiter(report)],
        next: Some(match report.remarks.first() {
            Some(remark) => sentence_of(&remark.text),
            None => "Where more is expected, `fathom net HOST` names what sets the rate of a \
                     pair."
                .to_owned(),
        }),
    }
}

/// What a matrix says, in one sentence.
pub(super) fn matrix_sentence(report: &MatrixReport) -> String {
    let name = |host: usize| report.hosts.get(host).map_or("?", String::as_str);
    let nodes = report.outliers.nodes.iter().map(|node| {
        let verb = if node.sending { "sends" } else { "receives" };
        let share = 100.0 * node.ratio;
        format!(
            "{} {verb} at {share:.0} % of the others' rate",
            name(node.node)
        )
    });
    let links = report.outliers.links.iter().map(|link| {
        let share = 100.0 * link.ratio;
        format!(
            "{} to {} reaches {share:.0} % of what both reach with others",
            name(link.from),
            name(link.to)
        )
    });
    let slow: Vec<String> = nodes.chain(links).collect();
    let typical = report.outliers.median_bits.map(unit::bits);
    match (slow.split_first(), typical) {
        (Some((first, [])), _) => format!("{first}."),
        (Some((first, rest)), _) => format!("{first}; {} more stand out.", rest.len()),
        (None, Some(typical)) => {
            format!("No host and no link stands out; a link alone reaches {typical} (median).")
        }
        (None, None) if rates(report).next().is_none() => "No link gave a figure.".to_owned(),
        (None, None) => {
            "Whether a link stands out is not determined: no pair was measured alone.".to_owned()
        }
    }
}

fn cells(report: &MatrixReport) -> impl Iterator<Item = &MatrixCell> {
    report.rounds.iter().flat_map(|round| &round.cells)
}

fn rates(report: &MatrixReport) -> impl Iterator<Item = f64> {
    cells(report).filter_map(|cell| cell.bits_per_second)
}

fn round(report: &MatrixReport, mode: MatrixMode) -> Option<&MatrixRound> {
    report.rounds.iter().find(|round| round.mode == mode)
}

fn matrix_figures(report: &MatrixReport) -> Vec<KeyFigure> {
    let name = |host: usize| report.hosts.get(host).map_or("?", String::as_str);
    let mut figures = Vec::new();
    if let Some(alone) = round(report, MatrixMode::Alone) {
        let bits: Vec<f64> = alone
            .cells
            .iter()
            .filter_map(|c| c.bits_per_second)
            .collect();
        figures.extend(spread("A link alone, median", &bits));
        let slowest = alone
            .cells
            .iter()
            .filter(|cell| cell.bits_per_second.is_some());
        let slowest = slowest.min_by(|a, b| {
            let bits = |cell: &MatrixCell| cell.bits_per_second.unwrap_or(0.0);
            bits(a).total_cmp(&bits(b))
        });
        figures.extend(slowest.map(|cell| {
            let text = unit::bits(cell.bits_per_second.unwrap_or(0.0));
            let way = format!("{} to {}", name(cell.from), name(cell.to));
            KeyFigure::measured("Slowest link alone", &text).below(way)
        }));
    }
    for (mode, title, received) in [
        (
            MatrixMode::Together,
            "A host receives, all pairs at once",
            true,
        ),
        (MatrixMode::Incast, "A host receives from all", true),
        (MatrixMode::Outcast, "A host sends to all", false),
    ] {
        let sums = round(report, mode).map_or(&[][..], |round| &round.sums);
        let bits: Vec<f64> = sums
            .iter()
            .map(|sum| {
                if received {
                    sum.received_bits
                } else {
                    sum.sent_bits
                }
            })
            .collect();
        figures.extend(spread(title, &bits));
    }
    let idle: Vec<f64> = cells(report)
        .filter_map(|c| Some(c.idle_ns? as f64))
        .collect();
    let loaded: Vec<f64> = cells(report)
        .filter_map(|c| Some(c.loaded_ns? as f64))
        .collect();
    figures.extend(median(&idle).map(|idle| {
        let beside = median(&loaded).map_or_else(
            || "without load".to_owned(),
            |ns| format!("without load; beside it {}", unit::latency(ns)),
        );
        KeyFigure::measured("Round trip, median", &unit::latency(idle)).below(beside)
    }));
    figures
}

/// The median of several rates, between the lowest and the highest.
fn spread(title: &str, bits: &[f64]) -> Option<KeyFigure> {
    let middle = median(bits)?;
    let low = bits.iter().copied().fold(f64::INFINITY, f64::min);
    let high = bits.iter().copied().fold(0.0, f64::max);
    let figure = KeyFigure::measured(title, &unit::bits(middle)).within(middle, low, high);
    Some(figure.below(range(low, high)))
}

fn matrix_validity(report: &MatrixReport) -> AnswerBox {
    let failed = matrix::errors(report);
    let all = cells(report).count();
    let shape = format!(
        "{} of {} each, {}",
        unit::counted(all as u64, "figure"),
        format_args!("{} s", report.seconds),
        unit::counted(report.streams.into(), "stream")
    );
    let of_id = |id: &'static str| report.remarks.iter().filter(move |remark| remark.id == id);
    let shared = of_id(rules::ONE_MACHINE.id).map(|remark| remark.text.clone());
    let shared: Vec<String> = shared.collect();
    let unconfirmed = of_id(rules::SLOW_UNCONFIRMED.id).map(|remark| remark.text.clone());
    let unconfirmed: Vec<String> = unconfirmed.collect();
    let answer = |tone, words: String| AnswerBox::new(VALIDITY, tone, words);
    if !failed.is_empty() {
        let words = format!("{} of {all} figures are missing", failed.len());
        return answer(Tone::Bad, words).because(shape).with(failed);
    }
    if !shared.is_empty() {
        let words = "hosts share a machine".to_owned();
        return answer(Tone::Warning, words).because(shape).with(shared);
    }
    if !unconfirmed.is_empty() {
        let words = "a slow link was not confirmed".to_owned();
        return answer(Tone::Warning, words)
            .because(shape)
            .with(unconfirmed);
    }
    answer(Tone::Good, "every link was measured".to_owned()).because(shape)
}

fn matrix_limiter(report: &MatrixReport) -> AnswerBox {
    let of_id = |id: &'static str| report.remarks.iter().find(move |remark| remark.id == id);
    let found = [
        (rules::SLOW_HOST.id, "a slow host"),
        (rules::SLOW_LINK.id, "a slow link"),
        (rules::FABRIC.id, "what the hosts share"),
    ];
    let found = found
        .into_iter()
        .find_map(|(id, words)| Some((of_id(id)?, words)));
    match found {
        Some((remark, words)) => {
            // What to do about it is the next step.
            let what = remark.text.split(": ").next().unwrap_or(&remark.text);
            AnswerBox::new(LIMITER, Tone::Warning, words).because(sentence_of(what))
        }
        None => AnswerBox::new(LIMITER, Tone::Strong, "not determined")
            .because("a matrix finds what stands out; fathom net HOST names the limit of one pair"),
    }
}
