//! What iostat prints, with or without `-x` and `-t`.
//!
//! Columns are found by the names above them, so that every version does.
//! Decimal commas are read as points.

use super::{ForeignError, MOST_DISKS, fields, fill_lengths, leave_out_first, times};
use crate::recording::{CpuShares, DiskMoment, Moment, RecordedHost, Recording};

pub(super) fn is_one(text: &str) -> bool {
    text.lines().take(2_000).any(is_heading)
}

fn is_heading(line: &str) -> bool {
    let mut words = line.split_whitespace();
    matches!(words.next(), Some("Device" | "Device:")) && line.contains("/s")
        || line.starts_with("avg-cpu:")
}

pub(super) fn read(text: &str) -> Result<Recording, ForeignError> {
    let mut reader = Reader::default();
    for (index, line) in text.lines().enumerate() {
        reader.line(index + 1, line.trim_end())?;
    }
    let mut recording = reader.recording;
    if recording.moments.is_empty() {
        return Err(ForeignError::Empty("iostat"));
    }
    recording.source = "iostat (text)".to_owned();
    fill_lengths(&mut recording.moments);
    leave_out_first(&mut recording);
    Ok(recording)
}

#[derive(Default)]
struct Reader {
    recording: Recording,
    /// Names above the next lines, and whether they are of the CPU.
    columns: Option<(bool, Vec<String>)>,
    /// A time that was printed before its sample.
    at: Option<jiff::civil::DateTime>,
}

impl Reader {
    fn line(&mut self, number: usize, line: &str) -> Result<(), ForeignError> {
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
        match words.next() {
            Some("avg-cpu:") => {
                self.begin();
                self.columns = Some((true, words.map(str::to_owned).collect()));
                Ok(())
            }
            Some("Device" | "Device:") => {
                if self.at.is_some() || self.recording.moments.is_empty() || !self.after_cpu() {
                    self.begin();
                }
                self.columns = Some((false, words.map(str::to_owned).collect()));
                Ok(())
            }
            _ => self.values(number, line),
        }
    }

    /// Whether the last names were those of the CPU, whose sample goes on.
    fn after_cpu(&self) -> bool {
        matches!(self.columns, Some((true, _)))
    }

    fn begin(&mut self) {
        self.recording.moments.push(Moment {
            at: self.at.take(),
            ..Moment::default()
        });
    }

    fn values(&mut self, number: usize, line: &str) -> Result<(), ForeignError> {
        let (Some((of_cpu, names)), Some(moment)) =
            (&self.columns, self.recording.moments.last_mut())
        else {
            return Ok(());
        };
        let mut words = line.split_whitespace();
        let device = if *of_cpu {
            ""
        } else {
            words.next().unwrap_or("")
        };
        let values: Vec<Option<f64>> = words.map(value).collect();
        if values.len() != names.len() || values.contains(&None) {
            // The last line of a file that was cut short is none.
            if values.len() < names.len() {
                return Ok(());
            }
            return Err(ForeignError::Broken {
                line: number,
                column: 1,
                what: format!(
                    "{} values stand under {} names; is this the output of iostat as it was \
                     printed?",
                    values.len(),
                    names.len()
                ),
            });
        }
        let columns = names.iter().zip(values.into_iter().flatten());
        if *of_cpu {
            moment.cpu = Some(shares(columns));
        } else if moment.disks.len() < MOST_DISKS {
            let mut disk = DiskMoment {
                name: device.to_owned(),
                ..DiskMoment::default()
            };
            for (name, value) in columns {
                fields::put(&mut disk, name, value);
            }
            moment.disks.push(disk);
        }
        Ok(())
    }
}

fn value(word: &str) -> Option<f64> {
    let value = word.replace(',', ".").parse::<f64>().ok()?;
    value.is_finite().then_some(value)
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
pub(super) fn host(line: &str) -> RecordedHost {
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
