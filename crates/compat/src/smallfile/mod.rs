//! The command line and the YAML file of smallfile, the small-file benchmark,
//! as a plan.
//!
//! The options mean what they mean there (version 3.2). Where its manual and
//! its code disagree, the code counts: an exponential size has the given mean,
//! and eight times it as the limit. Known faults are not taken over: a pause is
//! one pause after every file, and contents are compared outside of what is
//! timed.

mod error;
mod figures;
pub mod json;
pub mod lines;
mod operation;
mod options;
mod to_plan;

pub use error::{LineError, NameError, SmallfileError, ValueError};
pub use figures::{Figures, HostFigures, SmallfileFigure};
pub use operation::{OperationError, SmallfileOperation};

use std::io;
use std::path::PathBuf;

use self::options::{Fate, OptionRow, Takes, find, find_key};
use fathom_plan::yaml::NodeKind;

/// Words of a command line at most.
const MAX_WORDS: usize = 1000;
/// A text at most.
const MAX_TEXT_BYTES: usize = 64 << 10;

/// What smallfile was asked to do. Sizes are in KiB, as it has them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Smallfile {
    /// What is done.
    pub operation: SmallfileOperation,
    /// Directories in which the files lie.
    pub tops: Vec<PathBuf>,
    /// Hosts, as they were written: names with commas or spaces between, or a
    /// file with one to a line.
    pub host_set: Option<String>,
    /// Files of each thread; at least 1.
    pub files: u64,
    /// Threads; at least 1.
    pub threads: u64,
    /// Files in a directory; at least 1.
    pub files_per_dir: u64,
    /// Directories in a directory; at least 1.
    pub dirs_per_dir: u64,
    /// KiB that one call moves; 0 is the whole file, at most 1 MiB.
    pub record_size_kib: u64,
    /// KiB of a file.
    pub file_size_kib: u64,
    /// Sizes are exponentially distributed.
    pub exponential: bool,
    /// Files are flushed before they are closed.
    pub fsync: bool,
    /// Bytes of an extended attribute.
    pub xattr_size: u64,
    /// Attributes of a file.
    pub xattr_count: u64,
    /// Microseconds between two files of a thread.
    pub pause_us: u64,
    /// Microseconds to wait after a cleanup, for each file.
    pub cleanup_delay_us: u64,
    /// Only what was done until the first thread ended is counted.
    pub stonewall: bool,
    /// Threads go on to their end after that.
    pub finish: bool,
    /// Files that follow one another lie in different directories.
    pub hash_into_dirs: bool,
    /// Threads share directories.
    pub same_dir: bool,
    /// Contents that were read are compared.
    pub verify_read: bool,
    /// Contents do not compress.
    pub incompressible: bool,
    /// Say more.
    pub verbose: bool,
    /// Times of single operations are kept.
    pub response_times: bool,
    /// Where the JSON result goes.
    pub output_json: Option<PathBuf>,
    /// Where times of single operations go.
    pub sync_dir: Option<PathBuf>,
    /// Prefix and suffix of names, as asked for. Only said again.
    pub affixes: [String; 2],
    /// What has no effect here or was changed, and why.
    pub notes: Vec<String>,
}

impl Default for Smallfile {
    fn default() -> Self {
        Smallfile {
            operation: SmallfileOperation::default(),
            tops: vec![PathBuf::from("/var/tmp/smf")],
            host_set: None,
            files: 200,
            threads: 2,
            files_per_dir: 100,
            dirs_per_dir: 10,
            record_size_kib: 0,
            file_size_kib: 64,
            exponential: false,
            fsync: false,
            xattr_size: 0,
            xattr_count: 0,
            pause_us: 0,
            cleanup_delay_us: 0,
            stonewall: true,
            finish: false,
            hash_into_dirs: false,
            same_dir: false,
            verify_read: true,
            incompressible: false,
            verbose: false,
            response_times: false,
            output_json: None,
            sync_dir: None,
            affixes: [String::new(), String::new()],
            notes: Vec::new(),
        }
    }
}

