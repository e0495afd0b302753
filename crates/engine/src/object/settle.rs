//! What a request that has ended means for its operation and the records.

use std::cmp::Reverse;

use fathom_model::{ErrorClass, OpKind};
use fathom_s3::{Ended, NextPage, PageError, error_codes, shown, upload_id};

use super::advice::advised;
use super::ask::{Ask, PartTag};
use super::fault::Fault;
use super::under_way::makes;
use super::worker::Worker;
use crate::worker::{Failed, LoadState};

impl Worker {
    /// Takes note of a request that has ended.
    pub(super) fn settle(&mut self, load: &mut LoadState, mut end: Ended) {
        load.pass(end.end_ns);
        let lane = end.connection;
        let slot = lane / self.width();
        let Some(ask) = self.sent[lane]
            .ask
            .clone()
            .filter(|_| self.slots[slot].task.is_some())
        else {
            return;
        };
        let outcome = std::mem::replace(&mut end.outcome, Ok(()));
        let outcome = outcome.map_err(Fault::from);
        let outcome = outcome.and_then(|()| self.read_answer(slot, &ask, &end));
        self.tally(load, &outcome, &end);
        if let Err(fault) = &outcome
            && self.is_sent_again(load, lane, fault, end.end_ns)
        {
            return;
        }
        let expected = self.sent[lane].expected;
        self.sent[lane].ask = None;
        self.slots[slot].open -= 1;
        match outcome {
            Ok(()) => {
                self.slots[slot].bytes += expected.bytes;
                self.note_times(load, &ask, &end);
            }
            Err(fault) => {
                self.slots[slot].fault.get_or_insert(fault);
            }
        }
        self.fill(load, slot);
        if self.slots[slot].open == 0 {
            self.operation_ended(load, slot, &end);
        }
    }

    /// Whether what came is what was asked for.
    fn check_contents(&self, ask: &Ask, end: &Ended) -> Result<(), Fault> {
        let wrong = |class, text: String| Err(Fault { class, text });
        let expected = self.sent[end.connection].expected;
        let (status, came) = self.parts.pool.part(end.connection);
        if let Some((class, text)) = other_part(expected.part, status, came) {
            return wrong(class, text);
        }
        if let Some(at) = end.differs_at {
            let text = format!("what was read is not what was put, within 64 KiB after byte {at}");
            return wrong(ErrorClass::Verify, text);
        }
        if let Some((came, said)) = end.checksums.as_ref().filter(|(came, said)| came != said) {
            let text = format!("the checksum of what came is {came}, the store says {said}");
            return wrong(ErrorClass::Verify, text);
        }
        let version = self.parts.pool.tags(end.connection).1;
        if let Ask::Version(asked) = ask
            && !version.is_empty()
            && version != asked
            && self.parts.work.null_server.is_none()
        {
            let text = format!("the version {version} came instead of {asked}");
            return wrong(ErrorClass::Verify, text);
        }
        // The null store knows no sizes: it answers with those of the mean object.
        let told = expected.answer_bytes;
        let told = told.filter(|_| self.parts.work.null_server.is_none());
        if let Some(bytes) = told.filter(|bytes| *bytes != end.received) {
            let text = format!("{} bytes came instead of {bytes}", end.received);
            return wrong(ErrorClass::Short, text);
        }
        Ok(())
    }

