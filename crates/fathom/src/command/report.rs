//! `fathom report`: the HTML report of a stored run.

use std::path::Path;

use anyhow::Context;
use fathom_store::Store;

use crate::cli::Report;
use crate::exit::Exit;
use crate::present;

pub(crate) fn run(report: &Report) -> anyhow::Result<Exit> {
    let store = Store::open_read_only(&present::store_path(&report.store)?)?;
    let record = store.load(&store.find(&report.run)?)?;
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
