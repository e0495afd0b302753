//! A comparison in words: the same in text, Markdown and HTML.

use std::cmp::Ordering;
use std::fmt::Write as _;

use fathom_model::Estimate;
use fathom_model::comparison::{
    ComparedControl, ComparedMetric, ComparedRow, ComparedSide, Comparison, ComparisonOutcome,
    Difference, Metric, Standing,
};
use fathom_model::figure::change::{change_text, interval_text};
use fathom_model::figure::{Figure, Throughput};
use fathom_model::unit;
use fathom_rules::check;

use crate::escape::escape_markdown as escape;
use crate::names;

/// Differences that are named at most.
const NAMED: usize = 4;

/// What a figure is called: `ops/s`, `read p99`, `CPU per op`.
pub(crate) fn metric_name(metric: &ComparedMetric) -> String {
    let name = match metric.metric {
        Metric::OpsPerSecond => "ops/s",
        Metric::BytesPerSecond => "throughput",
        Metric::LatencyP50 => "p50",
        Metric::LatencyP99 => "p99",
        Metric::LatencyP999 => "p99.9",
        Metric::CpuPerOp => "CPU per op",
    };
    match metric.op {
        Some(op) => format!("{} {name}", op.name()),
        None => name.to_owned(),
    }
}

/// The word for an outcome; CPU is not fast or slow.
pub(crate) fn outcome_word(outcome: ComparisonOutcome, metric: Metric) -> &'static str {
    match (outcome, metric) {
        (ComparisonOutcome::Faster, Metric::CpuPerOp) => "less",
        (ComparisonOutcome::Slower, Metric::CpuPerOp) => "more",
        (ComparisonOutcome::Faster, _) => "faster",
        (ComparisonOutcome::Slower, _) => "slower",
        (ComparisonOutcome::Equivalent, _) => "equivalent",
        (ComparisonOutcome::Inconclusive, _) => "inconclusive",
    }
}

/// The word for a figure in a table of all: few pairs decide nothing, however far apart
/// the sides are.
pub(crate) fn table_word(comparison: &Comparison, metric: &ComparedMetric) -> &'static str {
    let used = comparison.planned_pairs.map(|_| metric.pairs.len() as f64);
    let is_open = metric.outcome == ComparisonOutcome::Inconclusive;
    match is_open && used.is_some_and(|pairs| pairs < check::v51::CAVEAT) {
        true => "too few pairs",
        false => shown_word(comparison, metric),
    }
}

/// The word for an outcome, which is an appearance where the whole is not proven.
pub(crate) fn shown_word(comparison: &Comparison, metric: &ComparedMetric) -> &'static str {
    let word = outcome_word(metric.outcome, metric.metric);
    match (comparison.standing, word) {
        (Standing::Unproven, "faster") => "looks faster",
        (Standing::Unproven, "slower") => "looks slower",
        (Standing::Unproven, "less") => "looks less",
        (Standing::Unproven, "more") => "looks more",
        (Standing::Unproven, "equivalent") => "looks equal",
        (_, word) => word,
    }
}

/// `±3 %`.
pub(crate) fn margin_text(comparison: &Comparison) -> String {
    format!("±{} %", (comparison.margin_percent * 100.0).round() / 100.0)
}

/// A figure of one side: `12,300` or `84.2 µs`.
pub(crate) fn side_value(estimate: &Estimate, throughput: Throughput) -> String {
    Figure::of(estimate, throughput).value()
}

/// B over A: as it was judged, or else of the two values, which has no interval.
pub(crate) fn change(metric: &ComparedMetric) -> Estimate {
    let of_values = || {
        let ratio = metric.b.value? / metric.a.value?;
        let why = metric.ratio.reason.clone().unwrap_or_default();
        let is_ratio = ratio.is_finite() && ratio > 0.0;
        is_ratio.then(|| Estimate::point(metric.ratio.unit, ratio, why))
    };
    match metric.ratio.value {
        Some(_) => metric.ratio.clone(),
        None => of_values().unwrap_or_else(|| metric.ratio.clone()),
    }
}

/// The change and its interval, each as a cell of a table.
pub(crate) fn change_cells(metric: &ComparedMetric) -> (String, String) {
    let change = change(metric);
    (change_text(&change), interval_text(&change))
}

/// The whole in one sentence.
pub(crate) fn headline(comparison: &Comparison) -> String {
    headline_of(comparison, 'B')
}

