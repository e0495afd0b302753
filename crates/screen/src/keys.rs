//! What keys and the mouse do to the view.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::devices;
use crate::filter::Filter;
use crate::history::History;
use crate::screen::Picture;
use crate::view::{Pane, View};

/// Moments that page up and page down go.
const FAR: u64 = 30;

impl View {
    /// Does what a key asks for.
    pub fn press(&mut self, key: KeyEvent, history: &History) {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Char('c') if control => self.quits = true,
            // A page of help is left before the screen.
            _ if self.helps => self.helps = false,
            code if self.is_typing => self.type_filter(code, history),
            KeyCode::Char('q') => self.quits = true,
            KeyCode::Esc => self.go_back(),
            KeyCode::Char('?' | 'h') => self.helps = true,
            KeyCode::Char('s') => self.sort = self.sort.next(),
            KeyCode::Char('/') => {
                self.is_typing = true;
                self.is_open = false;
            }
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
            KeyCode::Up | KeyCode::Char('k') => self.step(history, -1),
            KeyCode::Down | KeyCode::Char('j') => self.step(history, 1),
            KeyCode::Enter => self.open(history),
            KeyCode::Tab => {
                self.pane = self.pane.next();
                self.is_open = false;
                self.scrolled = 0;
            }
            _ => {}
        }
    }

    fn type_filter(&mut self, code: KeyCode, history: &History) {
        match code {
            KeyCode::Char(character) => self.filter = self.filter.with(character),
            KeyCode::Backspace => self.filter = self.filter.shortened(),
            KeyCode::Enter => self.is_typing = false,
            KeyCode::Esc => {
                self.is_typing = false;
                self.filter = Filter::default();
            }
            KeyCode::Up => self.step(history, -1),
            KeyCode::Down => self.step(history, 1),
            _ => {}
        }
    }

    /// From help to the screen, from one device to all, from the filter to everything,
    /// from a mark to none.
    pub fn go_back(&mut self) {
        if self.helps {
            self.helps = false;
        } else if self.is_open {
            self.is_open = false;
        } else if self.is_typing || !self.filter.is_empty() {
            self.is_typing = false;
            self.filter = Filter::default();
        } else {
            self.selected = None;
            self.scrolled = 0;
        }
    }

    /// Marks the device above or below the marked one; processes move instead where
    /// only they are shown.
    fn step(&mut self, history: &History, by: isize) {
        if self.pane == Pane::Doers && !self.is_open {
            let most = history
                .at(self.position)
                .map_or(0, |seen| seen.moment.processes.len().saturating_sub(1));
            self.scrolled = self.scrolled.saturating_add_signed(by).min(most);
            return;
        }
        // No device is seen there that could be marked.
        if self.pane == Pane::Network && !self.is_open {
            return;
        }
        let Some(seen) = history.at(self.position) else {
            return;
        };
        let (order, _) = devices::shown(&seen, self);
        let is_marked = |name: &String| order.iter().position(|disk| disk.name == *name);
        let place = match self.selected.as_ref().and_then(is_marked) {
            Some(place) => place.saturating_add_signed(by),
            None if by < 0 => order.len().saturating_sub(1),
            None => 0,
        };
        let place = place.min(order.len().saturating_sub(1));
        self.selected = order.get(place).map(|disk| disk.name.clone());
    }

    /// Shows the marked device alone; the worst one where none is marked.
    fn open(&mut self, history: &History) {
        let Some(seen) = history.at(self.position) else {
            return;
        };
        let disk = devices::marked(&seen, self).or_else(|| devices::worst(&seen, self));
        self.selected = disk.map(|disk| disk.name.clone());
        self.is_open = self.selected.is_some();
    }

    /// Marks the device on a line of the screen; one that is marked is opened.
    pub fn click(&mut self, line: u16, picture: &Picture) {
        if self.helps {
            self.helps = false;
            return;
        }
        let hit = picture.devices.iter().find(|(at, _)| *at == line);
        if let Some((_, name)) = hit {
            self.is_open = self.selected.as_ref() == Some(name);
            self.selected = Some(name.clone());
        }
    }

    /// Goes through the rows as arrows do.
    pub fn wheel(&mut self, is_down: bool, history: &History) {
        if !self.helps {
            self.step(history, if is_down { 1 } else { -1 });
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
    use fathom_diagnose::recording::{DiskMoment, Moment, RecordedHost};

    use super::*;
    use crate::order::Sort;

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
        assert!(!press(KeyCode::Esc).1, "escape goes back and does not quit");
        assert!(press(KeyCode::Char('q')).1);
    }

    /// Three devices, `sdb` with the longest queue.
    fn three_devices() -> History {
        let disk = |name: &str, queue: f64| DiskMoment {
            name: name.to_owned(),
            reads: 10.0,
            read_wait_ms: Some(1.0),
            write_wait_ms: Some(0.0),
            queue: Some(queue),
            ..DiskMoment::default()
        };
        let mut history = History::new(RecordedHost::default());
        for _ in 0..4 {
            history.push(Moment {
                seconds: Some(1.0),
                disks: vec![disk("sda", 0.5), disk("sdb", 2.0), disk("sdc", 0.1)],
                ..Moment::default()
            });
        }
        history
    }

    fn pressed(view: &mut View, history: &History, codes: &[KeyCode]) -> Option<String> {
        for code in codes {
            view.press(KeyEvent::new(*code, KeyModifiers::NONE), history);
        }
        view.selected.clone()
    }

    #[test]
    fn arrows_mark_devices_in_the_order_of_the_screen() {
        let history = three_devices();
        let mut view = View::new(Sort::Queue);
        let marked = pressed(&mut view, &history, &[KeyCode::Down]);
        assert_eq!(marked.as_deref(), Some("sdb"));
        let marked = pressed(&mut view, &history, &[KeyCode::Down, KeyCode::Down]);
        assert_eq!(marked.as_deref(), Some("sdc"));
        // Not beyond the last.
        let marked = pressed(&mut view, &history, &[KeyCode::Down, KeyCode::Up]);
        assert_eq!(marked.as_deref(), Some("sda"));
        assert_eq!(pressed(&mut view, &history, &[KeyCode::Esc]), None);
        let marked = pressed(&mut view, &history, &[KeyCode::Up]);
        assert_eq!(marked.as_deref(), Some("sdc"), "up begins at the end");
    }

    #[test]
    fn enter_opens_and_escape_goes_back() {
        let history = three_devices();
        let mut view = View::new(Sort::Queue);
        pressed(&mut view, &history, &[KeyCode::Enter]);
        assert_eq!(view.opened(), Some("sdb"), "the worst where none is marked");
        pressed(&mut view, &history, &[KeyCode::Down]);
        assert_eq!(
            view.opened(),
            Some("sda"),
            "the next one opens in its place"
        );
        pressed(&mut view, &history, &[KeyCode::Esc]);
        assert_eq!(view.opened(), None);
        assert_eq!(view.selected.as_deref(), Some("sda"), "the mark stays");
        assert!(!view.quits);
    }

    #[test]
    fn a_filter_is_typed_kept_and_given_up() {
        let history = three_devices();
        let mut view = View::new(Sort::Queue);
        let keys = [
            KeyCode::Char('/'),
            KeyCode::Char('s'),
            KeyCode::Char('q'),
            KeyCode::Backspace,
            KeyCode::Char('d'),
            KeyCode::Char('c'),
        ];
        pressed(&mut view, &history, &keys);
        assert!(!view.quits && view.is_typing, "letters go into the filter");
        assert_eq!(view.filter.text(), "sdc");
        let marked = pressed(&mut view, &history, &[KeyCode::Enter, KeyCode::Down]);
        assert_eq!(marked.as_deref(), Some("sdc"));
        pressed(&mut view, &history, &[KeyCode::Esc]);
        assert!(view.filter.is_empty() && !view.is_typing);
    }

    #[test]
    fn the_mouse_marks_opens_and_scrolls() {
        let history = three_devices();
        let mut view = View::new(Sort::Queue);
        let picture = Picture {
            devices: vec![(9, "sdb".to_owned()), (10, "sda".to_owned())],
        };
        view.click(3, &picture);
        assert_eq!(view.selected, None);
        view.click(10, &picture);
        assert_eq!(view.selected.as_deref(), Some("sda"));
        view.wheel(false, &history);
        assert_eq!(view.selected.as_deref(), Some("sdb"));
        view.click(9, &picture);
        assert_eq!(view.opened(), Some("sdb"));
        view.wheel(true, &history);
        assert_eq!(
            view.opened(),
            Some("sda"),
            "the wheel goes to the next device"
        );
        view.click(3, &picture);
        view.click(u16::MAX, &picture);
        assert_eq!(view.opened(), Some("sda"), "nothing is there to click");
        view.helps = true;
        view.go_back();
        assert!(!view.helps && view.opened().is_some());
        view.go_back();
        assert_eq!(
            (view.opened(), view.selected.as_deref()),
            (None, Some("sda"))
        );
        view.pane = Pane::Network;
        view.wheel(false, &history);
        assert_eq!(view.selected.as_deref(), Some("sda"), "no device is seen");
        view.go_back();
        assert_eq!(view.selected, None);
    }
}
