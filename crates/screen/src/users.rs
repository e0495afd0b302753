//! The tables of processes, control groups, interfaces and NFS mounts.

use fathom_diagnose::recording::DoerMoment;
use ratatui::text::Line;

use crate::cells::{self, DOER_HEADS, LINK_HEADS, MOUNT_HEADS};
use crate::grid::{Grid, GridCell, GridColumn, GridRow, HEAD_LINES};
use crate::history::Seen;
use crate::order;
use crate::view::View;

/// Columns of a name and five figures.
const WIDTHS: [usize; 6] = [20, 8, 9, 8, 8, 10];

/// One of the tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UserTable {
    Processes,
    Groups,
    Links,
    Mounts,
}

impl UserTable {
    /// Lines that all rows take.
    pub(crate) fn wanted_lines(self, seen: &Seen<'_>, view: &View) -> usize {
        HEAD_LINES + self.rows(seen, view).len().max(1)
    }

    /// The table in this room.
    pub(crate) fn lines(
        self,
        seen: &Seen<'_>,
        view: &View,
        width: usize,
        height: usize,
    ) -> Vec<Line<'static>> {
        let (heads, name) = match self {
            UserTable::Processes => (DOER_HEADS, "process"),
            UserTable::Groups => (DOER_HEADS, "control group"),
            UserTable::Links => (LINK_HEADS, LINK_HEADS[0]),
            UserTable::Mounts => (MOUNT_HEADS, MOUNT_HEADS[0]),
        };
        let figures = heads.iter().zip(WIDTHS).skip(1);
        let mut columns = vec![GridColumn::texts(name, WIDTHS[0])];
        columns.extend(figures.map(|(head, width)| GridColumn::figures(*head, width)));
        let rows = self.rows(seen, view).into_iter();
        let passed = match self {
            UserTable::Processes => view.scrolled,
            _ => 0,
        };
        let empty = match view.filter.is_empty() {
            true => format!("{name}: none did anything"),
            false => format!("{name}: none is called '{}'", view.filter.text()),
        };
        let grid = Grid {
            labels: vec![(1, seen.instant())],
            columns,
            rows: rows
                .skip(passed)
                .map(|cells| GridRow {
                    cells: cells.map(GridCell::plain).to_vec(),
                    selected: false,
                })
                .collect(),
            empty,
        };
        grid.lines(width, height)
    }

    fn rows(self, seen: &Seen<'_>, view: &View) -> Vec<[String; 6]> {
        let moment = seen.moment;
        let doers = |of: &[DoerMoment]| {
            let (order, all) = order::doers(moment, of, view.sort, &view.filter);
            order.iter().map(|doer| cells::doer(doer, all)).collect()
        };
        match self {
            UserTable::Processes => doers(&moment.processes),
            UserTable::Groups => doers(&moment.groups),
            UserTable::Links => {
                let links = moment.links.iter();
                let shown = links.filter(|link| view.filter.takes(&link.name));
                shown.map(cells::link).collect()
            }
            UserTable::Mounts => {
                let mounts = moment.nfs.iter();
                let shown = mounts.filter(|mount| view.filter.takes(&mount.name));
                shown.map(cells::mount).collect()
            }
        }
    }
}
