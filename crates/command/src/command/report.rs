//! `fathom report`: the HTML report of a stored run.

mod images;

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, ValueEnum};
use fathom_outputs::Mark;
use fathom_runs::network::{self, NetworkDisplay};

use crate::command::runs::{self, load};
use crate::exit::{CommandError, Exit};
use crate::output_flags::{DocumentFlag, Format, StorePath};
use crate::{present, shown};

/// The formats of a stored run; a page where none is asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum ReportFormat {
    #[default]
    Html,
    Text,
    Json,
    Csv,
    Markdown,
}

/// Write the HTML report of a stored run, or its charts as images.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  fathom report latest
  fathom report latest -o disk.html
  fathom report latest --format markdown       The same for a ticket, on standard output
  fathom report latest --summary -o disk.html  One page to print, with the main charts
  fathom report latest --png charts/           Each chart as an image for a ticket
  fathom report latest --svg main.svg          The first chart, for slides or a paper")]
pub(crate) struct Report {
    /// Id, the start of one, `latest`, `latest~N`, a label or a tag.
    #[arg(default_value = "latest")]
    pub(crate) run: String,
    /// Where to write it; `-` is standard output. Default: a page goes beside the store,
    /// other formats to standard output. A name that ends in .html, .json, .csv or .md
    /// chooses the format.
    #[arg(short, long, value_name = "FILE", alias = "html")]
    pub(crate) output: Option<PathBuf>,
    /// How it is written. Default: as the name of the file ends, else as a page.
    #[arg(long, value_enum, value_name = "FORMAT", conflicts_with_all = ["summary", "svg", "png"])]
    format: Option<ReportFormat>,
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

impl Report {
    /// The requested format, by the flag or by the name of the file.
    fn format(&self) -> ReportFormat {
        let of_name = || {
            let name = shown::format_of_name(self.output.as_deref()?)?;
            ReportFormat::from_str(name, true).ok()
        };
        self.format.or_else(of_name).unwrap_or_default()
    }

    /// The flags of a command that prints this format; nothing for a page.
    fn printed(&self) -> Option<Format> {
        let format = self.format();
        let name = format.to_possible_value()?;
        let file = self.output.clone().filter(|path| path != Path::new("-"));
        (format != ReportFormat::Html).then(|| Format {
            document: DocumentFlag::named(name.get_name()),
            output: file,
            ..Format::default()
        })
    }
}

/// What a page cannot be written as, and what makes it.
const OTHER_ENDINGS: [(&str, &str); 3] = [
    (
        "png",
        "--png FILE writes the first chart, --png FOLDER all of them",
    ),
    (
        "svg",
        "--svg FILE writes the first chart, --svg FOLDER all of them",
    ),
    (
        "pdf",
        "write a .html with --summary and print it to a file in a browser",
    ),
];

/// The name of a file promises what is in it.
fn admit_name(report: &Report) -> Result<(), CommandError> {
    let ending = report.output.as_deref().and_then(Path::extension);
    let ending = ending.unwrap_or_default().to_ascii_lowercase();
    match OTHER_ENDINGS.iter().find(|(other, _)| ending == *other) {
        Some((other, instead)) => {
            let problem = format!("--output writes a page and no .{other}\nhelp: {instead}");
            Err(CommandError::Usage(problem))
        }
        None => Ok(()),
    }
}

pub(crate) fn run(report: &Report) -> anyhow::Result<Exit> {
    admit_name(report)?;
    if let Some(format) = report.printed() {
        return runs::show(&present::store_path(&report.store)?, &report.run, &format);
    }
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
        None if report.summary => present::report_path(&report.store, &present::summary_name(id))?,
        None => present::report_path(&report.store, id)?,
    };
    present::write_file(&path, Mark::Page, html)?;
    present::write_stdout(&format!("{}\n", path.display()))?;
    Ok(Exit::Success)
}
