//! Objects as blocks: each block of a file is an object of its own, named
//! after file, offset and length, as fio's `http` engine has it. A write is a
//! PUT, a read a GET, a trim a DELETE.

use std::sync::Arc;
use std::time::Duration;

use fathom_model::OpKind;
use fathom_s3::{
    Access, Body, ConnectionPool, Ended, Fault, FaultKind, Method, Request, Sink, encode,
};

use super::advice;
use crate::Error;
use crate::arena::BufferView;
use crate::engine::{Broken, Capabilities, Completion, Engine, MAX_DEPTH, Op, Queued};

/// A store whose objects are blocks of files.
#[derive(Debug)]
pub(crate) struct BlockStore {
    access: Arc<Access>,
    /// Paths of the files, percent-encoded.
    files: Vec<Vec<u8>>,
}

impl BlockStore {
    /// Of files with these paths, as they follow the host in an address.
    pub(crate) fn new(access: Access, files: impl Iterator<Item = String>) -> BlockStore {
        let files = files.map(|file| {
            let mut path = Vec::with_capacity(file.len() + 1);
            if !file.starts_with('/') {
                path.push(b'/');
            }
            encode::percent(&mut path, file.as_bytes(), true);
            path
        });
        BlockStore {
            files: files.collect(),
            access: Arc::new(access),
        }
    }

    /// Writes the path of a block.
    fn path(&self, out: &mut Vec<u8>, file: usize, offset: u64, length: u32) {
        out.clear();
        out.extend_from_slice(self.files.get(file).map_or(b"/", Vec::as_slice));
        out.push(b'_');
        encode::decimal(out, offset);
        out.push(b'_');
        encode::decimal(out, u64::from(length));
    }

    /// Reads one block by itself.
    pub(crate) fn read(&self, file: usize, offset: u64, length: u32) -> Result<Vec<u8>, Error> {
        let mut pool = ConnectionPool::new(&self.access, 1, 0)?;
        let mut path = Vec::new();
        self.path(&mut path, file, offset, length);
        let asked = pool.ask(Request {
            method: Method::Get,
            path: &path,
            query: b"",
            extra: &[],
            body: Body::None,
            sink: Sink::Keep,
        });
        match asked {
            Ok(end) => Ok(pool.kept(end.connection).to_vec()),
            Err(fault) => Err(Error::Workload(advice::told(&fault))),
        }
    }
}

/// The engine of one worker.
#[derive(Debug)]
pub(crate) struct Blocks {
    store: Arc<BlockStore>,
    pool: ConnectionPool,
    buffers: BufferView,
    first_file: usize,
    /// What each lane carries.
    lanes: Vec<Option<(Op, u32)>>,
    /// Lanes that were made ready and not started.
    queued: Vec<usize>,
    /// Flushes, which have nothing to do.
    flushed: Vec<u32>,
    ended: Vec<Ended>,
    path: Vec<u8>,
    /// Bodies that were sent, to be used again.
    spare: Vec<Vec<u8>>,
}

impl Blocks {
    /// The engine of the worker whose files begin with `first_file`, with its
    /// connections made.
    pub(crate) fn new(
        store: &Arc<BlockStore>,
        worker: u32,
        first_file: usize,
        buffers: BufferView,
        slots: u32,
    ) -> Result<Blocks, Error> {
        let lanes = slots as usize;
        let mut pool = ConnectionPool::new(&store.access, lanes, worker as usize * lanes)?;
        if !store.access.store.no_keep_alive {
            pool.connect_all(&|| false)?;
        }
        Ok(Blocks {
            store: Arc::clone(store),
            pool,
            buffers,
            first_file,
            lanes: vec![None; lanes],
            queued: Vec::with_capacity(lanes),
            flushed: Vec::new(),
            ended: Vec::with_capacity(lanes),
            path: Vec::with_capacity(256),
            spare: Vec::new(),
        })
    }

