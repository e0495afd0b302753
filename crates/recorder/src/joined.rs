//! The parts of one host's recording, read as one: in the order of time, with
//! what is missing between them told. A recorder that rotates ends one part and
//! begins the next with the same reading, which is taken once. Two recordings
//! of the same time are refused: what happened would count twice.

use std::path::{Path, PathBuf};

use fathom_diagnose::recording::Recording;
use fathom_model::machine::HostReading;
use fathom_model::unit;

use crate::format::reader::{ReadError, RecordingReader};
use crate::frame::{Frame, HostFacts, Instant};
use crate::moments::{Moments, longest_seconds, recorded_host};
use crate::readings::Readings;

/// Gaps that are told one by one.
const GAPS_TOLD: usize = 8;
/// Two starts of a host are further apart than its clock is set.
const SAME_START_S: u64 = 5;

/// Why parts cannot be joined.
#[derive(Debug, thiserror::Error)]
pub enum JoinError {
    /// A file cannot be read, or is no recording.
    #[error("{}: {why}", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why not.
        why: ReadError,
    },
    /// They are of several hosts.
    #[error(
        "{} is of {first_host} and {} of {second_host}; give the recordings of one host",
        .first.display(), .second.display()
    )]
    Hosts {
        /// A part.
        first: PathBuf,
        /// Its host.
        first_host: String,
        /// Another part.
        second: PathBuf,
        /// The host of that.
        second_host: String,
    },
    /// They are of the same time.
    #[error(
        "{} and {} hold the same time (from {from} UTC on): two recorders ran side by side; give \
         one of them",
        .first.display(), .second.display()
    )]
    Overlap {
        /// A part.
        first: PathBuf,
        /// The one that begins before the first ends.
        second: PathBuf,
        /// When that begins.
        from: String,
    },
    /// There is nothing in them.
    #[error("{}: {why}", .path.display())]
    Empty {
        /// The first file.
        path: PathBuf,
        /// Why not.
        why: String,
    },
}

/// What is known of a recording besides its readings.
#[derive(Debug, Clone, Default)]
pub struct JoinedFacts {
    /// The host, as the last part describes it.
    pub host: HostFacts,
    /// What wrote it.
    pub program: String,
    /// The longest distance of readings that was asked for in any part.
    pub interval_ns: u64,
    /// Parts that hold readings.
    pub parts: usize,
    /// What is missing or damaged, in words.
    pub remarks: Vec<String>,
}

/// One file.
struct JoinedFile {
    path: PathBuf,
    reader: RecordingReader,
    first: Frame,
}

/// Gives each reading of the parts in the order of time. The steady clock goes
/// on over a restart of the host.
///
/// # Errors
/// See [`JoinError`]; readings before an overlap were given.
pub fn each_frame(
    paths: &[PathBuf],
    mut begin: impl FnMut(&JoinedFacts),
    mut take: impl FnMut(&Frame),
) -> Result<JoinedFacts, JoinError> {
    let (mut parts, mut facts) = opened(paths)?;
    begin(&facts);
    let mut clock = Clock::default();
    let mut gaps: Vec<String> = Vec::new();
    let limit_s = longest_seconds(facts.interval_ns).unwrap_or(f64::MAX);
    for index in 0..parts.len() {
        let boot = booted(&parts[index]);
        let next = parts.get(index + 1);
        let next = next.map(|n| (n.path.clone(), n.first.at, same_start(boot, booted(n))));
        let part = &mut parts[index];
        let first = std::mem::take(&mut part.first);
        let mut frames = std::iter::once(first).chain(part.reader.by_ref());
        let overlap = frames.find_map(|mut frame| {
            if let Some((path, at, same_start)) = &next {
                // The host's own clock may have been set in between.
                let behind = match same_start {
                    Some(true) => frame.at.monotonic_ns > at.monotonic_ns,
                    _ => frame.at.unix_ms > at.unix_ms,
                };
                if behind {
                    return Some((path.clone(), date(at.unix_ms)));
                }
            }
            match clock.advance(&mut frame.at, boot) {
                ReadingGap::Again => return None,
                ReadingGap::Gap { words, seconds } if seconds > limit_s => gaps.push(words),
                ReadingGap::On | ReadingGap::Gap { .. } => {}
            }
            take(&frame);
            None
        });
        if let Some((second, from)) = overlap {
            let first = part.path.clone();
            return Err(JoinError::Overlap {
                first,
                second,
                from,
            });
        }
        damage(part, &mut facts.remarks);
    }
    let more = gaps.len().saturating_sub(GAPS_TOLD);
    gaps.truncate(GAPS_TOLD);
    facts.remarks.extend(gaps);
    if more > 0 {
        facts.remarks.push(format!("and {more} more such gaps"));
    }
    Ok(facts)
}

