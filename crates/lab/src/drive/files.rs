//! The folder that is mounted: the drive as one file of fixed size, and
//! `truth.json` beside it.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use fuser::{
    BsdFileFlags, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation,
    INodeNo, InitFlags, KernelConfig, LockOwner, OpenFlags, ReplyAttr, ReplyData, ReplyDirectory,
    ReplyEmpty, ReplyEntry, ReplyOpen, ReplyStatfs, ReplyWrite, Request, TimeOrNow, WriteFlags,
};
use rustix::process::{getgid, getuid};

use super::delivery::lock;
use super::intake::Intake;
use super::path_cost::SendTimes;

/// Name of the drive's file.
pub(super) const DRIVE_NAME: &str = "drive";
/// Name of the file with what the drive did.
pub(super) const TRUTH_NAME: &str = "truth.json";
/// Name of the file that answers at once; it is not listed.
pub(super) const PATH_NAME: &str = ".path";

const DRIVE: INodeNo = INodeNo(2);
const TRUTH: INodeNo = INodeNo(3);
const PATH: INodeNo = INodeNo(4);

/// Attributes never change, but of the truth.
const TTL: Duration = Duration::from_secs(3600);

/// `FALLOC_FL_PUNCH_HOLE` and `FALLOC_FL_ZERO_RANGE` of the kernel.
const PUNCH_HOLE: i32 = 0x02;
const ZERO_RANGE: i32 = 0x10;

/// Gives the truth as JSON.
pub(super) type TruthText = Box<dyn Fn() -> String + Send + Sync>;

/// The mounted folder.
pub(super) struct Files {
    intake: Arc<Intake>,
    sends: Arc<SendTimes>,
    truth: TruthText,
    /// What each reader of the truth found when it opened it.
    open_truths: Mutex<HashMap<u64, String>>,
    next_handle: AtomicU64,
    mounted: SystemTime,
}

impl Files {
    #[expect(
        clippy::disallowed_methods,
        reason = "files show the date at which they were mounted"
    )]
    pub(super) fn new(intake: Arc<Intake>, sends: Arc<SendTimes>, truth: TruthText) -> Files {
        Files {
            intake,
            sends,
            truth,
            open_truths: Mutex::default(),
            next_handle: AtomicU64::new(1),
            mounted: SystemTime::now(),
        }
    }

    fn attributes(&self, node: INodeNo) -> Option<FileAttr> {
        let (kind, perm, size) = match node {
            INodeNo::ROOT => (FileType::Directory, 0o755, 0),
            DRIVE => (FileType::RegularFile, 0o666, self.intake.capacity_bytes),
            TRUTH => (FileType::RegularFile, 0o444, (self.truth)().len() as u64),
            PATH => (FileType::RegularFile, 0o600, 1 << 20),
            _ => return None,
        };
        Some(FileAttr {
            ino: node,
            size,
            blocks: size / 512,
            atime: self.mounted,
            mtime: self.mounted,
            ctime: self.mounted,
            crtime: self.mounted,
            kind,
            perm,
            nlink: 1,
            uid: getuid().as_raw(),
            gid: getgid().as_raw(),
            rdev: 0,
            blksize: 4096,
            flags: 0,
        })
    }

    fn read_truth(&self, handle: FileHandle, offset: u64, size: u32, reply: ReplyData) {
        let open = lock(&self.open_truths);
        let text = open.get(&handle.0).map_or(&[][..], |text| text.as_bytes());
        let start = (offset as usize).min(text.len());
        let end = start.saturating_add(size as usize).min(text.len());
        reply.data(&text[start..end]);
    }

    fn read_path(&self, size: u32, reply: ReplyData) {
        let bytes = (size as usize).min(1 << 20);
        let data = vec![0; bytes];
        let start = Instant::now();
        reply.data(&data);
        self.sends.note(bytes, start.elapsed().as_nanos() as u64);
    }
}

fn ttl(node: INodeNo) -> Duration {
    if node == TRUTH { Duration::ZERO } else { TTL }
}

impl Filesystem for Files {
    fn init(&mut self, _req: &Request, config: &mut KernelConfig) -> io::Result<()> {
        // Operations in flight are as many as the program has: asynchronous
        // direct I/O counts as background work of the mount.
        let _ = config.set_max_background(u16::MAX);
        let _ = config.set_congestion_threshold(u16::MAX);
        // A kernel without one of these still serves, one operation a thread.
        let _ = config.add_capabilities(InitFlags::FUSE_ASYNC_DIO);
        let _ = config.add_capabilities(InitFlags::FUSE_ASYNC_READ);
        let _ = config.add_capabilities(InitFlags::FUSE_BIG_WRITES);
        let _ = config.add_capabilities(InitFlags::FUSE_MAX_PAGES);
        Ok(())
    }

