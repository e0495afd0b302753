//! What `sar` prints, live or from a file of its own: tables one after another,
//! each over all times, with clocks of 12 or 24 hours.
//!
//! Columns are found by the names above them, so that every version does. Rows
//! of `Average:` are left out; what was before a restart of the host and after
//! it is not joined into one interval. Decimal commas are read as points.

use std::collections::BTreeMap;

use jiff::civil::DateTime;

use crate::iostat::{fields, text as iostat_text};
use crate::recordings::moments::MOST_DISKS;
use crate::recordings::{RecordingError, times};
use fathom_diagnose::recording::{CpuShares, DiskMoment, Moment, RecordedHost, Recording};

/// sysstat's page size in what it counts in pages; larger pages are rare and
/// not told.
const PAGE_BYTES: f64 = 4096.0;
const DAY_SECONDS: i64 = 86_400;
/// Rows at most: a day of a second each with a hundred devices.
const ROWS_MAX: usize = 20_000_000;

/// A name of each table that is read.
const KNOWN: [&str; 8] = [
    "%user",
    "%usr",
    "DEV",
    "IFACE",
    "runq-sz",
    "kbmemfree",
    "pswpin/s",
    "kbswpfree",
];

pub(crate) fn is_one(text: &str) -> bool {
    text.lines().take(5_000).any(|line| {
        clock(line)
            .is_some_and(|(_, rest)| rest.split_whitespace().any(|word| KNOWN.contains(&word)))
    })
}

pub(crate) fn read(text: &str) -> Result<Recording, RecordingError> {
    let mut reader = SarReader::default();
    for line in text.lines().take(ROWS_MAX) {
        reader.line(line.trim_end());
    }
    let mut recording = Recording {
        host: reader.host,
        source: "sar (text)".to_owned(),
        moments: reader.moments.into_values().collect(),
        remarks: Vec::new(),
    };
    recording.moments.retain(|moment| {
        let bare = Moment {
            at: moment.at,
            seconds: moment.seconds,
            ..Moment::default()
        };
        *moment != bare
    });
    if recording.moments.is_empty() {
        return Err(RecordingError::Empty("sar"));
    }
    if recording.moments.iter().all(|m| m.disks.is_empty()) {
        let words = "it holds no disks; print it with sar -A, or sar -d -p";
        recording.remarks.push(words.to_owned());
    }
    if reader.restarts > 0 {
        let words = format!("the host was restarted {} times in it", reader.restarts);
        recording.remarks.push(words);
    }
    Ok(recording)
}

/// Seconds of the day and what follows: `12:10:01 AM …`, `00:10:01 …`.
fn clock(line: &str) -> Option<(i64, &str)> {
    let (time, rest) = line.split_once(char::is_whitespace)?;
    let mut parts = time.split(':').map(|part| {
        let fine = part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit());
        fine.then(|| part.parse::<i64>().ok()).flatten()
    });
    let (hour, minute, second) = (parts.next()??, parts.next()??, parts.next()??);
    if parts.next().is_some() || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let rest = rest.trim_start();
    let (hour, rest) = match (rest.strip_prefix("AM"), rest.strip_prefix("PM")) {
        (Some(rest), _) if rest.starts_with(char::is_whitespace) => (hour % 12, rest),
        (_, Some(rest)) if rest.starts_with(char::is_whitespace) => (hour % 12 + 12, rest),
        _ => (hour, rest),
    };
    Some((hour * 3600 + minute * 60 + second, rest))
}

#[derive(Default)]
struct SarReader {
    host: RecordedHost,
    /// Midnight of the first day, where it is told.
    date: Option<DateTime>,
    moments: BTreeMap<i64, Moment>,
    columns: Vec<String>,
    /// Where the first interval of this table begins.
    begins: Option<i64>,
    /// The time of the last row of this table.
    last: Option<i64>,
    /// Where the interval of the last row begins.
    begun: Option<i64>,
    /// The last time and the day of each table.
    days: BTreeMap<Vec<String>, (i64, i64)>,
    after_blank: bool,
    restarts: usize,
}

impl SarReader {
    fn line(&mut self, line: &str) {
        if line.trim().is_empty() {
            self.after_blank = true;
            return;
        }
        let blank = std::mem::take(&mut self.after_blank);
        if line.starts_with("Linux ") {
            self.host = iostat_text::host(line);
            let words = line.split_whitespace();
            self.date = words
                .map(|word| format!("{word} 00:00:00"))
                .find_map(|t| times::parse(&t));
            return;
        }
        let Some((seconds, rest)) = clock(line) else {
            // `Average:`, or a word that a cut file ends with.
            return;
        };
        if rest.contains("RESTART") {
            self.restarts += 1;
            (self.begins, self.last, self.begun) = (None, None, None);
            return;
        }
        let known = rest.split_whitespace().any(|word| KNOWN.contains(&word));
        if blank || known {
            self.columns = rest.split_whitespace().map(str::to_owned).collect();
            let day = self.days.get(&self.columns);
            let day = day.map_or(0, |(day, last)| day + i64::from(seconds + 43_200 < *last));
            self.begins = Some(day * DAY_SECONDS + seconds);
            (self.last, self.begun) = (None, None);
            return;
        }
        let at = self.at(seconds);
        self.values(at, rest);
    }

