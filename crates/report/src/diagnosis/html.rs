//! One page for the ticket, without anything from outside.

use std::fmt::Write as _;

use fathom_model::diagnosis::{Answer as Proof, Diagnosis, DiskLoad, Shortage};
use fathom_model::unit;
use fathom_model::view::Tone;

use super::next_step::{Source, next_step};
use super::text::{recorded, row};
use super::{graph, headline, word};
use crate::chart::plot::escaped;
use crate::html::answer::{Answer, AnswerBox};
use crate::html::document_page::{self, DocumentPage, PageBlock, PageCell, PagePart, PageTable};
use crate::html::key_figures::KeyFigure;
use crate::moment;
use crate::sentence::sentence_of;

/// More devices are in the JSON.
const MOST_DISKS: usize = 24;
const SIZE: (f64, f64) = (720.0, 160.0);
/// Style of the graphs.
const STYLE: &str = include_str!("../../assets/diagnosis.css");

/// Where a page is from.
#[derive(Debug, Clone, Default)]
pub struct PageOrigin {
    /// When it was made, nanoseconds since 1970-01-01 UTC.
    pub made_unix_ns: u64,
    /// What was typed, without secrets.
    pub command: String,
    /// The recorded time by the clock of the host, where the recording has one.
    pub recorded: Option<String>,
    /// What was looked at.
    pub source: Source,
}

/// The answer as one HTML document.
///
/// # Errors
/// Only when the template engine fails.
pub fn html(diagnosis: &Diagnosis, origin: &PageOrigin) -> crate::Result<String> {
    let when = origin.recorded.as_ref();
    let when = when.map(|when| format!("Recorded {when}, by the clock of the host"));
    let made = format!(
        "Made {} with fathom {}: {}",
        moment::readable(origin.made_unix_ns),
        env!("CARGO_PKG_VERSION"),
        origin.command
    );
    // The first of them is the next step.
    let settle = diagnosis.settle.iter().skip(1).cloned();
    let parts = [
        PagePart::list("evidence", "Evidence", diagnosis.evidence.clone()),
        PagePart::list(
            "ceiling",
            "What the volume can give",
            super::ceiling_lines(diagnosis),
        ),
        PagePart::list("settle", "What else would settle it", settle.collect()),
        PagePart::new("graphs", "Load over time", graphs(diagnosis)),
        PagePart::new(
            "devices",
            "Devices",
            devices(diagnosis).into_iter().collect(),
        ),
        PagePart::list("remarks", "Remarks", diagnosis.remarks.clone()),
    ];
    document_page::render(&DocumentPage {
        title: "Is the storage the bottleneck?".to_owned(),
        style: STYLE,
        below: [recorded(diagnosis)]
            .into_iter()
            .chain(when)
            .chain([made])
            .collect(),
        answer: answer(diagnosis, &origin.source),
        is_sentence_first: true,
        parts: parts.into_iter().flatten().collect(),
        ..DocumentPage::default()
    })
}

fn answer(diagnosis: &Diagnosis, source: &Source) -> Answer {
    let tone = match diagnosis.answer {
        Proof::Yes => Tone::Bad,
        Proof::No => Tone::Good,
        Proof::NotProven => Tone::Warning,
    };
    let settle = diagnosis.settle.first().map(|step| sentence_of(step));
    Answer {
        figures: figures(diagnosis),
        sentence: format!("{}.", headline(diagnosis)),
        boxes: vec![
            AnswerBox::new("Is it the storage?", tone, word(diagnosis.answer)),
            AnswerBox::new(
                "What held it back?",
                Tone::Strong,
                shortage(diagnosis.limiter),
            ),
        ],
        next: settle.or_else(|| next_step(diagnosis, source)),
    }
}

fn shortage(shortage: Shortage) -> &'static str {
    match shortage {
        Shortage::Disk => "the device",
        Shortage::HungDevice => "a device that completes nothing",
        Shortage::VolumeCap => "a cap of the volume",
        Shortage::CpuQueue => "the CPUs",
        Shortage::Hypervisor => "the hypervisor's CPUs",
        Shortage::Memory => "memory",
        Shortage::Network => "the network",
        Shortage::OneByOne => "operations wait for one another",
        Shortage::Lock => "a lock",
        Shortage::Nothing => "nothing on this host",
        Shortage::Unknown => "not determined",
    }
}

