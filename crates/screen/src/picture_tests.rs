//! Whole screens of an overloaded host at the sizes that terminals have: texts and
//! colours are snapshots.

use fathom_diagnose::recording::{
    BusiestCpu, CpuShares, DiskMoment, DoerMoment, LinkMoment, MemoryMoment, Moment, RecordedHost,
};
use fathom_observe::DevicePlace;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::style::Color;

use super::{Picture, draw};
use crate::filter::Filter;
use crate::history::History;
use crate::order::Sort;
use crate::view::{Pane, View};

fn disk(name: &str, reads: f64, wait_ms: f64) -> DiskMoment {
    DiskMoment {
        name: name.to_owned(),
        reads,
        read_bytes: reads * 8192.0,
        read_wait_ms: Some(wait_ms),
        write_wait_ms: Some(0.0),
        queue: Some(reads * wait_ms / 1000.0),
        outstanding: Some((reads * wait_ms / 1000.0).round()),
        util: Some((reads * wait_ms / 1000.0).min(1.0)),
        ..DiskMoment::default()
    }
}

fn doer(name: &str, read_bytes: f64, io_wait: f64) -> DoerMoment {
    DoerMoment {
        name: name.to_owned(),
        read_bytes,
        io_wait: Some(io_wait),
        cpus: 0.25,
        ..DoerMoment::default()
    }
}

/// A second of a host whose disk `sda` is overloaded from the tenth second on.
fn second(second: u8) -> Moment {
    let is_busy = second >= 10;
    let swing = f64::from(second % 4);
    let sda = match is_busy {
        true => disk("sda", 480.0 + 10.0 * swing, 120.0 + swing),
        false => disk("sda", 40.0, 4.0),
    };
    let mut disks = vec![disk("nvme0n1", 4000.0 + 100.0 * swing, 0.09), sda];
    disks.extend(["sdb", "sdc", "sdd", "sde"].map(|name| disk(name, 0.0, 0.0)));
    disks.extend((0..4).map(|number| disk(&format!("loop{number}"), 0.0, 0.0)));
    Moment {
        at: Some(jiff::civil::date(2026, 11, 21).at(15, 30, second as i8, 0)),
        seconds: Some(1.0),
        cpu: Some(CpuShares {
            user: 0.1,
            nice: None,
            system: 0.05,
            iowait: 0.6,
            steal: 0.0,
            idle: 0.25,
        }),
        busiest_cpu: Some(BusiestCpu {
            number: 2,
            busy: 0.55,
            interrupts: 0.0,
        }),
        load: Some(9.1),
        runnable: Some(2.0),
        blocked: Some(if is_busy { 58.0 } else { 0.0 }),
        io_pressure_some: Some(if is_busy { 0.96 } else { 0.01 }),
        io_pressure_full: Some(if is_busy { 0.8 } else { 0.0 }),
        memory: Some(MemoryMoment {
            total_bytes: 8 << 30,
            available_bytes: 3 << 30,
            dirty_bytes: 120 << 20,
            writeback_bytes: 4 << 20,
        }),
        disks,
        processes: vec![
            doer("812 postgres: checkpointer process", 3.9e6, 0.98),
            doer("4711 qemu-system-x86_64", 33e6, 0.1),
            doer("9 kworker/u8:1-flush-8:0", 0.0, 0.0),
        ],
        links: vec![LinkMoment {
            name: "eth0".to_owned(),
            sent_bytes: 5e6,
            speed_bits: Some(1e9),
            ..LinkMoment::default()
        }],
        ..Moment::default()
    }
}

/// Forty seconds of that host.
fn history() -> History {
    let mut history = History::new(RecordedHost {
        name: Some("db1.example.com".to_owned()),
        cpus: Some(4),
        ..RecordedHost::default()
    });
    for number in 0..40 {
        history.push(second(number));
    }
    let place = |mount: &str, below: &[&str]| DevicePlace {
        mounts: vec![mount.to_owned()],
        below: below.iter().map(|name| (*name).to_owned()).collect(),
        model: Some("ST4000NM0035".to_owned()),
        size_bytes: 4_000_787_030_016,
        ..DevicePlace::default()
    };
    let places = [
        ("sda".to_owned(), place("/srv/postgresql", &[])),
        ("nvme0n1".to_owned(), place("/", &[])),
    ];
    history.locate(places.into_iter().collect());
    history
}

