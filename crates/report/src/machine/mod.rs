//! The table of use and the picture of the machine: text, JSON, one page.

mod beyond;
mod html;
mod picture;
mod topology;

use fathom_model::machine::{MachineUse, UseFigure};
use fathom_model::unit;

use crate::table::{Align, Table, clean, wrap};

pub use html::{PageMoment, html};

/// What is beyond its threshold, each in a few words.
fn beyond_words(found: &MachineUse) -> Vec<String> {
    beyond::beyond(found).map(|one| one.words).collect()
}

/// The answer in one sentence.
fn sentence(beyond: &[String]) -> String {
    match beyond {
        [] => "No resource is beyond its threshold.".to_owned(),
        [one] => format!("{one}."),
        [first, rest @ ..] => format!("{first}; {} more beyond the threshold.", rest.len()),
    }
}

/// Resources in the text; all are in the JSON.
const MOST_SHOWN: usize = 200;
/// Queues of one device in the text.
const MOST_QUEUES: usize = 8;

/// The table as JSON.
///
/// # Errors
/// A figure that is not finite.
pub fn json(found: &MachineUse) -> crate::Result<String> {
    Ok(fathom_model::indented_json(found)? + "\n")
}

/// The schema of the JSON.
///
/// # Errors
/// Never, as far as is known.
pub fn schema() -> crate::Result<String> {
    Ok(fathom_model::indented_json(&schemars::schema_for!(MachineUse))? + "\n")
}

/// The table, what is beyond its threshold, and the picture. With `how`, also
/// where each figure was read.
pub fn text(found: &MachineUse, width: usize, how: bool) -> String {
    let span = unit::span((found.seconds * 1e9) as u64);
    let answer = sentence(&beyond_words(found));
    let mut out = wrap(&answer, width).join("\n");
    out += &format!("\n\n{}, watched for {span}\n\n", clean(&found.host));
    let mut table = Table::new([
        ("resource", Align::Left),
        ("utilisation", Align::Left),
        ("saturation", Align::Left),
        ("errors", Align::Left),
    ]);
    let mut queues = 0;
    for (index, resource) in found.resources.iter().take(MOST_SHOWN).enumerate() {
        queues = if resource.kind == "queue" {
            queues + 1
        } else {
            0
        };
        if queues > MOST_QUEUES {
            let next = found.resources.get(index + 1);
            if next.is_none_or(|next| next.kind != "queue") {
                let more = queues - MOST_QUEUES;
                table.line(format!(
                    "and {} (--json has all)",
                    unit::counted(more as u64, "more queue")
                ));
            }
            continue;
        }
        let cell = |figures: &[UseFigure]| {
            let lines: Vec<String> = figures.iter().map(figure).collect();
            match lines.is_empty() {
                true => "not readable".to_owned(),
                false => lines.join("\n"),
            }
        };
        table.row([
            resource.name.clone(),
            cell(&resource.utilisation),
            cell(&resource.saturation),
            cell(&resource.errors),
        ]);
    }
    out.push_str(&table.fit(width));
    beyond::push(&mut out, found, width);
    let picture = picture::text(&found.picture);
    if !picture.is_empty() {
        out.push_str(&format!("\n{picture}"));
    }
    for (index, note) in found.notes.iter().enumerate() {
        if index == 0 {
            out.push_str("\nRemarks:\n");
        }
        for (line, part) in wrap(&clean(note), width - 4).iter().enumerate() {
            out.push_str(if line == 0 { "  - " } else { "    " });
            out.push_str(part);
            out.push('\n');
        }
    }
    if how {
        sources(&mut out, found, width);
    } else {
        let how = "A ! is beyond its threshold. --how says how each figure was read, and where its \
                   threshold is from.";
        out.push_str(&format!("\n{}\n", wrap(how, width).join("\n")));
    }
    out
}

/// `queue 0.42`, with a mark where it is beyond its threshold.
fn figure(figure: &UseFigure) -> String {
    let mark = if figure.beyond { "! " } else { "" };
    let value = figure
        .value
        .map_or("-".to_owned(), |value| shown(value, &figure.unit));
    format!("{mark}{} {value}", figure.title)
}

fn shown(value: f64, words: &str) -> String {
    let figure = match value.abs() {
        large if large >= 100.0 => unit::count(value),
        small if small > 0.0 && small < 10.0 => format!("{value:.2}"),
        _ => format!("{value:.0}"),
    };
    match words {
        "ratio" if value > 0.0 && value < 0.1 => format!("{:.1} %", 100.0 * value),
        "ratio" => format!("{:.0} %", 100.0 * value),
        "s" => unit::latency(value * 1e9),
        "bytes/s" => unit::throughput(value),
        "state" => if value > 0.0 { "yes" } else { "no" }.to_owned(),
        "1/s" => format!("{figure}/s"),
        // What is counted is whole, and its last digit may be what has changed.
        "errors" | "sectors" => unit::group(value as u64),
        _ => figure,
    }
}

fn sources(out: &mut String, found: &MachineUse, width: usize) {
    out.push_str("\nHow each figure was read:\n");
    let mut told: Vec<&str> = Vec::new();
    for resource in &found.resources {
        let all = [
            &resource.utilisation,
            &resource.saturation,
            &resource.errors,
        ];
        for one in all.into_iter().flatten() {
            if told.contains(&one.quantity.as_str()) {
                continue;
            }
            told.push(&one.quantity);
            let limit = one.threshold.filter(|_| one.unit != "state");
            let limit = limit.map_or(String::new(), |limit| {
                let source = one.source.as_ref();
                let source = source.map_or(String::new(), |source| format!(" ({source})"));
                format!("; threshold {}{source}", shown(limit, &one.unit))
            });
            let line = format!("{} {}: {}{limit}", resource.kind, one.title, one.how);
            for (index, part) in wrap(&line, width - 4).iter().enumerate() {
                out.push_str(if index == 0 { "  " } else { "    " });
                out.push_str(part);
                out.push('\n');
            }
        }
    }
}

#[cfg(test)]
#[path = "machine_tests.rs"]
mod tests;
