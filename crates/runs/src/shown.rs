//! Flags of commands that print one document: its format, where to, and in colour or not.

use std::io::stdout;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use fathom_outputs::Mark;

use crate::output_flags::Color;
use crate::present::{use_color, write_file, write_stdout};

/// The formats of a command.
pub trait DocumentFormat: ValueEnum + Default + PartialEq + Copy + Send + Sync + 'static {
    /// What `--json` asks for.
    const JSON: Self;

    /// What a file in this format begins with: an existing one without it is another's.
    fn mark(self) -> Mark {
        let is_page = self
            .to_possible_value()
            .is_some_and(|value| value.get_name() == "html");
        match is_page {
            true => Mark::Page,
            false => Mark::Document,
        }
    }
}

/// Formats of a command that has two.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum TextOrJson {
    /// For the terminal.
    #[default]
    Text,
    /// One document.
    Json,
}

impl DocumentFormat for TextOrJson {
    const JSON: TextOrJson = TextOrJson::Json;
}

/// How the one document of a command is printed.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Output")]
pub struct Shown<F: DocumentFormat> {
    /// How it is printed. Default: as the name of the file ends, else text.
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<F>,
    /// The same as --format json.
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Write it here instead of to standard output.
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print only the result.
    #[arg(long, short)]
    quiet: bool,
    /// When to use colour.
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    color: Color,
}

impl<F: DocumentFormat> Shown<F> {
    /// Whether neither progress nor notes are wanted.
    pub fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// The format that was chosen.
    pub fn format(&self) -> F {
        match (self.json, self.format) {
            (true, _) => F::JSON,
            (false, Some(format)) => format,
            (false, None) => self.of_file_name().and_then(Result::ok).unwrap_or_default(),
        }
    }

    /// The format that the name of the file asks for, or its name where the command has
    /// no such format.
    fn of_file_name(&self) -> Option<Result<F, &'static str>> {
        let name = format_of_name(self.output.as_deref()?)?;
        Some(F::from_str(name, true).map_err(|_| name))
    }

    /// Whether one document of JSON is asked for.
    pub fn is_json(&self) -> bool {
        self.format() == F::JSON
    }

    /// Whether text gets colour.
    pub fn is_colored(&self) -> bool {
        self.output.is_none() && use_color(self.color, &stdout())
    }

    /// Columns of text, where a terminal or a variable tells.
    pub fn terminal_columns(&self) -> Option<usize> {
        match self.output {
            Some(_) => None,
            None => fathom_console::terminal_columns(),
        }
    }

    /// Columns of text.
    pub fn columns(&self) -> usize {
        match self.output {
            Some(_) => FILE_COLUMNS,
            None => fathom_console::columns(),
        }
    }

    /// Looks before the work begins whether the file may be written.
    ///
    /// # Errors
    /// The file is another's, cannot be written, or is named for a format that the
    /// command does not have.
    pub fn admit(&self) -> anyhow::Result<()> {
        if let Some(path) = &self.output {
            if let (None, false, Some(Err(name))) = (self.format, self.json, self.of_file_name()) {
                return Err(UnknownFormat::new::<F>(path, name).into());
            }
            fathom_console::admit(path, self.format().mark())?;
        }
        Ok(())
    }

    /// Prints the document, or writes it to its file.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&self, text: &str) -> anyhow::Result<()> {
        match &self.output {
            Some(path) => Ok(write_file(path, self.format().mark(), text)?),
            None => write_stdout(text),
        }
    }
}

/// A page beside the document.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Output")]
pub struct AlsoPage {
    /// Also write a page to this file.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

impl AlsoPage {
    /// Looks before the work begins whether the file may be written.
    ///
    /// # Errors
    /// The file is another's, or cannot be written.
    pub fn admit(&self) -> anyhow::Result<()> {
        if let Some(path) = &self.html {
            fathom_console::admit(path, Mark::Page)?;
        }
        Ok(())
    }

    /// Writes the page where one is asked for.
    ///
    /// # Errors
    /// It cannot be made or written.
    pub fn write(
        &self,
        page: impl FnOnce() -> fathom_report::Result<String>,
    ) -> anyhow::Result<()> {
        match &self.html {
            Some(path) => Ok(write_file(path, Mark::Page, &page()?)?),
            None => Ok(()),
        }
    }
}

/// A file is named for a format that a command does not have.
#[derive(Debug, thiserror::Error)]
#[error(
    "{}: this command has no format {name}\nhelp: --format {formats}, or a file of another name",
    path.display()
)]
pub struct UnknownFormat {
    path: PathBuf,
    name: &'static str,
    formats: String,
}

impl UnknownFormat {
    fn new<F: DocumentFormat>(path: &Path, name: &'static str) -> UnknownFormat {
        let values = F::value_variants().iter();
        let names =
            values.filter_map(|value| Some(value.to_possible_value()?.get_name().to_owned()));
        UnknownFormat {
            path: path.to_owned(),
            name,
            formats: names.collect::<Vec<_>>().join("|"),
        }
    }
}

/// The format that the ending of a file's name stands for; `None` for `result.txt` or
/// `result`.
pub fn format_of_name(path: &Path) -> Option<&'static str> {
    let ending = path.extension()?.to_str()?.to_ascii_lowercase();
    match ending.as_str() {
        "html" | "htm" => Some("html"),
        "json" => Some("json"),
        "csv" => Some("csv"),
        "md" | "markdown" => Some("markdown"),
        // No command writes these: text under such a name would open nowhere.
        "pdf" => Some("pdf"),
        "xlsx" => Some("xlsx"),
        "docx" => Some("docx"),
        _ => None,
    }
}

/// Columns of text in a file.
pub const FILE_COLUMNS: usize = 80;
