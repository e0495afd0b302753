//! fio's I/O log, versions 2 and 3, as its manual describes them ("Trace file
//! format").
//!
//! ```text
//! fio version 2 iolog          fio version 3 iolog
//! /dev/sda add                 0 /dev/sda add
//! /dev/sda open                0 /dev/sda open
//! /dev/sda read 0 4096         120 /dev/sda read 0 4096
//! /dev/sda wait 250 0
//! /dev/sda write 4096 4096     371 /dev/sda write 4096 4096
//! /dev/sda close               380 /dev/sda close
//! ```
//!
//! Times are microseconds: waits add up in version 2, version 3 has the time
//! from the start in front of each line.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io::{BufRead, Read};

use fathom_model::workload::{Replay, ReplayTiming};

use super::{Action, Recorded, RecordedOp};
use crate::engine::MAX_BLOCK_BYTES;

/// Most operations of one list: 384 MiB in memory.
const MAX_OPS: usize = 16 << 20;
/// Longest line, bytes.
const MAX_LINE: u64 = 8192;
const MAX_FILES: usize = 4096;
/// Latest time: a month.
const MAX_US: u64 = 30 * 86_400 * 1_000_000;

/// A word of a line, and where it starts (from 1).
type Word<'a> = (usize, &'a str);

/// What is wrong, and where in the line (from 1).
struct ParseFault {
    column: usize,
    text: String,
}

fn fault<T>(column: usize, text: impl Into<String>) -> Result<T, ParseFault> {
    Err(ParseFault {
        column,
        text: text.into(),
    })
}

/// Why a list cannot be replayed, and where.
#[derive(Debug, thiserror::Error)]
#[error("{name}:{line}:{column}: {text}")]
pub(super) struct ListError {
    name: String,
    line: u64,
    column: usize,
    text: String,
}

/// Reads a list.
pub(super) fn parse(
    input: impl BufRead,
    name: &str,
    replay: &Replay,
) -> Result<Recorded, ListError> {
    let wrong = |line: u64, fault: ParseFault| ListError {
        name: name.to_owned(),
        line,
        column: fault.column,
        text: fault.text,
    };
    let first = |text: String| ParseFault { column: 1, text };
    let mut reading = ListParser {
        replay,
        scale: match replay.timing {
            ReplayTiming::Recorded { speed_percent } => 100.0 / speed_percent.max(1e-6),
            ReplayTiming::AsFastAsPossible => 1.0,
        },
        version: 0,
        files: HashMap::new(),
        names: Vec::new(),
        ops: Vec::new(),
        now_us: 0,
    };
    let mut input = input;
    let mut line = Vec::new();
    for number in 1u64.. {
        line.clear();
        let read = input.by_ref().take(MAX_LINE).read_until(b'\n', &mut line);
        if read.map_err(|error| wrong(number, first(error.to_string())))? == 0 {
            break;
        }
        let result = match std::str::from_utf8(&line) {
            _ if line.len() as u64 == MAX_LINE && line.last() != Some(&b'\n') => {
                fault(MAX_LINE as usize, "the line has no end")
            }
            Ok(text) => reading.line(text),
            Err(error) => fault(error.valid_up_to() + 1, "this is not text"),
        };
        result.map_err(|fault| wrong(number, fault))?;
    }
    if reading.version == 0 {
        return Err(wrong(1, first("the list is empty".to_owned())));
    }
    Ok(Recorded {
        span_ns: reading.at_ns(),
        files: reading.names.into_boxed_slice(),
        ops: reading.ops.into_boxed_slice(),
    })
}

struct ListParser<'a> {
    replay: &'a Replay,
    /// Replayed time over recorded time.
    scale: f64,
    /// 0 until the first line was read.
    version: u8,
    files: HashMap<String, u16>,
    /// The files in the order in which they were added.
    names: Vec<String>,
    ops: Vec<RecordedOp>,
    now_us: u64,
}