fn damage(part: &mut JoinedFile, remarks: &mut Vec<String>) {
    if let Some(error) = part.reader.take_failure() {
        remarks.push(format!(
            "{} could not be read to its end: {error}; what came before that was read",
            shown(&part.path)
        ));
    }
    let damaged = part.reader.damaged();
    if damaged > 0 {
        remarks.push(format!(
            "{} is damaged in {}, or was cut off; the rest was read",
            shown(&part.path),
            unit::counted(damaged.into(), "place")
        ));
    }
}

/// Why a file holds no reading.
fn nothing_in(reader: &RecordingReader) -> &'static str {
    match reader.damaged() {
        0 => "it holds no reading: the recorder was stopped before its first one",
        _ => "it is damaged, and holds no reading that is whole; record again",
    }
}

fn shown(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

/// A file with its first reading.
fn open(path: &Path) -> Result<JoinedFile, JoinError> {
    let path = path.to_owned();
    let mut reader = match RecordingReader::open(&path) {
        Ok(reader) => reader,
        Err(why) => return Err(JoinError::Read { path, why }),
    };
    match reader.next() {
        Some(first) => Ok(JoinedFile {
            path,
            reader,
            first,
        }),
        None => Err(match reader.take_failure() {
            Some(error) => JoinError::Read {
                path,
                why: ReadError::Io(error),
            },
            None => JoinError::Empty {
                path,
                why: nothing_in(&reader).to_owned(),
            },
        }),
    }
}

/// The parts with a reading, the oldest first, and what they have in common. One
/// that cannot be read is left out where others can.
fn opened(paths: &[PathBuf]) -> Result<(Vec<JoinedFile>, JoinedFacts), JoinError> {
    let mut facts = JoinedFacts::default();
    let mut parts: Vec<JoinedFile> = Vec::new();
    let mut first_error = None;
    for path in paths {
        match open(path) {
            Ok(part) => parts.push(part),
            Err(error) => {
                let why = match &error {
                    JoinError::Read { why, .. } => why.to_string(),
                    JoinError::Empty { why, .. } => why.clone(),
                    _ => error.to_string(),
                };
                let remark = format!("{} was left out: {why}", shown(path));
                facts.remarks.push(remark);
                first_error.get_or_insert(error);
            }
        }
    }
    parts.sort_by_key(|part| part.first.at.unix_ms);
    let (Some(one), Some(last)) = (parts.first(), parts.last()) else {
        return Err(first_error.unwrap_or_else(|| JoinError::Empty {
            path: PathBuf::new(),
            why: "no recording was given".to_owned(),
        }));
    };
    let host = |part: &JoinedFile| part.reader.header().host.name.clone();
    if let Some(other) = parts.iter().find(|part| host(part) != host(one)) {
        return Err(JoinError::Hosts {
            first: one.path.clone(),
            first_host: host(one),
            second: other.path.clone(),
            second_host: host(other),
        });
    }
    let header = last.reader.header();
    facts.host = header.host.clone();
    facts.program.clone_from(&header.program);
    let intervals = parts.iter().map(|part| part.reader.header().interval_ns);
    facts.interval_ns = intervals.max().unwrap_or(0);
    facts.parts = parts.len();
    Ok((parts, facts))
}

fn booted(part: &JoinedFile) -> Option<u64> {
    part.reader.header().host.booted_unix_s
}

/// Whether two starts of the host are one; nothing where it is not told.
fn same_start(one: Option<u64>, other: Option<u64>) -> Option<bool> {
    Some(one?.abs_diff(other?) <= SAME_START_S)
}

fn date(unix_ms: i64) -> String {
    let at = jiff::Timestamp::from_millisecond(unix_ms).unwrap_or_default();
    at.strftime("%Y-%m-%d %H:%M:%S").to_string()
}

/// What lies between two readings.
enum ReadingGap {
    /// The same reading, at the end of one part and the beginning of the next.
    Again,
    /// The next one.
    On,
    /// A time, which may be without readings.
    Gap { words: String, seconds: f64 },
}

/// The steady clock of the joined recording.
#[derive(Default)]
struct Clock {
    last: Option<(Instant, Option<u64>)>,
    /// The clock of the last reading.
    steady_ns: u64,
}

impl Clock {
    /// Sets the steady clock of a reading, and tells what is before it.
    fn advance(&mut self, at: &mut Instant, boot: Option<u64>) -> ReadingGap {
        let told = *at;
        let Some((last, last_boot)) = self.last else {
            self.last = Some((told, boot));
            self.steady_ns = told.monotonic_ns;
            return ReadingGap::On;
        };
        if last == told {
            return ReadingGap::Again;
        }
        let later = told.monotonic_ns > last.monotonic_ns;
        let same_start = same_start(last_boot, boot).unwrap_or(later);
        let by_clock_ms = u64::try_from(told.unix_ms.saturating_sub(last.unix_ms)).unwrap_or(0);
        let passed_ns = match told.monotonic_ns.checked_sub(last.monotonic_ns) {
            Some(passed) if same_start => passed,
            _ => by_clock_ms.saturating_mul(1_000_000),
        };
        self.last = Some((told, boot));
        self.steady_ns = self.steady_ns.saturating_add(passed_ns);
        at.monotonic_ns = self.steady_ns;
        let again = match same_start {
            true => "",
            false => "; the host was started again meanwhile",
        };
        ReadingGap::Gap {
            words: format!(
                "nothing was recorded for {}, from {} to {} UTC{again}",
                unit::span(passed_ns),
                date(last.unix_ms),
                date(told.unix_ms)
            ),
            seconds: passed_ns as f64 / 1e9,
        }
    }
}

/// The parts as one recording for the diagnosis.
///
/// # Errors
/// See [`JoinError`].
pub fn joined(paths: &[PathBuf]) -> Result<Recording, JoinError> {
    let mut recording = Recording::default();
    let moments = std::cell::RefCell::new(Moments::new(0));
    let facts = each_frame(
        paths,
        |facts| *moments.borrow_mut() = Moments::new(facts.interval_ns),
        |frame| {
            let moment = moments.borrow_mut().advance(frame);
            recording.moments.extend(moment);
        },
    )?;
    recording.host = recorded_host(&facts.host);
    recording.source = source(&facts);
    recording.remarks = facts.remarks;
    Ok(recording)
}

fn source(facts: &JoinedFacts) -> String {
    match facts.parts {
        1 => format!("a recording of {}", facts.program),
        parts => format!("{parts} parts of a recording of {}", facts.program),
    }
}

/// A whole recording in one file.
///
/// # Errors
/// The file cannot be read, or is none.
pub fn recording(path: &Path) -> Result<Recording, ReadError> {
    match joined(&[path.to_owned()]) {
        Ok(recording) => Ok(recording),
        Err(JoinError::Read { why, .. }) => Err(why),
        // One without a reading is one all the same.
        Err(_) => {
            let reader = RecordingReader::open(path)?;
            let header = reader.header();
            Ok(Recording {
                host: recorded_host(&header.host),
                source: format!("a recording of {}", header.program),
                ..Recording::default()
            })
        }
    }
}

/// A recording as numbers by name.
#[derive(Debug, Clone, Default)]
pub struct RecordedReadings {
    /// The host.
    pub host: HostFacts,
    /// What it is, in words.
    pub source: String,
    /// From its first to its last reading, gaps included.
    pub seconds: f64,
    /// The numbers, in the order of time.
    pub readings: Vec<HostReading>,
    /// What is missing or damaged, in words.
    pub remarks: Vec<String>,
}

/// The parts as numbers by name, for alarms and the table of use.
///
/// # Errors
/// See [`JoinError`].
pub fn joined_readings(paths: &[PathBuf]) -> Result<RecordedReadings, JoinError> {
    let mut found = RecordedReadings::default();
    let taker = std::cell::RefCell::new(Readings::new(&HostFacts::default(), 0));
    let (mut first_ns, mut last_ns) = (None, 0);
    let facts = each_frame(
        paths,
        |facts| *taker.borrow_mut() = Readings::new(&facts.host, facts.interval_ns),
        |frame| {
            last_ns = frame.at.monotonic_ns;
            first_ns.get_or_insert(last_ns);
            found.readings.extend(taker.borrow_mut().advance(frame));
        },
    )?;
    found.seconds = last_ns.saturating_sub(first_ns.unwrap_or(last_ns)) as f64 / 1e9;
    found.source = source(&facts);
    found.host = facts.host;
    found.remarks = facts.remarks;
    Ok(found)
}

#[cfg(test)]
#[path = "joined_tests.rs"]
mod tests;