fn drawn(width: u16, height: u16, view: &View) -> (Buffer, Picture) {
    let history = history();
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    let seen = history.at(view.position);
    let mut picture = Picture::default();
    terminal
        .draw(|frame| picture = draw(frame, history.host(), seen.as_ref(), view))
        .unwrap();
    (terminal.backend().buffer().clone(), picture)
}

fn lines(buffer: &Buffer) -> Vec<String> {
    let width = usize::from(buffer.area.width);
    let rows = buffer.content().chunks(width);
    rows.map(|row| {
        let text: String = row.iter().map(ratatui::buffer::Cell::symbol).collect();
        text.trim_end().to_owned()
    })
    .collect()
}

/// What has a colour: line, colour, text.
fn colors(buffer: &Buffer) -> Vec<String> {
    let width = usize::from(buffer.area.width);
    let mut found: Vec<String> = Vec::new();
    for (number, row) in buffer.content().chunks(width).enumerate() {
        let mut last = Color::Reset;
        for cell in row {
            if cell.fg != Color::Reset {
                if cell.fg != last {
                    found.push(format!("{number} {}: ", cell.fg));
                }
                if let Some(text) = found.last_mut() {
                    text.push_str(cell.symbol());
                }
            }
            last = cell.fg;
        }
    }
    let trimmed = found.iter().map(|line| line.trim_end().to_owned());
    trimmed.collect()
}

fn screen(width: u16, height: u16, view: &View) -> String {
    let (buffer, _) = drawn(width, height, view);
    format!(
        "{}\n--- colours\n{}\n",
        lines(&buffer).join("\n"),
        colors(&buffer).join("\n")
    )
}

#[test]
fn the_verdict_and_the_rows_agree_at_60_columns() {
    insta::assert_snapshot!(screen(60, 24, &View::new(Sort::Queue)));
}

#[test]
fn the_verdict_and_the_rows_agree_at_80_columns() {
    insta::assert_snapshot!(screen(80, 24, &View::new(Sort::Queue)));
}

#[test]
fn the_verdict_and_the_rows_agree_at_120_columns() {
    insta::assert_snapshot!(screen(120, 40, &View::new(Sort::Queue)));
}

#[test]
fn an_opened_device_has_the_screen_for_itself() {
    let mut view = View::new(Sort::Queue);
    view.selected = Some("sda".to_owned());
    view.is_open = true;
    insta::assert_snapshot!(screen(80, 24, &view));
}

#[test]
fn without_colours_the_text_stays() {
    for (width, height) in [(60, 24), (80, 24), (120, 40)] {
        let colored = View::new(Sort::Queue);
        let plain = View::new(Sort::Queue).colored(false);
        let (with, _) = drawn(width, height, &colored);
        let (without, _) = drawn(width, height, &plain);
        assert_eq!(lines(&with), lines(&without));
        assert!(!colors(&with).is_empty());
        assert_eq!(colors(&without), Vec::<String>::new());
    }
}

#[test]
fn every_size_is_drawn_whatever_there_is() {
    let idle = |count: usize| {
        let mut history = History::new(RecordedHost::default());
        history.push(Moment {
            seconds: Some(1.0),
            disks: (0..count)
                .map(|number| disk(&format!("sd{number}"), 0.0, 0.0))
                .collect(),
            ..Moment::default()
        });
        history
    };
    let mut view = View::new(Sort::Queue);
    for history in [idle(0), idle(1), idle(2), idle(40), history()] {
        for pane in [Pane::All, Pane::Devices, Pane::Doers, Pane::Network] {
            view.pane = pane;
            for (selected, is_open) in [(None, false), (Some("sda"), true), (Some("sd1"), false)] {
                view.selected = selected.map(str::to_owned);
                view.is_open = is_open;
                for (width, height) in [(1, 1), (9, 7), (28, 9), (44, 14), (80, 19), (131, 60)] {
                    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
                    let seen = history.live();
                    terminal
                        .draw(|frame| {
                            let _ = draw(frame, history.host(), seen.as_ref(), &view);
                        })
                        .unwrap();
                }
            }
        }
    }
}

