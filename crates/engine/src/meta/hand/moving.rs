//! Operations that open something and move bytes or entries.

use std::io::PipeWriter;
use std::os::fd::{BorrowedFd, OwnedFd};

use fathom_model::OpKind;
use fathom_model::workload::Handing;
use rustix::fs::{
    Advice, AtFlags, FallocateFlags, Mode, OFlags, RawDir, fadvise, fallocate, fchmod, fsync,
    ftruncate, openat, renameat, statat,
};
use rustix::io::{Errno, pwrite, read, write};

use super::calls::{Call, Calls};
use super::handing::{Stream, put, write_whole};
use super::{Hand, Trouble, stamp};
use crate::meta::task::Task;

impl Hand {
    /// Carries out what needs more than one call.
    pub(super) fn on_contents(&mut self, task: &Task) -> Result<u64, Trouble> {
        if task.kind == OpKind::SwiftPut {
            return self.put_safely(task.number);
        }
        if task.kind == OpKind::AwaitCreate {
            return self.look_for_file();
        }
        let flags = match task.kind {
            OpKind::Create => OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL,
            OpKind::TruncateOverwrite => OFlags::WRONLY | OFlags::TRUNC,
            OpKind::Overwrite | OpKind::Truncate => OFlags::WRONLY,
            OpKind::Append => OFlags::WRONLY | OFlags::APPEND,
            OpKind::Open | OpKind::ReadFile | OpKind::SwiftGet | OpKind::Fsync => OFlags::RDONLY,
            _ => OFlags::RDONLY | OFlags::DIRECTORY,
        };
        let file = self.open(flags)?;
        match task.kind {
            OpKind::Open => Ok(0),
            OpKind::Create | OpKind::Overwrite | OpKind::TruncateOverwrite | OpKind::Append => {
                self.write_all(file, task.number, task.kind == OpKind::Append)
            }
            OpKind::ReadFile => self.read_all(&file),
            OpKind::SwiftGet => {
                let bytes = self.read_all(&file)?;
                self.calls.count(Call::Getxattr);
                let name = self.xattr_names[0].as_c_str();
                rustix::fs::fgetxattr(&file, name, &mut self.listing[..])?;
                Ok(bytes)
            }
            OpKind::Truncate => {
                self.calls.count(Call::Truncate);
                ftruncate(&file, 0)?;
                Ok(0)
            }
            OpKind::Fsync => {
                self.calls.count(Call::Fsync);
                fsync(&file)?;
                Ok(0)
            }
            kind => self.list(&file, kind == OpKind::ReaddirStat),
        }
    }

    /// Opens what the task at hand names; it is closed when it goes out of
    /// scope.
    #[inline]
    pub(super) fn open(&mut self, flags: OFlags) -> Result<OwnedFd, Errno> {
        self.calls.count(Call::Open);
        let directory = directory(&self.directories, self.leaf)?;
        let file = open(directory, self.name.as_c(), flags)?;
        self.calls.count(Call::Close);
        Ok(file)
    }

    /// Writes `size_bytes` of contents, record by record.
    fn write_all(&mut self, file: OwnedFd, number: u64, appends: bool) -> Result<u64, Trouble> {
        let moved = match self.ways.handing {
            Handing::Direct => self.write_records(&file, number, appends)?,
            Handing::Buffered => self.write_gathered(&file, number)?,
            Handing::Stream => self.write_streamed(&file, number)?,
        };
        if self.ways.fsync {
            self.calls.count(Call::Fsync);
            fsync(&file)?;
        }
        Ok(moved)
    }

    fn write_records(
        &mut self,
        file: &OwnedFd,
        number: u64,
        appends: bool,
    ) -> Result<u64, Trouble> {
        let owner = self.owner(number);
        let record = self.geometry.tree.record_bytes;
        let mut at = 0;
        while at < self.size_bytes {
            let length = record.min(self.size_bytes - at) as usize;
            let mut bytes = self.contents.record(owner, at, length);
            if self.ways.stamped && at == 0 && !appends {
                let stamp = stamp::written(self.ways.run_tag, self.created_ns.unwrap_or(0));
                self.buffer[..length].copy_from_slice(bytes);
                self.buffer[..stamp.len()].copy_from_slice(&stamp);
                bytes = &self.buffer[..length];
            }
            self.calls.count(Call::Write);
            let moved = match at > 0 && !appends {
                false => write(file, bytes)?,
                true => pwrite(file, bytes, at)?,
            };
            at += moved as u64;
            if moved < length {
                // What stands in the way is said to whoever asks for the rest.
                self.calls.count(Call::Write);
                match appends {
                    true => write(file, &bytes[moved..])?,
                    false => pwrite(file, &bytes[moved..], at)?,
                };
                return Err(Trouble::Short(at));
            }
            self.calls.records += 1;
        }
        Ok(at)
    }

    fn write_gathered(&mut self, file: &OwnedFd, number: u64) -> Result<u64, Trouble> {
        let mut calls = Calls::default();
        let moved = self.gather(number, &mut |bytes| write_whole(file, bytes, &mut calls));
        self.calls.add(&calls);
        moved
    }

    fn write_streamed(&mut self, file: &OwnedFd, number: u64) -> Result<u64, Trouble> {
        let io = |error: std::io::Error| {
            Errno::from_raw_os_error(error.raw_os_error().unwrap_or(Errno::IO.raw_os_error()))
        };
        if self.stream.is_none() {
            self.stream = Some(Stream::start().map_err(io)?);
        }
        let other = file.try_clone().map_err(io)?;
        let stream = self.stream.as_ref().ok_or(Errno::PIPE)?;
        let mut pipe: PipeWriter = stream.open(other)?;
        let moved = self.gather(number, &mut |bytes| put(&mut pipe, bytes));
        drop(pipe);
        let mut calls = Calls::default();
        let poured = match &self.stream {
            Some(stream) => stream.end(&mut calls),
            None => Ok(()),
        };
        self.calls.add(&calls);
        poured?;
        moved
    }

