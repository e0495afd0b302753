//! What iostat prints, with or without `-x` and `-t`.
//!
//! Columns are found by the names above them, so that every version does.
//! Decimal commas are read as points. With `-h` values have units of their own,
//! and the device is the last column.

use super::fields;
use crate::recordings::moments::{MOST_DISKS, fill_lengths, leave_out_first};
use crate::recordings::{RecordingError, times};
use fathom_diagnose::recording::{CpuShares, DiskMoment, Moment, RecordedHost, Recording};

pub(crate) fn is_one(text: &str) -> bool {
    text.lines().take(2_000).any(is_heading)
}

fn is_heading(line: &str) -> bool {
    names_devices(line) && line.contains("/s") || line.starts_with("avg-cpu:")
}

/// Whether a line has the names above devices, which stand first or last.
fn names_devices(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let is = |word: Option<&str>| matches!(word, Some("Device" | "Device:"));
    is(words.next()) || is(words.next_back())
}

/// Whether `-y` has left out the mean since the host was started: from 12.1 to
/// 12.7 two empty lines then follow the first one, and else one. Without the second
/// one it is not known.
fn without_mean(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim);
    let begins = lines.next().is_some_and(|line| line.starts_with("Linux "));
    let blank = [lines.next(), lines.next()] == [Some(""); 2];
    // Neither where every other line is empty.
    begins && blank && lines.next().is_some_and(|l| !l.is_empty()) && lines.next() != Some("")
}

pub(crate) fn read(text: &str) -> Result<Recording, RecordingError> {
    let mut reader = IostatReader::default();
    for (index, line) in text.lines().enumerate() {
        reader.line(index + 1, line.trim_end())?;
    }
    let mut recording = reader.recording;
    if recording.moments.is_empty() {
        return Err(RecordingError::Empty("iostat"));
    }
    recording.source = "iostat (text)".to_owned();
    fill_lengths(&mut recording.moments);
    leave_out_first(&mut recording, "iostat", without_mean(text));
    Ok(recording)
}

/// Of what the names of columns are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Names {
    Cpu,
    /// Of devices, whose own name stands first.
    AfterDevice,
    /// Of devices, whose own name stands last.
    BeforeDevice,
}

#[derive(Default)]
struct IostatReader {
    recording: Recording,
    /// Names above the next lines, and of what they are.
    columns: Option<(Names, Vec<String>)>,
    /// Names above devices that this sample has had.
    had: Vec<Vec<String>>,
    /// A time that was printed before its sample.
    at: Option<jiff::civil::DateTime>,
}

impl IostatReader {
    fn line(&mut self, number: usize, line: &str) -> Result<(), RecordingError> {
        if line.trim().is_empty() {
            // Devices of a sample may stand in groups, each under its names.
            return Ok(());
        }
        if line.starts_with("Linux ") {
            self.recording.host = host(line);
            return Ok(());
        }
        if let Some(at) = times::parse(line) {
            self.at = Some(at);
            self.columns = None;
            return Ok(());
        }
        let mut words = line.split_whitespace();
        if line.starts_with("avg-cpu:") {
            self.begin();
            let names = words.skip(1).map(str::to_owned).collect();
            self.columns = Some((Names::Cpu, names));
            return Ok(());
        }
        if !names_devices(line) {
            return self.values(number, line);
        }
        let of = match words.next() {
            Some("Device" | "Device:") => Names::AfterDevice,
            _ => Names::BeforeDevice,
        };
        let words = line.split_whitespace();
        let names = words.filter(|word| !word.starts_with("Device"));
        let names: Vec<String> = names.map(str::to_owned).collect();
        // With -h a sample has several groups of columns for the same devices.
        let again = !self.after_cpu() && self.had.contains(&names);
        if self.at.is_some() || self.recording.moments.is_empty() || again {
            self.begin();
        }
        self.had.push(names.clone());
        self.columns = Some((of, names));
        Ok(())
    }

    /// Whether the last names were those of the CPU, whose sample goes on.
    fn after_cpu(&self) -> bool {
        matches!(self.columns, Some((Names::Cpu, _)))
    }