    fn result(&mut self, end: &Ended, op: &Op, buffer: u32) -> i32 {
        let length = op.len as usize;
        match (&end.outcome, op.kind) {
            (Ok(()), OpKind::Read) => {
                let kept = self.pool.kept(end.connection);
                // An object is named after its length: this is another one.
                if kept.len() > length {
                    return -libc::EPROTO;
                }
                let got = kept.len().min(length);
                // SAFETY: the buffer has at least as many bytes as the
                // operation and belongs to the engine until it was reaped.
                let block = unsafe { std::slice::from_raw_parts_mut(self.buffers.at(buffer), got) };
                block.copy_from_slice(&kept[..got]);
                i32::try_from(got).unwrap_or(i32::MAX)
            }
            (Ok(()), _) => op.len as i32,
            // What is to be gone is gone.
            (Err(fault), OpKind::Trim) if fault.status == 404 => op.len as i32,
            (Err(fault), _) => -errno_of(fault),
        }
    }
}

/// The number that stands for a fault, whose class is found again from it.
fn errno_of(fault: &Fault) -> i32 {
    match (fault.kind, fault.status) {
        (_, 401 | 403) => libc::EACCES,
        (_, 507) => libc::ENOSPC,
        (FaultKind::SlowDown, _) => libc::EUSERS,
        (FaultKind::Reset, _) => libc::ECONNRESET,
        (FaultKind::Timeout, _) => libc::ETIMEDOUT,
        (FaultKind::Refused, _) => libc::EBADRQC,
        _ => libc::EPROTO,
    }
}

impl Engine for Blocks {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            max_depth: MAX_DEPTH,
            trim: true,
            timed_reap: true,
        }
    }

    fn queue(&mut self, op: &Op, buffer: u32) -> Queued {
        let method = match op.kind {
            OpKind::Read => Method::Get,
            OpKind::Write => Method::Put,
            OpKind::Trim => Method::Delete,
            _ => {
                self.flushed.push(op.slot);
                return Queued::Yes;
            }
        };
        let Some(lane) = self.lanes.iter().position(Option::is_none) else {
            return Queued::Busy;
        };
        let file = self.first_file + op.file as usize;
        self.store.path(&mut self.path, file, op.offset, op.len);
        let body = match op.kind {
            OpKind::Write => {
                let mut bytes = self.spare.pop().unwrap_or_default();
                bytes.clear();
                // SAFETY: the buffer has at least as many bytes as the
                // operation and belongs to the engine until it was reaped.
                let block =
                    unsafe { std::slice::from_raw_parts(self.buffers.at(buffer), op.len as usize) };
                bytes.extend_from_slice(block);
                Body::Bytes(bytes)
            }
            _ => Body::None,
        };
        let request = Request {
            method,
            path: &self.path,
            query: b"",
            extra: &[],
            body,
            sink: match op.kind {
                OpKind::Read => Sink::Keep,
                _ => Sink::Discard,
            },
        };
        if let Some(Body::Bytes(old)) = self.pool.make_ready(lane, request) {
            self.spare.push(old);
        }
        self.lanes[lane] = Some((*op, buffer));
        self.queued.push(lane);
        Queued::Yes
    }

    fn submit(&mut self) -> Result<(), Broken> {
        for lane in std::mem::take(&mut self.queued) {
            self.pool.start_now(lane);
        }
        Ok(())
    }

    fn reap(
        &mut self,
        min: u32,
        timeout_ns: Option<u64>,
        out: &mut Vec<Completion>,
    ) -> Result<(), Broken> {
        self.submit()?;
        let flushed = self
            .flushed
            .drain(..)
            .map(|slot| Completion { slot, result: 0 });
        let before = out.len();
        out.extend(flushed);
        let busy = self.lanes.iter().any(Option::is_some);
        if !busy {
            if let (true, Some(ns)) = (min > 0 && out.len() == before, timeout_ns) {
                std::thread::sleep(Duration::from_nanos(ns));
            }
            return Ok(());
        }
        let waits = min > 0 && out.len() == before;
        let timeout_ns = if waits { timeout_ns } else { Some(0) };
        let mut ended = std::mem::take(&mut self.ended);
        self.pool.poll(timeout_ns, timeout_ns.is_some(), &mut ended);
        for end in ended.drain(..) {
            if let Some((op, buffer)) = self.lanes[end.connection].take() {
                let result = self.result(&end, &op, buffer);
                let slot = op.slot;
                out.push(Completion { slot, result });
            }
        }
        self.ended = ended;
        Ok(())
    }

    fn close(&mut self) {}
}