    /// Hands the contents on in what a buffer holds.
    fn gather(
        &mut self,
        number: u64,
        hand_on: &mut dyn FnMut(&[u8]) -> Result<(), Errno>,
    ) -> Result<u64, Trouble> {
        let owner = self.owner(number);
        let record = self.geometry.tree.record_bytes;
        let mut at = 0;
        self.gatherer.clear();
        while at < self.size_bytes {
            let length = record.min(self.size_bytes - at);
            let bytes = self.contents.record(owner, at, length as usize);
            self.gatherer.take(bytes, hand_on)?;
            at += length;
            self.calls.records += 1;
        }
        self.gatherer.flush(hand_on)?;
        Ok(at)
    }

    /// Writes a file as object servers do, so that nobody ever sees half of it.
    fn put_safely(&mut self, number: u64) -> Result<u64, Trouble> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
        self.calls.count(Call::Open);
        let top = directory(&self.directories, self.leaf)?;
        let file = open(top, self.other.as_c(), flags)?;
        self.calls.count(Call::Close);
        self.calls.count(Call::Chmod);
        fchmod(&file, Mode::RUSR | Mode::WUSR)?;
        if self.size_bytes > 0 {
            self.calls.count(Call::Allocate);
            match fallocate(&file, FallocateFlags::KEEP_SIZE, 0, self.size_bytes) {
                // Not every file system can; the original goes on, too.
                Ok(()) | Err(Errno::OPNOTSUPP) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
        let moved = self.write_records(&file, number, false)?;
        for attribute in &self.xattr_names {
            let attribute = attribute.as_c_str();
            // What was there is asked for before it is replaced.
            self.calls.count(Call::Getxattr);
            match rustix::fs::fgetxattr(&file, attribute, &mut self.listing[..]) {
                Ok(_) | Err(Errno::NODATA) => {}
                Err(errno) => return Err(errno.into()),
            }
            self.calls.count(Call::Setxattr);
            let flags = rustix::fs::XattrFlags::empty();
            rustix::fs::fsetxattr(&file, attribute, &self.xattr, flags)?;
        }
        self.calls.count(Call::Fsync);
        fsync(&file)?;
        // Advice only: whether it is taken changes nothing.
        let _ = fadvise(&file, 0, None, Advice::DontNeed);
        self.calls.count(Call::Rename);
        let top = directory(&self.directories, self.leaf)?;
        renameat(top, self.other.as_c(), top, self.name.as_c())?;
        Ok(moved)
    }

    /// Reads a file to the end that it had when it was made, or to its real end
    /// where that is not known.
    fn read_all(&mut self, file: &OwnedFd) -> Result<u64, Trouble> {
        let record = self.geometry.tree.record_bytes as usize;
        let keeps = self.ways.verify;
        let mut at = 0;
        loop {
            let left = self.size_bytes - at.min(self.size_bytes);
            if left == 0 && !self.altered {
                break;
            }
            let start = if keeps { at as usize } else { 0 };
            let start = if start + record > self.buffer.len() {
                0
            } else {
                start
            };
            let wanted = match self.altered {
                true => record,
                false => record.min(left as usize),
            };
            let end = (start + wanted).min(self.buffer.len());
            self.calls.count(Call::Read);
            let moved = read(file, &mut self.buffer[start..end])?;
            at += moved as u64;
            if moved == 0 {
                break;
            }
            self.calls.records += 1;
        }
        self.found = at;
        match at < self.size_bytes && !self.altered {
            true => Err(Trouble::Short(at)),
            false => Ok(at),
        }
    }

    fn list(&mut self, directory: &OwnedFd, stat_each: bool) -> Result<u64, Trouble> {
        let mut entries = 0;
        let mut listing = RawDir::new(directory, &mut self.listing);
        loop {
            // The buffer is empty: the next entry is a call, as is the end.
            if listing.is_buffer_empty() {
                self.calls.count(Call::Getdents);
            }
            let Some(entry) = listing.next() else {
                break;
            };
            let entry = entry?;
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            entries += 1;
            if stat_each {
                self.calls.count(Call::Stat);
                // Somebody may have removed it meanwhile.
                match statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
                    Ok(_) | Err(Errno::NOENT) => {}
                    Err(errno) => return Err(errno.into()),
                }
            }
        }
        self.found = entries;
        Ok(0)
    }
}

/// Where the name of a task begins.
#[inline]
fn directory(
    directories: &Option<crate::meta::directories::Directories>,
    leaf: Option<u64>,
) -> Result<BorrowedFd<'_>, Errno> {
    let directories = directories.as_ref().ok_or(Errno::BADF)?;
    Ok(match leaf {
        Some(leaf) => directories.get(leaf),
        None => directories.top(),
    })
}

#[inline]
fn open(directory: BorrowedFd<'_>, name: &std::ffi::CStr, flags: OFlags) -> Result<OwnedFd, Errno> {
    let mode = Mode::RUSR | Mode::WUSR | Mode::RGRP | Mode::ROTH;
    openat(
        directory,
        name,
        flags | OFlags::NOFOLLOW | OFlags::CLOEXEC,
        mode,
    )
}
