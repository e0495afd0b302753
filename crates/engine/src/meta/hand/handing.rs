//! How records get from the program to the file: each by a call of its own,
//! gathered in a buffer, or through a pipe.
//!
//! Programs that print millions of short lines live or die by this: where each
//! line is a call, a network file system is asked once for each.

use std::io::{PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use rustix::io::{Errno, write};

use super::calls::{Call, Calls};

/// What the C library gathers before it writes.
const GATHERED_BYTES: usize = 4096;
/// What the reading end of a pipe takes at most, as `cat` does.
const PIPED_BYTES: usize = 64 << 10;

/// Gathers records.
#[derive(Debug)]
pub(super) struct Gatherer {
    gathered: Vec<u8>,
}

impl Gatherer {
    pub(super) fn new() -> Gatherer {
        Gatherer {
            gathered: Vec::with_capacity(GATHERED_BYTES),
        }
    }

    /// Begins a file anew.
    pub(super) fn clear(&mut self) {
        self.gathered.clear();
    }

    /// Takes a record and hands on what has become full.
    pub(super) fn take(
        &mut self,
        mut record: &[u8],
        hand_on: &mut dyn FnMut(&[u8]) -> Result<(), Errno>,
    ) -> Result<(), Errno> {
        while !record.is_empty() {
            // Larger than the buffer: there is nothing to gather.
            if self.gathered.is_empty() && record.len() >= GATHERED_BYTES {
                let whole = record.len() - record.len() % GATHERED_BYTES;
                hand_on(&record[..whole])?;
                record = &record[whole..];
                continue;
            }
            let taken = record.len().min(GATHERED_BYTES - self.gathered.len());
            self.gathered.extend_from_slice(&record[..taken]);
            record = &record[taken..];
            if self.gathered.len() == GATHERED_BYTES {
                hand_on(&self.gathered)?;
                self.gathered.clear();
            }
        }
        Ok(())
    }

    /// Hands on the rest.
    pub(super) fn flush(
        &mut self,
        hand_on: &mut dyn FnMut(&[u8]) -> Result<(), Errno>,
    ) -> Result<(), Errno> {
        if !self.gathered.is_empty() {
            hand_on(&self.gathered)?;
            self.gathered.clear();
        }
        Ok(())
    }
}

/// Writes all of `bytes`, counting the calls.
pub(super) fn write_whole(
    file: &impl AsFd,
    mut bytes: &[u8],
    calls: &mut Calls,
) -> Result<(), Errno> {
    while !bytes.is_empty() {
        calls.count(Call::Write);
        let moved = write(file, bytes)?;
        if moved == 0 {
            return Err(Errno::NOSPC);
        }
        bytes = &bytes[moved..];
    }
    Ok(())
}

/// What comes out at the other end of a pipe.
type HandedOutcome = (Result<(), Errno>, Calls);

/// The other end of a pipe: a thread that writes what comes into the file of
/// the moment.
#[derive(Debug)]
pub(super) struct Stream {
    files: Option<SyncSender<(OwnedFd, PipeReader)>>,
    outcomes: Receiver<HandedOutcome>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Stream {
    pub(super) fn start() -> std::io::Result<Stream> {
        let (files, work) = sync_channel::<(OwnedFd, PipeReader)>(1);
        let (sender, outcomes) = sync_channel::<HandedOutcome>(1);
        let thread = std::thread::Builder::new()
            .name("fathom-stream".to_owned())
            .spawn(move || {
                let mut room = vec![0; PIPED_BYTES];
                while let Ok((file, pipe)) = work.recv() {
                    let mut calls = Calls::default();
                    let outcome = pour(pipe, &file, &mut room, &mut calls);
                    drop(file);
                    calls.count(Call::Close);
                    if sender.send((outcome, calls)).is_err() {
                        return;
                    }
                }
            })?;
        Ok(Stream {
            files: Some(files),
            outcomes,
            thread: Some(thread),
        })
    }

    /// A pipe into a file, from now on.
    pub(super) fn open(&self, file: OwnedFd) -> Result<PipeWriter, Errno> {
        let raw =
            |error: std::io::Error| Errno::from_raw_os_error(error.raw_os_error().unwrap_or(5));
        let (reader, writer) = std::io::pipe().map_err(raw)?;
        let files = self.files.as_ref().ok_or(Errno::PIPE)?;
        files.send((file, reader)).map_err(|_| Errno::PIPE)?;
        Ok(writer)
    }

    /// Waits until all that went into the pipe (whose end was closed) is in the
    /// file.
    pub(super) fn end(&self, calls: &mut Calls) -> Result<(), Errno> {
        let (outcome, made) = self.outcomes.recv().map_err(|_| Errno::PIPE)?;
        calls.add(&made);
        outcome
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        drop(self.files.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Passes a record on; the pipe is no call on the file.
pub(super) fn put(pipe: &mut PipeWriter, bytes: &[u8]) -> Result<(), Errno> {
    pipe.write_all(bytes)
        .map_err(|error| Errno::from_raw_os_error(error.raw_os_error().unwrap_or(32)))
}

fn pour(
    mut pipe: PipeReader,
    file: &OwnedFd,
    room: &mut [u8],
    calls: &mut Calls,
) -> Result<(), Errno> {
    let mut failed = Ok(());
    loop {
        match pipe.read(room) {
            Ok(0) => return failed,
            // What comes after a failure is read and dropped, so that the
            // other end does not hang.
            Ok(read) if failed.is_ok() => failed = write_whole(file, &room[..read], calls),
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => {
                return Err(Errno::from_raw_os_error(error.raw_os_error().unwrap_or(5)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;

    #[test]
    fn short_records_become_full_buffers() {
        let mut gatherer = Gatherer::new();
        let (mut handed, mut pieces) = (Vec::new(), Vec::new());
        let mut hand_on = |bytes: &[u8]| {
            handed.extend_from_slice(bytes);
            pieces.push(bytes.len());
            Ok(())
        };
        let mut all = Vec::new();
        for number in 0..200u8 {
            let record = [number; 50];
            all.extend_from_slice(&record);
            gatherer.take(&record, &mut hand_on).unwrap();
        }
        let large = [7; 10_000];
        all.extend_from_slice(&large);
        gatherer.take(&large, &mut hand_on).unwrap();
        gatherer.flush(&mut hand_on).unwrap();
        gatherer.flush(&mut hand_on).unwrap();
        assert_eq!(handed, all);
        assert!(pieces[..pieces.len() - 1].iter().all(|n| n % 4096 == 0));
        assert_eq!(pieces.iter().sum::<usize>(), 20_000);
    }

    #[test]
    fn a_stream_writes_each_file_to_its_end() {
        let directory = tempfile::tempdir().unwrap();
        let stream = Stream::start().unwrap();
        let mut calls = Calls::default();
        for number in 0..3u8 {
            let path = directory.path().join(number.to_string());
            let file = File::create(&path).unwrap();
            let mut pipe = stream.open(file.into()).unwrap();
            for _ in 0..5000 {
                put(&mut pipe, &[number; 50]).unwrap();
            }
            drop(pipe);
            stream.end(&mut calls).unwrap();
            assert_eq!(std::fs::read(&path).unwrap(), vec![number; 250_000]);
        }
        let writes = calls.named().into_iter().find(|(name, _)| name == "write");
        assert!(writes.unwrap().1 < 15_000, "fewer calls than records");
    }

    #[test]
    fn a_file_that_takes_nothing_is_an_error_and_no_hang() {
        let stream = Stream::start().unwrap();
        let read_only = File::open("/dev/null").unwrap();
        let mut pipe = stream.open(read_only.into()).unwrap();
        for _ in 0..10_000 {
            put(&mut pipe, &[1; 50]).unwrap();
        }
        drop(pipe);
        assert!(stream.end(&mut Calls::default()).is_err());
    }
}