    /// Seconds from the first midnight; a clock that goes back begins a day.
    fn at(&mut self, seconds: i64) -> i64 {
        let (day, last) = self
            .days
            .entry(self.columns.clone())
            .or_insert((0, seconds));
        if seconds + 43_200 < *last {
            *day += 1;
        }
        *last = seconds;
        *day * DAY_SECONDS + seconds
    }

    fn values(&mut self, at: i64, rest: &str) {
        let words: Vec<&str> = rest.split_whitespace().collect();
        if words.len() != self.columns.len() {
            // A row that was cut short, or of a table with a text at its end.
            return;
        }
        let row = SarRow {
            columns: &self.columns,
            words: &words,
        };
        let date = self.date;
        let moment = self.moments.entry(at).or_default();
        moment.at = date.and_then(|date| {
            date.checked_add(jiff::Span::new().try_seconds(at).ok()?)
                .ok()
        });
        // Rows of one time share their beginning; the next time begins at it.
        if self.last != Some(at) {
            self.begun = self.last.or(self.begins).filter(|begun| *begun < at);
            self.last = Some(at);
        }
        if let Some(begun) = self.begun {
            moment.seconds.get_or_insert((at - begun) as f64);
        }
        row.put(moment);
    }
}

/// A row with the names above it.
struct SarRow<'a> {
    columns: &'a [String],
    words: &'a [&'a str],
}

impl SarRow<'_> {
    fn of(&self, names: &[&str]) -> Option<f64> {
        let place = self
            .columns
            .iter()
            .position(|name| names.contains(&name.as_str()))?;
        number(self.words.get(place)?)
    }

    fn put(&self, moment: &mut Moment) {
        let share = |names: &[&str]| self.of(names).map(|percent| percent / 100.0);
        match self.columns.first().map(String::as_str) {
            Some("CPU") => {
                let idle = share(&["%idle"]);
                if let Some(idle) = idle.filter(|_| self.words.first() == Some(&"all")) {
                    let sum = |names: &[&str]| -> f64 {
                        names.iter().filter_map(|name| share(&[name])).sum()
                    };
                    moment.cpu = Some(CpuShares {
                        user: sum(&["%user", "%usr", "%nice", "%guest", "%gnice"]),
                        nice: share(&["%nice"]).map(|nice| nice + sum(&["%gnice"])),
                        system: sum(&["%system", "%sys", "%irq", "%soft"]),
                        iowait: sum(&["%iowait"]),
                        steal: sum(&["%steal"]),
                        idle,
                    });
                }
            }
            Some("DEV") => self.disk(moment),
            Some("IFACE") => {
                if let Some(used) = share(&["%ifutil"]) {
                    moment.network_use = Some(moment.network_use.unwrap_or(0.0).max(used));
                }
            }
            _ => {
                set(&mut moment.runnable, self.of(&["runq-sz"]));
                set(&mut moment.blocked, self.of(&["blocked"]));
                set(&mut moment.load, self.of(&["ldavg-1"]));
                let pages = |name| self.of(&[name]).map(|pages| pages * PAGE_BYTES);
                set(&mut moment.swap_in_bytes_per_second, pages("pswpin/s"));
                set(&mut moment.swap_out_bytes_per_second, pages("pswpout/s"));
                let paged_kib = self.of(&["pgpgin/s"]).zip(self.of(&["pgpgout/s"]));
                let paged_bytes = paged_kib.map(|(read, written)| (read + written) * 1024.0);
                set(&mut moment.paged_bytes_per_second, paged_bytes);
                set(&mut moment.io_pressure_some, share(&["%sio"]));
                set(&mut moment.io_pressure_full, share(&["%fio"]));
                set(&mut moment.memory_pressure_some, share(&["%smem"]));
            }
        }
    }

    fn disk(&self, moment: &mut Moment) {
        let Some(name) = self.words.first() else {
            return;
        };
        // A table that is printed twice (sar -A -d) says the same twice.
        let known = moment.disks.iter().any(|disk| disk.name == *name);
        if known || moment.disks.len() >= MOST_DISKS {
            return;
        }
        let mut disk = DiskMoment {
            name: (*name).to_owned(),
            ..DiskMoment::default()
        };
        for (column, word) in self.columns.iter().zip(self.words).skip(1) {
            // Before 11.5 the same columns were in sectors: rd_sec/s.
            let column = match column.as_str() {
                "rd_sec/s" => "rsec/s",
                "wr_sec/s" => "wsec/s",
                other => other,
            };
            if let Some(value) = number(word) {
                fields::put(&mut disk, column, value);
            }
        }
        moment.disks.push(disk);
    }
}

fn set(place: &mut Option<f64>, value: Option<f64>) {
    if value.is_some() {
        *place = value;
    }
}

fn number(word: &str) -> Option<f64> {
    let value = word.replace(',', ".").parse::<f64>().ok()?;
    value.is_finite().then_some(value)
}

#[cfg(test)]
#[path = "text_tests.rs"]
mod tests;
