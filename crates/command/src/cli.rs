//! Every command and option. The doc comments here are the only source of
//! `--help`, the man page and the completions.

use clap::Parser;
use clap::builder::styling::{AnsiColor, Styles};

use crate::command::Command;

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

const AFTER_HELP: &str = "\
Examples:
  fathom quick             How fast is the disk under this directory?
  fathom help topics       Pages to read: how to measure, what figures mean
  fathom help exit-status  What the exit statuses mean
  fathom help environment  Variables that fathom reads
  fathom --version --json  Version, commit, target and engines of this file
  fathom COMMAND -h        One screen; --help teaches, --help-all has every flag";

/// Measure storage honestly, and learn what limits it.
#[derive(Debug, Parser)]
#[command(name = "fathom", version, styles = STYLES, after_help = AFTER_HELP)]
#[command(arg_required_else_help = true, max_term_width = 100)]
pub(crate) struct Cli {
    /// Write over files that fathom did not write, and through symbolic links.
    #[arg(long, global = true, hide_short_help = true, help_heading = "Output")]
    pub(crate) force: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}
