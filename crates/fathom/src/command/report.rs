//! `fathom report`: the HTML report of a stored run.

use std::path::Path;

use anyhow::Context;

use crate::cli::Report;
use crate::command::runs::load;
use crate::exit::Exit;
use crate::present;

pub(crate) fn run(report: &Report) -> anyhow::Result<Exit> {
    let record = load(&present::store_path(&report.store)?, &report.run)?;
    let judged = fathom_analysis::judge(&record);
    if report.output.as_deref() == Some(Path::new("-")) {
        let html = fathom_report::html::render(&judged).context("cannot render the report")?;
        present::write_stdout(&html)?;
        return Ok(Exit::Success);
    }
    let path = present::write_html(&judged, report.output.as_deref(), &report.store)?;
    present::write_stdout(&format!("{}\n", path.display()))?;
    Ok(Exit::Success)
}
