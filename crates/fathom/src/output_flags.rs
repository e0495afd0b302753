//! Flags of commands that print a result: its format, the report, the store.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Where runs are stored.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct StorePath {
    /// The store to use instead of $FATHOM_STORE or the one in the user's
    /// data directory.
    #[arg(long, value_name = "FILE")]
    pub(crate) store: Option<PathBuf>,
}

/// How a result is printed.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct Format {
    /// Print JSON (schema fathom.run/1) and nothing else on standard output.
    #[arg(long, group = "format")]
    pub(crate) json: bool,
    /// Print CSV.
    #[arg(long, group = "format")]
    pub(crate) csv: bool,
    /// Print Markdown.
    #[arg(long, group = "format")]
    pub(crate) markdown: bool,
    /// Show throughput in decimal units (MB/s = 10^6 bytes/s).
    #[arg(long)]
    pub(crate) decimal: bool,
    /// Show every check, also those that passed.
    #[arg(long, short)]
    pub(crate) verbose: bool,
    /// When to use colour.
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    pub(crate) color: Color,
}

/// When to use colour.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
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
    pub(crate) fn when(colored: bool) -> Color {
        if colored { Color::Always } else { Color::Never }
    }
}

/// Output of commands that measure.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct Output {
    #[command(flatten)]
    pub(crate) format: Format,
    /// Write the HTML report here instead of beside the store.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// No progress and no notes.
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// Exit with status 3 when the result has caveats.
    #[arg(long)]
    pub(crate) strict: bool,
    #[command(flatten)]
    pub(crate) metrics: crate::metrics::MetricsArgs,
    #[command(flatten)]
    pub(crate) store: StorePath,
}