/// The same sentence for one of several sides, which goes by another letter than B.
pub(crate) fn headline_of(comparison: &Comparison, letter: char) -> String {
    let what = match comparison.rows.as_slice() {
        // Stored runs, of which nobody knew beforehand what they have in common.
        [] if comparison.planned_pairs.is_none() => {
            return format!("{letter} shares no workload with A");
        }
        [] => "nothing could be compared".to_owned(),
        [row] => row_sentence(comparison, row, letter),
        rows => {
            let counts = [
                (ComparisonOutcome::Slower, "slower".to_owned()),
                (ComparisonOutcome::Faster, "faster".to_owned()),
                (
                    ComparisonOutcome::Equivalent,
                    format!("equivalent within {}", margin_text(comparison)),
                ),
                (ComparisonOutcome::Inconclusive, "inconclusive".to_owned()),
            ];
            let parts = counts.into_iter().filter_map(|(outcome, word)| {
                let n = rows.iter().filter(|row| row.outcome == outcome).count();
                (n > 0).then(|| format!("{n} {word}"))
            });
            let parts: Vec<String> = parts.collect();
            let why = common_reason(rows).map(|why| {
                let mut firsts = rows.iter().filter_map(|row| row.metrics.first());
                match firsts.any(|metric| change(metric).value.is_some()) {
                    true => format!(" (no interval: {why})"),
                    false => format!(" ({why})"),
                }
            });
            let changes = changes(rows).map_or(String::new(), |range| format!(", changes {range}"));
            let why = why.unwrap_or_default();
            let is_open = rows[0].outcome == ComparisonOutcome::Inconclusive;
            let all_are = parts.len() == 1 && why.is_empty() && !is_open;
            match leanings(comparison, rows) {
                None if all_are => {
                    let word = parts[0].split_once(' ').map_or("", |(_, word)| word);
                    let is = verb(comparison);
                    format!("{letter} {is} {word} in all {} rows{changes}", rows.len())
                }
                Some(looks) => format!(
                    "{letter} looks {looks} of {} rows, not proven{changes}{why}",
                    rows.len()
                ),
                None => format!(
                    "{letter} against A in {} rows: {}{changes}{why}",
                    rows.len(),
                    parts.join(", ")
                ),
            }
        }
    };
    match comparison.standing {
        // That the sides were not measured in turns is said beside it, as a reason.
        Standing::Proven | Standing::Indicative => what,
        Standing::Unproven => format!("Not proven: {what}"),
    }
}

/// What B does: it is something, or it looks like it where the whole is not proven.
fn verb(comparison: &Comparison) -> &'static str {
    match comparison.standing {
        Standing::Unproven => "looks",
        Standing::Proven | Standing::Indicative => "is",
    }
}

/// From the lowest to the highest change of what decides: `-3.1 % to +8.2 %`.
fn changes(rows: &[ComparedRow]) -> Option<String> {
    let deciding = rows.iter().filter_map(|row| row.metrics.first());
    let known = deciding.map(change).filter(|change| change.value.is_some());
    let mut known: Vec<Estimate> = known.collect();
    known.sort_by(|a, b| a.value.partial_cmp(&b.value).unwrap_or(Ordering::Equal));
    let (lowest, highest) = (change_text(known.first()?), change_text(known.last()?));
    Some(match lowest == highest {
        true => format!("of {lowest}"),
        false => format!("from {lowest} to {highest}"),
    })
}

fn row_sentence(comparison: &Comparison, row: &ComparedRow, letter: char) -> String {
    let Some(metric) = row.metrics.first() else {
        return "nothing could be compared".to_owned();
    };
    let name = metric_name(metric);
    let (change, interval) = change_cells(metric);
    let why = metric.ratio.reason.as_deref().unwrap_or("not measured");
    let figures = match (self::change(metric).value, interval.is_empty()) {
        (Some(_), false) => format!("{name} {change} (95 % interval {interval})"),
        (Some(_), true) => format!("{name} {change} (no interval: {why})"),
        (None, _) => format!("{name} n/a ({why})"),
    };
    match metric.outcome {
        ComparisonOutcome::Faster | ComparisonOutcome::Slower => {
            let word = outcome_word(metric.outcome, metric.metric);
            let verb = match (comparison.standing, metric.metric) {
                (Standing::Unproven, Metric::CpuPerOp) => {
                    format!("{letter} seems to take {word} CPU")
                }
                (Standing::Unproven, _) => format!("{letter} looks {word}"),
                (_, Metric::CpuPerOp) => format!("{letter} takes {word} CPU"),
                _ => format!("{letter} is {word}"),
            };
            let other = opposite(row, metric.outcome);
            let other = other.map_or(String::new(), |other| format!("; {other}"));
            format!("{verb}: {figures}{other}")
        }
        ComparisonOutcome::Equivalent => {
            let margin = margin_text(comparison);
            let is = verb(comparison);
            format!("{letter} {is} equivalent to A within {margin}: {figures}")
        }
        ComparisonOutcome::Inconclusive => {
            let more = more_text(comparison, metric);
            let more = more.map_or(String::new(), |more| format!("; {more}"));
            match leaning(comparison, metric) {
                Some(word) => {
                    format!("{letter} looks {word}, which is not proven: {figures}{more}")
                }
                None => format!("{letter} against A is inconclusive: {figures}{more}"),
            }
        }
    }
}

