//! How the host is looked at: what keys and the mouse change.

use crate::filter::Filter;
use crate::order::Sort;

/// What is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pane {
    /// A part of everything.
    All,
    /// Devices, as many as fit.
    Devices,
    /// Processes and control groups.
    Doers,
    /// Interfaces and mounts.
    Network,
}

impl Pane {
    /// The pane after this one.
    pub(crate) fn next(self) -> Pane {
        match self {
            Pane::All => Pane::Devices,
            Pane::Devices => Pane::Doers,
            Pane::Doers => Pane::Network,
            Pane::Network => Pane::All,
        }
    }
}

/// How the host is looked at.
#[derive(Debug)]
pub struct View {
    pub(crate) sort: Sort,
    pub(crate) pane: Pane,
    pub(crate) filter: Filter,
    /// Whether keys go into the filter.
    pub(crate) is_typing: bool,
    /// The device that is marked.
    pub(crate) selected: Option<String>,
    /// Whether the marked device has the screen for itself.
    pub(crate) is_open: bool,
    /// Rows of processes that are passed.
    pub(crate) scrolled: usize,
    /// Whether there are colours.
    pub(crate) is_colored: bool,
    /// The moment that is shown; the latest without a number.
    pub position: Option<u64>,
    pub(crate) helps: bool,
    /// Whether the user wants no more.
    pub quits: bool,
}

impl View {
    /// As it is looked at first.
    #[must_use]
    pub fn new(sort: Sort) -> View {
        View {
            sort,
            pane: Pane::All,
            filter: Filter::default(),
            is_typing: false,
            selected: None,
            is_open: false,
            scrolled: 0,
            is_colored: true,
            position: None,
            helps: false,
            quits: false,
        }
    }

    /// The view with colours, or without.
    #[must_use]
    pub fn colored(self, is_colored: bool) -> View {
        View { is_colored, ..self }
    }

    /// The view of what a filter takes.
    #[must_use]
    pub fn filtered(self, filter: Filter) -> View {
        View { filter, ..self }
    }

    /// The device that has the screen for itself.
    pub(crate) fn opened(&self) -> Option<&str> {
        self.selected.as_deref().filter(|_| self.is_open)
    }
}
