//! The screen on the terminal, its keys, and its end.

use std::io::{self, stdin, stdout};
use std::mem::ManuallyDrop;
use std::panic;
use std::time::Duration;

pub use ratatui::DefaultTerminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::event::{self, Event, KeyEvent, KeyEventKind, MouseButton, MouseEventKind};
use ratatui::crossterm::execute;
use ratatui::crossterm::style::Print;
use ratatui::crossterm::terminal::{EnterAlternateScreen, enable_raw_mode, size};
use ratatui::{Frame, Terminal};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;

/// What came from the terminal.
pub enum Input {
    /// A key was pressed.
    Key(KeyEvent),
    /// The mouse was pressed on this line.
    Click(u16),
    /// The other button of the mouse was pressed.
    Back,
    /// The wheel was turned, down or up.
    Wheel {
        /// Toward the user.
        is_down: bool,
    },
    /// Its size, or something else that asks for a new picture.
    Change,
    /// Nothing came in time.
    Nothing,
    /// It was closed.
    End,
}

/// Clicks and the wheel are told, movements are not (xterm, modes 1000 and 1006).
const MOUSE_ON: &str = "\x1b[?1000h\x1b[?1006h";
const MOUSE_OFF: &str = "\x1b[?1006l\x1b[?1000l";

/// Takes the terminal for a screen and gives it back afterwards. A terminal that
/// was closed meanwhile ends the screen in order.
pub fn with_screen(
    work: impl FnOnce(&mut DefaultTerminal) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    // Neither `ratatui::restore` nor the end of a terminal with a hidden cursor is
    // for a terminal that may be gone: both print why they fail, and `eprintln!`
    // panics where nothing can be printed.
    let ended = check_size().and_then(|()| {
        let mut terminal = ManuallyDrop::new(open()?);
        let ended = work(&mut terminal);
        let _ = execute!(stdout(), Print(MOUSE_OFF));
        if terminal.show_cursor().is_ok() {
            drop(ManuallyDrop::into_inner(terminal));
        }
        ratatui::try_restore()?;
        ended
    });
    match ended {
        Err(error) if error.downcast_ref().is_some_and(is_gone) => Ok(()),
        ended => ended,
    }
}

/// Takes the terminal as `ratatui::try_init` does, but for its hook for panics: that
/// one prints why a terminal cannot be given back, which is a panic within a panic
/// where the terminal is gone.
fn open() -> io::Result<DefaultTerminal> {
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        let _ = execute!(stdout(), Print(MOUSE_OFF));
        let _ = ratatui::try_restore();
        before(info);
    }));
    enable_raw_mode()?;
    let opened = execute!(stdout(), EnterAlternateScreen, Print(MOUSE_ON))
        .and_then(|()| Terminal::new(CrosstermBackend::new(stdout())));
    if opened.is_err() {
        let _ = execute!(stdout(), Print(MOUSE_OFF));
        let _ = ratatui::try_restore();
    }
    opened
}

/// Cells of the largest screen that is drawn: more than any monitor shows, and few
/// enough for its two buffers to fit in memory.
const CELLS_MAX: u32 = 4 << 20;

/// Draws the screen.
pub fn draw(
    terminal: &mut DefaultTerminal,
    picture: impl FnOnce(&mut Frame<'_>),
) -> anyhow::Result<()> {
    check_size()?;
    terminal.draw(picture)?;
    Ok(())
}

/// Rejects a size too large to draw. The size comes from the other end of the
/// terminal and may be anything.
fn check_size() -> anyhow::Result<()> {
    let (columns, rows) = size()?;
    if u32::from(columns) * u32::from(rows) > CELLS_MAX {
        anyhow::bail!("a terminal of {columns} columns and {rows} rows is too large: use --plain");
    }
    Ok(())
}

/// Whether an error of the terminal comes from its being closed.
fn is_gone(error: &io::Error) -> bool {
    error.raw_os_error() == Some(Errno::IO.raw_os_error())
        || is_closed(Duration::ZERO).unwrap_or(false)
}

/// Waits for input, at most so long.
pub fn input(most: Duration) -> io::Result<Input> {
    // What reads keys reads a closed terminal without end: it is asked first.
    for wait in [Duration::ZERO, most] {
        if is_closed(wait)? {
            return Ok(Input::End);
        }
        if event::poll(Duration::ZERO)? {
            return Ok(match event::read()? {
                Event::Key(key) if key.kind != KeyEventKind::Release => Input::Key(key),
                Event::Mouse(mouse) => match mouse.kind {
                    MouseEventKind::Down(MouseButton::Left) => Input::Click(mouse.row),
                    MouseEventKind::Down(MouseButton::Right) => Input::Back,
                    MouseEventKind::ScrollDown => Input::Wheel { is_down: true },
                    MouseEventKind::ScrollUp => Input::Wheel { is_down: false },
                    _ => Input::Nothing,
                },
                _ => Input::Change,
            });
        }
    }
    Ok(Input::Nothing)
}

/// Waits until there is something to read, and says whether that is the end.
fn is_closed(wait: Duration) -> io::Result<bool> {
    let input = stdin();
    let mut fds = [PollFd::new(&input, PollFlags::IN)];
    let time = Timespec {
        tv_sec: wait.as_secs().try_into().unwrap_or(i64::MAX),
        tv_nsec: wait.subsec_nanos().into(),
    };
    match rustix::event::poll(&mut fds, Some(&time)) {
        Ok(_) | Err(Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    let gone = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
    Ok(fds[0].revents().intersects(gone))
}
