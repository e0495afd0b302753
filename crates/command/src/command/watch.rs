//! `fathom watch`: what this host does, live.

mod locating;
mod replay;

use std::io::{IsTerminal, stdin, stdout};
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use fathom_diagnose::recording::RecordedHost;
use fathom_fleet::Interrupt;
use fathom_observe::{Sysroot, monotonic_ns};
use fathom_recorder::{Instant, Moments, Pace, Sampler, recorded_host};
use fathom_screen::terminal::{self, DefaultTerminal, Input};
use fathom_screen::{Filter, History, Picture, Seen, Sort, View};
use locating::Locating;

use crate::exit::Exit;
use crate::output_flags::Color;
use crate::{present, signals};

/// How often it is looked whether somebody wants it to end.
const LOOK: Duration = Duration::from_millis(250);
/// Text and JSON wait so long for the places of devices.
const PLACES_WAIT: Duration = Duration::from_secs(2);

/// Live view: devices, top processes, bottleneck.
///
/// On a terminal a screen that is drawn again with each reading; elsewhere one
/// block of text for each, or one JSON object a line (--json). The first lines
/// say in words what holds the host back, judged as by `fathom diagnose` over the
/// last 30 readings. Devices have figures of the last reading and of that time,
/// and graphs of the last minutes.
///
/// With recordings it shows what happened then: on the screen back and forth in
/// time, as text a block for each reading, or for one in so long (--every).
#[derive(Debug, Args)]
#[command(after_help = "\
Keys:
  up, down mark a device   enter open it   esc back   / filter   s sort
  left, right back and forth in time   f or space freeze   home oldest
  end live   tab next pane   ? help   q quit
  Mouse: a click marks a device, a second one opens it; the wheel goes through them.

Examples:
  fathom watch                       A screen, a reading each second
  fathom watch --every 5s --sort bytes
  fathom watch --filter postgres     Only what has this in its name
  fathom watch --count 3 > now.txt   Three blocks of text
  fathom watch --json --for 10m > host.jsonl
                                     One object a second, for ten minutes
  fathom watch db1.frec              What was recorded
  fathom watch /var/lib/fathom --plain --every 10m")]
pub(crate) struct Watch {
    /// Recordings to look at, instead of this host; the parts of one host are
    /// joined, and a folder stands for all in it.
    #[arg(value_name = "FILE|FOLDER")]
    files: Vec<PathBuf>,
    /// Distance between two readings, 100ms to 1h.
    #[arg(long = "every", alias = "interval", short_alias = 'n')]
    #[arg(value_name = "TIME", default_value = "1s")]
    #[arg(value_parser = super::record::interval)]
    every_ns: u64,
    /// Stop after this time.
    #[arg(long = "for", aliases = ["seconds", "runtime"], value_name = "TIME")]
    #[arg(value_parser = super::record::duration)]
    for_ns: Option<u64>,
    /// Stop after N samples.
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,
    /// Same as --count 1.
    #[arg(long, hide = true, conflicts_with = "count")]
    once: bool,
    /// Order of devices and processes.
    #[arg(long, value_enum, default_value_t, value_name = "ORDER")]
    sort: Sort,
    /// Show only what has this in its name: devices (also by their mount points),
    /// processes, control groups, interfaces and mounts.
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// Blocks of text, also on a terminal.
    #[arg(long, conflicts_with = "json")]
    plain: bool,
    /// One JSON object a line (schema fathom.watch/1, docs/schema/watch.schema.json).
    #[arg(long)]
    json: bool,
    /// When to use colour on the screen.
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    color: Color,
}

impl Watch {
    /// After how many samples it ends.
    fn samples(&self) -> Option<u64> {
        match self.once {
            true => Some(1),
            false => self.count,
        }
    }

    fn filter(&self) -> Filter {
        Filter::new(self.filter.as_deref().unwrap_or_default())
    }

