//! `fathom config`: what is set, and where from.

use std::path::Path;

use clap::{Args, Command, Subcommand};
use fathom_model::secret::masked;
use fathom_outputs::Mark;
use fathom_report::table::{Align, Table};
use serde_json::{Value, json};

use crate::exit::{CommandError, Exit};
use crate::help::{default_of, options_of};
use crate::present;
use crate::settings::{self, FILE_VARIABLE, Named, Origin, SettingsFile, VARIABLES};

/// Options that are set for good, and names for targets, endpoints, hosts and SLOs.
///
/// They are in ~/.config/fathom/config.toml, or in the file that $FATHOM_CONFIG names.
/// What is typed comes first, then variables, then the section of the command, then
/// [defaults], then what is built in. Options that allow harm (--destructive, --yes,
/// --force) are typed each time.
#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples:
  fathom config init           Write a file with comments to begin with
  fathom config show           What is set, and where
  fathom config show io        Every option of a command, and where its value is from
  fathom io @db --slo @oltp    Names of the file in place of what they stand for")]
pub(crate) enum Config {
    /// Show what is set, and where each value comes from.
    #[command(after_help = "Examples:\n  fathom config show\n  fathom config show runs list")]
    Show(Show),
    /// Look for mistakes in the file.
    #[command(after_help = "Example:\n  fathom config check")]
    Check,
    /// Print where the file is.
    #[command(after_help = "Example:\n  $EDITOR \"$(fathom config path)\"")]
    Path,
    /// Write a file with comments, where there is none.
    #[command(after_help = "Example:\n  fathom config init")]
    Init,
}

