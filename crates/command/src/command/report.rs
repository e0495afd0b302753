//! `fathom report`: the HTML report of a stored run.

mod images;

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use fathom_outputs::Mark;
use fathom_runs::network::{self, NetworkDisplay};

use crate::command::runs::load;
use crate::exit::{CommandError, Exit};
use crate::output_flags::StorePath;
use crate::present;

/// Write the HTML report of a stored run, or its charts as images.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  fathom report latest
  fathom report latest -o disk.html
  fathom report latest --summary -o disk.html  One page to print, with the main charts
  fathom report latest --png charts/           Each chart as an image for a ticket
  fathom report latest --svg main.svg          The first chart, for slides or a paper")]
pub(crate) struct Report {
    /// Id, the start of one, `latest` or `latest~N`.
    #[arg(default_value = "latest")]
    pub(crate) run: String,
    /// Where to write it; `-` is standard output. Default: beside the store.
    #[arg(short, long)]
    pub(crate) output: Option<PathBuf>,
    /// Write a short version to print: the figures, the verdict and the results on one page,
    /// the main charts on a second one.
    #[arg(long, conflicts_with_all = ["svg", "png"])]
    pub(crate) summary: bool,
    /// Write each chart as SVG into this folder, or the first one as FILE.svg, instead of
    /// the page.
    #[arg(long, value_name = "FOLDER|FILE.svg", conflicts_with = "output")]
    pub(crate) svg: Option<PathBuf>,
    /// Write each chart as PNG into this folder, or the first one as FILE.png, instead of
    /// the page.
    #[arg(long, value_name = "FOLDER|FILE.png", conflicts_with = "output")]
    pub(crate) png: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) store: StorePath,
}

pub(crate) fn run(report: &Report) -> anyhow::Result<Exit> {
    let record = load(&present::store_path(&report.store)?, &report.run)?;
    if report.svg.is_some() || report.png.is_some() {
        return images::write(&record, report.svg.as_deref(), report.png.as_deref());
    }
    if let Some(page) = network::page(&record, NetworkDisplay::Html) {
        if report.summary {
            let problem = "--summary: a measurement of a network has no summary, its page is short";
            return Err(CommandError::usage(problem).into());
        }
        return write_page(report, &record.meta.id, &page?);
    }
    let judged = fathom_studies::judge(&record);
    let html = match report.summary {
        true => fathom_report::html::summary_page::render(&judged),
        false => fathom_report::html::render(&judged),
    };
    write_page(
        report,
        &record.meta.id,
        &html.context("cannot render the report")?,
    )
}

/// The page at the path that was chosen, or beside the store.
fn write_page(report: &Report, id: &str, html: &str) -> anyhow::Result<Exit> {
    let path = match report.output.as_deref() {
        Some(path) if path == Path::new("-") => {
            present::write_stdout(html)?;
            return Ok(Exit::Success);
        }
        Some(path) => path.to_owned(),
        None if report.summary => present::report_path(&report.store, &format!("{id}-summary"))?,
        None => present::report_path(&report.store, id)?,
    };
    present::write_file(&path, Mark::Page, html)?;
    present::write_stdout(&format!("{}\n", path.display()))?;
    Ok(Exit::Success)
}
