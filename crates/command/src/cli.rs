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
  fathom quick                       How fast is the disk under this directory?
  fathom io /data --rw randread --bs 4k --iodepth 32
                                     One workload, with the flags you know
  fathom meta /data                  Many small files: create, stat, read, unlink
  fathom ping /data                  Latency, request by request
  fathom disks --show                Which data disks there are, to be tested
  fathom net node2                   The network to a host that runs `net serve`
  fathom plan new database > db.yaml && fathom run db.yaml
                                     A plan with comments, then its run
  fathom curve load /data --slo 'p99<2ms'
                                     How much load keeps the tail short?
  fathom runs list                   What has been measured so far
  fathom ab /mnt/old /mnt/new --rw randread
                                     Which is faster? Measured in turns
  fathom explain V01                 What a finding means and what to do
  fathom judge fio.json              What can be believed of a result of fio
  fathom record --for 10m            What this host does, to be diagnosed
  fathom diagnose iostat.json        Is the storage the bottleneck: yes or no

Every result answers three questions: is it true (validity), what set it
(limiter), and, if you set a target, is it good enough (fitness).

Exit status: 0 trusted, 1 failure, 2 usage, 3 caveats (only with --strict),
4 not trusted, 5 interrupted, 6 a target (--slo) is not proven to be held;
comparisons: 7 slower, 8 faster, 9 not decided, as --fail-on asks.";

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