/// What B looks like where no interval could prove it: faster or slower by more than the
/// margin.
fn leaning(comparison: &Comparison, metric: &ComparedMetric) -> Option<&'static str> {
    let is_open = metric.outcome == ComparisonOutcome::Inconclusive;
    let change = change(metric);
    let ratio = change.value.filter(|_| is_open && change.low.is_none())?;
    let margin = 1.0 + comparison.margin_percent / 100.0;
    let rose = match ratio {
        ratio if ratio > margin => true,
        ratio if ratio < 1.0 / margin => false,
        _ => return None,
    };
    let outcome = match rose == metric.metric.higher_is_better() {
        true => ComparisonOutcome::Faster,
        false => ComparisonOutcome::Slower,
    };
    Some(outcome_word(outcome, metric.metric))
}

/// How many of the rows look faster, and how many slower, where none is proven to be
/// anything: `faster in 5, slower in 3`.
fn leanings(comparison: &Comparison, rows: &[ComparedRow]) -> Option<String> {
    let is_open = |row: &ComparedRow| row.outcome == ComparisonOutcome::Inconclusive;
    if !rows.iter().all(is_open) {
        return None;
    }
    let deciding = rows.iter().filter_map(|row| row.metrics.first());
    let words: Vec<Option<&str>> = deciding.map(|m| leaning(comparison, m)).collect();
    let count = |word| words.iter().filter(|of| **of == Some(word)).count();
    let parts = ["faster", "slower"].map(|word| (count(word), word));
    let parts = parts.iter().filter(|(n, _)| *n > 0);
    let parts: Vec<String> = parts.map(|(n, word)| format!("{word} in {n}")).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// Why no row has an interval, where it is the same for all: the headline gives it.
pub(crate) fn common_reason(rows: &[ComparedRow]) -> Option<&str> {
    let mut reasons = rows.iter().map(|row| {
        let ratio = &row.metrics.first()?.ratio;
        ratio.reason.as_deref().filter(|_| ratio.value.is_none())
    });
    let first = reasons.next()??;
    reasons.all(|reason| reason == Some(first)).then_some(first)
}

/// The figures that went the other way than the one that decides: `but slower in read
/// p50, read p99`.
fn opposite(row: &ComparedRow, decided: ComparisonOutcome) -> Option<String> {
    let (other, word) = match decided {
        ComparisonOutcome::Faster => (ComparisonOutcome::Slower, "worse"),
        ComparisonOutcome::Slower => (ComparisonOutcome::Faster, "better"),
        _ => return None,
    };
    let others = row.metrics.iter().skip(1);
    let names: Vec<String> = others
        .filter(|metric| metric.outcome == other)
        .map(metric_name)
        .collect();
    (!names.is_empty()).then(|| format!("but {word} in {}", names.join(", ")))
}

/// What would decide an open figure.
pub(crate) fn more_text(comparison: &Comparison, metric: &ComparedMetric) -> Option<String> {
    let least = check::v51::CAVEAT;
    if let Some(planned) = comparison.planned_pairs
        && f64::from(planned) < least
    {
        let pairs = unit::counted(planned.into(), "pair");
        return Some(format!("{pairs} cannot decide, {least:.0} can"));
    }
    metric.more_pairs.map(|more| {
        let units = match (comparison.planned_pairs, more) {
            (Some(_), 1) => "pair",
            (Some(_), _) => "pairs",
            (None, 1) => "trial or run a side",
            (None, _) => "trials or runs a side",
        };
        format!("about {more} more {units} would decide")
    })
}

/// The number of pairs with which the rows that are open would be decided.
pub(crate) fn next_step(comparison: &Comparison) -> Option<String> {
    let planned = comparison.planned_pairs?;
    let deciding = comparison.rows.iter().filter_map(|row| row.metrics.first());
    let open = deciding.filter(|metric| metric.outcome == ComparisonOutcome::Inconclusive);
    let least = check::v51::CAVEAT as u32;
    let wanted = open.filter_map(|metric| match metric.more_pairs {
        _ if planned < least => Some(least),
        more => Some(planned.saturating_add(more?)),
    });
    let wanted = wanted.max()?;
    Some(format!(
        "Ask for more pairs: `--pairs {}`.",
        wanted + wanted % 2
    ))
}

/// `A` with its command, as a line.
pub(crate) fn side_line(side: &ComparedSide) -> String {
    match &side.before {
        Some(before) => format!("{}; before each trial: {before}", side.label),
        None => side.label.clone(),
    }
}

/// Up to four differences, and how many more.
pub(crate) fn differences_line(list: &[Difference]) -> String {
    let named: Vec<String> = list
        .iter()
        .take(NAMED)
        .map(|d| format!("{} ({} against {})", d.name(), d.shown(&d.a), d.shown(&d.b)))
        .collect();
    let more = match list.len().saturating_sub(NAMED) {
        0 => String::new(),
        n => format!(" and {n} more"),
    };
    format!("{}{more}", named.join(", "))
}

/// How it was measured.
pub(crate) fn design_line(comparison: &Comparison) -> String {
    let margin = margin_text(comparison);
    match comparison.planned_pairs {
        Some(pairs) => format!(
            "{} (ABBA); under {} counts as equal",
            unit::counted(pairs.into(), "alternating pair"),
            margin.trim_start_matches('±')
        ),
        None => format!("stored runs, not in turns; margin {margin}"),
    }
}

/// What the control did.
pub(crate) fn control_line(control: &ComparedControl) -> String {
    let change = match control.metric.ratio.value {
        Some(_) => format!(
            "{} {} ({})",
            control_word(control),
            change_text(&control.metric.ratio),
            interval_text(&control.metric.ratio)
        ),
        None => "n/a".to_owned(),
    };
    format!("{} {change}; {}", control.target, control.why)
}

fn control_word(control: &ComparedControl) -> &'static str {
    match (control.moved, control.metric.outcome) {
        (true, _) => "MOVED by",
        (false, ComparisonOutcome::Equivalent) => "stayed:",
        (false, _) => "was not seen to move:",
    }
}

