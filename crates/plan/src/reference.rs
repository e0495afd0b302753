//! The reference page of plan files, written from the declarations of the
//! keys.

use crate::keys::{PauseKeys, PayloadKeys, PlanKeys, WorkloadKeys};
use crate::section::{Key, Section};

const INTRODUCTION: &str = include_str!("reference_introduction.md");

/// The reference page as Markdown.
pub fn reference() -> String {
    let mut page = String::from(INTRODUCTION);
    section::<PlanKeys>(&mut page, "## Keys of the plan", false);
    section::<PauseKeys>(&mut page, "## Keys of `pause`", false);
    section::<WorkloadKeys>(&mut page, "## Keys of a workload", true);
    section::<PayloadKeys>(&mut page, "## Keys of `payload`", true);
    page
}

fn section<S: Section>(page: &mut String, title: &str, flags: bool) {
    page.push_str(&format!("\n{title}\n"));
    let mut heading = "";
    for key in S::keys() {
        if key.heading != heading {
            heading = key.heading;
            page.push_str(&format!("\n### {heading}\n"));
        }
        page.push_str(&entry(key, flags));
    }
}

fn entry(key: &Key, flags: bool) -> String {
    let mut lines = vec![
        format!("\n**`{}`** ({})", key.name, key.kind),
        key.text(),
        format!("Default: {}.", key.default),
        format!("Example: `{}: {}`.", key.name, key.example),
    ];
    if !key.aliases.is_empty() {
        let names: Vec<String> = key.aliases.iter().map(|a| format!("`{a}`")).collect();
        lines.push(format!("Also: {}.", names.join(", ")));
    }
    if flags && crate::flags::has_flag(key) {
        lines.push(format!("Flag: `--{}`.", key.flag()));
    }
    let mut text = lines.join("  \n");
    text.push('\n');
    text
}
