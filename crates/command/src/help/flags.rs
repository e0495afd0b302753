//! Which flags matter most, and what they are where they are not given.

use clap::{Arg, ArgAction, Command};
use fathom_model::curve::Sweep;
use fathom_studies::curve::swept_keys;

/// Flags that most people need, of all commands, the most wanted first.
const BASIC: [&str; 28] = [
    "vary",
    "pairs",
    "max-depth",
    "blocks",
    "sets",
    "positions",
    "rw",
    "bs",
    "iodepth",
    "numjobs",
    "size",
    "runtime",
    "seconds",
    "for",
    "destructive",
    "read-only",
    "output",
    "html",
    "quiet",
    "verbose",
    "format",
    "rate-iops",
    "rwmixread",
    "fdatasync",
    "slo",
    "json",
    "engine",
    "yes",
];

/// Heading of flags that say how a result is printed.
const OUTPUT: &str = "Output";

/// What flags do that many commands have, in one line.
const IN_SHORT: [(&str, &str); 15] = [
    ("rw", "read, write, randread, randwrite, rw, randrw, trim"),
    ("bs", "Block size"),
    ("rwmixread", "Share of reads in percent, with rw or randrw"),
    ("iodepth", "Operations in flight per worker"),
    ("numjobs", "Workers (threads)"),
    ("size", "Size of the data set"),
    ("runtime", "How long to measure [30s]"),
    ("rate-iops", "Operations per second to request, in all"),
    ("fdatasync", "Call fdatasync after this many writes"),
    ("slo", "Target, such as 'p99<2ms': met or not?"),
    (
        "destructive",
        "Allow devices and existing files to be overwritten",
    ),
    ("json", "Print JSON"),
    ("html", "Write the HTML report here"),
    ("engine", "uring, libaio, psync, mmap, null, sim, meta, s3"),
    ("verbose", "Also show checks that passed"),
];

/// What a flag of many commands does, in one line.
pub(super) fn in_short(arg: &Arg) -> Option<&'static str> {
    let long = arg.get_long()?;
    let found = IN_SHORT.iter().find(|(name, _)| *name == long);
    // A flag of one command says what it means there.
    let shared = arg.get_help_heading().is_some() || matches!(long, "destructive" | "json");
    found.filter(|_| shared).map(|(_, what)| *what)
}

/// The options that are not hidden, in the order of the help.
pub(crate) fn of(command: &Command) -> impl Iterator<Item = &Arg> {
    command.get_arguments().filter(|arg| {
        let is_own = !matches!(arg.get_id().as_str(), "help" | "force");
        is_own && !arg.is_positional() && !arg.is_hide_set()
    })
}

/// Whether a value follows the flag.
pub(crate) fn pairs_with_value(arg: &Arg) -> bool {
    let takes = matches!(arg.get_action(), ArgAction::Set | ArgAction::Append);
    takes && !arg.is_require_equals_set()
}

/// Their ids, the most important first: basic ones, the command's own, the rest.
pub(super) fn ranked(command: &Command) -> Vec<&str> {
    let mut flags: Vec<&Arg> = of(command).collect();
    flags.sort_by_key(|arg| rank(arg, command.get_name()));
    flags.iter().map(|arg| arg.get_id().as_str()).collect()
}

/// Whether a flag is shown by `--help` where not all are.
pub(super) fn is_taught(arg: &Arg, command: &str) -> bool {
    rank(arg, command) < 300
}

/// Headings of flags that a command is about.
const ABOUT: [(&str, &str); 2] = [("s3", "Object stores"), ("meta", "Many files")];

/// Whether a curve sets by itself what the flag says.
fn is_swept(long: &str, command: &str) -> bool {
    let sweep = Sweep::of_name(&command.replace('-', "_"));
    let mut keys = sweep.into_iter().flat_map(swept_keys);
    keys.any(|key| key.replace('_', "-") == long)
}

fn rank(arg: &Arg, command: &str) -> usize {
    let long = arg.get_long().unwrap_or_default();
    if is_swept(long, command) {
        return 400;
    }
    let basic = BASIC.iter().position(|basic| *basic == long);
    let about = |heading: &str| {
        let mut about = ABOUT.iter();
        about.any(|(name, own)| *name == command && heading.starts_with(own))
    };
    let own = match arg.get_help_heading() {
        None => 100,
        Some(heading) if about(heading) => 150,
        Some(OUTPUT) => 200,
        Some(_) => 300,
    };
    basic.unwrap_or(own)
}

/// A longer description of a default is left to `--help`.
const DEFAULT_LONGEST: usize = 14;

/// What holds where the flag is not given.
pub(crate) fn default_of(arg: &Arg) -> Option<String> {
    let given = arg.get_default_values().first();
    if let Some(given) = given.filter(|_| pairs_with_value(arg)) {
        return Some(given.to_string_lossy().into_owned());
    }
    let help = arg.get_long_help().or_else(|| arg.get_help())?.to_string();
    let told = help
        .rsplit_once("[default: ")
        .and_then(|(_, told)| told.split(']').next());
    let told = told.or_else(|| {
        let (_, told) = help.rsplit_once("Default: ")?;
        told.split(['.', ';', ',', '\n']).next()
    });
    told.filter(|told| !matches!(*told, "false" | "none" | "0") && told.len() <= DEFAULT_LONGEST)
        .map(|told| told.split_whitespace().collect::<Vec<_>>().join(" "))
}
