//! Completion of words, and of values: the script of a shell asks `fathom complete`
//! for what fits, so that it is short and knows the runs in the store.

use std::time::Duration;

use clap::{Arg, Args, Command};
use clap_complete::Shell;
use fathom_store::Store;

use crate::exit::Exit;
use crate::output_flags::StorePath;
use crate::present;

/// Print what completes a command line.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  fathom complete -- runs show 2026")]
pub(crate) struct Complete {
    /// The words so far without `fathom`; the last one is to be completed.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<String>,
}

/// How long the store may take.
const STORE_PATIENCE: Duration = Duration::from_millis(500);

/// The script for bash: a line for each candidate comes from the program. Bash cuts
/// words at `=` and `:`; the program gets them as they stand on the line. What it
/// answers is data: it is put on the line with the quotes that it needs.
const BASH: &str = r#"_fathom() {
    local rest=${COMP_LINE:0:COMP_POINT} words=() found=() word gap last cut
    for word in "${COMP_WORDS[@]:0:COMP_CWORD+1}"; do
        gap=${rest%%[![:space:]]*}
        rest=${rest#"$gap"}
        [[ $rest == "$word"* ]] || word=$rest
        if [[ -n $gap || ${#words[@]} -eq 0 ]]; then
            words+=("$word")
        else
            words[${#words[@]}-1]+=$word
        fi
        rest=${rest:${#word}}
    done
    last=${words[${#words[@]}-1]}
    cut=${last%"$2"}
    mapfile -t found < <("${words[0]}" complete -- "${words[@]:1}" 2>/dev/null)
    COMPREPLY=()
    for word in "${found[@]}"; do
        [[ $word == "$cut"* ]] || continue
        printf -v word %q "${word#"$cut"}"
        COMPREPLY+=("$word")
    done
}
complete -o default -o bashdefault -F _fathom fathom
"#;

/// The script for zsh.
const ZSH: &str = r#"#compdef fathom
_fathom() {
    local -a found
    found=("${(@f)$("${words[1]}" complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    found=(${found:#})
    (( $#found )) && compadd -a -- found || _files
}
compdef _fathom fathom
"#;

/// The script for fish: files only where nothing else fits.
const FISH: &str = r#"function __fathom_found
    set -l words (commandline -opc) (commandline -ct)
    set -l found ($words[1] complete -- $words[2..-1] 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c fathom -f -a '(__fathom_found)'
"#;

/// Prints the script for a shell.
pub(crate) fn script(shell: Shell, mut all: Command) -> anyhow::Result<Exit> {
    let own = match shell {
        Shell::Bash => Some(BASH),
        Shell::Zsh => Some(ZSH),
        Shell::Fish => Some(FISH),
        _ => None,
    };
    if let Some(script) = own {
        present::write_stdout(script)?;
        return Ok(Exit::Success);
    }
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut all, "fathom", &mut script);
    present::write_stdout(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Success)
}

pub(crate) fn run(complete: &Complete, mut all: Command) -> anyhow::Result<Exit> {
    all.build();
    let Some((last, before)) = complete.words.split_last() else {
        return Ok(Exit::Success);
    };
    let mut text = String::new();
    for candidate in candidates(&all, before, last) {
        text += &format!("{candidate}\n");
    }
    present::write_names(&text)?;
    Ok(Exit::Success)
}

/// What may stand in the place of the last word. What could not be one line of a
/// script's answer is left out.
fn candidates(all: &Command, before: &[String], last: &str) -> Vec<String> {
    let flag = last
        .starts_with("--")
        .then(|| last.split_once('='))
        .flatten();
    let mut found = match flag {
        Some((flag, value)) => {
            let before = [before, &[flag.to_owned()]].concat();
            let values = fitting(all, &before, value, true).into_iter();
            values.map(|value| format!("{flag}={value}")).collect()
        }
        None => fitting(all, before, last, false),
    };
    found.retain(|word| !word.contains(char::is_control));
    found
}

/// What may follow the words before, and begins as the last one does. `joined`: it
/// follows its flag after an equals sign.
fn fitting(all: &Command, before: &[String], last: &str, joined: bool) -> Vec<String> {
    let mut command = all;
    let mut path: Vec<&str> = Vec::new();
    for word in before {
        if let Some(sub) = command.find_subcommand(word) {
            command = sub;
            path.push(sub.get_name());
        }
    }
    if before.len() == 1 && before[0] == "help" {
        let commands = all.get_subcommands().filter(|sub| !sub.is_hide_set());
        let commands = commands.map(|sub| sub.get_name().to_owned());
        let topics = crate::help::topics_of_the_book().chain(["topics"]);
        let found = commands.chain(topics.map(str::to_owned));
        return found.filter(|word| word.starts_with(last)).collect();
    }
    let flag = before.last().and_then(|word| word.strip_prefix("--"));
    let with_value = |arg: &&Arg| {
        let takes = arg.get_action().takes_values() && (joined || !arg.is_require_equals_set());
        takes && arg.get_long().is_some_and(|long| Some(long) == flag)
    };
    let found = match command.get_arguments().find(with_value) {
        _ if last.starts_with('@') => names(),
        Some(arg) => values_of_flag(arg),
        None if joined => Vec::new(),
        None if last.starts_with('-') => flags(command),
        None => words(command, &path, before, last),
    };
    let mut found: Vec<String> = found
        .into_iter()
        .filter(|word| word.starts_with(last))
        .collect();
    found.dedup();
    found
}

/// Names of the user's settings.
fn names() -> Vec<String> {
    let file = crate::settings::load().ok().flatten();
    let names = file.iter().flat_map(|file| &file.names);
    names.map(|named| format!("@{}", named.name)).collect()
}

fn flags(command: &Command) -> Vec<String> {
    let shown = command.get_arguments().filter(|arg| !arg.is_hide_set());
    let longs = shown.filter_map(|arg| arg.get_long());
    longs.map(|long| format!("--{long}")).collect()
}

/// Values that plans and flags know by name.
const NAMED_VALUES: [(&str, &[&str]); 3] = [
    (
        "rw",
        &[
            "read",
            "write",
            "trim",
            "rw",
            "randread",
            "randwrite",
            "randtrim",
            "randrw",
        ],
    ),
    (
        "engine",
        &[
            "uring",
            "libaio",
            "psync",
            "mmap",
            "null",
            "sim",
            "meta",
            "s3",
            "falloc",
            "ftruncate",
        ],
    ),
    ("bs", &["4k", "8k", "16k", "64k", "128k", "1m"]),
];

fn values_of_flag(arg: &Arg) -> Vec<String> {
    let possible = arg.get_possible_values();
    if !possible.is_empty() {
        return possible
            .iter()
            .map(|value| value.get_name().to_owned())
            .collect();
    }
    let named = NAMED_VALUES
        .iter()
        .find(|(flag, _)| arg.get_long() == Some(flag));
    let values = named.map_or(&[][..], |(_, values)| values);
    if arg.get_long() == Some("profile") {
        return aws_profiles();
    }
    values.iter().map(|value| (*value).to_owned()).collect()
}

/// Names of profiles in the user's files for object stores.
fn aws_profiles() -> Vec<String> {
    let home = std::env::var_os("HOME").map(std::path::PathBuf::from);
    let path = std::env::var_os("AWS_SHARED_CREDENTIALS_FILE")
        .map(std::path::PathBuf::from)
        .or_else(|| Some(home?.join(".aws/credentials")));
    let text = path.and_then(|path| fathom_deadline::paths::read_text_soon(&path, 1 << 20).ok());
    let text = text.unwrap_or_default();
    let headings = text
        .lines()
        .filter_map(|line| line.trim().strip_prefix('['));
    headings
        .filter_map(|rest| Some(rest.strip_suffix(']')?.to_owned()))
        .collect()
}

/// Names of commands, or values of a positional argument.
fn words(command: &Command, path: &[&str], before: &[String], last: &str) -> Vec<String> {
    let subcommands: Vec<String> = command
        .get_subcommands()
        .filter(|sub| !sub.is_hide_set())
        .map(|sub| sub.get_name().to_owned())
        .collect();
    if !subcommands.is_empty() {
        return subcommands;
    }
    match path {
        ["runs", "show" | "export" | "rm" | "tag" | "note" | "rename"] | ["report" | "compare"] => {
            runs(store_of(before), last)
        }
        ["explain"] => rules(),
        ["plan", "new"] => fathom_plan::templates()
            .iter()
            .map(|one| one.name.to_owned())
            .collect(),
        ["quick" | "io" | "ping" | "disks" | "stack"] if before.len() == path.len() => devices(),
        _ => possible(command),
    }
}

fn possible(command: &Command) -> Vec<String> {
    let values = command.get_positionals().flat_map(Arg::get_possible_values);
    values.map(|value| value.get_name().to_owned()).collect()
}

/// The store that is named on the line.
fn store_of(before: &[String]) -> StorePath {
    let mut words = before.iter();
    let named = words.find_map(|word| match word.split_once('=') {
        Some(("--store", path)) => Some(path.to_owned()),
        _ => None,
    });
    let at = before.iter().position(|word| word == "--store");
    let next = at.and_then(|at| before.get(at + 1).cloned());
    StorePath {
        store: named.or(next).map(Into::into),
    }
}

/// Ids of stored runs; all of them, since a shell puts on the line what those have in
/// common that it gets. A store that is locked or does not answer has none: nobody
/// waits for a completion.
fn runs(store: StorePath, beginning: &str) -> Vec<String> {
    let beginning = beginning.to_owned();
    let listed = fathom_deadline::ask_within(STORE_PATIENCE, "the store", move || {
        let path = present::store_path(&store).ok()?;
        let store = Store::open_read_only(path).ok()?;
        store.ids(&beginning).ok()
    });
    let ids = listed.ok().flatten().unwrap_or_default();
    std::iter::once("latest".to_owned()).chain(ids).collect()
}

fn rules() -> Vec<String> {
    let all = fathom_rules::TABLES
        .iter()
        .flat_map(|table| table.rules.iter());
    all.map(|rule| rule.id.to_owned()).collect()
}

/// Block devices of this host.
fn devices() -> Vec<String> {
    let listed = std::path::Path::new("/proc/partitions");
    let text = fathom_deadline::paths::read_text_soon(listed, 1 << 20).unwrap_or_default();
    let names = text
        .lines()
        .skip(2)
        .filter_map(|line| line.split_whitespace().nth(3));
    names
        .filter(|name| {
            !["loop", "ram", "zram"]
                .iter()
                .any(|kind| name.starts_with(kind))
        })
        .map(|name| format!("/dev/{name}"))
        .collect()
}
