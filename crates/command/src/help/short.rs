//! `-h`: one screen with a line for each of the flags that matter most, and what
//! they are where they are not given.

use std::fmt::Write;

use clap::{Arg, Command};

use super::flags::{self, default_of, pairs_with_value};
use crate::output_flags::Color;
use crate::present;

/// Lines of a screen.
const SCREEN: usize = 40;

/// Longer lines of help are hard to read.
const MOST_COLUMNS: usize = 100;

/// How a line of an example ends that goes on in the next one.
const GOES_ON: &str = " \\";

/// Columns by which the next line is further from the margin.
const FURTHER: usize = 4;

/// Columns of the text.
pub(super) fn width() -> usize {
    fathom_console::columns().min(MOST_COLUMNS)
}

/// A heading.
pub(super) fn bold(text: &str) -> String {
    colored(text, "1;32")
}

/// What is typed as it stands.
pub(super) fn literal(text: &str) -> String {
    colored(text, "1;36")
}

fn colored(text: &str, code: &str) -> String {
    match present::use_color(Color::Auto, &std::io::stdout()) {
        true => format!("\x1b[{code}m{text}\x1b[0m"),
        false => text.to_owned(),
    }
}

/// The page of a command.
pub(super) fn page(command: &Command) -> String {
    let mut text = String::new();
    let width = width();
    let about = command.get_about().map(ToString::to_string);
    let about = about.unwrap_or_default();
    let _ = writeln!(text, "{}\n", wrapped(&about, 0, width));
    let usage = command.clone().render_usage().to_string();
    let _ = writeln!(
        text,
        "{}{}",
        bold("Usage:"),
        usage.trim_start_matches("Usage:")
    );
    let subcommands: Vec<&Command> = command
        .get_subcommands()
        .filter(|sub| !sub.is_hide_set() && sub.get_name() != "help")
        .collect();
    let rows = subcommands.iter().map(|sub| {
        let about = sub.get_about().map(ToString::to_string);
        (sub.get_name().to_owned(), about.unwrap_or_default())
    });
    section(&mut text, "Commands", &rows.collect::<Vec<_>>(), width);
    let rows = command
        .get_positionals()
        .map(|arg| (value_names(arg), told(arg)));
    section(&mut text, "Arguments", &rows.collect::<Vec<_>>(), width);
    let examples = examples(command, width);
    let footer = footer(command, width);
    let shown = options(command, SCREEN, &text, &examples, &footer, width);
    text += &shown;
    text += &examples;
    text += &footer;
    text
}

/// As many of the options as there is room for.
fn options(
    command: &Command,
    lines: usize,
    above: &str,
    examples: &str,
    footer: &str,
    width: usize,
) -> String {
    let used = [above, examples, footer].map(|part| part.lines().count());
    let room = lines.saturating_sub(used.iter().sum::<usize>() + 2);
    let ranked = flags::ranked(command);
    for count in (1..=ranked.len()).rev() {
        let chosen = &ranked[..count];
        let rows: Vec<(String, String)> = flags::of(command)
            .filter(|arg| chosen.contains(&arg.get_id().as_str()))
            .map(|arg| (flag(arg), told(arg)))
            .collect();
        let mut text = String::new();
        section(&mut text, "Options", &rows, width);
        if text.lines().count() <= room + 2 {
            return text;
        }
    }
    String::new()
}

/// `-q, --quiet` or `--size <SIZE>`.
fn flag(arg: &Arg) -> String {
    let short = arg.get_short().map(|short| format!("-{short}"));
    let long = arg.get_long().map(|long| format!("--{long}"));
    let names = match (short, long) {
        (Some(short), Some(long)) => format!("{short}, {long}"),
        (Some(short), None) => short,
        (None, long) => format!("    {}", long.unwrap_or_default()),
    };
    match pairs_with_value(arg) {
        true => format!("{names} {}", value_names(arg)),
        false => names,
    }
}

