//! One page with the answer, the table and the topology, without anything from outside.

use fathom_model::machine::{MachineUse, ResourceUse, UseFigure};
use fathom_model::unit;
use fathom_model::view::Tone;

use super::beyond::beyond;
use super::{beyond_words, figure, sentence, shown, topology};
use crate::html::answer::{Answer, AnswerBox};
use crate::html::document_page::{
    self, DocumentPage, PageBlock, PageCell, PageLine, PagePart, PageTable,
};
use crate::html::key_figures::{self, KeyFigure};
use crate::table::Align;

/// Style of the topology.
const STYLE: &str = include_str!("../../assets/machine.css");

/// When and how a page was made.
#[derive(Debug, Clone, Default)]
pub struct PageMoment {
    /// Nanoseconds since 1970-01-01 UTC.
    pub unix_ns: u64,
    /// What was typed, without secrets.
    pub command: String,
}

/// The page.
///
/// # Errors
/// Only when the template engine fails.
pub fn html(found: &MachineUse, moment: &PageMoment) -> crate::Result<String> {
    let made = crate::moment::readable(moment.unix_ns);
    let version = env!("CARGO_PKG_VERSION");
    let command = match moment.command.is_empty() {
        true => String::new(),
        false => format!(": {}", moment.command),
    };
    let picture = topology::html(&found.picture);
    let picture = (!picture.is_empty()).then(|| {
        let how = topology::reading(&found.picture);
        let drawn = format!("<div class=\"topology\">{picture}</div>");
        how.map(PageBlock::Note)
            .into_iter()
            .chain([PageBlock::Drawn(drawn)])
    });
    let how = "Point at a figure to see how it was read. Time in use of a disk (what iostat \
               calls %util) is shown and nothing is judged by it.";
    let sourced = beyond(found).map(|one| one.line(true));
    let parts = [
        PagePart::list("beyond", "Beyond the threshold", sourced.collect()),
        PagePart::new(
            "resources",
            "Resources",
            vec![
                PageBlock::Table(table(found)),
                PageBlock::Note(how.to_owned()),
            ],
        ),
        PagePart::new(
            "topology",
            "Topology",
            picture.into_iter().flatten().collect(),
        ),
        PagePart::list("remarks", "Remarks", found.notes.clone()),
    ];
    document_page::render(&DocumentPage {
        title: format!("Resources of {}", found.host),
        style: STYLE,
        below: vec![
            format!("Watched for {}", unit::span((found.seconds * 1e9) as u64)),
            format!("Made {made} with fathom {version}{command}"),
        ],
        answer: answer(found),
        parts: parts.into_iter().flatten().collect(),
        ..DocumentPage::default()
    })
}

/// The question about what has nothing left.
const FULL: &str = "Is anything full?";
/// The question whether that can be told.
const READ: &str = "Was everything read?";

fn answer(found: &MachineUse) -> Answer {
    let beyond = beyond_words(found);
    let resources = unit::counted(found.resources.len() as u64, "resource");
    let limiter = match beyond.as_slice() {
        [] => AnswerBox::new(FULL, Tone::Good, "nothing is beyond its threshold"),
        [first, ..] => AnswerBox::new(
            FULL,
            Tone::Warning,
            format!(
                "{} beyond the threshold",
                unit::counted(beyond.len() as u64, "figure")
            ),
        )
        .because(first.clone())
        .with(beyond.clone()),
    };
    let read = match found.notes.is_empty() {
        true => AnswerBox::new(READ, Tone::Good, format!("{resources} read")),
        false => AnswerBox::new(READ, Tone::Warning, "see the remarks")
            .because(format!("{resources} read"))
            .with(found.notes.clone()),
    };
    Answer {
        figures: figures(found),
        sentence: sentence(&beyond),
        boxes: vec![read, limiter],
        next: Some("`fathom diagnose` says whether the storage is the bottleneck.".to_owned()),
    }
}

