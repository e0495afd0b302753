//! The layers under a path: a tree for people, JSON for programs.

mod settings;

use fathom_model::stack::{Gravity, Stack, StackDevice};

use crate::table::{clean, wrap};

/// Devices that are shown; all are in the JSON.
const MOST_SHOWN: usize = 200;

/// The layers as JSON.
///
/// # Errors
/// A figure that is not finite.
pub fn json(stack: &Stack) -> crate::Result<String> {
    Ok(fathom_model::indented_json(stack)? + "\n")
}

/// The schema of the JSON.
///
/// # Errors
/// Never, as far as is known.
pub fn schema() -> crate::Result<String> {
    Ok(fathom_model::indented_json(&schemars::schema_for!(Stack))? + "\n")
}

/// The layers as a tree of at most so many columns, and what is wrong.
pub fn text(stack: &Stack, width: usize) -> String {
    let mut tree = Tree {
        out: format!("{}\n", clean(&stack.target)),
        width,
        shown: Vec::new(),
    };
    let mut prefix = String::new();
    if let Some(filesystem) = &stack.filesystem {
        let (title, lines) = settings::mount(filesystem, stack.server.as_ref());
        prefix = tree.node("", true, &title, &lines, true);
        let (title, lines) = settings::filesystem(filesystem, stack.layout.as_ref());
        prefix = tree.node(&prefix, true, &title, &lines, !stack.top.is_empty());
    } else if let Some(layout) = &stack.layout {
        let (title, lines) = settings::content(layout);
        prefix = tree.node("", true, &title, &lines, true);
    }
    let last = stack.top.len().saturating_sub(1);
    for (index, name) in stack.top.iter().enumerate() {
        tree.device(stack, None, name, &prefix, index == last, 0);
    }
    let mut out = tree.out;
    findings(&mut out, stack, width);
    out
}

struct Tree {
    out: String,
    width: usize,
    shown: Vec<String>,
}

impl Tree {
    /// Prints a layer and gives the prefix of those below it.
    fn node(
        &mut self,
        prefix: &str,
        last: bool,
        title: &str,
        lines: &[String],
        below: bool,
    ) -> String {
        let (mark, under) = match last {
            true => ("└─ ", "   "),
            false => ("├─ ", "│  "),
        };
        let inner = format!("{prefix}{under}");
        let bar = if below { "│  " } else { "   " };
        let width = self.width;
        let room = |taken: usize| width.saturating_sub(taken).max(24);
        let columns = inner.chars().count();
        for (index, part) in wrap(&clean(title), room(columns)).iter().enumerate() {
            let lead = if index == 0 {
                format!("{prefix}{mark}")
            } else {
                format!("{inner}{bar}")
            };
            self.push(&format!("{lead}{part}"));
        }
        for line in lines {
            for part in wrap(&clean(line), room(columns + 3)) {
                self.push(&format!("{inner}{bar}{part}"));
            }
        }
        inner
    }

    fn push(&mut self, line: &str) {
        self.out.push_str(line.trim_end());
        self.out.push('\n');
    }

    fn device(
        &mut self,
        stack: &Stack,
        above: Option<&StackDevice>,
        name: &str,
        prefix: &str,
        last: bool,
        depth: usize,
    ) {
        let Some(device) = stack.devices.iter().find(|d| d.facts.name == name) else {
            return;
        };
        if depth > 32 || self.shown.len() >= MOST_SHOWN {
            return;
        }
        if self.shown.iter().any(|shown| shown == name) {
            self.node(prefix, last, &format!("{name} (shown above)"), &[], false);
            return;
        }
        self.shown.push(name.to_owned());
        let (title, mut lines) = settings::device(device);
        if let Some(words) = above.and_then(|above| settings::begins(above, name)) {
            lines.insert(0, words);
        }
        let controller = device.controller.as_ref();
        let controller =
            controller.and_then(|name| stack.controllers.iter().find(|c| &c.name == name));
        let more = !device.facts.below.is_empty() || controller.is_some();
        let inner = self.node(prefix, last, &title, &lines, more);
        let end = device.facts.below.len().saturating_sub(1);
        for (index, below) in device.facts.below.iter().enumerate() {
            self.device(stack, Some(device), below, &inner, index == end, depth + 1);
        }
        if let Some(controller) = controller {
            let (title, lines) = settings::controller(controller);
            self.node(&inner, true, &title, &lines, false);
        }
    }
}

fn findings(out: &mut String, stack: &Stack, width: usize) {
    out.push('\n');
    if stack.findings.is_empty() {
        let text = match (&stack.filesystem, &stack.devices[..], &stack.notes[..]) {
            (None, [], _) => {
                "No layer could be seen, so nothing is known about how they lie on one another."
            }
            // Memory and network mounts have none; then nothing is noted.
            (Some(_), [], [_, ..]) => {
                "No device could be seen, so nothing is known about how the layers lie on one another."
            }
            _ => "Nothing is wrong with the way these layers lie on one another.",
        };
        indented(out, "", "", text, width);
    }
    for finding in &stack.findings {
        let word = match finding.gravity {
            Gravity::Danger => "DANGER",
            Gravity::Costs => "COSTS SPEED",
            Gravity::Note => "Note",
        };
        let head = format!(
            "{word}  {}: {} ({})",
            finding.at, finding.found, finding.rule
        );
        indented(out, "", "    ", &head, width);
        if finding.gravity != Gravity::Note {
            indented(out, "    -> ", "       ", &finding.remedy, width);
        }
    }
    for note in &stack.notes {
        indented(out, "", "    ", &format!("Not known: {note}"), width);
    }
    if stack.findings.iter().any(|f| f.gravity == Gravity::Note) {
        out.push_str("\nRemedies of notes: `fathom explain ID`, or --json.\n");
    }
}

fn indented(out: &mut String, first: &str, next: &str, text: &str, width: usize) {
    for (index, part) in wrap(&clean(text), width.saturating_sub(next.len()))
        .iter()
        .enumerate()
    {
        out.push_str(if index == 0 { first } else { next });
        out.push_str(part);
        out.push('\n');
    }
}

#[cfg(test)]
#[path = "stack_tests.rs"]
mod tests;
