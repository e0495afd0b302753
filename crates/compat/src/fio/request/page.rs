//! The page on fio's options, written from their table.

use super::fio_engines;
use super::table::{FioFate, FioOption, fio_options};

const INTRODUCTION: &str = include_str!("page_introduction.md");

/// The page as Markdown.
pub fn fio_page() -> String {
    let mut page = String::from(INTRODUCTION);
    page += "\n## Engines\n\n| engine | | |\n|---|---|---|\n";
    for (name, how, remark) in fio_engines() {
        page += &format!("| `{name}` | {how} | {remark} |\n");
    }
    let mut heading = "";
    let mut of_engine = false;
    page += "\n## Options of jobs\n";
    for option in fio_options() {
        if option.of_engine && !of_engine {
            of_engine = true;
            page += "\n## Options of engines\n";
        }
        if option.group != heading {
            heading = option.group;
            page += &format!("\n### {}\n\n", capital(heading));
            page += "| option | value | fio's default | | |\n|---|---|---|---|---|\n";
        }
        page += &row(option);
    }
    page
}

fn row(option: &FioOption) -> String {
    let names = std::iter::once(option.name).chain(option.aliases.iter().copied());
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    let (how, remark) = match option.fate {
        FioFate::Run(remark) => ("run", remark.to_owned()),
        FioFate::Mapped(remark) => ("mapped", remark.to_owned()),
        FioFate::Ignored(remark) => ("ignored", remark.to_owned()),
        FioFate::Refused(remark) => ("refused", remark.to_owned()),
        FioFate::OtherEngine(engine) => ("refused", format!("with its engine, `{engine}`")),
    };
    let default = option.default.map_or(String::new(), |d| format!("`{d}`"));
    format!(
        "| {} | {} | {default} | {how} | {remark} |\n",
        names.join(", "),
        option.kind.words()
    )
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    match letters.next() {
        // Names of engines stay as they are.
        Some(first) if !matches!(text, "io_uring" | "libaio" | "mmap" | "http" | "net") => {
            first.to_uppercase().chain(letters).collect()
        }
        _ => text.to_owned(),
    }
}
