//! The screen: words on top, tables below, keys at the bottom.

use fathom_diagnose::recording::RecordedHost;
use ratatui::Frame;
use ratatui::text::Line;
use ratatui::widgets::Paragraph;

use crate::detail;
use crate::devices::{self, WantedLines};
use crate::grid::{HEAD_LINES, Room};
use crate::help;
use crate::history::Seen;
use crate::summary;
use crate::users::UserTable;
use crate::view::{Pane, View};

/// A label, a head and three devices, and the line of keys.
const LEAST_BELOW: usize = 6;
/// Of all tables only that of devices is shown where there is less room.
const LEAST_TABLES: usize = 9;
/// Lines of detail of a device that has the screen for itself, at least.
const OPENED_DETAIL: usize = 8;
/// Rows of each table that come before further devices and detail.
const FIRST_ROWS: usize = 3;

/// Where devices were drawn: what a click means.
#[derive(Debug, Default)]
pub struct Picture {
    /// The line of the screen and the name.
    pub(crate) devices: Vec<(u16, String)>,
}

/// Draws all of it.
pub fn draw(
    frame: &mut Frame<'_>,
    host: &RecordedHost,
    seen: Option<&Seen<'_>>,
    view: &View,
) -> Picture {
    let area = frame.area();
    let room = Room {
        width: usize::from(area.width),
        height: usize::from(area.height),
    };
    let Room { width, height } = room;
    let Some(seen) = seen else {
        let text = "watching: the first reading comes soon";
        frame.render_widget(Paragraph::new(text), area);
        return Picture::default();
    };
    let most = height.saturating_sub(LEAST_BELOW);
    let mut lines = summary::lines(host, seen, view, room, most);
    lines.truncate(height);
    let below = height.saturating_sub(lines.len() + 1);
    let tables = tables(seen, view, room.of_height(below));
    let first = lines.len();
    let places = tables.devices.into_iter().filter_map(|(line, name)| {
        let line = u16::try_from(first + line).ok()?;
        (usize::from(line) + 1 < height).then_some((line, name))
    });
    let picture = Picture {
        devices: places.collect(),
    };
    lines.extend(tables.lines.into_iter().take(below));
    lines.resize(height.saturating_sub(1), Line::default());
    if height > 0 {
        lines.push(help::key_line(view, width));
    }
    frame.render_widget(Paragraph::new(lines), area);
    if view.helps {
        help::page(frame, area);
    }
    picture
}

/// Lines, and where devices are among them.
#[derive(Default)]
struct Tables {
    lines: Vec<Line<'static>>,
    devices: Vec<(usize, String)>,
}

impl Tables {
    fn add_devices(&mut self, seen: &Seen<'_>, view: &View, room: Room) {
        let first = self.lines.len();
        let table = devices::table(seen, view, room.width, room.height);
        let places = table.places.into_iter();
        self.devices
            .extend(places.map(|(line, name)| (first + line, name)));
        self.lines.extend(table.lines);
    }

    fn add(&mut self, table: UserTable, seen: &Seen<'_>, view: &View, room: Room) {
        let lines = table.lines(seen, view, room.width, room.height);
        self.lines.extend(lines);
    }
}

fn tables(seen: &Seen<'_>, view: &View, room: Room) -> Tables {
    let mut tables = Tables::default();
    if let Some(name) = view.opened() {
        tables.lines = opened(seen, view, name, room);
        return tables;
    }
    let height = room.height;
    let of_height = |height| room.of_height(height);
    match view.pane {
        Pane::Devices => tables.add_devices(seen, view, room),
        Pane::Doers => {
            let groups = UserTable::Groups.wanted_lines(seen, view).min(height / 3);
            tables.add(UserTable::Processes, seen, view, of_height(height - groups));
            tables.add(UserTable::Groups, seen, view, of_height(groups));
        }
        Pane::Network => {
            let mounts = match seen.moment.nfs.is_empty() {
                true => 0,
                false => UserTable::Mounts.wanted_lines(seen, view).min(height / 2),
            };
            tables.add(UserTable::Links, seen, view, of_height(height - mounts));
            tables.add(UserTable::Mounts, seen, view, of_height(mounts));
        }
        Pane::All if height < LEAST_TABLES => tables.add_devices(seen, view, room),
        Pane::All => everything(&mut tables, seen, view, room),
    }
    tables
}

