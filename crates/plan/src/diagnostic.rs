//! What is wrong, or unwise, in a plan: collected, never only the first, each
//! with its place and what to do.

use std::fmt;
use std::sync::Arc;

use crate::node::Span;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The plan cannot be run.
    Error,
    /// The plan runs, but its numbers may mislead.
    Warning,
}

/// Where in the plan file, for people and editors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// The same in bytes.
    pub span: Span,
}

/// One mistake or warning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// Short stable name of the rule, for example `unknown_key`.
    pub id: &'static str,
    /// What is wrong, in one sentence.
    pub message: String,
    /// Where; `None` for flags and for what is missing altogether.
    pub place: Option<Place>,
    /// Other places that take part, each with a remark.
    pub related: Vec<(Place, String)>,
    /// What to do.
    pub help: Option<String>,
}

/// Everything that was found in one plan, in the order of the text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Diagnostics {
    pub(crate) file: Source,
    pub(crate) items: Vec<Diagnostic>,
}

/// Name and text of a plan file; the text is empty for flags.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    pub(crate) name: Arc<str>,
    pub(crate) text: Arc<str>,
}

impl Source {
    /// The plan file `name` with its text.
    pub fn new(name: &str, text: &str) -> Source {
        Source {
            name: name.into(),
            text: text.into(),
        }
    }

    fn place(&self, span: Span) -> Place {
        let text: &str = &self.text;
        let before = &text[..span.range_in(text).start];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let line = before.bytes().filter(|b| *b == b'\n').count() + 1;
        let column = before[line_start..].chars().count() + 1;
        Place {
            line: u32::try_from(line).unwrap_or(u32::MAX),
            column: u32::try_from(column).unwrap_or(u32::MAX),
            span,
        }
    }
}

impl Diagnostics {
    /// One value that is out of its bounds, where code builds the plan.
    pub fn of_limit(message: impl Into<String>) -> Diagnostics {
        let mut problems = Problems::default();
        problems.error("limit", None, message);
        problems.finish(&Source::new("command line", ""))
    }

    /// Each mistake and warning.
    pub fn items(&self) -> &[Diagnostic] {
        &self.items
    }

    /// Whether nothing was found.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Whether the plan cannot be run.
    pub fn has_errors(&self) -> bool {
        self.items.iter().any(|d| d.severity == Severity::Error)
    }

    /// The name of the plan file.
    pub fn source_name(&self) -> &str {
        &self.file.name
    }

    /// The whole list for people, with the lines that are meant; `color` adds
    /// terminal escapes.
    pub fn render(&self, color: bool) -> String {
        fathom_model::secret::masked(&crate::render::render(self, color))
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

/// A mistake before its place is looked up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub(crate) severity: Severity,
    pub(crate) id: &'static str,
    pub(crate) message: String,
    pub(crate) span: Option<Span>,
    pub(crate) related: Vec<(Span, String)>,
    pub(crate) help: Option<String>,
}

impl Problem {
    /// An error with the name of its rule.
    pub fn error(id: &'static str, span: Option<Span>, message: impl Into<String>) -> Problem {
        error(id, span, message)
    }

    /// A warning with the name of its rule.
    pub fn warning(id: &'static str, span: Option<Span>, message: impl Into<String>) -> Problem {
        warning(id, span, message)
    }

    /// Adds what to do.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    pub(crate) fn relate(mut self, span: Option<Span>, remark: impl Into<String>) -> Self {
        if let Some(span) = span {
            self.related.push((span, remark.into()));
        }
        self
    }
}

/// Collects problems. Equal ones (the same rule on every row of a matrix) are
/// kept once.
#[derive(Debug, Default)]
pub struct Problems {
    items: Vec<Problem>,
}

/// More than this many problems help nobody.
const MAX_PROBLEMS: usize = 100;

impl Problems {
    /// Adds one, unless it is known.
    pub fn push(&mut self, problem: Problem) {
        if self.items.contains(&problem) {
            return;
        }
        if self.items.len() < MAX_PROBLEMS {
            self.items.push(problem);
        } else if problem.severity == Severity::Error
            && let Some(warning) = self
                .items
                .iter_mut()
                .find(|p| p.severity != Severity::Error)
        {
            // An error may take the place of a warning, never be lost to one.
            *warning = problem;
        }
    }

    /// Adds an error.
    pub fn error(&mut self, id: &'static str, span: Option<Span>, message: impl Into<String>) {
        self.push(problem(Severity::Error, id, span, message));
    }

    /// Whether one of them is an error.
    pub fn has_errors(&self) -> bool {
        self.items.iter().any(|p| p.severity == Severity::Error)
    }

    /// Whether nothing more can be added.
    pub(crate) fn is_full(&self) -> bool {
        self.items.len() >= MAX_PROBLEMS && self.items.iter().all(|p| p.severity == Severity::Error)
    }

    /// All of them in the order of the text.
    pub fn finish(self, source: &Source) -> Diagnostics {
        let mut items = self.items;
        items.sort_by_key(|p| (p.span.map_or(u32::MAX, |s| s.start), p.severity));
        let items = items
            .into_iter()
            .map(|p| Diagnostic {
                severity: p.severity,
                id: p.id,
                message: p.message,
                place: p.span.map(|span| source.place(span)),
                related: p
                    .related
                    .into_iter()
                    .map(|(span, remark)| (source.place(span), remark))
                    .collect(),
                help: p.help,
            })
            .collect();
        Diagnostics {
            file: source.clone(),
            items,
        }
    }
}

/// An error.
pub(crate) fn error(id: &'static str, span: Option<Span>, message: impl Into<String>) -> Problem {
    problem(Severity::Error, id, span, message)
}

/// A warning.
pub(crate) fn warning(id: &'static str, span: Option<Span>, message: impl Into<String>) -> Problem {
    problem(Severity::Warning, id, span, message)
}

fn problem(
    severity: Severity,
    id: &'static str,
    span: Option<Span>,
    message: impl Into<String>,
) -> Problem {
    Problem {
        severity,
        id,
        message: message.into(),
        span,
        related: Vec::new(),
        help: None,
    }
}