/// The fullest of each kind of resource.
fn figures(found: &MachineUse) -> Vec<KeyFigure> {
    let figures = [
        fullest(found, "cpu", "CPUs"),
        fullest(found, "memory", "Memory"),
        longest_queue(found),
        fullest(found, "interface", "Interfaces"),
        fullest(found, "link", "Links"),
    ];
    let mut figures: Vec<KeyFigure> = figures.into_iter().flatten().collect();
    let beyond = beyond(found).count();
    let count = KeyFigure::measured("Beyond the threshold", &beyond.to_string());
    figures.push(count.below(match beyond {
        0 => "nothing is full".to_owned(),
        n => format!(
            "of {}",
            unit::counted(all(found).count().max(n) as u64, "figure")
        ),
    }));
    figures.truncate(key_figures::MOST);
    figures
}

fn all(found: &MachineUse) -> impl Iterator<Item = &UseFigure> {
    found.resources.iter().flat_map(|one| {
        let all = [&one.utilisation, &one.saturation, &one.errors];
        all.into_iter().flatten()
    })
}

/// The highest share of a kind.
fn fullest(found: &MachineUse, kind: &str, title: &str) -> Option<KeyFigure> {
    let of_kind = found.resources.iter().filter(|one| one.kind == kind);
    let shares = of_kind.filter_map(|one| {
        let figure = one.utilisation.iter().find(|one| one.unit == "ratio")?;
        Some((figure.value?, figure, one))
    });
    let (share, figure, resource) = shares.max_by(|a, b| a.0.total_cmp(&b.0))?;
    let most = figure.most.unwrap_or(share).max(share);
    let key = KeyFigure::measured(title, &shown(share, "ratio"));
    let most_words = match most > share {
        true => format!(", at most {}", shown(most, "ratio")),
        false => String::new(),
    };
    Some(
        key.out_of(share, most.max(1.0))
            .below(format!("{}: {}{most_words}", resource.name, figure.title)),
    )
}

/// The disk with the longest queue: how much of the time it was in use tells nothing of a
/// disk that serves several operations at once.
fn longest_queue(found: &MachineUse) -> Option<KeyFigure> {
    let disks = found.resources.iter().filter(|one| one.kind == "disk");
    let queues = disks.filter_map(|one| {
        let figure = one.saturation.first()?;
        Some((figure.value?, figure, one))
    });
    let (value, figure, disk) = queues.max_by(|a, b| a.0.total_cmp(&b.0))?;
    let most = figure.most.filter(|most| *most > value);
    let most = most.map_or(String::new(), |most| {
        format!(", at most {}", shown(most, &figure.unit))
    });
    let queued = format!("{} queued", shown(value, &figure.unit));
    let key = KeyFigure::measured("Disks", &queued);
    Some(key.below(format!("{}: {}{most}", disk.name, figure.title)))
}

fn table(found: &MachineUse) -> PageTable {
    let row = |resource: &ResourceUse| {
        let name = match resource.name.contains(&resource.kind) {
            true => resource.name.clone(),
            false => format!("{} ({})", resource.name, resource.kind),
        };
        vec![
            PageCell::text(name),
            cell(&resource.utilisation),
            cell(&resource.saturation),
            cell(&resource.errors),
        ]
    };
    PageTable {
        caption: "Utilisation, saturation and errors by resource".to_owned(),
        class: "cards lines",
        heads: ["resource", "utilisation", "saturation", "errors"]
            .map(|head| (head.to_owned(), Align::Left))
            .to_vec(),
        rows: found.resources.iter().map(row).collect(),
    }
}

fn cell(figures: &[UseFigure]) -> PageCell {
    let line = |one: &UseFigure| PageLine {
        text: figure(one),
        class: if one.beyond { "beyond" } else { "" },
        hint: one.how.clone(),
    };
    match figures.is_empty() {
        true => PageCell {
            hint: "not available on this host".to_owned(),
            ..PageCell::text("not readable")
        },
        false => PageCell {
            lines: figures.iter().map(line).collect(),
            ..PageCell::default()
        },
    }
}