/// The lines that each part of the screen gets.
struct Shares {
    devices: usize,
    detail: usize,
    users: [usize; 3],
    left: usize,
}

impl Shares {
    /// A few rows of each table first, then all devices that did something, then a device
    /// in detail, then idle devices and the rest of each table.
    fn of(height: usize, devices: WantedLines, users: [usize; 3]) -> Shares {
        let mut shares = Shares {
            devices: 0,
            detail: 0,
            users: [0; 3],
            left: height,
        };
        shares.devices = shares.take(devices.busy.min(HEAD_LINES + FIRST_ROWS));
        let first = [FIRST_ROWS - 1, 1, 1];
        for ((place, wanted), rows) in users.into_iter().enumerate().zip(first) {
            shares.users[place] = shares.take(wanted.min(HEAD_LINES + rows));
        }
        shares.devices += shares.take(devices.busy - shares.devices);
        if shares.left >= detail::LEAST_LINES {
            shares.detail = shares.take(detail::LEAST_LINES);
        }
        let processes = (users[0] - shares.users[0]).min(FIRST_ROWS);
        shares.users[0] += shares.take(processes);
        if shares.detail > 0 {
            shares.detail += shares.take(detail::MOST_LINES - detail::LEAST_LINES);
        }
        shares.devices += shares.take(devices.all.saturating_sub(shares.devices));
        for (place, wanted) in users.into_iter().enumerate() {
            shares.users[place] += shares.take(wanted - shares.users[place]);
        }
        shares
    }

    fn take(&mut self, lines: usize) -> usize {
        let taken = lines.min(self.left);
        self.left -= taken;
        taken
    }
}

/// A part of everything.
fn everything(tables: &mut Tables, seen: &Seen<'_>, view: &View, room: Room) {
    let of = [UserTable::Processes, UserTable::Links, UserTable::Mounts];
    let wanted = of.map(|table| match table {
        UserTable::Mounts if seen.moment.nfs.is_empty() => 0,
        table => table.wanted_lines(seen, view),
    });
    let shares = Shares::of(room.height, devices::wanted_lines(seen, view), wanted);
    tables.add_devices(seen, view, room.of_height(shares.devices));
    let disk = devices::marked(seen, view).or_else(|| devices::worst(seen, view));
    if let Some(disk) = disk.filter(|_| shares.detail > 0) {
        let lines = detail::lines(seen, view, disk, room.width, shares.detail);
        tables.lines.extend(lines);
        let lines = detail::distribution(seen, disk, room.width, shares.left);
        tables.lines.extend(lines);
    }
    for (table, height) in of.into_iter().zip(shares.users) {
        tables.add(table, seen, view, room.of_height(height));
    }
}

/// One device with the screen for itself.
fn opened(seen: &Seen<'_>, view: &View, name: &str, room: Room) -> Vec<Line<'static>> {
    let Room { width, height } = room;
    let Some(disk) = seen.moment.disks.iter().find(|disk| disk.name == name) else {
        let text = format!(
            "{}: not seen in this reading",
            fathom_report::table::clean(name)
        );
        return vec![
            Line::default(),
            Line::raw(crate::fitting::words(&text, width)),
        ];
    };
    let mut lines = vec![Line::default()];
    let of_detail = OPENED_DETAIL.max(height / 2).min(detail::MOST_LINES);
    lines.extend(detail::lines(
        seen,
        view,
        disk,
        width,
        of_detail.min(height.saturating_sub(1)),
    ));
    let left = height.saturating_sub(lines.len());
    lines.extend(detail::distribution(seen, disk, width, left));
    let left = height.saturating_sub(lines.len());
    lines.extend(UserTable::Processes.lines(seen, view, width, left));
    lines
}

#[cfg(test)]
#[path = "screen_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "picture_tests.rs"]
mod picture_tests;