/// The first device, and the CPUs beside it.
fn figures(diagnosis: &Diagnosis) -> Vec<KeyFigure> {
    let mut figures = Vec::new();
    if let Some(disk) = diagnosis.disks.first() {
        // None of these has an end of its own that a bar could be drawn against.
        let (mean, peak) = (disk.operations, disk.operations_peak);
        let mut rate = KeyFigure::measured(&disk.name, &format!("{} IOPS", unit::count(mean)))
            .below(format!("mean; at most {}", unit::count(peak)));
        rate.hint = "Reads and writes per second".to_owned();
        figures.push(rate);
        figures.extend(disk.wait_ms.map(|ms| {
            let most = disk.wait_peak_ms;
            let figure = KeyFigure::measured("Time of an operation", &format!("{ms:.2} ms"));
            match most {
                Some(most) => figure.below(format!("mean; at most {most:.2} ms")),
                None => figure.below("mean"),
            }
        }));
        figures.extend(disk.queue.map(|queue| {
            let figure = KeyFigure::measured("In flight", &format!("{queue:.2}"));
            match disk.queue_peak {
                Some(most) => figure.below(format!("mean; at most {most:.2}")),
                None => figure.below("mean"),
            }
        }));
    }
    if let Some(used) = &diagnosis.ceiling {
        let percent = format!("{:.0} %", 100.0 * used.peak_share);
        figures.push(
            KeyFigure::measured("Peak over the ceiling", &percent)
                .below(format!("of {} IOPS", unit::count(used.operations))),
        );
    }
    if let Some(cpu) = &diagnosis.cpu {
        let percent = |share: f64| format!("{:.0} %", 100.0 * share);
        let cpus = cpu.cpus.map(|cpus| unit::counted(cpus.into(), "CPU"));
        figures.extend(cpu.busy.map(|busy| {
            KeyFigure::measured("CPUs busy", &percent(busy))
                .out_of(busy, 1.0)
                .below(cpus.clone().unwrap_or_default())
        }));
        figures.extend(cpu.iowait.map(|wait| {
            let figure = KeyFigure::measured("CPUs waiting for I/O", &percent(wait));
            figure.below("idle while some task waits")
        }));
        figures.extend(cpu.runnable_per_cpu.map(|tasks| {
            KeyFigure::measured("Runnable tasks", &format!("{tasks:.2}")).below("for each CPU")
        }));
    }
    figures.truncate(crate::html::key_figures::MOST);
    figures
}

/// The devices as a table.
fn devices(diagnosis: &Diagnosis) -> Option<PageBlock> {
    let disks = diagnosis.disks.iter().take(MOST_DISKS);
    let rows = disks.map(|disk| row(disk).into_iter().map(PageCell::text).collect());
    let table = PageTable {
        caption: "Devices, the one with the longest queue first".to_owned(),
        class: "sort",
        heads: super::text::COLUMNS
            .map(|(head, align)| (head.to_owned(), align))
            .to_vec(),
        rows: rows.collect(),
    };
    (!table.rows.is_empty()).then_some(PageBlock::Table(table))
}

/// Reads and writes of each device over time.
fn graphs(diagnosis: &Diagnosis) -> Vec<PageBlock> {
    let ceiling = super::drawn_ceiling(diagnosis);
    let disks = diagnosis.disks.iter().take(MOST_DISKS).enumerate();
    let drawn = disks.filter(|(_, disk)| disk.series.len() > 1);
    // The ceiling is that of the first device.
    let drawn = drawn.map(|(place, disk)| draw(disk, ceiling.filter(|_| place == 0)));
    drawn.map(PageBlock::Drawn).collect()
}

fn draw(disk: &DiskLoad, ceiling: Option<f64>) -> String {
    let (width, height) = SIZE;
    let top = graph::top(disk, ceiling);
    let name = escaped(&disk.name);
    let span = unit::span((graph::end(disk) * 1e9) as u64);
    let key = |color: &str, word: &str| {
        format!(
            " <span class=\"keyed\"><span class=\"swatch\" style=\"background:var(--{color})\"></span>\
             {word}</span>"
        )
    };
    let ceiling_key = ceiling.map_or(String::new(), |_| key("bad", "ceiling"));
    let mut out = format!(
        "<h3>{name}</h3><p class=\"note\">{}{}{ceiling_key}</p>\
         <svg class=\"over-time\" viewBox=\"0 -14 {width} 194\" role=\"img\" \
         aria-label=\"IOPS of {name} over time\">\
         <text x=\"0\" y=\"-6\">{} IOPS</text>",
        key("read", "reads"),
        key("write", "writes"),
        unit::count(top)
    );
    for y in [height, 0.0] {
        let _ = write!(
            out,
            "<line class=\"base\" x1=\"0\" y1=\"{y}\" x2=\"{width}\" y2=\"{y}\"/>"
        );
    }
    if let Some(ceiling) = ceiling {
        let y = height - ceiling / top * height;
        let _ = write!(
            out,
            "<line class=\"ceiling\" x1=\"0\" y1=\"{y:.1}\" x2=\"{width}\" y2=\"{y:.1}\"/>"
        );
    }
    for (class, of) in [("reads", 1), ("writes", 2)] {
        let points = graph::points(disk, of, top, SIZE);
        let _ = write!(out, "<polyline class=\"{class}\" points=\"{points}\"/>");
    }
    let _ = write!(
        out,
        "<text x=\"0\" y=\"174\">0 s</text>\
         <text x=\"{width}\" y=\"174\" text-anchor=\"end\">{span}</text></svg>"
    );
    out
}
