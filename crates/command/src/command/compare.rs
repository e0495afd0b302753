//! `fathom compare`: stored runs side by side.

use std::path::PathBuf;

use clap::Args;
use fathom_analysis::CompareOptions;
use fathom_model::figure::Throughput;
use fathom_model::{Comparison, JudgedRun};
use fathom_outputs::Mark;
use fathom_report::html::compared;
use fathom_report::table::clean;
use fathom_report::text::TextOptions;
use fathom_runs::stored;

use crate::command::ab::{MetricChoice, parse_percent};
use crate::command::gate::{FailOn, gate};
use crate::document_formats::document_formats;
use crate::exit::Exit;
use crate::output_flags::StorePath;
use crate::present;
use crate::shown::Shown;

/// Compare stored runs.
///
/// Rows are matched by label and target. The runs were not measured in turns,
/// so that whatever changed meanwhile is in the difference: the comparison is
/// indicative at best. `fathom ab` measures both sides in turns and proves it.
/// Several runs per side show how much runs differ by themselves.
///
/// What differs between the hosts, targets and workloads is listed, unless it
/// was declared to be what is compared.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  fathom compare latest~1 latest     The last two runs
  fathom compare latest~3,latest~1 latest~2,latest
                                     Two runs a side
  fathom compare latest~3 latest~2 latest~1 latest
                                     Four runs, each beside the first
  fathom compare before.json after.json --markdown
                                     Results that were kept with --json
  fathom compare latest~1 latest --declare kernel
                                     The kernel is what is compared

Exit status: 0, unless --fail-on asks for more: 7 B is slower, 8 B is faster
(different), 9 not decided or unproven (inconclusive). 9 also where nothing
could be compared.")]
pub(crate) struct Compare {
    /// Side A: runs, separated by commas: ids, starts of ids, `latest`,
    /// `latest~N`, labels, tags, or files that --json wrote.
    a: String,
    /// Side B, in the same way; further sides are compared with A too.
    #[arg(required = true, value_name = "B")]
    others: Vec<String>,
    /// Differences up to this count as none.
    #[arg(long, default_value = "3%", value_name = "PERCENT", value_parser = parse_percent)]
    margin: f64,
    /// The figure that decides. Default: ops, bytes where the block sizes
    /// differ, p99 of the response where a rate is asked for.
    #[arg(long, value_enum)]
    metric: Option<MetricChoice>,
    /// Fields that are meant to differ, separated by commas: `kernel`,
    /// `workload.queue_depth`, `target`, ….
    #[arg(long, value_name = "FIELD", value_delimiter = ',')]
    declare: Vec<String>,
    /// Outcomes that end with an exit status of their own.
    #[arg(long, value_enum, value_delimiter = ',', default_value = "never")]
    fail_on: Vec<FailOn>,
    #[command(flatten)]
    shown: Shown<ComparisonFormat>,
    /// Also write a page with the comparison to this file.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    html: Option<PathBuf>,
    /// The same as --format markdown.
    #[arg(long, hide = true, conflicts_with_all = ["format", "json"], help_heading = "Output")]
    markdown: bool,
    /// Show throughput in decimal units (MB/s = 10^6 bytes/s).
    #[arg(long, help_heading = "Output")]
    decimal: bool,
    /// Show every check, also those that passed.
    #[arg(long, short, help_heading = "Output")]
    verbose: bool,
    #[command(flatten)]
    store: StorePath,
}

document_formats!(
    ComparisonFormat: "One document (schema fathom.comparison/1; fathom.comparisons/1 for more sides)",
    /// A page with the comparison.
    Html
);

impl Compare {
    /// Whether it prints documents.
    pub(crate) fn is_json(&self) -> bool {
        self.shown.is_json()
    }
}

