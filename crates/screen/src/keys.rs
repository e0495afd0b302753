//! What keys do to the view.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::cells::Sort;
use crate::history::History;

/// Moments that page up and page down go.
const FAR: u64 = 30;

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

/// How the host is looked at.
#[derive(Debug)]
pub struct View {
    pub(crate) sort: Sort,
    pub(crate) pane: Pane,
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
            position: None,
            helps: false,
            quits: false,
        }
    }

    /// Does what a key asks for.
    pub fn press(&mut self, key: KeyEvent, history: &History) {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Char('c') if control => self.quits = true,
            // A page of help is left before the screen.
            _ if self.helps => self.helps = false,
            KeyCode::Char('q') | KeyCode::Esc => self.quits = true,
            KeyCode::Char('?' | 'h') => self.helps = true,
            KeyCode::Char('s') => self.sort = self.sort.next(),
            KeyCode::Char('f' | ' ') => {
                self.position = match self.position {
                    Some(_) => None,
                    None => history.span().map(|(_, latest)| latest),
                };
            }
            KeyCode::Left => self.go(history, -1),
            KeyCode::Right => self.go(history, 1),
            KeyCode::PageUp => self.go(history, -(FAR as i64)),
            KeyCode::PageDown => self.go(history, FAR as i64),
            KeyCode::Home => self.position = history.span().map(|(oldest, _)| oldest),
            KeyCode::End => self.position = None,
            KeyCode::Tab => {
                self.pane = match self.pane {
                    Pane::All => Pane::Devices,
                    Pane::Devices => Pane::Doers,
                    Pane::Doers => Pane::Network,
                    Pane::Network => Pane::All,
                };
            }
            _ => {}
        }
    }

    /// Goes back or forth; forth beyond the latest moment is live again.
    fn go(&mut self, history: &History, steps: i64) {
        let Some((oldest, latest)) = history.span() else {
            return;
        };
        let from = self.position.unwrap_or(latest).clamp(oldest, latest);
        let to = from.saturating_add_signed(steps).max(oldest);
        self.position = (to <= latest).then_some(to);
    }
}

#[cfg(test)]
mod tests {
    use fathom_diagnose::recording::{Moment, RecordedHost};

    use super::*;

    #[test]
    fn time_goes_back_and_becomes_live_again() {
        let mut history = History::new(RecordedHost::default());
        let mut view = View::new(Sort::default());
        let press = |view: &mut View, history: &History, code| {
            view.press(KeyEvent::new(code, KeyModifiers::NONE), history);
        };
        press(&mut view, &history, KeyCode::Left);
        assert_eq!(view.position, None);
        for _ in 0..5 {
            history.push(Moment::default());
        }
        press(&mut view, &history, KeyCode::Left);
        assert_eq!(view.position, Some(3));
        history.push(Moment::default());
        assert_eq!(view.position, Some(3), "new moments do not move it");
        press(&mut view, &history, KeyCode::PageUp);
        assert_eq!(view.position, Some(0));
        press(&mut view, &history, KeyCode::PageDown);
        assert_eq!(view.position, None);
        press(&mut view, &history, KeyCode::Char(' '));
        assert_eq!(view.position, Some(5));
        press(&mut view, &history, KeyCode::Char('f'));
        assert_eq!(view.position, None);
    }

    #[test]
    fn help_is_left_by_any_key_and_the_screen_by_q() {
        let history = History::new(RecordedHost::default());
        let mut view = View::new(Sort::default());
        let mut press = |code| {
            view.press(KeyEvent::new(code, KeyModifiers::NONE), &history);
            (view.helps, view.quits, view.pane)
        };
        assert!(press(KeyCode::Char('?')).0);
        assert_eq!(press(KeyCode::Char('q')), (false, false, Pane::All));
        assert_eq!(press(KeyCode::Tab).2, Pane::Devices);
        assert!(press(KeyCode::Char('q')).1);
    }
}
