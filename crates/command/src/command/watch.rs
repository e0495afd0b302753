//! `fathom watch`: what this host does, live.

mod replay;

use std::io::{IsTerminal, stdin, stdout};
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use fathom_fleet::Interrupt;
use fathom_observe::{Sysroot, monotonic_ns};
use fathom_recorder::{Instant, Moments, Pace, Sampler, recorded_host};
use fathom_screen::terminal::{self, DefaultTerminal, Input};
use fathom_screen::{History, Sort, View};

use crate::exit::Exit;
use crate::{present, signals};

/// How often it is looked whether somebody wants it to end.
const LOOK: Duration = Duration::from_millis(250);

/// Live view: devices, top processes, bottleneck.
///
/// On a terminal a screen that is drawn again with each reading; elsewhere one
/// block of text for each. The first lines say in words what holds the host
/// back, judged as by `fathom diagnose` over the last half minute.
///
/// With recordings it shows what happened then: on the screen back and forth in
/// time, as text a block for each reading, or for one in so long (--every).
#[derive(Debug, Args)]
#[command(after_help = "\
Keys:
  q quit   s sort   f or space freeze   left, right back and forth in time
  home, end oldest and live   tab next pane   ? help

Examples:
  fathom watch                       A screen, a reading each second
  fathom watch --every 5s --sort bytes
  fathom watch --count 3 > now.txt   Three blocks of text
  fathom watch db1.frec              What was recorded
  fathom watch /var/lib/fathom --plain --every 10m")]
pub(crate) struct Watch {
    /// Recordings to look at, instead of this host; the parts of one host are
    /// joined, and a folder stands for all in it.
    #[arg(value_name = "FILE|FOLDER")]
    files: Vec<PathBuf>,
    /// Distance between two readings, 100ms to 1h.
    #[arg(long = "every", value_name = "TIME", default_value = "1s")]
    #[arg(value_parser = super::record::interval)]
    every_ns: u64,
    /// Stop after N samples.
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,
    /// Order of devices and processes.
    #[arg(long, value_enum, default_value_t, value_name = "ORDER")]
    sort: Sort,
    /// Blocks of text, also on a terminal.
    #[arg(long)]
    plain: bool,
}

pub(crate) fn run(watch: &Watch) -> anyhow::Result<Exit> {
    if !watch.files.is_empty() {
        return replay::run(watch);
    }
    let interrupt = Interrupt::new();
    signals::raise_on_signals(&interrupt)?;
    let sampler = Sampler::new(&Sysroot::host());
    let source = Source {
        history: History::new(recorded_host(&sampler.host())),
        moments: Moments::new(watch.every_ns),
        sampler,
    };
    if is_plain(watch) {
        return in_plain_text(watch, source, &interrupt);
    }
    terminal::with_screen(|terminal| on_screen(watch, source, &interrupt, terminal))?;
    Ok(Exit::Success)
}

/// Whether it is written as text: asked for, or no terminal is there.
fn is_plain(watch: &Watch) -> bool {
    watch.plain || !stdout().is_terminal() || !stdin().is_terminal()
}

/// Where moments come from, and where they go.
struct Source {
    sampler: Sampler,
    moments: Moments,
    history: History,
}

impl Source {
    /// Takes a reading; true where it made a moment.
    fn read(&mut self) -> bool {
        let frame = self.sampler.sample(Instant::now());
        match self.moments.advance(&frame) {
            Some(moment) => {
                self.history.push(moment);
                true
            }
            None => false,
        }
    }
}

fn in_plain_text(watch: &Watch, mut source: Source, interrupt: &Interrupt) -> anyhow::Result<Exit> {
    let mut pace = Pace::new(watch.every_ns, None);
    let mut shown = 0;
    while watch.count.is_none_or(|count| shown < count) && pace.wait(|| interrupt.is_raised()) {
        if source.read()
            && let Some(seen) = source.history.live()
        {
            present::write_stdout(&fathom_screen::block(
                source.history.host(),
                &seen,
                watch.sort,
            ))?;
            shown += 1;
        }
        if present::reader_is_gone() {
            break;
        }
    }
    Ok(Exit::Success)
}

fn on_screen(
    watch: &Watch,
    mut source: Source,
    interrupt: &Interrupt,
    terminal: &mut DefaultTerminal,
) -> anyhow::Result<()> {
    let mut view = View::new(watch.sort);
    let mut next_ns = monotonic_ns();
    let mut shown = 0;
    let mut stale = true;
    while !interrupt.is_raised() && !view.quits {
        let now_ns = monotonic_ns();
        if now_ns >= next_ns {
            let missed = (now_ns - next_ns) / watch.every_ns;
            next_ns = next_ns.saturating_add((missed + 1).saturating_mul(watch.every_ns));
            shown += u64::from(source.read());
            stale = true;
        }
        if stale {
            let seen = source.history.at(view.position);
            terminal::draw(terminal, |frame| {
                fathom_screen::draw(frame, source.history.host(), seen.as_ref(), &view);
            })?;
            stale = false;
        }
        if watch.count.is_some_and(|count| shown >= count) {
            break;
        }
        let left = Duration::from_nanos(next_ns.saturating_sub(monotonic_ns()));
        match terminal::input(left.min(LOOK))? {
            Input::Key(key) => view.press(key, &source.history),
            Input::Change => {}
            Input::Nothing => continue,
            Input::End => break,
        }
        stale = true;
    }
    Ok(())
}