    /// Whether the answer says what it should; keeps what later requests need.
    fn read_answer(&mut self, slot: usize, ask: &Ask, end: &Ended) -> Result<(), Fault> {
        let wrong = |class, text: String| Err(Fault { class, text });
        self.check_contents(ask, end)?;
        let kept = self.parts.pool.kept(end.connection);
        match ask {
            // A completion that fails late says so in a body after status 200.
            Ask::Whole | Ask::Complete(..) => match error_codes(kept) {
                Ok(codes) => {
                    if let Some(code) = codes.first() {
                        let text = format!("the answer says {}", shown(code));
                        return wrong(ErrorClass::Failed, text);
                    }
                }
                Err(error) => return wrong(ErrorClass::Other, error.to_string()),
            },
            Ask::Begin => match upload_id(kept) {
                Ok(Some(upload)) => self.slots[slot].begun(upload),
                Ok(None) => return wrong(ErrorClass::Other, "an upload without a name".to_owned()),
                Err(error) => return wrong(ErrorClass::Other, error.to_string()),
            },
            Ask::PutPart(_, part) => {
                let pool = &self.parts.pool;
                let tag = PartTag {
                    etag: pool.tags(end.connection).0.to_owned(),
                    checksum: pool.checksum(end.connection).map(str::to_owned),
                };
                if tag.etag.is_empty() {
                    let text = "the part has no entity tag (ETag), which completing needs";
                    return wrong(ErrorClass::Other, text.to_owned());
                }
                self.slots[slot].put(*part, tag);
            }
            Ask::Page(asked) if self.parts.work.null_server.is_none() => {
                match next_page(kept, asked) {
                    Ok(token) => self.slots[slot].token = token,
                    Err(why) => return wrong(ErrorClass::Other, why.to_string()),
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn tally(&mut self, load: &LoadState, outcome: &Result<(), Fault>, end: &Ended) {
        if !load.is_measuring() {
            return;
        }
        let endpoint = self.parts.pool.endpoint_of(end.connection);
        let tally = &mut self.endpoints[endpoint];
        if end.checksums.is_some() {
            tally.compared();
        }
        match outcome {
            Ok(()) => {
                let bytes = self.sent[end.connection].expected.bytes;
                tally.succeeded(bytes, end.end_ns.saturating_sub(end.start_ns));
            }
            Err(fault) => tally.failed(fault),
        }
    }

    /// Has a request sent again after a pause, if that may help and is wanted.
    fn is_sent_again(&mut self, load: &LoadState, lane: usize, fault: &Fault, now_ns: u64) -> bool {
        let passing = matches!(
            fault.class,
            ErrorClass::SlowDown | ErrorClass::Timeout | ErrorClass::Reset | ErrorClass::Failed
        );
        let work = &self.parts.work.work;
        let sent = &mut self.sent[lane];
        // A store that said nothing to the end of the load is not asked once more.
        let over = load.is_draining() && fault.class == ErrorClass::Timeout;
        if !passing || over || sent.retries >= work.retries || load.control.must_end() {
            return false;
        }
        let doubled = work.backoff_ns.saturating_mul(1 << sent.retries.min(20));
        sent.failed_ns = now_ns;
        let again_ns = now_ns.saturating_add(doubled);
        self.waiting.push(Reverse((again_ns, lane)));
        if load.is_measuring() {
            let endpoint = self.parts.pool.endpoint_of(lane);
            self.endpoints[endpoint].retried();
        }
        true
    }

    /// The times within a request.
    fn note_times(&mut self, load: &mut LoadState, ask: &Ask, end: &Ended) {
        let recorder = &mut load.recorder;
        if end.first_byte_ns > 0 {
            let first_ns = end.first_byte_ns.saturating_sub(end.start_ns).max(1);
            recorder.complete(OpKind::FirstByte, 0, first_ns);
            // What came all at once took no time to transfer.
            if end.end_ns > end.first_byte_ns {
                let transfer_ns = end.end_ns - end.first_byte_ns;
                recorder.complete(OpKind::Transfer, 0, transfer_ns);
            }
        }
        if matches!(ask, Ask::PutPart(..) | Ask::GetPart(_)) {
            let service_ns = end.end_ns.saturating_sub(end.start_ns).max(1);
            let bytes = self.sent[end.connection].expected.bytes;
            recorder.complete(OpKind::Part, bytes, service_ns);
        }
    }

    /// All requests of an operation have ended.
    fn operation_ended(&mut self, load: &mut LoadState, slot: usize, end: &Ended) {
        let state = &mut self.slots[slot];
        let Some(task) = state.task else {
            return;
        };
        let (start, bytes) = (state.start, state.bytes);
        let fault = state.fault.take();
        let makes = makes(task.kind);
        match fault {
            None => {
                load.succeeded(task.kind, bytes, start, end.end_ns);
                if makes {
                    self.range.note_made(task.number);
                }
                if task.kind == OpKind::Copy && !self.parts.work.work.existing {
                    self.range.note_copied(task.number);
                }
                if makes || task.kind == OpKind::PutVersion {
                    let version = self.parts.pool.tags(end.connection).1;
                    let most = self.parts.work.most_versions();
                    self.range.versions.note(task.number, version, most);
                }
            }
            Some(fault) => {
                if makes {
                    self.range.note_missing(task.number);
                }
                self.failed(load, slot, &fault, end.end_ns);
            }
        }
        self.release(load, slot, end);
    }

    #[cold]
    fn failed(&self, load: &mut LoadState, slot: usize, fault: &Fault, at_ns: u64) {
        let Some(task) = self.slots[slot].task else {
            return;
        };
        let failed = Failed {
            kind: task.kind,
            class: fault.class,
            number: task.number,
            at_ns,
        };
        load.failed(failed, || {
            let work = &self.parts.work;
            let endpoint = self.parts.pool.endpoint_of(slot * self.width());
            let endpoint = &work.access.endpoints[endpoint].name;
            let mut path = Vec::new();
            work.path(&mut path, self.parts.rank, task.number);
            let path = String::from_utf8_lossy(&path);
            let name = task.kind.name();
            format!("{name} of {endpoint}{path}: {}", advised(&fault.text))
        });
    }
}

/// What is wrong where the answer says that it holds something else than the part
/// that was asked for, or the whole object: `came` are the first and last byte
/// that it names.
fn other_part(
    asked: Option<(u64, u64)>,
    status: u16,
    came: Option<(u64, u64)>,
) -> Option<(ErrorClass, String)> {
    let bytes = |(first, last): (u64, u64)| format!("bytes {first} to {last}");
    match (asked, status, came) {
        (Some(asked), 206, Some(came)) if came == asked => None,
        (Some(asked), 206, Some(came)) => {
            let text = format!("{} came instead of {}", bytes(came), bytes(asked));
            Some((ErrorClass::Verify, text))
        }
        (Some(asked), 206, None) => {
            let asked = bytes(asked);
            let text = format!("the answer does not say which part it holds instead of {asked}");
            Some((ErrorClass::Verify, text))
        }
        // A store may send all of an object; where that is what was asked for, the
        // number of bytes is right.
        (Some((0, _)), 200, _) => None,
        (Some(asked), _, _) => {
            let text = format!("the whole object came instead of {}", bytes(asked));
            Some((ErrorClass::Short, text))
        }
        (None, 206, Some(came)) => {
            let text = format!("{} came instead of the whole object", bytes(came));
            Some((ErrorClass::Verify, text))
        }
        (None, _, _) => None,
    }
}

/// Why a listing does not go on behind a page.
#[derive(Debug, thiserror::Error)]
enum NoNextPage {
    #[error("{0}")]
    Page(#[from] PageError),
    #[error("the next page of the listing would be the same one again")]
    Again,
}

/// Where a listing goes on behind a page; empty at its end.
fn next_page(page: &[u8], asked: &str) -> Result<String, NoNextPage> {
    match NextPage::token_behind(page)? {
        None => Ok(String::new()),
        Some(token) if token != asked => Ok(token),
        Some(_) => Err(NoNextPage::Again),
    }
}
