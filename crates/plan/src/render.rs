//! Diagnostics for people: rustc's renderer with the lines that are meant.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use fathom_model::printable;

use crate::diagnostic::{Diagnostic, Diagnostics, Severity};

/// Draws every diagnostic, one block each, separated by an empty line.
pub(crate) fn render(all: &Diagnostics, color: bool) -> String {
    let renderer = if color {
        Renderer::styled()
    } else {
        Renderer::plain()
    };
    let blocks: Vec<String> = all
        .items
        .iter()
        .map(|item| renderer.render(&[group(all, item)]))
        .collect();
    // Whatever is printed next begins a line of its own.
    match blocks.is_empty() {
        true => String::new(),
        false => blocks.join("\n\n") + "\n",
    }
}

fn group<'a>(all: &'a Diagnostics, item: &'a Diagnostic) -> Group<'a> {
    let level = match item.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let mut group = Group::with_title(level.primary_title(item.message.as_str()));
    if let Some(place) = item.place {
        let text: &str = &all.file.text;
        let mut snippet = Snippet::source(text)
            .path(&*all.file.name)
            .annotation(AnnotationKind::Primary.span(place.span.range_in(text)));
        for (place, remark) in &item.related {
            let annotation = AnnotationKind::Context.span(place.span.range_in(text));
            snippet = snippet.annotation(annotation.label(remark.as_str()));
        }
        group = group.element(snippet);
    }
    if let Some(help) = &item.help {
        // The renderer takes this text as it is, unlike all others.
        group = group.element(Level::HELP.message(printable::lines(help)));
    }
    group
}
