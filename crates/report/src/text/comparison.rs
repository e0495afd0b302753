//! Two sides compared: one table, one sentence.

use fathom_model::comparison::{ComparedMetric, ComparedRow, ComparisonOutcome, Standing};
use fathom_model::figure::Throughput;
use fathom_model::{Comparison, Metric};
use fathom_rules::check;

use super::page::{Page, Tone};
use super::verdict::write_finding;
use crate::comparison as words;
use crate::comparison_gaps;
use crate::names;
use crate::table::{Align, Table, truncate};

/// Whether any change is judged: an interval and an outcome of each to look at.
pub(super) fn shows(comparison: &Comparison) -> bool {
    let mut metrics = comparison.rows.iter().flat_map(|row| &row.metrics);
    metrics.any(|metric| metric.ratio.value.is_some())
}

pub(super) fn write(page: &mut Page, comparison: &Comparison, throughput: Throughput) {
    outcome(page, comparison);
    page.field("A", &words::side_line(&comparison.a));
    page.field("B", &words::side_line(&comparison.b));
    if !comparison.declared.is_empty() {
        page.field("Differs", &words::differences_line(&comparison.declared));
    }
    page.field("Design", &words::design_line(comparison));
    if let Some(control) = &comparison.control {
        page.field("Control", &words::control_line(control));
    }
    page.blank();
    if shows(comparison) {
        let depth = Depth::of(comparison, page.verbose);
        let wide = table(comparison, depth, throughput, page.width);
        match wide.width() <= page.width {
            true => page.table(&wide),
            false => page.table(&narrow_table(comparison, depth, throughput, page.width)),
        }
        page.blank();
    } else if !comparison.rows.is_empty() {
        page.table(&sides(comparison, throughput, page.width));
        page.blank();
    }
    notes(page, comparison);
    objections(page, comparison);
}

/// Rows up to which every figure of each is shown.
const FEW_ROWS: usize = 4;

/// How much is shown of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Depth {
    /// Every figure.
    All,
    /// The one that decides, the tail, and what went the other way: of nine rows, each
    /// figure would be eighty lines.
    Main,
}

impl Depth {
    fn of(comparison: &Comparison, verbose: bool) -> Depth {
        match verbose || comparison.rows.len() <= FEW_ROWS {
            true => Depth::All,
            false => Depth::Main,
        }
    }

    /// The figures of a row, the one that decides first.
    fn figures(self, row: &ComparedRow) -> impl Iterator<Item = (usize, &ComparedMetric)> {
        use ComparisonOutcome::{Faster, Slower};
        let decided = row.metrics.first().map(|metric| metric.outcome);
        let is_main = move |place: usize, metric: &ComparedMetric| {
            let is_tail = metric.metric == Metric::LatencyP99;
            let is_opposite = matches!(
                (decided, metric.outcome),
                (Some(Faster), Slower) | (Some(Slower), Faster)
            );
            place == 0 || is_tail || is_opposite
        };
        let figures = row.metrics.iter().enumerate();
        figures.filter(move |(place, metric)| self == Depth::All || is_main(*place, metric))
    }
}

fn table(comparison: &Comparison, depth: Depth, throughput: Throughput, width: usize) -> Table {
    let mut table = Table::new([
        ("", Align::Left),
        ("A", Align::Right),
        ("B", Align::Right),
        ("change", Align::Right),
        ("95 % interval", Align::Right),
        ("B is", Align::Left),
    ]);
    for row in &comparison.rows {
        table.line(truncate(&row.label, width));
        for (i, metric) in depth.figures(row) {
            let star = if i == 0 { " *" } else { "" };
            let (change, interval) = words::change_cells(metric);
            table.row([
                format!("  {}{star}", words::metric_name(metric)),
                words::side_value(&metric.a, throughput),
                words::side_value(&metric.b, throughput),
                change,
                interval,
                words::table_word(comparison, metric).to_owned(),
            ]);
        }
    }
    table
}

