//! Flags that other tools have under another name: what a command calls the one that was
//! typed.

use std::ffi::OsString;

use clap::Command;

/// Names of one meaning. Those that a command has are its own names for it.
const MEANINGS: [&[&str]; 7] = [
    &[
        "runtime", "for", "seconds", "time", "duration", "secs", "length", "t",
    ],
    &[
        "iodepth",
        "depth",
        "io-depth",
        "queue",
        "outstanding",
        "in-flight",
    ],
    &[
        "numjobs",
        "concurrency",
        "clients",
        "connections",
        "parallel",
        "processes",
        "nproc",
    ],
    &[
        "bs",
        "size",
        "block",
        "io-size",
        "chunk-size",
        "request-size",
    ],
    &[
        "rwmixread",
        "read-percent",
        "read-ratio",
        "reads",
        "readpct",
    ],
    &[
        "rw",
        "pattern",
        "random",
        "sequential",
        "rand",
        "seq",
        "workload",
    ],
    &["output", "out", "outfile", "output-file", "save", "o"],
];

/// The flags of a command that mean what `typed` means elsewhere, without dashes.
pub(crate) fn own_name(command: &Command, typed: &str) -> Option<String> {
    let meaning = MEANINGS.iter().find(|names| names.contains(&typed))?;
    let own = meaning.iter().find_map(|name| {
        command.get_arguments().find(|flag| {
            let aliases = flag.get_all_aliases().unwrap_or_default();
            flag.get_long() == Some(name) || aliases.contains(name)
        })
    })?;
    own.get_long().map(str::to_owned)
}

/// The command that arguments call, as far as they name one: `fathom runs list`.
pub(crate) fn called<'a>(all: &'a Command, arguments: &[OsString]) -> &'a Command {
    let words = arguments.iter().skip(1).filter_map(|word| word.to_str());
    let mut found = all;
    for word in words {
        match found.find_subcommand(word) {
            Some(command) => found = command,
            None => break,
        }
    }
    found
}
