//! Screens as their users see them, on a terminal in memory.

use fathom_diagnose::recording::{
    BusiestCpu, CpuShares, DiskMoment, DoerMoment, LinkMoment, MemoryMoment, Moment, NfsMoment,
};
use ratatui::Terminal;
use ratatui::backend::TestBackend;

use super::*;
use crate::filter::Filter;
use crate::history::History;
use crate::order::Sort;

fn host() -> RecordedHost {
    RecordedHost {
        name: Some("db1".to_owned()),
        cpus: Some(4),
        ..RecordedHost::default()
    }
}

fn disk(name: &str, writes: f64, queue: f64) -> DiskMoment {
    DiskMoment {
        name: name.to_owned(),
        writes,
        write_bytes: writes * 8192.0,
        read_wait_ms: Some(0.0),
        write_wait_ms: Some(1000.0 * queue / writes.max(1.0)),
        queue: Some(queue),
        ..DiskMoment::default()
    }
}

fn moment(second: i8) -> Moment {
    let doer = |name: &str, write_bytes: f64, io_wait: f64| DoerMoment {
        name: name.to_owned(),
        write_bytes,
        io_wait: Some(io_wait),
        cpus: 0.25,
        ..DoerMoment::default()
    };
    Moment {
        at: Some(jiff::civil::date(2026, 11, 21).at(15, 30, second, 0)),
        seconds: Some(1.0),
        cpu: Some(CpuShares {
            user: 0.2,
            nice: None,
            system: 0.1,
            iowait: 0.3,
            steal: 0.0,
            idle: 0.4,
        }),
        busiest_cpu: Some(BusiestCpu {
            number: 2,
            busy: 0.55,
            interrupts: 0.0,
        }),
        load: Some(3.2),
        runnable: Some(2.0),
        blocked: Some(5.0),
        io_pressure_some: Some(0.62),
        io_pressure_full: Some(0.3),
        memory: Some(MemoryMoment {
            total_bytes: 8 << 30,
            available_bytes: 3 << 30,
            dirty_bytes: 120 << 20,
            writeback_bytes: 4 << 20,
        }),
        disks: vec![disk("sda", 100.0, 0.1), disk("nvme0n1", 4000.0, 12.5)],
        processes: vec![
            doer("812 postgres", 30e6, 0.9),
            doer("9 tar \u{1b}[2J", 1e6, 0.0),
        ],
        groups: vec![doer("system.slice/postgresql.service", 30e6, 0.5)],
        links: vec![LinkMoment {
            name: "eth0".to_owned(),
            sent_bytes: 5e6,
            speed_bits: Some(1e9),
            ..LinkMoment::default()
        }],
        nfs: vec![NfsMoment {
            name: "nas:/data on /mnt".to_owned(),
            operations: 12.0,
            ..NfsMoment::default()
        }],
        ..Moment::default()
    }
}

/// The screen of a view as lines.
fn screen(width: u16, height: u16, moments: i8, view: &View) -> Vec<String> {
    let mut history = History::new(host());
    for second in 0..moments {
        history.push(moment(second));
    }
    lines_of(&history, width, height, view)
}

fn lines_of(history: &History, width: u16, height: u16, view: &View) -> Vec<String> {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    let seen = history.at(view.position);
    terminal
        .draw(|frame| {
            draw(frame, history.host(), seen.as_ref(), view);
        })
        .unwrap();
    let buffer = terminal.backend().buffer();
    let rows = buffer.content().chunks(usize::from(width));
    rows.map(|row| {
        row.iter()
            .map(ratatui::buffer::Cell::symbol)
            .collect::<String>()
    })
    .collect()
}

fn has(lines: &[String], part: &str) -> bool {
    lines.iter().any(|line| line.contains(part))
}

#[test]
fn a_small_terminal_shows_a_part_of_everything() {
    let lines = screen(80, 24, 10, &View::new(Sort::Queue));
    let text = lines.join("\n");
    assert!(lines[0].starts_with("db1  15:30:09 UTC  live"), "{text}");
    assert!(lines[1].starts_with("NOT PROVEN: "), "{text}");
    for part in [
        "20 % user, 10 % system, 30 % I/O wait",
        "I/O 62 % (all 30 %)",
        "3.00 GiB of 8.00 GiB available",
        "812 postgres",
        "eth0",
        "nas:/data on /mnt",
        "q quit",
        "by queue",
    ] {
        assert!(has(&lines, part), "{part}:\n{text}");
    }
    // The longest queue first.
    let place = |name: &str| lines.iter().position(|line| line[2..].starts_with(name));
    assert!(place("nvme0n1") < place("sda"), "{text}");
    assert!(!text.contains('\u{1b}'), "{text}");
}