/// The same for a narrow terminal: each change with its outcome, and its interval below.
fn narrow_table(
    comparison: &Comparison,
    depth: Depth,
    throughput: Throughput,
    width: usize,
) -> Table {
    let mut table = Table::new([
        ("", Align::Left),
        ("A", Align::Right),
        ("B", Align::Right),
        ("change, B is", Align::Right),
    ]);
    for row in &comparison.rows {
        table.line(truncate(&row.label, width));
        for (i, metric) in depth.figures(row) {
            let star = if i == 0 { " *" } else { "" };
            let (change, interval) = words::change_cells(metric);
            let outcome = words::table_word(comparison, metric);
            table.row([
                format!("  {}{star}", words::metric_name(metric)),
                words::side_value(&metric.a, throughput),
                words::side_value(&metric.b, throughput),
                match interval.is_empty() {
                    true => format!("{change} {outcome}"),
                    false => format!("{change} {outcome}\n{interval}"),
                },
            ]);
        }
    }
    table
}

/// The two sides where no change can be judged: of several rows the figure that decides.
fn sides(comparison: &Comparison, throughput: Throughput, width: usize) -> Table {
    let mut table = Table::new([
        ("", Align::Left),
        ("", Align::Left),
        ("A", Align::Right),
        ("B", Align::Right),
        ("change", Align::Right),
    ]);
    let most = match comparison.rows.len() {
        1 => usize::MAX,
        _ => 1,
    };
    for row in &comparison.rows {
        for (place, metric) in row.metrics.iter().take(most).enumerate() {
            let name = if place == 0 { row.label.as_str() } else { "" };
            table.row([
                truncate(name, width / 2),
                words::metric_name(metric),
                words::side_value(&metric.a, throughput),
                words::side_value(&metric.b, throughput),
                words::change_cells(metric).0,
            ]);
        }
    }
    table
}

fn notes(page: &mut Page, comparison: &Comparison) {
    let missing = comparison_gaps::missing(comparison);
    if shows(comparison) {
        page.paragraph(0, 0, &signs(comparison, page.verbose));
    } else if missing.is_empty() {
        return;
    }
    for missing in missing {
        page.paragraph(0, 2, &missing);
    }
    page.blank();
}

/// What the signs and words of the table mean.
fn signs(comparison: &Comparison, verbose: bool) -> String {
    let margin = words::margin_text(comparison);
    let mut text = vec!["* the metric that decides.".to_owned()];
    let metrics = || comparison.rows.iter().flat_map(|row| &row.metrics);
    if metrics().any(|m| m.outcome == ComparisonOutcome::Equivalent) {
        text.push(format!(
            "Equivalent: proved to differ by less than {margin}."
        ));
    }
    if metrics().any(|m| words::table_word(comparison, m) == "inconclusive") {
        text.push("Inconclusive: neither a difference nor its absence is proved.".to_owned());
    }
    if Depth::of(comparison, verbose) == Depth::Main {
        text.push("All figures: --verbose.".to_owned());
    }
    text.join(" ")
}

fn outcome(page: &mut Page, comparison: &Comparison) {
    let text = words::headline(comparison);
    let tone = match (comparison.standing, comparison.outcome) {
        (Standing::Unproven, _) | (_, ComparisonOutcome::Inconclusive) => Tone::Warning,
        (_, ComparisonOutcome::Slower) => Tone::Bad,
        (_, ComparisonOutcome::Faster | ComparisonOutcome::Equivalent) => Tone::Good,
    };
    let first = text.split([':', ';']).next().unwrap_or_default().to_owned();
    page.field_toned("Outcome", &text, Some((&first, tone)));
    for reason in &comparison.reasons {
        page.paragraph(10, 12, reason);
    }
}

/// What speaks against the comparison: rows of one side only, checks that failed.
fn objections(page: &mut Page, comparison: &Comparison) {
    for name in &comparison.unmatched {
        page.paragraph(0, 2, &format!("Not compared: {name}"));
    }
    let verbose = page.verbose;
    // That pairs are too few the headline says.
    let mut objections = names::objections(&comparison.findings);
    objections.retain(|finding| verbose || finding.id != check::id::V51);
    for finding in &objections {
        write_finding(page, finding);
    }
    if verbose {
        let others = comparison.findings.iter();
        for finding in others.filter(|f| !objections.contains(f)) {
            write_finding(page, finding);
        }
    }
}