    fn begin(&mut self) {
        self.had.clear();
        self.recording.moments.push(Moment {
            at: self.at.take(),
            ..Moment::default()
        });
    }

    fn values(&mut self, number: usize, line: &str) -> Result<(), RecordingError> {
        let (Some((of, names)), Some(moment)) = (&self.columns, self.recording.moments.last_mut())
        else {
            return Ok(());
        };
        let mut words = line.split_whitespace();
        let device = match of {
            Names::Cpu => None,
            Names::AfterDevice => words.next(),
            Names::BeforeDevice => words.next_back(),
        };
        let words: Vec<&str> = words.collect();
        let broken = |what: String| RecordingError::Broken {
            line: number,
            column: 1,
            what,
        };
        if words.len() != names.len() {
            // The last line of a file that was cut short is none.
            if words.len() < names.len() {
                return Ok(());
            }
            return Err(broken(format!(
                "{} values stand under {} names; is this the output of iostat as it was printed?",
                words.len(),
                names.len()
            )));
        }
        let mut columns: Vec<(&String, f64)> = Vec::with_capacity(words.len());
        for (name, word) in names.iter().zip(words) {
            let value = value(name, word).ok_or_else(|| {
                let word: String = word.chars().take(40).collect();
                broken(format!(
                    "'{word}' under {name} is not a number; is this the output of iostat as it was \
                     printed?"
                ))
            })?;
            columns.push((name, value));
        }
        match device {
            None => moment.cpu = Some(shares(columns.into_iter())),
            Some(device) => put(moment, device, &columns),
        }
        Ok(())
    }
}

/// Puts values of a device beside those that this sample has of it.
fn put(moment: &mut Moment, device: &str, columns: &[(&String, f64)]) {
    let known = moment.disks.iter().position(|disk| disk.name == device);
    let place = known.unwrap_or(moment.disks.len());
    if place >= MOST_DISKS {
        return;
    }
    if known.is_none() {
        moment.disks.push(DiskMoment {
            name: device.to_owned(),
            ..DiskMoment::default()
        });
    }
    for (name, value) in columns {
        fields::put(&mut moment.disks[place], name, *value);
    }
}

/// Units that `-h` puts behind a value, each 1,024 times the one before.
const UNITS: &str = "BkMGTP";

/// A value in the unit of its column: `1.5`, `1,5`, `1.5%` or `1.5k`.
fn value(name: &str, word: &str) -> Option<f64> {
    let plain = |word: &str| {
        let value = word.replace(',', ".").parse::<f64>().ok()?;
        value.is_finite().then_some(value)
    };
    let bare = word.strip_suffix('%').unwrap_or(word);
    let unit = bare.chars().next_back().and_then(|c| UNITS.find(c));
    match unit {
        Some(power) => {
            let bytes = plain(&bare[..bare.len() - 1])? * 1024_f64.powi(power as i32);
            Some(fields::in_unit_of(name, bytes))
        }
        None => plain(bare),
    }
}

fn shares<'a>(columns: impl Iterator<Item = (&'a String, f64)>) -> CpuShares {
    let mut cpu = CpuShares::default();
    for (name, percent) in columns {
        let share = percent / 100.0;
        match name.as_str() {
            "%user" => cpu.user += share,
            "%nice" => {
                cpu.user += share;
                cpu.nice = Some(share);
            }
            "%system" => cpu.system = share,
            "%iowait" => cpu.iowait = share,
            "%steal" => cpu.steal = share,
            "%idle" => cpu.idle = share,
            _ => {}
        }
    }
    cpu
}

/// `Linux 6.1.0 (name)  11/21/26  _x86_64_  (2 CPU)`.
pub(crate) fn host(line: &str) -> RecordedHost {
    let mut words = line.split_whitespace();
    let kernel = words.nth(1).map(str::to_owned);
    let name = words
        .next()
        .map(|name| name.trim_matches(['(', ')']).to_owned());
    let cpus = line
        .strip_suffix(" CPU)")
        .and_then(|rest| rest.rsplit('(').next())
        .and_then(|n| n.trim().parse().ok());
    RecordedHost {
        name: name.filter(|n| !n.is_empty()),
        kernel,
        cpus: cpus.filter(|n| *n > 0),
    }
}
