//! What was recorded, looked at as if it were now.

use fathom_fleet::Interrupt;
use fathom_screen::terminal::{self, DefaultTerminal, Input};
use fathom_screen::{History, View};

use super::{LOOK, Watch, is_plain};
use crate::exit::{CommandError, Exit};
use crate::{present, signals};

pub(super) fn run(watch: &Watch) -> anyhow::Result<Exit> {
    let recording = fathom_documents::one_recording(&watch.files);
    let recording = recording.map_err(CommandError::from)?;
    for remark in &recording.remarks {
        present::write_stderr(&format!("fathom: {remark}\n"));
    }
    let history = History::of(recording);
    if is_plain(watch) {
        return in_plain_text(watch, &history);
    }
    let interrupt = Interrupt::new();
    signals::raise_on_signals(&interrupt)?;
    terminal::with_screen(|terminal| on_screen(watch, &history, &interrupt, terminal))?;
    Ok(Exit::Success)
}

/// A block for each moment, or for one in so long.
fn in_plain_text(watch: &Watch, history: &History) -> anyhow::Result<Exit> {
    let every_s = watch.every_ns as f64 / 1e9;
    let (mut shown, mut passed_s) = (0, f64::INFINITY);
    for (number, moment) in history.all() {
        passed_s += moment.seconds.unwrap_or(1.0);
        // Readings are seldom apart by exactly what was asked for.
        if passed_s < 0.99 * every_s {
            continue;
        }
        if present::reader_is_gone() || watch.count.is_some_and(|count| shown >= count) {
            break;
        }
        if let Some(seen) = history.at(Some(number)) {
            present::write_stdout(&fathom_screen::block(history.host(), &seen, watch.sort))?;
            (shown, passed_s) = (shown + 1, 0.0);
        }
    }
    Ok(Exit::Success)
}

fn on_screen(
    watch: &Watch,
    history: &History,
    interrupt: &Interrupt,
    terminal: &mut DefaultTerminal,
) -> anyhow::Result<()> {
    let mut view = View::new(watch.sort);
    // Nothing comes after the last reading, so the view never goes on by itself.
    while !interrupt.is_raised() && !view.quits {
        let seen = history.at(view.position);
        terminal::draw(terminal, |frame| {
            fathom_screen::draw(frame, history.host(), seen.as_ref(), &view);
        })?;
        loop {
            match terminal::input(LOOK)? {
                Input::Nothing if !interrupt.is_raised() => {}
                Input::Nothing | Input::End => return Ok(()),
                Input::Key(key) => break view.press(key, history),
                Input::Change => break,
            }
        }
    }
    Ok(())
}