/// What is shown.
#[derive(Debug, Args)]
pub(crate) struct Show {
    /// A command, of which every option is shown.
    #[arg(value_name = "COMMAND")]
    command: Vec<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// The first line of what `config init` writes.
const FIRST_LINE: &str =
    "# Settings of fathom. `fathom config show` says what holds, `fathom config check`";

/// What `config init` writes.
const EXAMPLE: &str = "\
# Settings of fathom. `fathom config show` says what holds, `fathom config check`
# looks for mistakes. Options have the names that they have on the command line.

[defaults]
# Of every command that has the option.
# color = \"never\"
# store = \"/srv/fathom/runs.db\"

# A section for a command: [io], [quick], [runs.list] and so on.
# [io]
# runtime = \"60s\"

# Names for targets: fathom io @db, fathom quick @scratch
[targets]
# db = \"/dev/disk/by-id/nvme-example\"
# scratch = \"/srv/scratch\"

# Names for endpoints: fathom s3 get s3://bench/try --endpoint @lab
[endpoints]
# lab = \"https://s3.example.com=profile:lab\"

# Names for hosts: fathom run plan.yaml --hosts @rack1
[hosts]
# rack1 = \"node[01-08]\"

# Names for targets to hold: fathom io @db --slo @oltp
[slos]
# oltp = \"p99<2ms and iops>5k\"
";

pub(crate) fn run(config: Config, mut all: Command) -> anyhow::Result<Exit> {
    match config {
        Config::Show(show) => {
            all.build();
            shown(&show, &all)
        }
        Config::Check => {
            all.build();
            check(&all)
        }
        Config::Path => {
            present::write_stdout(&format!("{}\n", path()?.display()))?;
            Ok(Exit::Success)
        }
        Config::Init => init(),
    }
}

fn path() -> anyhow::Result<std::path::PathBuf> {
    let none = || {
        let what = format!("no file of settings is read: ${FILE_VARIABLE} is empty");
        CommandError::Usage(format!("{what}\nhelp: unset {FILE_VARIABLE}"))
    };
    Ok(settings::path().ok_or_else(none)?)
}

fn init() -> anyhow::Result<Exit> {
    let path = path()?;
    if fathom_deadline::paths::find(&path)?.is_some() {
        let there = format!("{} is there already", path.display());
        let help = format!("help: $EDITOR {}", path.display());
        return Err(CommandError::Usage(format!("{there}\n{help}")).into());
    }
    if let Some(folder) = path.parent() {
        fathom_outputs::make_folder(folder)?;
    }
    present::write_file(&path, Mark::Line(FIRST_LINE), EXAMPLE)?;
    present::write_stdout(&format!("wrote {}\n", path.display()))?;
    Ok(Exit::Success)
}

fn check(all: &Command) -> anyhow::Result<Exit> {
    let Some(file) = settings::load().map_err(CommandError::usage)? else {
        let none = settings::path().map(|path| format!(": there is no {}", path.display()));
        present::write_stdout(&format!("nothing is set{}\n", none.unwrap_or_default()))?;
        return Ok(Exit::Success);
    };
    let mistakes = file.mistakes(all);
    if !mistakes.is_empty() {
        let told = mistakes.iter().map(ToString::to_string).collect();
        return Err(CommandError::Several(told).into());
    }
    let options: usize = file
        .sections
        .iter()
        .map(|section| section.settings.len())
        .sum();
    let count = |many: usize, what: &str| fathom_model::unit::counted(many as u64, what);
    let text = format!(
        "{}: {} and {}, all right\n",
        file.path.display(),
        count(options, "option"),
        count(file.names.len(), "name"),
    );
    present::write_stdout(&text)?;
    Ok(Exit::Success)
}

/// A line of what is set.
struct Row {
    command: String,
    option: String,
    value: Option<String>,
    origin: String,
}

fn shown(show: &Show, all: &Command) -> anyhow::Result<Exit> {
    let file = settings::load().map_err(CommandError::usage)?;
    let mistakes = file
        .as_ref()
        .map(|file| file.mistakes(all))
        .unwrap_or_default();
    if !mistakes.is_empty() {
        let told = mistakes.iter().map(ToString::to_string).collect();
        return Err(CommandError::Several(told).into());
    }
    let file = file.as_ref();
    let rows = match show.command.is_empty() {
        true => rows_of_file(file),
        false => rows_of_command(file, all, &show.command)?,
    };
    let text = match show.json {
        true => fathom_model::indented_json(&as_json(file, &rows))? + "\n",
        false => as_text(file, &rows, show.command.is_empty()),
    };
    present::write_stdout(&text)?;
    Ok(Exit::Success)
}

/// What the file and the variables set.
fn rows_of_file(file: Option<&SettingsFile>) -> Vec<Row> {
    let mut rows: Vec<Row> = VARIABLES
        .iter()
        .filter(|(option, _)| settings::variable_of(option).is_some())
        .map(|(option, name)| Row {
            command: "all".to_owned(),
            option: (*option).to_owned(),
            value: value_of_variable(option, name),
            origin: format!("${name}"),
        })
        .collect();
    for section in file.iter().flat_map(|file| &file.sections) {
        for setting in &section.settings {
            rows.push(Row {
                command: match section.command.is_empty() {
                    true => "all".to_owned(),
                    false => section.command.join(" "),
                },
                option: setting.option.clone(),
                value: Some(without_secrets(&setting.value.shown())),
                origin: short_place(file, setting.at.line),
            });
        }
    }
    rows
}

/// Every option of a command.
fn rows_of_command(
    file: Option<&SettingsFile>,
    all: &Command,
    words: &[String],
) -> Result<Vec<Row>, CommandError> {
    let mut command = all;
    for word in words {
        command = command.find_subcommand(word).ok_or_else(|| {
            let names = command.get_subcommands().map(Command::get_name);
            let near = fathom_model::nearest::nearest(word, names);
            let near = near.map(|near| format!("did you mean '{near}'?"));
            let help = near.unwrap_or_else(|| "fathom --help lists the commands".to_owned());
            CommandError::Usage(format!("no command is called '{word}'\nhelp: {help}"))
        })?;
    }
    if command.has_subcommands() {
        let below: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
        let problem = format!(
            "'{}' is a group of commands\nhelp: name one: {}",
            words.join(" "),
            below.join(", ")
        );
        return Err(CommandError::Usage(problem));
    }
    let mut rows = Vec::new();
    for arg in options_of(command) {
        let option = arg.get_long().unwrap_or_default().to_owned();
        let (value, origin) = match settings::origin(file, words, arg) {
            Origin::BuiltIn => (default_of(arg), "built in".to_owned()),
            Origin::Variable(name) => (value_of_variable(&option, name), format!("${name}")),
            Origin::File(setting) => (
                Some(without_secrets(&setting.value.shown())),
                short_place(file, setting.at.line),
            ),
        };
        rows.push(Row {
            command: words.join(" "),
            option,
            value,
            origin,
        });
    }
    Ok(rows)
}

/// What an option is set to by a variable.
fn value_of_variable(option: &str, name: &str) -> Option<String> {
    match option {
        // That it is set is all that it says.
        "color" => Some("never".to_owned()),
        _ => std::env::var(name)
            .ok()
            .map(|value| without_secrets(&value)),
    }
}

/// The value as it may be shown to who stands behind the user.
fn without_secrets(value: &str) -> String {
    masked(value)
}

/// `config.toml:7`.
fn short_place(file: Option<&SettingsFile>, line: usize) -> String {
    let name = file.and_then(|file| file.path.file_name());
    let name = name.map_or_else(Default::default, |name| name.to_string_lossy());
    format!("{name}:{line}")
}

fn as_text(file: Option<&SettingsFile>, rows: &[Row], whole: bool) -> String {
    let mut text = match (file, settings::path()) {
        (Some(file), _) => format!("{}\n", file.path.display()),
        (None, Some(path)) => format!(
            "nothing is set: there is no {}\n{}",
            path.display(),
            if is_init_possible(&path) {
                "`fathom config init` writes one to begin with\n"
            } else {
                ""
            }
        ),
        (None, None) => format!("no file is read: ${FILE_VARIABLE} is empty\n"),
    };
    let columns = [
        ("command", Align::Left),
        ("option", Align::Left),
        ("value", Align::Left),
        ("from", Align::Left),
    ];
    if !rows.is_empty() {
        let mut table = Table::new(columns.into_iter().skip(usize::from(!whole)));
        for row in rows {
            let cells = [
                &row.command,
                &row.option,
                row.value.as_ref().unwrap_or(&NOT_SET),
                &row.origin,
            ];
            table.row(cells.into_iter().skip(usize::from(!whole)));
        }
        text += &format!("\n{}", table.fit(fathom_console::columns()));
    }
    let names: Vec<_> = file.iter().flat_map(|file| &file.names).collect();
    if whole && !names.is_empty() {
        let columns = ["name", "of", "stands for", "from"].map(|name| (name, Align::Left));
        let mut table = Table::new(columns);
        for named in names {
            table.row([
                format!("@{}", named.name),
                named.kind.table().to_owned(),
                without_secrets(&named.values.join(", ")),
                short_place(file, named.at.line),
            ]);
        }
        text += &format!("\n{}", table.fit(fathom_console::columns()));
    }
    if whole {
        text += "\nAll options of a command: fathom config show COMMAND\n";
    }
    text
}

/// In place of a value that there is not.
static NOT_SET: String = String::new();

fn is_init_possible(path: &Path) -> bool {
    fathom_deadline::paths::find(path).is_ok_and(|found| found.is_none())
}

fn as_json(file: Option<&SettingsFile>, rows: &[Row]) -> Value {
    let option = |row: &Row| {
        json!({
            "command": row.command,
            "option": row.option,
            "value": row.value,
            "from": row.origin,
        })
    };
    let names = file.iter().flat_map(|file| &file.names);
    let name = |named: &Named| {
        json!({
            "name": named.name,
            "kind": named.kind.table(),
            "values": named.values.iter().map(|value| without_secrets(value)).collect::<Vec<_>>(),
            "from": short_place(file, named.at.line),
        })
    };
    json!({
        "file": file.map(|file| file.path.display().to_string()),
        "options": rows.iter().map(option).collect::<Vec<_>>(),
        "names": names.map(name).collect::<Vec<_>>(),
    })
}
