//! Flags of commands that print a result: its format, the report, the store.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

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
    /// Print JSON (schema fathom.run/1) and nothing else on standard output.
    #[arg(long, group = "format")]
    pub json: bool,
    /// Print CSV.
    #[arg(long, group = "format")]
    pub csv: bool,
    /// Print Markdown.
    #[arg(long, group = "format")]
    pub markdown: bool,
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