impl Smallfile {
    /// Reads a command line, and the YAML file that it names with `read`; what
    /// the file says takes the place of what the line says.
    ///
    /// # Errors
    /// The first thing that is wrong, in one sentence; in a file with its name
    /// and line.
    pub fn parse(
        words: &[String],
        read: &dyn Fn(&str) -> io::Result<String>,
    ) -> Result<Smallfile, SmallfileError> {
        if words.len() > MAX_WORDS {
            return Err(SmallfileError::TooManyWords);
        }
        let mut asked = Smallfile::default();
        let mut file = None;
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let Some(option) = word.strip_prefix("--") else {
                return Err(SmallfileError::NotAnOption(word.clone()));
            };
            let (name, joined) = match option.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (option, None),
            };
            let row = find(name)?;
            let value = joined.or_else(|| words.next().cloned());
            let value = value.ok_or(SmallfileError::NoValue(row.name))?;
            let option = row.name;
            let told = |error| SmallfileError::Value { option, error };
            match row.name {
                "yaml-input-file" => file = Some(value),
                _ => asked.set(row, &value).map_err(told)?,
            }
        }
        if let Some(name) = file {
            match read(&name) {
                Ok(text) => asked.read_yaml(&name, &text)?,
                Err(error) => return Err(SmallfileError::Unreadable { name, error }),
            }
        }
        asked.settle()?;
        Ok(asked)
    }

    /// Takes over what a YAML file says.
    fn read_yaml(&mut self, name: &str, text: &str) -> Result<(), SmallfileError> {
        let wrong = |problem: String| SmallfileError::File {
            name: name.to_owned(),
            problem,
        };
        let node = fathom_plan::yaml::read(text).map_err(|error| wrong(error.message))?;
        if matches!(node.kind, NodeKind::Null) {
            return Ok(());
        }
        let NodeKind::Map(entries) = &node.kind else {
            let problem = "expected keys with values, such as 'operation: read'";
            return Err(wrong(problem.to_owned()));
        };
        for (key, value) in entries {
            let line = key
                .span
                .map_or(1, |span| line_of(text, span.start as usize));
            let at = |error: LineError| SmallfileError::Line {
                name: name.to_owned(),
                line,
                error,
            };
            let key = key.text().unwrap_or_default();
            if key == "yaml-input-file" {
                return Err(at(LineError::NamesFile));
            }
            let row = find_key(key).map_err(|error| at(error.into()))?;
            let text = match (&value.kind, value.text()) {
                (_, Some(text)) => text.to_owned(),
                (NodeKind::List(parts), None) => {
                    let parts = parts.iter().filter_map(|part| part.text());
                    parts.collect::<Vec<_>>().join(",")
                }
                _ => return Err(at(LineError::NoValue(key.to_owned()))),
            };
            let key = key.to_owned();
            self.set(row, &text)
                .map_err(|error| at(LineError::Value { key, error }))?;
        }
        Ok(())
    }

    /// Takes one value.
    fn set(&mut self, row: &OptionRow, text: &str) -> Result<(), ValueError> {
        if text.len() > MAX_TEXT_BYTES {
            return Err(ValueError::TooLong);
        }
        let (mut on, mut number) = (false, 0);
        match row.takes {
            Takes::Switch => on = switch(text)?,
            Takes::Number(least) => number = whole(text, least)?,
            Takes::Distribution => {
                on = match text {
                    "exponential" => true,
                    "fixed" => false,
                    _ => return Err(ValueError::NotDistribution(text.to_owned())),
                }
            }
            Takes::Operation | Takes::Text => {}
        }
        match row.fate {
            Fate::Internal => return Err(ValueError::Internal),
            Fate::Dead(why) => {
                let default = match row.takes {
                    Takes::Switch => !on,
                    Takes::Number(_) => false,
                    _ => text.is_empty(),
                };
                if !default {
                    self.notes
                        .push(format!("--{} has no effect: {why}", row.name));
                }
            }
            Fate::Meant => {}
        }
        Ok(self.take(row.name, text.trim(), on, number)?)
    }

    /// Takes a value that was read.
    fn take(
        &mut self,
        name: &str,
        text: &str,
        on: bool,
        number: u64,
    ) -> Result<(), OperationError> {
        match name {
            "output-json" => self.output_json = (!text.is_empty()).then(|| text.into()),
            "response-times" => self.response_times = on,
            "network-sync-dir" => self.sync_dir = (!text.is_empty()).then(|| text.into()),
            "operation" => self.operation = SmallfileOperation::of_name(text)?,
            "top" => self.tops = list(text).into_iter().map(PathBuf::from).collect(),
            "host-set" => self.host_set = (!text.is_empty()).then(|| text.to_owned()),
            "files" => self.files = number,
            "threads" => self.threads = number,
            "files-per-dir" => self.files_per_dir = number,
            "dirs-per-dir" => self.dirs_per_dir = number,
            "record-size" => self.record_size_kib = number,
            "file-size" => self.file_size_kib = number,
            "file-size-distribution" => self.exponential = on,
            "fsync" => self.fsync = on,
            "xattr-size" => self.xattr_size = number,
            "xattr-count" => self.xattr_count = number,
            "pause" => self.pause_us = number,
            "cleanup-delay-usec-per-file" => self.cleanup_delay_us = number,
            "stonewall" => self.stonewall = on,
            "finish" => self.finish = on,
            "prefix" => text.clone_into(&mut self.affixes[0]),
            "suffix" => text.clone_into(&mut self.affixes[1]),
            "hash-into-dirs" => self.hash_into_dirs = on,
            "same-dir" => self.same_dir = on,
            "verbose" => self.verbose = on,
            "verify-read" => self.verify_read = on,
            "incompressible" => self.incompressible = on,
            _ => {}
        }
        Ok(())
    }

    /// What smallfile decides once it knows everything, in its order.
    fn settle(&mut self) -> Result<(), SmallfileError> {
        if self.record_size_kib > self.file_size_kib && self.file_size_kib != 0 {
            return Err(SmallfileError::RecordSize);
        }
        if self.tops.is_empty() {
            return Err(SmallfileError::NoTop);
        }
        let mut note = |text: &str| self.notes.push(text.to_owned());
        if self.files < 10 && self.stonewall {
            note("stonewall is off for fewer than 10 files");
            self.stonewall = false;
        }
        if self.operation.is_cleanup() && self.pause_us > 0 {
            note("do not need pause between files during cleanup");
            self.pause_us = 0;
        }
        let alone = self.threads == 1 && self.host_set.is_none();
        if alone && self.pause_us > 0 {
            note("do not need pause between files for single-threaded workload");
            self.pause_us = 0;
        }
        if self.operation.must_finish() && !self.finish {
            let name = self.operation.name();
            note(&format!("changing --finish to true for op type {name}"));
            self.finish = true;
        }
        if self.operation.name() == "readdir" && self.hash_into_dirs {
            return Err(SmallfileError::HashedListing);
        }
        Ok(())
    }
}