/// The comparison as Markdown.
pub fn markdown(comparison: &Comparison) -> String {
    let mut out = "### fathom compare\n\n".to_owned();
    push_markdown(&mut out, comparison);
    out
}

pub(crate) fn push_markdown(out: &mut String, comparison: &Comparison) {
    let _ = writeln!(out, "**{}**\n", escape(&headline(comparison)));
    let _ = writeln!(out, "- A: {}", escape(&side_line(&comparison.a)));
    let _ = writeln!(out, "- B: {}", escape(&side_line(&comparison.b)));
    let _ = writeln!(out, "- {}", escape(&design_line(comparison)));
    if !comparison.declared.is_empty() {
        let line = differences_line(&comparison.declared);
        let _ = writeln!(out, "- Differs as declared: {}", escape(&line));
    }
    if let Some(control) = &comparison.control {
        let _ = writeln!(out, "- Control: {}", escape(&control_line(control)));
    }
    for reason in &comparison.reasons {
        let _ = writeln!(out, "- {}", escape(reason));
    }
    out.push_str(
        "\n| row | figure | A | B | B against A | 95 % interval | outcome |\n\
         |---|---|--:|--:|--:|--:|---|\n",
    );
    for row in &comparison.rows {
        for (i, metric) in row.metrics.iter().enumerate() {
            let star = if i == 0 { "\\*" } else { "" };
            let (change, interval) = change_cells(metric);
            let _ = writeln!(
                out,
                "| {} | {}{star} | {} | {} | {change} | {interval} | {} |",
                escape(if i == 0 { &row.label } else { "" }),
                escape(&metric_name(metric)),
                side_value(&metric.a, Throughput::Binary),
                side_value(&metric.b, Throughput::Binary),
                table_word(comparison, metric),
            );
        }
    }
    out.push_str("\n\\* decides the row.\n\n");
    for name in &comparison.unmatched {
        let _ = writeln!(out, "- not compared: {}", escape(name));
    }
    for finding in names::objections(&comparison.findings) {
        let _ = writeln!(
            out,
            "- {} {} ({}): {} *{}*",
            escape(&finding.id),
            escape(&finding.name),
            names::status(finding.status),
            escape(&finding.evidence),
            escape(finding.remedy.trim())
        );
    }
    out.push('\n');
}
