//! Diagnostics for people: rustc's renderer with the lines that are meant.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

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
        .map(|item| {
            let what = renderer.render(&[group(all, item)]);
            match &item.help {
                Some(help) => format!("{what}\n{}", renderer.render(&[helping(help)])),
                None => what,
            }
        })
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
    group
}

/// What to write instead: a line of its own, as below every other error.
fn helping(help: &str) -> Group<'_> {
    Group::with_title(Level::HELP.primary_title(help))
}
