//! `fathom report`: the HTML report of a stored run.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use fathom_outputs::Mark;
use fathom_runs::network::{self, NetworkDisplay};

use crate::command::runs::load;
use crate::exit::Exit;
use crate::output_flags::StorePath;
use crate::present;

/// Write the HTML report of a stored run.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  fathom report latest\n  fathom report latest -o disk.html")]
pub(crate) struct Report {
    /// Id, the start of one, `latest` or `latest~N`.
    #[arg(default_value = "latest")]
    pub(crate) run: String,
    /// Where to write it; `-` is standard output. Default: beside the store.
    #[arg(short, long)]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) store: StorePath,
}

pub(crate) fn run(report: &Report) -> anyhow::Result<Exit> {
    let record = load(&present::store_path(&report.store)?, &report.run)?;
    if let Some(page) = network::page(&record, NetworkDisplay::Html) {
        return write_network(report, &record.meta.id, &page?);
    }
    let judged = fathom_studies::judge(&record);
    if report.output.as_deref() == Some(Path::new("-")) {
        let html = fathom_report::html::render(&judged).context("cannot render the report")?;
        present::write_stdout(&html)?;
        return Ok(Exit::Success);
    }
    let path = present::write_html(&judged, report.output.as_deref(), &report.store)?;
    present::write_stdout(&format!("{}\n", path.display()))?;
    Ok(Exit::Success)
}

/// The page of a network measurement.
fn write_network(report: &Report, id: &str, html: &str) -> anyhow::Result<Exit> {
    let path = match report.output.as_deref() {
        Some(path) if path == Path::new("-") => {
            present::write_stdout(html)?;
            return Ok(Exit::Success);
        }
        Some(path) => path.to_owned(),
        None => present::report_path(&report.store, id)?,
    };
    present::write_file(&path, Mark::Page, html)?;
    present::write_stdout(&format!("{}\n", path.display()))?;
    Ok(Exit::Success)
}
