//! Sections as the text of a job file.

use fathom_model::{Schedule, ScheduledTrial};

use super::FioTrial;
use super::draft::{FioSection, Own};

/// Lines of comments are broken at this width.
const WIDTH: usize = 88;

/// One section with what stands above it.
struct SectionText {
    comments: Vec<String>,
    section: FioSection,
    /// It waits for everything before it.
    waits: bool,
}

/// A whole schedule.
pub(super) fn whole(
    schedule: &Schedule,
    trials: &[(&ScheduledTrial, FioTrial)],
    probes: usize,
) -> String {
    let mut head = vec![format!(
        "Written by fathom from the plan '{}', for fio 3.",
        schedule.name.replace(|c: char| c.is_control(), " ")
    )];
    if trials
        .iter()
        .any(|(_, trial)| !trial.differences.is_empty())
    {
        head.push("Above a job stands what fio does otherwise (differs: …).".to_owned());
    }
    if trials.len() > 1 && trials.iter().any(|(trial, _)| trial.pause.floor_ns > 0) {
        head.push("fio makes no pauses between trials.".to_owned());
    }
    if probes > 0 {
        head.push(format!(
            "Left out: {probes} probes, which only fathom evaluates."
        ));
    }
    let mut blocks: Vec<SectionText> = Vec::new();
    let mut told: Vec<u32> = Vec::new();
    let mut set = None;
    for (trial, done) in trials {
        let beside = trial.together.is_some() && trial.together == set;
        set = trial.together;
        let from = blocks.len();
        // What differs in a row is said once.
        let first = !told.contains(&trial.row);
        told.push(trial.row);
        push(&mut blocks, done, |name| numbered(name, trial), first);
        if beside {
            blocks[from..]
                .iter_mut()
                .for_each(|block| block.waits = false);
            if let Some(block) = blocks.get_mut(from) {
                // Each trial of a set is reported by itself.
                block
                    .section
                    .options
                    .push(("new_group".to_owned(), String::new()));
            }
        }
        if let Some(leader) = name_of(trials, trial.follows) {
            for block in &mut blocks[from..] {
                let waits = ("wait_for".to_owned(), leader.clone());
                block.section.options.push(waits);
            }
        }
    }
    render(&head, &blocks)
}

/// The name of a trial's jobs.
fn numbered(name: &str, trial: &ScheduledTrial) -> String {
    match trial.iteration {
        0 => name.to_owned(),
        n => format!("{name} #{}", n + 1),
    }
}

/// The name under which the trial with this index runs.
fn name_of(trials: &[(&ScheduledTrial, FioTrial)], index: Option<u32>) -> Option<String> {
    let (trial, done) = trials.iter().find(|(t, _)| Some(t.index) == index)?;
    Some(numbered(&done.sections.first()?.name, trial))
}

/// One trial alone.
pub(super) fn one(trial: &FioTrial) -> String {
    let mut blocks = Vec::new();
    push(&mut blocks, trial, str::to_owned, true);
    render(&["Written by fathom, for fio 3.".to_owned()], &blocks)
}

fn push(
    blocks: &mut Vec<SectionText>,
    trial: &FioTrial,
    name: impl Fn(&str) -> String,
    tell: bool,
) {
    for section in &trial.before {
        blocks.push(SectionText {
            comments: Vec::new(),
            section: named(section, &name),
            waits: !blocks.is_empty(),
        });
    }
    for (index, section) in trial.sections.iter().enumerate() {
        let comments = match tell && index == 0 {
            true => trial.differences.clone(),
            false => Vec::new(),
        };
        blocks.push(SectionText {
            comments,
            section: named(section, &name),
            waits: index == 0 && !blocks.is_empty(),
        });
    }
}

fn named(section: &FioSection, name: impl Fn(&str) -> String) -> FioSection {
    FioSection {
        name: name(&section.name),
        options: section.options.clone(),
    }
}

fn render(head: &[String], blocks: &[SectionText]) -> String {
    let common = common(blocks);
    let mut text = String::new();
    for line in head {
        comment(&mut text, "", line);
    }
    if !common.is_empty() {
        text += "\n[global]\n";
        options(&mut text, &common);
    }
    for block in blocks {
        text.push('\n');
        for line in &block.comments {
            comment(&mut text, "differs: ", line);
        }
        text += &format!("[{}]\n", block.section.name);
        if block.waits {
            text += "stonewall\n";
        }
        let of = block.section.options.iter();
        let own: Own = of
            .filter(|option| !common.contains(option))
            .cloned()
            .collect();
        options(&mut text, &own);
    }
    text
}

/// Options that all sections have with the same value.
fn common(blocks: &[SectionText]) -> Own {
    let (Some(first), true) = (blocks.first(), blocks.len() > 1) else {
        return Own::new();
    };
    let everywhere = |option: &&(String, String)| {
        blocks
            .iter()
            .all(|block| block.section.options.contains(option))
    };
    first
        .section
        .options
        .iter()
        .filter(everywhere)
        .cloned()
        .collect()
}

fn options(text: &mut String, options: &Own) {
    for (name, value) in options {
        match value.is_empty() {
            true => *text += &format!("{name}\n"),
            false => *text += &format!("{name}={value}\n"),
        }
    }
}

/// A comment, broken into lines.
fn comment(text: &mut String, mark: &str, words: &str) {
    let mut line = format!("# {mark}");
    let indent = " ".repeat(mark.len());
    let mut empty = true;
    for word in words.split_whitespace() {
        if !empty && line.chars().count() + word.chars().count() >= WIDTH {
            *text += &format!("{}\n", line.trim_end());
            line = format!("# {indent}");
        } else if !empty {
            line.push(' ');
        }
        line += word;
        empty = false;
    }
    *text += &format!("{}\n", line.trim_end());
}