#[test]
fn a_wide_terminal_shows_queues_over_time_and_all_evidence() {
    let lines = screen(160, 50, 40, &View::new(Sort::Name));
    let text = lines.join("\n");
    assert!(has(&lines, "last 2 min"), "{text}");
    assert!(has(&lines, "██████████"), "{text}");
    assert!(has(&lines, "in flight"), "{text}");
    assert!(
        has(&lines, "causes 89 % of what the devices moved"),
        "{text}"
    );
}

#[test]
fn panes_time_and_help_are_shown() {
    let mut view = View::new(Sort::Queue);
    view.position = Some(2);
    view.pane = Pane::Doers;
    let lines = screen(80, 24, 10, &view);
    assert!(lines[0].contains("frozen, 7 readings ago"), "{}", lines[0]);
    assert!(has(&lines, "system.slice/postgresql.service"));
    assert!(!has(&lines, "eth0"));
    view.pane = Pane::Network;
    assert!(has(&screen(80, 24, 10, &view), "eth0"));
    view.pane = Pane::Devices;
    assert!(has(&screen(80, 24, 10, &view), "nvme0n1"));
    view.helps = true;
    assert!(has(&screen(80, 24, 10, &view), "back and forth in time"));
}

#[test]
fn no_terminal_is_too_small() {
    let mut view = View::new(Sort::Queue);
    for pane in [Pane::All, Pane::Devices, Pane::Doers, Pane::Network] {
        view.pane = pane;
        for (width, height) in [(1, 1), (5, 3), (20, 8), (300, 2), (79, 12)] {
            for helps in [false, true] {
                view.helps = helps;
                assert_eq!(screen(width, height, 4, &view).len(), usize::from(height));
            }
        }
    }
    assert!(has(
        &screen(40, 5, 0, &view),
        "the first reading comes soon"
    ));
}

#[test]
fn plain_text_says_the_same() {
    let mut history = History::new(host());
    for second in 0..10 {
        history.push(moment(second));
    }
    let seen = history.live().unwrap();
    let block = |width| {
        crate::block(
            history.host(),
            &seen,
            Sort::Queue,
            &Filter::default(),
            width,
        )
    };
    let text = block(80);
    assert!(
        text.starts_with("== db1 15:30:09 UTC\nNOT PROVEN: "),
        "{text}"
    );
    for part in [
        "nvme0n1",
        "812 postgres",
        "eth0",
        "nas:/data on /mnt",
        "I/O 62 %",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(text.contains("last 10 s"), "{text}");
    for width in [60, 80, 120] {
        let text = block(width);
        let fits = |line: &str| line.chars().count() <= width;
        assert!(text.lines().all(fits), "{text}");
    }
    let mut history = History::new(host());
    history.push(moment(0));
    let seen = history.live().unwrap();
    let text = crate::block(history.host(), &seen, Sort::Queue, &Filter::default(), 80);
    assert!(
        text.contains("\nno verdict yet: 1 of 3 readings\n"),
        "{text}"
    );
}

#[test]
fn a_small_screen_shows_devices_and_never_used_ones_make_room() {
    let mut one = moment(0);
    for number in 0..13 {
        one.disks.push(disk(&format!("loop{number}"), 0.0, 0.0));
    }
    let draw_all = |width, height, view: &View| {
        let mut history = History::new(host());
        history.push(one.clone());
        lines_of(&history, width, height, view)
    };
    let mut view = View::new(Sort::Name);
    let small = draw_all(40, 10, &view);
    assert!(has(&small, "nvme0n1") && has(&small, "sda"), "{small:#?}");
    assert!(
        has(&small, "+13 more") && !has(&small, "loop"),
        "{small:#?}"
    );
    // Whole cells or none.
    let queue = small.iter().find(|line| line.contains("nvme0n1"));
    assert!(
        queue.unwrap().contains("  4,000   12.5  3.12   12.5"),
        "{small:#?}"
    );
    let usual = draw_all(80, 24, &view);
    assert!(
        has(&usual, "+13 more") && !has(&usual, "loop"),
        "{usual:#?}"
    );
    assert!(
        has(&usual, "812 postgres") && has(&usual, "eth0"),
        "{usual:#?}"
    );
    view.pane = Pane::Devices;
    let all = draw_all(80, 24, &view);
    assert!(has(&all, "loop0") && has(&all, "loop7"), "{all:#?}");
    assert!(has(&all, "+2 more"), "{all:#?}");
}

#[test]
fn what_another_tool_did_not_record_is_not_blamed_on_the_kernel() {
    let bare = Moment {
        load: Some(1.0),
        ..Moment::default()
    };
    let history = History::of(fathom_diagnose::recording::Recording {
        moments: vec![bare],
        ..Default::default()
    });
    let lines = lines_of(&history, 80, 24, &View::new(Sort::Queue));
    assert!(
        has(&lines, "stalls then not in this recording"),
        "{lines:#?}"
    );
    assert!(
        has(&lines, "memory then not in this recording"),
        "{lines:#?}"
    );
}