    fn lookup(&self, _req: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let node = match name.to_str() {
            _ if parent != INodeNo::ROOT => None,
            Some(DRIVE_NAME) => Some(DRIVE),
            Some(TRUTH_NAME) => Some(TRUTH),
            Some(PATH_NAME) => Some(PATH),
            _ => None,
        };
        match node.and_then(|node| self.attributes(node)) {
            Some(attributes) => reply.entry(&ttl(attributes.ino), &attributes, Generation(0)),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn getattr(&self, _req: &Request, node: INodeNo, _fh: Option<FileHandle>, reply: ReplyAttr) {
        match self.attributes(node) {
            Some(attributes) => reply.attr(&ttl(node), &attributes),
            None => reply.error(Errno::ENOENT),
        }
    }

    /// As a device does: truncation on opening is ignored, and no other change
    /// of size is possible.
    fn setattr(
        &self,
        _req: &Request,
        node: INodeNo,
        _mode: Option<u32>,
        _uid: Option<u32>,
        _gid: Option<u32>,
        size: Option<u64>,
        _atime: Option<TimeOrNow>,
        _mtime: Option<TimeOrNow>,
        _ctime: Option<SystemTime>,
        _fh: Option<FileHandle>,
        _crtime: Option<SystemTime>,
        _chgtime: Option<SystemTime>,
        _bkuptime: Option<SystemTime>,
        _flags: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let same = |size| size == 0 || size == self.intake.capacity_bytes;
        if !size.is_none_or(same) {
            return reply.error(Errno::EINVAL);
        }
        match self.attributes(node) {
            Some(attributes) => reply.attr(&ttl(node), &attributes),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn open(&self, _req: &Request, node: INodeNo, _flags: OpenFlags, reply: ReplyOpen) {
        let handle = self.next_handle.fetch_add(1, Ordering::Relaxed);
        if node == TRUTH {
            lock(&self.open_truths).insert(handle, (self.truth)());
        }
        // No page cache: everything reaches the drive as the program sent it.
        let flags = FopenFlags::FOPEN_DIRECT_IO
            | FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES
            | FopenFlags::FOPEN_NOFLUSH;
        reply.opened(FileHandle(handle), flags);
    }

    fn release(
        &self,
        _req: &Request,
        _node: INodeNo,
        handle: FileHandle,
        _flags: OpenFlags,
        _lock_owner: Option<LockOwner>,
        _flush: bool,
        reply: ReplyEmpty,
    ) {
        lock(&self.open_truths).remove(&handle.0);
        reply.ok();
    }

    fn flush(
        &self,
        _req: &Request,
        _node: INodeNo,
        _handle: FileHandle,
        _lock_owner: LockOwner,
        reply: ReplyEmpty,
    ) {
        reply.ok();
    }

    fn read(
        &self,
        _req: &Request,
        node: INodeNo,
        handle: FileHandle,
        offset: u64,
        size: u32,
        _flags: OpenFlags,
        _lock_owner: Option<LockOwner>,
        reply: ReplyData,
    ) {
        match node {
            DRIVE if offset >= self.intake.capacity_bytes => reply.data(&[]),
            DRIVE => self.intake.read(offset, size, reply),
            TRUTH => self.read_truth(handle, offset, size, reply),
            PATH => self.read_path(size, reply),
            _ => reply.error(Errno::EBADF),
        }
    }

    fn write(
        &self,
        _req: &Request,
        node: INodeNo,
        _handle: FileHandle,
        offset: u64,
        data: &[u8],
        _write_flags: WriteFlags,
        flags: OpenFlags,
        _lock_owner: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        match node {
            DRIVE => {
                let durable = flags.0 & libc::O_DSYNC != 0;
                self.intake.write(offset, data, durable, reply);
            }
            PATH => reply.written(data.len() as u32),
            _ => reply.error(Errno::EBADF),
        }
    }

    fn fsync(
        &self,
        _req: &Request,
        node: INodeNo,
        _handle: FileHandle,
        _datasync: bool,
        reply: ReplyEmpty,
    ) {
        match node {
            DRIVE => self.intake.sync(reply),
            _ => reply.ok(),
        }
    }

    fn fallocate(
        &self,
        _req: &Request,
        node: INodeNo,
        _handle: FileHandle,
        offset: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        let inside = offset.saturating_add(length) <= self.intake.capacity_bytes;
        match node {
            DRIVE if mode & (PUNCH_HOLE | ZERO_RANGE) != 0 => {
                self.intake.trim(offset, length, reply);
            }
            // A device has all its room.
            DRIVE if inside => reply.ok(),
            DRIVE => reply.error(Errno::ENOSPC),
            _ => reply.error(Errno::EBADF),
        }
    }

    fn readdir(
        &self,
        _req: &Request,
        _node: INodeNo,
        _handle: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        let entries = [
            (INodeNo::ROOT, FileType::Directory, "."),
            (INodeNo::ROOT, FileType::Directory, ".."),
            (DRIVE, FileType::RegularFile, DRIVE_NAME),
            (TRUTH, FileType::RegularFile, TRUTH_NAME),
        ];
        for (next, (node, kind, name)) in (1..).zip(entries).skip(offset as usize) {
            if reply.add(node, next, kind, name) {
                break;
            }
        }
        reply.ok();
    }

    fn statfs(&self, _req: &Request, _node: INodeNo, reply: ReplyStatfs) {
        let blocks = self.intake.capacity_bytes / 4096;
        // The drive is all that there is; a file system that looks full would be a finding.
        reply.statfs(2 * blocks, blocks, blocks, 2, 0, 4096, 255, 4096);
    }
}
