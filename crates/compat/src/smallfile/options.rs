//! The options of smallfile's command line and the keys of its YAML file, each
//! declared once: what it takes, and what becomes of it here.

use fathom_model::nearest::nearest;

use super::error::NameError;

/// What an option takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Takes {
    /// `Y` or `N`, in smallfile's spellings.
    Switch,
    /// A whole number from this on.
    Number(u64),
    /// `fixed` or `exponential`.
    Distribution,
    /// An operation.
    Operation,
    /// Any text.
    Text,
}

/// What becomes of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// It means what it means there.
    Meant,
    /// It has no effect here, for this reason; said when it asks for anything
    /// but its default.
    Dead(&'static str),
    /// It is one program of smallfile talking to another.
    Internal,
}

/// One option.
#[derive(Debug, Clone, Copy)]
pub(super) struct OptionRow {
    /// Name without dashes.
    pub(super) name: &'static str,
    pub(super) takes: Takes,
    pub(super) fate: Fate,
    /// Where it may stand: on the command line, in a YAML file.
    pub(super) on_line: bool,
    pub(super) in_file: bool,
}

const fn row(name: &'static str, takes: Takes, fate: Fate) -> OptionRow {
    OptionRow {
        name,
        takes,
        fate,
        on_line: true,
        in_file: true,
    }
}

const fn line_only(name: &'static str, takes: Takes, fate: Fate) -> OptionRow {
    OptionRow {
        in_file: false,
        ..row(name, takes, fate)
    }
}

const fn file_only(name: &'static str, takes: Takes, fate: Fate) -> OptionRow {
    OptionRow {
        on_line: false,
        ..row(name, takes, fate)
    }
}

use Fate::{Dead, Internal, Meant};
use Takes::{Distribution, Number, Operation, Switch, Text};

const NAMES: &str = "files have names by which they are known again, so that nothing else is \
                     ever removed";

/// Every option.
pub(super) const OPTIONS: &[OptionRow] = &[
    line_only("yaml-input-file", Text, Meant),
    row("output-json", Text, Meant),
    row("response-times", Switch, Meant),
    row("network-sync-dir", Text, Meant),
    row("operation", Operation, Meant),
    row("top", Text, Meant),
    row("host-set", Text, Meant),
    row(
        "launch-by-daemon",
        Switch,
        Dead("hosts are reached over ssh; for agents that run already see `fathom agent`"),
    ),
    row("files", Number(1), Meant),
    row("threads", Number(1), Meant),
    row("files-per-dir", Number(1), Meant),
    row("dirs-per-dir", Number(1), Meant),
    // 0 is its default, though it refuses to be told so.
    row("record-size", Number(0), Meant),
    row("file-size", Number(0), Meant),
    row("file-size-distribution", Distribution, Meant),
    row("fsync", Switch, Meant),
    row("xattr-size", Number(0), Meant),
    row("xattr-count", Number(0), Meant),
    row("pause", Number(0), Meant),
    row(
        "auto-pause",
        Switch,
        Dead("the load is as asked for; --pause, or an open loop with `fathom meta --rate`"),
    ),
    row("cleanup-delay-usec-per-file", Number(0), Meant),
    row("stonewall", Switch, Meant),
    row("finish", Switch, Meant),
    row("prefix", Text, Dead(NAMES)),
    row("suffix", Text, Dead(NAMES)),
    row("hash-into-dirs", Switch, Meant),
    row("same-dir", Switch, Meant),
    row("verbose", Switch, Meant),
    row(
        "permute-host-dirs",
        Switch,
        Dead("each host has a tree of its own; `fathom meta --shift 1` crosses workers of a host"),
    ),
    line_only(
        "record-ctime-size",
        Switch,
        Dead("replication is not timed yet"),
    ),
    file_only(
        "record-time-size",
        Switch,
        Dead("replication is not timed yet"),
    ),
    row("verify-read", Switch, Meant),
    row("incompressible", Switch, Meant),
    row(
        "min-dirs-per-sec",
        Number(1),
        Dead("no time is guessed: the load begins when everybody is ready"),
    ),
    line_only(
        "log-to-stderr",
        Switch,
        Dead("there is no log beside the result"),
    ),
    line_only("remote-pgm-dir", Text, Internal),
    line_only("slave", Text, Internal),
    line_only("as-host", Text, Internal),
    line_only(
        "host-count",
        Number(0),
        Dead("hosts are counted from --host-set"),
    ),
    file_only(
        "total-hosts",
        Number(1),
        Dead("hosts are counted from host-set"),
    ),
];

/// The option of that name; on the command line the beginning of a name is
/// enough as long as only one fits.
pub(super) fn find(name: &str) -> Result<&'static OptionRow, NameError> {
    let all = || OPTIONS.iter().filter(|row| row.on_line);
    if let Some(row) = all().find(|row| row.name == name) {
        return Ok(row);
    }
    let fitting: Vec<&OptionRow> = all().filter(|row| row.name.starts_with(name)).collect();
    match fitting.as_slice() {
        [only] if !name.is_empty() => Ok(only),
        [] => Err(NameError::NoOption {
            name: name.to_owned(),
            nearest: nearest(name, all().map(|row| row.name)),
        }),
        several => Err(NameError::Ambiguous {
            name: name.to_owned(),
            options: several.iter().map(|row| row.name).collect(),
        }),
    }
}

/// The key of that name in a YAML file.
pub(super) fn find_key(name: &str) -> Result<&'static OptionRow, NameError> {
    let all = || OPTIONS.iter().filter(|row| row.in_file);
    if let Some(row) = all().find(|row| row.name == name) {
        return Ok(row);
    }
    // Its own file spells it otherwise than its command line.
    if name == "record-ctime-size" {
        return find_key("record-time-size");
    }
    if OPTIONS.iter().any(|row| row.name == name) {
        return Err(NameError::OnlyOnLine(name.to_owned()));
    }
    Err(NameError::NoKey {
        name: name.to_owned(),
        nearest: nearest(name, all().map(|row| row.name)),
    })
}