#[test]
fn the_page_of_help_fits_small_terminals() {
    let mut view = View::new(Sort::Queue);
    view.helps = true;
    let text = lines(&drawn(60, 24, &view).0).join("\n");
    assert!(
        text.contains("q  quit") && text.contains("task_delayacct=1"),
        "{text}"
    );
}

#[test]
fn high_screens_are_used() {
    let (buffer, _) = drawn(120, 50, &View::new(Sort::Queue));
    let text = lines(&buffer);
    let empty = text.iter().filter(|line| line.is_empty()).count();
    assert!(empty < 15, "{text:#?}");
    assert!(text.iter().any(|line| line.contains("mounted at")));
}

#[test]
fn devices_can_be_clicked_where_they_are_drawn() {
    for (width, height) in [(60, 24), (80, 24), (120, 40)] {
        let (buffer, picture) = drawn(width, height, &View::new(Sort::Queue));
        let lines = lines(&buffer);
        assert!(!picture.devices.is_empty());
        for (line, name) in &picture.devices {
            let text = &lines[usize::from(*line)];
            assert!(
                text[1..]
                    .trim_start_matches(['!', '*', ' '])
                    .starts_with(name.as_str())
            );
        }
    }
}

#[test]
fn a_filter_leaves_what_it_names() {
    let view = View::new(Sort::Queue).filtered(Filter::new("postgres"));
    let (buffer, picture) = drawn(80, 24, &view);
    let text = lines(&buffer).join("\n");
    // By its mount point.
    assert_eq!(picture.devices.len(), 1, "{text}");
    assert!(
        text.contains("sda") && !text.contains("nvme0n1  "),
        "{text}"
    );
    assert!(
        text.contains("\n812 postgres") && !text.contains("\n4711"),
        "{text}"
    );
    assert!(text.contains("only 'postgres'"), "{text}");
    let none = View::new(Sort::Queue).filtered(Filter::new("xyz"));
    let text = lines(&drawn(80, 24, &none).0).join("\n");
    assert!(text.contains("devices: none is called 'xyz'"), "{text}");
}

#[test]
fn a_marked_device_is_always_among_those_seen() {
    let mut view = View::new(Sort::Name);
    view.selected = Some("sde".to_owned());
    for height in 12..30 {
        let (buffer, _) = drawn(80, height, &view);
        let text = lines(&buffer);
        assert!(
            text.iter().any(|line| line.starts_with("> sde")),
            "{text:#?}"
        );
    }
}

#[test]
fn a_json_line_has_figures_in_base_units() {
    let history = history();
    let seen = history.live().unwrap();
    let filter = Filter::default();
    let line = crate::json_line(history.host(), &seen, Sort::Queue, &filter).unwrap();
    assert!(line.ends_with('\n') && line.matches('\n').count() == 1);
    let value: serde_json::Value = serde_json::from_str(&line).unwrap();
    assert_eq!(value["schema"], "fathom.watch/1");
    assert_eq!(value["at_utc"], "2026-11-21T15:30:39Z");
    assert_eq!(value["verdict"]["answer"], "yes");
    assert_eq!(value["verdict"]["window_s"], 30.0);
    let sda = &value["devices"][0];
    assert_eq!(sda["name"], "sda");
    assert_eq!(sda["severity"], "critical");
    assert_eq!(sda["now"]["reads_per_s"], 510.0);
    assert_eq!(sda["now"]["read_latency_ns"], 123e6);
    assert!(
        sda["now"]["write_latency_ns"].is_null(),
        "nothing was written"
    );
    assert_eq!(sda["mounts"][0], "/srv/postgresql");
    // Those made in advance that nobody uses are not devices of interest.
    assert_eq!(value["devices"].as_array().unwrap().len(), 6);
}