fn value_names(arg: &Arg) -> String {
    let names = arg.get_value_names().unwrap_or_default();
    let names: Vec<String> = names.iter().map(|name| format!("<{name}>")).collect();
    match names.is_empty() {
        true => format!("<{}>", arg.get_id().as_str().to_uppercase()),
        false => names.join(" "),
    }
}

/// What a flag does, in its first clause, with its default.
fn told(arg: &Arg) -> String {
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let text = flags::in_short(arg).unwrap_or_else(|| first_clause(&help));
    let mut text = text.to_owned();
    if let Some(values) = values_of(arg) {
        let _ = write!(text, ": {values}");
    }
    if let Some(default) = default_of(arg) {
        let _ = write!(text, " [{default}]");
    }
    text
}

/// The values to choose from, where there are few.
fn values_of(arg: &Arg) -> Option<String> {
    const LONG: usize = 36;
    if !pairs_with_value(arg) {
        return None;
    }
    let values = arg.get_possible_values();
    let values = values.iter().filter(|value| !value.is_hide_set());
    let names: Vec<&str> = values.map(clap::builder::PossibleValue::get_name).collect();
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let is_told = names.iter().all(|name| help.contains(name));
    let names = names.join(", ");
    (!is_told && names.len() <= LONG).then_some(names)
}

/// The words up to the first stop that is not inside of brackets.
fn first_clause(help: &str) -> &str {
    const LONG: usize = 52;
    let help = help.trim();
    let sentence = help
        .split(". ")
        .next()
        .unwrap_or(help)
        .trim_end_matches('.');
    if sentence.chars().count() <= LONG {
        return sentence;
    }
    let is_outside = |end: usize| {
        let before = &sentence[..end];
        before.matches(['(', '[']).count() == before.matches([')', ']']).count()
    };
    let stops = [": ", "; ", " (", " [", ", "];
    let ends = stops.iter().flat_map(|stop| sentence.match_indices(stop));
    let ends = ends.map(|(end, _)| end).filter(|end| *end >= 12);
    match ends.filter(|end| is_outside(*end)).min() {
        Some(end) => &sentence[..end],
        None => sentence,
    }
}

/// A heading with rows below it, or nothing where there are none.
fn section(text: &mut String, title: &str, rows: &[(String, String)], width: usize) {
    const NAMES_MOST: usize = 26;
    if rows.is_empty() {
        return;
    }
    let _ = writeln!(text, "\n{}", bold(&format!("{title}:")));
    let names = rows.iter().map(|(name, _)| name.chars().count());
    let column = names
        .filter(|n| *n <= NAMES_MOST)
        .max()
        .unwrap_or(NAMES_MOST);
    for (name, what) in rows {
        let long = name.chars().count() > column;
        let indent = column + 4;
        let what = wrapped(what, indent, width);
        let padding = match long {
            true => format!("\n{}", " ".repeat(indent)),
            false => " ".repeat(indent - 2 - name.chars().count()),
        };
        let line = format!("  {}{padding}{what}", literal(name));
        let _ = writeln!(text, "{}", line.trim_end());
    }
}

/// Words in lines of at most `width` columns, all but the first one indented.
pub(super) fn wrapped(text: &str, indent: usize, width: usize) -> String {
    let mut out = String::new();
    let mut column = indent;
    for word in text.split_whitespace() {
        let long = word.chars().count();
        if column > indent && column + 1 + long > width {
            let _ = write!(out, "\n{}", " ".repeat(indent));
            column = indent;
        } else if column > indent {
            out.push(' ');
            column += 1;
        }
        out += word;
        column += long;
    }
    out
}

/// An example without its description where both do not fit in a line; a command that is
/// longer than a line goes on in the next one as a shell reads it.
pub(super) fn fitting(example: &str, width: usize) -> String {
    if example.chars().count() <= width {
        return example.to_owned();
    }
    let typed = example.trim_start();
    let indent = example.len() - typed.len();
    let end = typed.find("  ").unwrap_or(typed.len());
    match typed[..end].strip_suffix(GOES_ON) {
        Some(typed) => folded(typed, indent, width) + GOES_ON,
        None => folded(&typed[..end], indent, width),
    }
}

