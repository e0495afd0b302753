//! Flags of commands that print a result: its format, the report, the store.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, ValueEnum};
use fathom_report::{RUN_FORMATS, RunFormat};

/// Where runs are stored.
#[derive(Debug, Clone, Default, Args)]
pub struct StorePath {
    /// The store to use instead of $FATHOM_STORE or the one in the user's
    /// data directory.
    #[arg(long, value_name = "FILE")]
    pub store: Option<PathBuf>,
}

/// How a result is printed.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Output")]
pub struct Format {
    /// The document that is printed in place of text.
    #[command(flatten)]
    pub document: DocumentFlag,
    /// Write the result here instead of to standard output. A name that ends in
    /// .html, .json, .csv or .md chooses the format.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Show throughput in decimal units (MB/s = 10^6 bytes/s).
    #[arg(long)]
    pub decimal: bool,
    /// Show every check, also those that passed.
    #[arg(long, short)]
    pub verbose: bool,
    /// When to use colour.
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    pub color: Color,
}

/// One of [`RUN_FORMATS`] or HTML, by `--format` or by the flag of its name; text where
/// none is given.
#[derive(Clone, Copy, Default)]
pub struct DocumentFlag(Option<&'static RunFormat>);

impl DocumentFlag {
    /// The format of this name; text where there is none.
    pub fn named(name: &str) -> DocumentFlag {
        DocumentFlag(by_name(name))
    }

    /// The format that was chosen.
    pub fn chosen(self) -> Option<&'static RunFormat> {
        self.0
    }

    /// Whether a format of this name was chosen.
    pub fn is(self, name: &str) -> bool {
        self.0.is_some_and(|format| format.name == name)
    }
}

impl std::fmt::Debug for DocumentFlag {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = self.0.map(|format| format.name);
        out.debug_tuple("DocumentFlag").field(&name).finish()
    }
}

/// The report as a page.
static HTML: RunFormat = RunFormat {
    name: "html",
    help: "Print the report as HTML",
    render: fathom_report::html::render,
};

/// The value of `--format` that is no document.
const TEXT: &str = "text";

/// Id of `--format`.
const NAMED: &str = "named format";

impl Args for DocumentFlag {
    fn augment_args(command: Command) -> Command {
        let flag = |format: &RunFormat| {
            let arg = Arg::new(format.name).long(format.name).help(format.help);
            // What `--format` does as well; JSON is asked for the most.
            let hidden = arg.hide(format.name != "json");
            hidden.action(ArgAction::SetTrue).group("format")
        };
        let names = RUN_FORMATS.iter().chain([&HTML]).map(|format| format.name);
        let named = Arg::new(NAMED)
            .long("format")
            .value_name("FORMAT")
            .value_parser(PossibleValuesParser::new([TEXT].into_iter().chain(names)))
            .help("text, json, csv, markdown or html; default: as the file is called, else text")
            .group("format");
        command.arg(named).args(RUN_FORMATS.iter().map(flag))
    }

    fn augment_args_for_update(command: Command) -> Command {
        DocumentFlag::augment_args(command)
    }
}

fn by_name(name: &str) -> Option<&'static RunFormat> {
    RUN_FORMATS.iter().chain([&HTML]).find(|f| f.name == name)
}

/// What the name of the file of [`Format::output`] asks for.
fn format_of_file(matches: &ArgMatches) -> Option<&'static str> {
    let output = matches.try_get_one::<PathBuf>("output").ok()??;
    crate::shown::format_of_name(output)
}

impl FromArgMatches for DocumentFlag {
    fn from_arg_matches(matches: &ArgMatches) -> Result<DocumentFlag, clap::Error> {
        let named = matches.get_one::<String>(NAMED);
        let given = match named {
            Some(name) => by_name(name),
            None => RUN_FORMATS
                .iter()
                .find(|format| matches.get_flag(format.name))
                .or_else(|| by_name(format_of_file(matches)?)),
        };
        Ok(DocumentFlag(given))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = DocumentFlag::from_arg_matches(matches)?;
        Ok(())
    }
}

/// When to use colour.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl Color {
    /// Colour or none, where that is decided.
    pub fn when(colored: bool) -> Color {
        if colored { Color::Always } else { Color::Never }
    }
}

/// Output of commands that measure.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Output")]
pub struct Output {
    /// How it is printed.
    #[command(flatten)]
    pub format: Format,
    /// Write the HTML report here instead of beside the store.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// No progress and no notes.
    #[arg(long, short)]
    pub quiet: bool,
    /// Exit with status 3 when the result has caveats.
    #[arg(long)]
    pub strict: bool,
    /// Where metrics go.
    #[command(flatten)]
    pub metrics: crate::metrics::MetricsArgs,
    /// Where the run is stored.
    #[command(flatten)]
    pub store: StorePath,
}