fn line_of(text: &str, offset: usize) -> usize {
    let before = text.as_bytes().iter().take(offset);
    1 + before.filter(|byte| **byte == b'\n').count()
}

fn switch(text: &str) -> Result<bool, ValueError> {
    match text.trim().to_ascii_lowercase().as_str() {
        "y" | "yes" | "t" | "true" => Ok(true),
        "n" | "no" | "f" | "false" => Ok(false),
        _ => Err(ValueError::NotSwitch(text.to_owned())),
    }
}

fn whole(text: &str, least: u64) -> Result<u64, ValueError> {
    let number: Option<u64> = text.trim().parse().ok();
    match number {
        Some(number) if number < least => Err(ValueError::TooSmall { number, least }),
        Some(number) if number <= 1 << 40 => Ok(number),
        _ => Err(ValueError::NotWhole {
            text: text.to_owned(),
            least,
        }),
    }
}

/// Names with commas between, or with spaces where there is no comma.
fn list(text: &str) -> Vec<String> {
    let parts: Vec<&str> = match text.contains(',') {
        true => text.split(',').collect(),
        false => text.split_whitespace().collect(),
    };
    let parts = parts.into_iter().map(str::trim).filter(|p| !p.is_empty());
    parts.map(str::to_owned).collect()
}

#[cfg(test)]
#[path = "smallfile_tests.rs"]
mod tests;
