//! The first page: commands in groups, the ones to start with on top.

use std::fmt::Write;

use clap::Command;

use super::short::{bold, fitting, literal, width, wrapped};

/// A heading and the commands below it.
struct Group {
    title: &'static str,
    commands: &'static [&'static str],
}

/// A command in none of them is listed under [`OTHERS`].
const GROUPS: [Group; 6] = [
    Group {
        title: "Start here",
        commands: &[
            "quick", "watch", "diagnose", "io", "ab", "report", "runs", "explain", "doctor",
        ],
    },
    Group {
        title: "Measure",
        commands: &[
            "run",
            "plan",
            "curve",
            "ping",
            "meta",
            "s3",
            "net",
            "disks",
            "snia",
            "scale",
            "enumerate",
        ],
    },
    Group {
        title: "Diagnose",
        commands: &["record", "use", "stack", "alarms", "gluster"],
    },
    Group {
        title: "Results",
        commands: &["compare", "judge"],
    },
    Group {
        title: "Fleet",
        commands: &["fleet", "agent", "kubernetes"],
    },
    Group {
        title: "Maintenance",
        commands: &["clean", "size", "config", "completions", "man", "compat"],
    },
];

/// The group of commands that have none.
const OTHERS: &str = "More";

const EXAMPLES: &str = "  fathom quick                                 How fast is this disk?
  fathom io /data --rw randread --iodepth 32   One workload
  fathom diagnose                              Is storage the bottleneck here?
  fathom ab /mnt/old /mnt/new --rw randread    Which is faster?
";

const MORE_EXAMPLES: &str =
    "  fathom meta /data                            Many small files: create, stat, read, unlink
  fathom ping /data                            Latency, request by request
  fathom net node2                             Network to a host that runs `net serve`
  fathom plan new database > db.yaml && fathom run db.yaml
                                               A plan with comments, then its run
  fathom curve load /data --slo 'p99<2ms'      How much load keeps the tail short?
  fathom runs list                             What has been measured so far
  fathom explain V01                           What a finding means and what to do

Every result answers three questions: is it true (validity), what set it
(limiter), and, if you set a target, is it good enough (fitness).
";

const MORE_HELP: &str = "
More: fathom --help                 describes every command
      fathom COMMAND -h             one screen; --help explains
      fathom COMMAND --help-all     every flag
      fathom help TOPIC             pages to read: `fathom help topics`
";

/// The page; `full` describes the commands of every group.
pub(super) fn page(all: &Command, full: bool) -> String {
    let about = all.get_about().map(ToString::to_string).unwrap_or_default();
    let mut text = format!("{about}\n\n{} fathom <COMMAND>\n", bold("Usage:"));
    let listed = |name: &str| GROUPS.iter().any(|group| group.commands.contains(&name));
    let others: Vec<&str> = all
        .get_subcommands()
        .filter(|command| !command.is_hide_set() && command.get_name() != "help")
        .map(Command::get_name)
        .filter(|name| !listed(name))
        .collect();
    let groups = GROUPS.iter().map(|group| (group.title, group.commands));
    for (place, (title, names)) in groups.chain([(OTHERS, &others[..])]).enumerate() {
        let known = |name: &&str| all.find_subcommand(name).is_some();
        let names: Vec<&str> = names.iter().copied().filter(known).collect();
        if names.is_empty() {
            continue;
        }
        match full || place == 0 {
            true => described(&mut text, all, title, &names),
            false => named(&mut text, title, &names, width()),
        }
        if !full && place == 0 {
            text.push('\n');
        }
    }
    let _ = writeln!(text, "\n{}", bold("Examples:"));
    for example in EXAMPLES.lines() {
        let _ = writeln!(text, "{}", fitting(example, width()));
    }
    if full {
        let is_cut = |line: &&str| line.starts_with("        ") && line.chars().count() > width();
        for line in MORE_EXAMPLES.lines().filter(|line| !is_cut(line)) {
            let _ = writeln!(text, "{}", fitting(line, width()));
        }
    }
    if full {
        let topics: Vec<&str> = super::book::words().collect();
        text.push('\n');
        named(&mut text, "Topics", &topics, width());
    }
    text += MORE_HELP;
    text
}

/// A line for each command of a group.
fn described(text: &mut String, all: &Command, title: &str, names: &[&str]) {
    let _ = writeln!(text, "\n{}", bold(&format!("{title}:")));
    for name in names {
        let command = all.find_subcommand(name);
        let about = command.and_then(Command::get_about);
        let about = about.map(ToString::to_string).unwrap_or_default();
        let padding = " ".repeat(12_usize.saturating_sub(name.len()));
        // Two spaces, the name, and one space more.
        let about = wrapped(&about, 15, width());
        let _ = writeln!(text, "  {}{padding} {about}", literal(name));
    }
}

/// The names of a group in one paragraph.
fn named(text: &mut String, title: &str, names: &[&str], width: usize) {
    let heading = format!("{title}:");
    let _ = write!(text, "{}{}", bold(&heading), " ".repeat(13 - heading.len()));
    let mut column = 13;
    for name in names {
        if column + 1 + name.len() > width {
            let _ = write!(text, "\n{:13}", "");
            column = 13;
        }
        let gap = if column > 13 { " " } else { "" };
        let _ = write!(text, "{gap}{}", literal(name));
        column += gap.len() + name.len();
    }
    text.push('\n');
}