pub(crate) fn run(compare: &Compare) -> anyhow::Result<Exit> {
    compare.shown.admit()?;
    let a = stored::side(&compare.a, &compare.store)?;
    let options = CompareOptions {
        margin_percent: compare.margin,
        decides: compare.metric.map(MetricChoice::metric),
        declared: compare.declare.clone(),
    };
    let is_page = compare.shown.format() == ComparisonFormat::Html;
    let mut sides = Vec::new();
    for other in &compare.others {
        let b = stored::side(other, &compare.store)?;
        if let Some((a, b)) = a.iter().find_map(|a| Some((a, a.among(&b)?))) {
            anyhow::bail!(
                "run {} is on both sides ('{}' and '{}'), and a run does not differ from itself: \
                 name other runs, such as latest~1 and latest",
                clean(&a.run.run.id),
                clean(&a.name),
                clean(&b.name),
            );
        }
        sides.push(b.into_iter().map(|one| one.run).collect::<Vec<_>>());
    }
    let a: Vec<_> = a.into_iter().map(|one| one.run).collect();
    let compared = sides.into_iter().map(|b| {
        let comparison = fathom_analysis::compare_runs(&a, &b, &options);
        (comparison, b)
    });
    let compared: Vec<_> = compared.collect();
    let comparisons: Vec<&Comparison> = compared.iter().map(|(comparison, _)| comparison).collect();
    if comparisons
        .iter()
        .all(|comparison| comparison.rows.is_empty())
    {
        // A program that reads the document finds in it why there are no rows.
        if compare.shown.is_json() {
            compare.shown.write(&text(compare, &comparisons)?)?;
        }
        present::complain(&nothing_in_common(&a, &compared));
        return Ok(Exit::Inconclusive);
    }
    match is_page {
        true => compare.shown.write(&compared::render(&a, &compared)?)?,
        false => compare.shown.write(&text(compare, &comparisons)?)?,
    }
    if let Some(path) = &compare.html {
        present::write_file(path, Mark::Page, &compared::render(&a, &compared)?)?;
    }
    let exits = comparisons
        .iter()
        .map(|comparison| gate(comparison, &compare.fail_on));
    // The first exit that is not success speaks for all.
    Ok(exits.fold(Exit::Success, |first, next| match first {
        Exit::Success => next,
        _ => first,
    }))
}

/// What each side has measured, where no two have the same workload.
fn nothing_in_common(a: &[JudgedRun], others: &[(Comparison, Vec<JudgedRun>)]) -> String {
    let others = others.iter().map(|(_, runs)| runs.as_slice());
    let sides = [a].into_iter().chain(others).zip('A'..);
    let sides = sides.map(|(runs, letter)| format!("{letter} has {}", workloads(runs)));
    format!(
        "these runs share no workload, so there is nothing to compare: {}\nhelp: `fathom runs \
         list` shows which runs have the same one",
        sides.collect::<Vec<_>>().join(", ")
    )
}

/// The workloads of a side, the first of them by name.
fn workloads(runs: &[JudgedRun]) -> String {
    let rows = runs.iter().flat_map(|run| &run.rows);
    let mut labels: Vec<String> = rows.map(|row| clean(&row.label)).collect();
    labels.dedup();
    match labels.as_slice() {
        [] => "none".to_owned(),
        [label] => label.clone(),
        [label, others @ ..] => format!("{label} and {} more", others.len()),
    }
}

fn text(compare: &Compare, comparisons: &[&Comparison]) -> anyhow::Result<String> {
    if compare.shown.is_json() {
        return Ok(match comparisons {
            [comparison] => fathom_report::json::render_comparison(comparison)?,
            all => fathom_report::json::render_comparisons(all)?,
        });
    }
    if compare.markdown || compare.shown.format() == ComparisonFormat::Markdown {
        let throughput = Throughput::decimal(compare.decimal);
        return Ok(match comparisons {
            [comparison] => fathom_report::comparison::markdown(comparison),
            all => fathom_report::compared_sides::markdown(all, throughput),
        });
    }
    let options = TextOptions {
        width: compare.shown.columns(),
        color: compare.shown.is_colored(),
        decimal_units: compare.decimal,
        verbose: compare.verbose,
        ..TextOptions::default()
    };
    Ok(match comparisons {
        [comparison] => fathom_report::text::render_comparison(comparison, &options),
        all => {
            let throughput = Throughput::decimal(compare.decimal);
            fathom_report::compared_sides::text(all, throughput, options.width)
        }
    })
}