fn folded(typed: &str, indent: usize, width: usize) -> String {
    let mut out = " ".repeat(indent);
    let mut column = indent;
    for (place, word) in words(typed).into_iter().enumerate() {
        let long = word.chars().count();
        if place > 0 && column + 1 + long + GOES_ON.len() > width {
            out += &format!("{GOES_ON}\n{}", " ".repeat(indent + FURTHER));
            column = indent + FURTHER;
        } else if place > 0 {
            out.push(' ');
            column += 1;
        }
        out += word;
        column += long;
    }
    out
}

/// The words of a command; one in quotes is whole.
fn words(typed: &str) -> Vec<&str> {
    let mut is_quoted = false;
    let parts = typed.split(|c| {
        is_quoted ^= matches!(c, '\'' | '"');
        c == ' ' && !is_quoted
    });
    parts.collect()
}

/// The first examples, each whole or not at all: a command that is cut cannot be typed.
fn examples(command: &Command, width: usize) -> String {
    const LINES: usize = 8;
    let after = command.get_after_help().map(ToString::to_string);
    let after = after.unwrap_or_default();
    let Some(at) = after.find("Example") else {
        return String::new();
    };
    let mut lines = after[at..].lines();
    let mut text = format!("\n{}\n", bold(lines.next().unwrap_or_default()));
    let lines: Vec<&str> = lines.take_while(|line| line.starts_with("  ")).collect();
    let goes_on = |line: &&str| line.starts_with("   ");
    let mut used = 0;
    for example in lines.chunk_by(|_, next| goes_on(next)) {
        // A description on a line of its own that does not fit says nothing when it is cut.
        let is_cut = |line: &str| line.starts_with("        ") && line.chars().count() > width;
        let kept: Vec<&&str> = example.iter().filter(|line| !is_cut(line)).collect();
        used += kept.len();
        if used > LINES {
            break;
        }
        for line in kept {
            let _ = writeln!(text, "{}", fitting(line, width));
        }
    }
    text
}

/// Where there is more.
fn footer(command: &Command, width: usize) -> String {
    let name = command.get_bin_name().unwrap_or("fathom");
    let all = flags::of(command).count();
    let more = match all > 12 {
        true => {
            let more = format!("More: {name} --help explains, --help-all has all {all} options");
            match more.chars().count() <= width {
                true => format!("\n{more}"),
                false => format!(
                    "\nMore: {name} --help explains\n      {name} --help-all has all {all} options"
                ),
            }
        }
        false => format!("\nMore: {name} --help"),
    };
    match super::book::of_command(command.get_name()) {
        Some(topic) => format!("{more}\n      fathom help {topic} has a page to read\n"),
        None => more + "\n",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clause_ends_before_a_bracket_and_never_inside_one() {
        let size = "Size of the test file [default: 1 GiB, at most a quarter of the free space].";
        assert_eq!(first_clause(size), "Size of the test file");
        let size = "Size (of one: or all) of the files of this test: as many as there are of them";
        assert_eq!(
            first_clause(size),
            "Size (of one: or all) of the files of this test"
        );
    }

    #[test]
    fn an_example_fits_and_can_be_typed() {
        let example = "  fathom net node1 --json > net.json    Kept";
        assert_eq!(fitting(example, 80), example);
        assert_eq!(fitting(example, 40), "  fathom net node1 --json > net.json");
        assert_eq!(
            fitting(example, 30),
            "  fathom net node1 --json > \\\n      net.json"
        );
        let quoted = "  fathom curve load /data --slo 'read.p99<2ms and write.p99<5ms'";
        assert_eq!(
            fitting(quoted, 60),
            "  fathom curve load /data --slo \\\n      'read.p99<2ms and write.p99<5ms'"
        );
        let goes_on = "  fathom s3 get s3://bench/try --endpoint http://a:9000 \\";
        assert_eq!(
            fitting(goes_on, 50),
            "  fathom s3 get s3://bench/try --endpoint \\\n      http://a:9000 \\"
        );
    }
}
