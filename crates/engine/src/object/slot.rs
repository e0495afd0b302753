//! One operation under way: a request, or the requests of an object in parts.

use fathom_model::OpKind;

use super::ask::{Ask, Expected, PartTag};
use super::fault::Fault;
use super::picker::Task;
use crate::worker::Start;

/// A lane's request.
#[derive(Debug, Clone, Default)]
pub(super) struct Sent {
    pub(super) ask: Option<Ask>,
    pub(super) expected: Expected,
    /// How often it has been sent again.
    pub(super) retries: u32,
    /// When it failed, while it waits to be sent again.
    pub(super) failed_ns: u64,
}

/// An operation.
#[derive(Debug)]
pub(super) struct Slot {
    pub(super) task: Option<Task>,
    pub(super) start: Start,
    /// Requests under way or waiting to be sent again.
    pub(super) open: u32,
    pub(super) bytes: u64,
    pub(super) fault: Option<Fault>,
    upload: String,
    parts: u32,
    next_part: u32,
    tags: Vec<PartTag>,
    completes: bool,
    /// Where the listing goes on.
    pub(super) token: String,
}

impl Slot {
    pub(super) fn new() -> Slot {
        Slot {
            task: None,
            start: Start::default(),
            open: 0,
            bytes: 0,
            fault: None,
            upload: String::new(),
            parts: 0,
            next_part: 0,
            tags: Vec::new(),
            completes: false,
            token: String::new(),
        }
    }

    /// Takes up an operation on an object of `bytes`, in parts of `part_bytes`.
    /// Its first request.
    pub(super) fn begin(&mut self, task: Task, bytes: u64, part_bytes: u64) -> Ask {
        // Their answers would be taken for those of the new one.
        debug_assert_eq!(self.open, 0, "requests of the operation before");
        self.task = Some(task);
        self.open = 0;
        self.bytes = 0;
        self.fault = None;
        self.upload.clear();
        self.tags.clear();
        self.completes = false;
        self.next_part = 1;
        self.parts = u32::try_from(bytes.div_ceil(part_bytes.max(1)).max(1)).unwrap_or(u32::MAX);
        match task.kind {
            OpKind::PutMultipart => Ask::Begin,
            OpKind::GetParallel => {
                self.next_part = 2;
                Ask::GetPart(1)
            }
            OpKind::List | OpKind::ListVersions => Ask::Page(std::mem::take(&mut self.token)),
            _ => Ask::Whole,
        }
    }

    /// The upload was begun.
    pub(super) fn begun(&mut self, upload: String) {
        self.upload = upload;
        self.tags.resize(self.parts as usize, PartTag::default());
    }

    /// A part was sent.
    pub(super) fn put(&mut self, part: u32, tag: PartTag) {
        // From 1, as S3 counts them.
        debug_assert!(
            (1..=self.parts).contains(&part),
            "part {part} of {}",
            self.parts
        );
        if let Some(place) = self.tags.get_mut(part as usize - 1) {
            *place = tag;
        }
    }

    /// The next request of this operation that can be sent while others are
    /// under way.
    pub(super) fn next(&mut self) -> Option<Ask> {
        let task = self.task?;
        let in_parts = matches!(task.kind, OpKind::PutMultipart | OpKind::GetParallel);
        if !in_parts || self.completes {
            return None;
        }
        if self.fault.is_some() {
            if self.open > 0 || self.upload.is_empty() {
                return None;
            }
            self.completes = true;
            return Some(Ask::Abort(self.upload.clone()));
        }
        let uploads = task.kind == OpKind::PutMultipart;
        if uploads && self.upload.is_empty() {
            return None;
        }
        if self.next_part <= self.parts {
            let part = self.next_part;
            self.next_part += 1;
            return Some(match uploads {
                true => Ask::PutPart(self.upload.clone(), part),
                false => Ask::GetPart(part),
            });
        }
        if uploads && self.open == 0 {
            self.completes = true;
            let tags = std::mem::take(&mut self.tags);
            return Some(Ask::Complete(self.upload.clone(), tags));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_model::ErrorClass;

    fn task(kind: OpKind) -> Task {
        Task {
            kind,
            number: 1,
            count: 1,
            version: 0,
        }
    }

    fn tag(part: u32) -> PartTag {
        PartTag {
            etag: format!("e{part}"),
            checksum: Some(format!("s{part}")),
        }
    }

    #[test]
    fn an_upload_is_begun_sent_and_completed() {
        let mut slot = Slot::new();
        assert_eq!(slot.begin(task(OpKind::PutMultipart), 25, 10), Ask::Begin);
        slot.open = 1;
        assert_eq!(slot.next(), None);
        slot.open = 0;
        slot.begun("u".to_owned());
        for part in 1..=3 {
            assert_eq!(slot.next(), Some(Ask::PutPart("u".to_owned(), part)));
            slot.open += 1;
        }
        assert_eq!(slot.next(), None, "parts are under way");
        for part in [2, 3, 1] {
            slot.put(part, tag(part));
            slot.open -= 1;
        }
        let tags = (1..=3).map(tag).collect();
        assert_eq!(slot.next(), Some(Ask::Complete("u".to_owned(), tags)));
        assert_eq!(slot.next(), None);
    }

    #[test]
    fn an_upload_that_failed_is_given_up_when_nothing_is_under_way() {
        let mut slot = Slot::new();
        slot.begin(task(OpKind::PutMultipart), 25, 10);
        slot.begun("u".to_owned());
        slot.next();
        slot.open = 1;
        slot.fault = Some(Fault {
            class: ErrorClass::Timeout,
            text: "x".to_owned(),
        });
        assert_eq!(slot.next(), None);
        slot.open = 0;
        assert_eq!(slot.next(), Some(Ask::Abort("u".to_owned())));
        assert_eq!(slot.next(), None);
    }
}
