//! What was recorded, looked at as if it were now.

use fathom_fleet::Interrupt;
use fathom_screen::History;
use fathom_screen::terminal::{self, DefaultTerminal, Input};

use super::{LOOK, Watch, draw, obey};
use crate::exit::{CommandError, Exit};
use crate::{present, signals};

pub(super) fn run(watch: &Watch) -> anyhow::Result<Exit> {
    let recording = fathom_documents::one_recording(&watch.files);
    let recording = recording.map_err(CommandError::from)?;
    for remark in &recording.remarks {
        present::write_stderr(&format!("fathom: {remark}\n"));
    }
    let history = History::of(recording);
    if watch.is_plain() {
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
    let longest_s = watch
        .for_ns
        .map_or(f64::INFINITY, |for_ns| for_ns as f64 / 1e9);
    let (mut shown, mut passed_s, mut all_s) = (0, f64::INFINITY, 0.0);
    for (number, moment) in history.all() {
        let seconds = moment.seconds.unwrap_or(1.0);
        passed_s += seconds;
        all_s += seconds;
        if all_s > longest_s {
            break;
        }
        // Readings are seldom apart by exactly what was asked for.
        if passed_s < 0.99 * every_s {
            continue;
        }
        if present::reader_is_gone() || watch.count.is_some_and(|count| shown >= count) {
            break;
        }
        if let Some(seen) = history.at(Some(number)) {
            watch.print(history.host(), &seen)?;
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
    let mut view = watch.view();
    // Nothing comes after the last reading, so the view never goes on by itself.
    while !interrupt.is_raised() && !view.quits {
        let picture = draw(terminal, history, &view)?;
        loop {
            match terminal::input(LOOK)? {
                Input::Nothing if !interrupt.is_raised() => {}
                Input::Nothing | Input::End => return Ok(()),
                input => break obey(&mut view, input, history, &picture),
            }
        }
    }
    Ok(())
}