impl ListParser<'_> {
    fn at_ns(&self) -> u64 {
        (self.now_us as f64 * 1000.0 * self.scale) as u64
    }

    fn line(&mut self, line: &str) -> Result<(), ParseFault> {
        if self.version == 0 {
            return self.header(line);
        }
        let words: Vec<Word<'_>> = words(line).take(7).collect();
        match (words.as_slice(), self.version) {
            ([], _) => Ok(()),
            (words, 2) => self.action(words),
            ([time, words @ ..], _) => {
                let us = number(*time, "a time in microseconds")?;
                if us < self.now_us {
                    return fault(
                        time.0,
                        format!("time goes back from {} to {us}", self.now_us),
                    );
                }
                self.pass(*time, us)?;
                self.action(words)
            }
        }
    }

    fn header(&mut self, line: &str) -> Result<(), ParseFault> {
        self.version = match line.split_whitespace().collect::<Vec<_>>().as_slice() {
            ["fio", "version", "2", "iolog"] => 2,
            ["fio", "version", "3", "iolog"] => 3,
            ["fio", "version", version, "iolog"] => {
                return fault(13, format!("version {version} is not known, only 2 and 3"));
            }
            _ => return fault(1, "no I/O log: it must begin with 'fio version 2 iolog'"),
        };
        Ok(())
    }

    fn pass(&mut self, word: Word<'_>, us: u64) -> Result<(), ParseFault> {
        if us > MAX_US {
            return fault(word.0, "later than 30 days from the start");
        }
        self.now_us = us;
        Ok(())
    }

    /// `file action`, `file action offset length`.
    fn action(&mut self, words: &[Word<'_>]) -> Result<(), ParseFault> {
        let [file, action, numbers @ ..] = words else {
            let column = words.first().map_or(1, |(column, _)| *column);
            return fault(column, "expected a file and what is done to it");
        };
        if let Some((column, extra)) = numbers.get(2) {
            return fault(*column, format!("'{extra}' is one word too many"));
        }
        match action.1 {
            "add" => self.add(*file),
            "open" | "close" => self.file(*file).map(drop),
            "wait" if self.version == 2 => self.wait(*action, numbers),
            "wait" => fault(action.0, "version 3 has times instead of waits"),
            "read" => self.data(*file, *action, numbers, Action::Read),
            "write" => self.data(*file, *action, numbers, Action::Write),
            "trim" => self.data(*file, *action, numbers, Action::Trim),
            "sync" => self.flush(*file, Action::Fsync),
            "datasync" => self.flush(*file, Action::Fdatasync),
            other => fault(action.0, format!("'{other}' is not an action")),
        }
    }

    fn add(&mut self, (column, name): Word<'_>) -> Result<(), ParseFault> {
        if self.files.len() == MAX_FILES {
            return fault(column, format!("more than {MAX_FILES} files"));
        }
        let next = self.files.len() as u16;
        if let Entry::Vacant(place) = self.files.entry(name.to_owned()) {
            place.insert(next);
            self.names.push(name.to_owned());
        }
        Ok(())
    }

    fn file(&self, (column, name): Word<'_>) -> Result<u16, ParseFault> {
        match self.files.get(name) {
            Some(file) => Ok(*file),
            None => fault(column, format!("'{name}' was not added")),
        }
    }

    fn wait(&mut self, action: Word<'_>, numbers: &[Word<'_>]) -> Result<(), ParseFault> {
        let Some(time) = numbers.first() else {
            return fault(action.0, "the microseconds to wait are missing");
        };
        let us = number(*time, "a time in microseconds")?;
        self.pass(*time, self.now_us.saturating_add(us))
    }

    fn data(
        &mut self,
        file: Word<'_>,
        word: Word<'_>,
        numbers: &[Word<'_>],
        action: Action,
    ) -> Result<(), ParseFault> {
        let [offset_word, len_word] = numbers else {
            return fault(word.0, format!("a {} needs offset and length", word.1));
        };
        let offset = number(*offset_word, "an offset in bytes")? / self.replay.shrink.max(1);
        let offset = offset - offset % self.replay.align_bytes.max(1);
        let len = number(*len_word, "a length in bytes")?;
        // What is trimmed is not moved.
        let most = match action {
            Action::Trim => u64::from(u32::MAX),
            _ => MAX_BLOCK_BYTES,
        };
        if len == 0 || len > most {
            let text = format!("lengths are from 1 to {most} bytes");
            return fault(len_word.0, text);
        }
        if offset > i64::MAX as u64 - len {
            return fault(offset_word.0, "the offset is beyond the end of any file");
        }
        self.push(file, action, offset, len as u32)
    }

    fn flush(&mut self, file: Word<'_>, action: Action) -> Result<(), ParseFault> {
        self.push(file, action, 0, 0)
    }

    fn push(
        &mut self,
        file: Word<'_>,
        action: Action,
        offset: u64,
        len: u32,
    ) -> Result<(), ParseFault> {
        let number = self.file(file)?;
        if self.replay.skips(action.kind()) {
            return Ok(());
        }
        if self.ops.len() == MAX_OPS {
            let text = format!("more than {MAX_OPS} operations; split the list");
            return fault(file.0, text);
        }
        self.ops.push(RecordedOp {
            at_ns: self.at_ns(),
            offset,
            len,
            file: number,
            action,
        });
        Ok(())
    }
}

fn number((column, word): Word<'_>, what: &str) -> Result<u64, ParseFault> {
    match word.parse() {
        Ok(number) => Ok(number),
        Err(_) => fault(column, format!("'{word}' is not {what}")),
    }
}

fn words(line: &str) -> impl Iterator<Item = Word<'_>> {
    let mut at = 0;
    line.split_ascii_whitespace().map(move |word| {
        // Words come in order, so each is found behind the one before.
        let start = line[at..].find(word).map_or(at, |found| at + found);
        at = start + word.len();
        (start + 1, word)
    })
}

#[cfg(test)]
#[path = "parse_tests.rs"]
mod tests;