    /// As it is looked at first.
    fn view(&self) -> View {
        View::new(self.sort)
            .colored(present::use_color(self.color, &stdout()))
            .filtered(self.filter())
    }

    /// Whether it is written as text: requested, or no terminal is there.
    fn is_plain(&self) -> bool {
        self.plain || self.json || !stdout().is_terminal() || !stdin().is_terminal()
    }

    /// A moment as text or JSON.
    fn print(&self, host: &RecordedHost, seen: &Seen<'_>) -> anyhow::Result<()> {
        let filter = self.filter();
        let text = match self.json {
            true => fathom_screen::json_line(host, seen, self.sort, &filter)?,
            false => {
                let width = fathom_console::columns();
                fathom_screen::block(host, seen, self.sort, &filter, width)
            }
        };
        present::write_stdout(&text)
    }
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
        locating: Locating::start(),
        sampler,
    };
    if watch.is_plain() {
        return in_plain_text(watch, source, &interrupt);
    }
    terminal::with_screen(|terminal| on_screen(watch, source, &interrupt, terminal))?;
    Ok(Exit::Success)
}

/// Where moments come from, and where they go.
struct Source {
    sampler: Sampler,
    moments: Moments,
    locating: Locating,
    history: History,
}

impl Source {
    /// Takes a reading; true where it made a moment.
    fn read(&mut self) -> bool {
        if let Some(places) = self.locating.latest() {
            self.history.locate(places);
        }
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
    if let Some(places) = source.locating.first(PLACES_WAIT) {
        source.history.locate(places);
    }
    let mut pace = Pace::new(watch.every_ns, watch.for_ns);
    let mut shown = 0;
    while watch.samples().is_none_or(|count| shown < count) && pace.wait(|| interrupt.is_raised()) {
        if source.read()
            && let Some(seen) = source.history.live()
        {
            watch.print(source.history.host(), &seen)?;
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
    let mut view = watch.view();
    let mut next_ns = monotonic_ns();
    let end_ns = watch.for_ns.map(|for_ns| next_ns.saturating_add(for_ns));
    let mut shown = 0;
    let mut stale = true;
    let mut picture = Picture::default();
    while !interrupt.is_raised() && !view.quits {
        let now_ns = monotonic_ns();
        if now_ns >= next_ns {
            let missed = (now_ns - next_ns) / watch.every_ns;
            next_ns = next_ns.saturating_add((missed + 1).saturating_mul(watch.every_ns));
            shown += u64::from(source.read());
            stale = true;
        }
        if stale {
            picture = draw(terminal, &source.history, &view)?;
            stale = false;
        }
        let is_over = end_ns.is_some_and(|end_ns| monotonic_ns() >= end_ns);
        if is_over || watch.samples().is_some_and(|count| shown >= count) {
            break;
        }
        let left = Duration::from_nanos(next_ns.saturating_sub(monotonic_ns()));
        match terminal::input(left.min(LOOK))? {
            Input::Nothing => continue,
            Input::End => break,
            input => obey(&mut view, input, &source.history, &picture),
        }
        stale = true;
    }
    Ok(())
}

/// Draws what is looked at.
fn draw(terminal: &mut DefaultTerminal, history: &History, view: &View) -> anyhow::Result<Picture> {
    let seen = history.at(view.position);
    let mut picture = Picture::default();
    terminal::draw(terminal, |frame| {
        picture = fathom_screen::draw(frame, history.host(), seen.as_ref(), view);
    })?;
    Ok(picture)
}

/// Does what was pressed, clicked or turned.
fn obey(view: &mut View, input: Input, history: &History, picture: &Picture) {
    match input {
        Input::Key(key) => view.press(key, history),
        Input::Click(line) => view.click(line, picture),
        Input::Back => view.go_back(),
        Input::Wheel { is_down } => view.wheel(is_down, history),
        Input::Change | Input::Nothing | Input::End => {}
    }
}
