//! The page of help and the line of keys.

use fathom_report::table::display_width;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::{Block, Borders, Clear, Padding, Paragraph, Wrap};

use crate::fitting;
use crate::view::View;

const HELP: &str = "\
q  quit                      ?  this page
↑ ↓  mark a device           enter  open it
esc  go back                 /  filter by name
s  sort by queue, operations, bytes, wait or name
f, space  freeze             tab  next pane
← →  back and forth in time; page up, page down: 30
home  the oldest reading     end  live again
mouse  click marks, then opens; right button goes back

The verdict and the columns below \"last 30 s\" (at the
start less) are for the same time, the others for the
last reading. Devices are sorted by that time.
!  named by the verdict
*  reaches a rule: 100 ms for an operation, slow
   flushes, a growing queue, or nothing completed
green  proved not to be the bottleneck    ·  zero
Bars show the highest reading of each cell.
Times hold the time in the queue. %util is not shown:
a device that serves several operations at once is not
at its limit when one is always in flight.
I/O wait needs sysctl kernel.task_delayacct=1.";

/// Keys, the most important ones first.
const KEYS: [&str; 8] = [
    "q quit",
    "? help",
    "↑↓ mark",
    "enter open",
    "/ filter",
    "s sort",
    "tab pane",
    "←→ time",
];
const OPEN_KEYS: [&str; 6] = [
    "esc back",
    "q quit",
    "? help",
    "↑↓ other device",
    "←→ time",
    "f freeze",
];

/// The last line of the screen.
pub(crate) fn key_line(view: &View, width: usize) -> Line<'static> {
    let dim = Style::new().add_modifier(Modifier::DIM);
    if view.is_typing {
        let text = format!("/{}_", view.filter.text());
        let keys = ["enter keeps it".to_owned(), "esc shows all".to_owned()];
        let room = width.saturating_sub(text.chars().count() + 2);
        let keys = fitting::parts(&keys, room);
        return Line::from(format!("{text}  {keys}"));
    }
    let keys: &[&str] = match view.opened() {
        Some(_) => &OPEN_KEYS,
        None => &KEYS,
    };
    let sort = format!("by {}", view.sort.word());
    let mut parts: Vec<String> = keys.iter().map(|key| (*key).to_owned()).collect();
    parts.insert(parts.len().min(6), sort);
    Line::styled(fitting::parts(&parts, width), dim)
}

/// The page over the rest of the screen.
pub(crate) fn page(frame: &mut Frame<'_>, area: Rect) {
    let lines = HELP.lines().count() as u16 + 2;
    let columns = HELP.lines().map(display_width).max().unwrap_or(0) as u16 + 4;
    let (width, height) = (columns.min(area.width), lines.min(area.height));
    let place = Rect {
        x: (area.width - width) / 2,
        y: (area.height - height) / 2,
        width,
        height,
    };
    let block = Block::new()
        .borders(Borders::ALL)
        .padding(Padding::horizontal(1))
        .title(" fathom watch ");
    frame.render_widget(Clear, place);
    let text = Paragraph::new(HELP).wrap(Wrap { trim: false }).block(block);
    frame.render_widget(text, place);
}
