//! The first lines of the screen: whose host it is and when, the verdict with what
//! shows it, and CPUs, stalls and memory.

use fathom_diagnose::recording::RecordedHost;
use fathom_model::unit;
use fathom_report::table::{Align, clean, pad, wrap};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};

use crate::cells::{self, Fact, cpu_facts, memory_facts, pressure_facts, words};
use crate::fitting;
use crate::grid::Room;
use crate::history::Seen;
use crate::severity::{self, Severity};
use crate::view::View;

/// Lines on CPUs, stalls and memory.
const FACTS: usize = 3;
/// Lines of evidence on a screen of the usual height.
const EVIDENCE: usize = 2;
/// Lines of evidence on a high one.
const MORE_EVIDENCE: usize = 5;
/// From this height on it is high.
const HIGH: usize = 40;
/// Columns of the words in front of facts.
const LEAD: usize = 12;

/// The lines for a screen of this size, at most so many.
pub(crate) fn lines(
    host: &RecordedHost,
    seen: &Seen<'_>,
    view: &View,
    Room { width, height }: Room,
    most: usize,
) -> Vec<Line<'static>> {
    let width = width.max(8);
    let mut lines = vec![title(host, seen, view, width)];
    let (headline, evidence) = words(seen);
    let style = severity::of_answer(seen.found.answer)
        .style(view.is_colored)
        .add_modifier(Modifier::BOLD);
    let parts = fitting::paragraph(&headline, width, 2);
    lines.extend(parts.into_iter().map(|part| Line::styled(part, style)));
    lines.extend(evidence_lines(&evidence, width, height));
    let before_facts = lines.len();
    lines.extend(fact_lines(host, seen, view, width));
    fitted(lines, before_facts, most)
}

/// Evidence goes first where there is less room, then what is known of memory and stalls.
fn fitted(mut lines: Vec<Line<'static>>, before_facts: usize, most: usize) -> Vec<Line<'static>> {
    let most = most.max(2);
    if lines.len() > most {
        let evidence = 2..before_facts.max(2);
        let gone = (lines.len() - most).min(evidence.len());
        lines.drain(evidence.end - gone..evidence.end);
    }
    lines.truncate(most);
    lines
}

fn title(host: &RecordedHost, seen: &Seen<'_>, view: &View, width: usize) -> Line<'static> {
    let color = |color| match view.is_colored {
        true => Style::new().fg(color),
        false => Style::new(),
    };
    let (when, style) = match (seen.place, view.position) {
        (Some((place, all)), _) => {
            let gap = after_gap(seen);
            let when = format!("recorded, reading {place} of {all}{gap}");
            (when, color(Color::Cyan))
        }
        (None, None) => ("live".to_owned(), color(Color::Green)),
        (None, Some(_)) => {
            let when = format!("frozen, {} ago", unit::counted(seen.back, "reading"));
            (when, color(Color::Yellow))
        }
    };
    let name = clean(host.name.as_deref().unwrap_or("this host"));
    let clock = cells::clock(seen.moment);
    let room = width.saturating_sub(clock.chars().count() + when.chars().count() + 4);
    let bold = Style::new().add_modifier(Modifier::BOLD);
    let mut spans = vec![
        Span::styled(fitting::name(&name, room.max(8)), bold),
        Span::raw(format!("  {clock}  ")),
        Span::styled(when, style),
    ];
    let mut parts = vec![format!("verdict: {}", seen.window())];
    if !view.filter.is_empty() {
        parts.insert(0, format!("only '{}'", view.filter.text()));
    }
    let left = width.saturating_sub(fitting::spans_width(&spans) + 2);
    if parts[0].chars().count() <= left {
        spans.push(Span::raw("  "));
        spans.push(Span::raw(fitting::parts(&parts, left)));
    }
    Line::from(spans)
}

fn after_gap(seen: &Seen<'_>) -> String {
    seen.gap_seconds.map_or(String::new(), |seconds| {
        let span = unit::span((seconds * 1e9) as u64);
        format!(", after {span} without one")
    })
}

/// What shows it, in as many lines each time: what follows does not jump.
fn evidence_lines(evidence: &[String], width: usize, height: usize) -> Vec<Line<'static>> {
    let room = width.saturating_sub(2);
    let most = if height >= HIGH {
        MORE_EVIDENCE
    } else {
        EVIDENCE
    };
    let mut texts: Vec<String> = Vec::new();
    for line in evidence {
        let left = most - texts.len();
        if left == 0 || (!texts.is_empty() && wrap(line, room).len() > left) {
            break;
        }
        texts.extend(fitting::paragraph(line, room, left));
    }
    texts.resize(texts.len().max(EVIDENCE), String::new());
    let lines = texts.into_iter().map(|text| Line::raw(format!("  {text}")));
    lines.collect()
}

fn fact_lines(
    host: &RecordedHost,
    seen: &Seen<'_>,
    view: &View,
    width: usize,
) -> Vec<Line<'static>> {
    let word = match seen.back > 0 || seen.is_recorded() {
        true => "then",
        false => "now",
    };
    let facts: [(&str, Vec<Fact>); FACTS] = [
        ("CPU", cpu_facts(seen.moment, host.cpus)),
        ("stalls", pressure_facts(seen.moment, seen.is_recorded())),
        ("memory", memory_facts(seen.moment, seen.is_recorded())),
    ];
    let line = |(name, facts): (&str, Vec<Fact>)| {
        let lead = pad(&format!("{name} {word}"), LEAD, Align::Left);
        let bold = Style::new().add_modifier(Modifier::BOLD);
        let mut spans = vec![Span::styled(lead, bold)];
        let mut left = width.saturating_sub(LEAD);
        for (place, fact) in facts.into_iter().enumerate() {
            let gap = if place > 0 { 2 } else { 0 };
            let length = gap + fact.text.chars().count();
            let text = match (length <= left, place) {
                (true, _) => fact.text,
                (false, 0) => fitting::words(&fact.text, left),
                (false, _) => break,
            };
            left = left.saturating_sub(length);
            let style = match fact.severity {
                Severity::NotJudged => Style::new(),
                grave => grave.style(view.is_colored),
            };
            spans.push(Span::raw(&"  "[..gap]));
            spans.push(Span::styled(text, style));
        }
        Line::from(spans)
    };
    facts.into_iter().map(line).collect()
}
