//! Which request comes next, on which object.

use std::sync::Arc;

use fathom_model::OpKind;
use fathom_model::rng::{Rng, derive_seed};
use fathom_model::workload::{ObjectOrder, ObjectWork};

use super::shelf::Range;
use crate::access::{Permutation, Zipf};
use crate::worker::Draw;

/// How often another object is drawn when the first cannot be used now.
const TRIES: u32 = 16;
/// A mix that puts more than it deletes makes this many times its objects, and
/// then puts those again.
const MOST_TIMES: u64 = 2;

/// A request that is to be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Task {
    pub(crate) kind: OpKind,
    pub(crate) number: u64,
    /// Objects, from `number` on; more than 1 for a batch.
    pub(crate) count: u32,
    /// Which of the known versions of the object.
    pub(crate) version: u64,
}

/// Draws the requests of one worker.
#[derive(Debug)]
pub(crate) struct Picker {
    work: Arc<ObjectWork>,
    rng: Rng,
    total_weight: u64,
    zipf: Option<(u64, Zipf)>,
    /// Of a phase: objects (or pages) visited in the pass under way.
    visited: u64,
    pass: u64,
    /// Objects when the pass began.
    first: u64,
    extent: u64,
    permutation: Option<Permutation>,
    seed: u64,
    /// Where a phase that makes objects began: from its second pass on it puts
    /// what it made again, so that a store is not filled by and by.
    ring: u64,
}

impl Picker {
    pub(crate) fn new(work: &Arc<ObjectWork>, rank: u32, seed: u64, range: &Range) -> Picker {
        let seed = derive_seed(seed, 0x6f62_6a65 ^ u64::from(rank) << 32);
        let mut picker = Picker {
            total_weight: work.ops.iter().map(|share| u64::from(share.weight)).sum(),
            work: Arc::clone(work),
            rng: Rng::new(seed),
            zipf: None,
            visited: 0,
            pass: 0,
            first: 0,
            extent: 0,
            permutation: None,
            seed,
            ring: range.tail,
        };
        picker.begin_pass(range);
        picker
    }

    fn begin_pass(&mut self, range: &Range) {
        self.visited = 0;
        self.first = range.head;
        self.extent = match self.work.phase() {
            Some(OpKind::Put | OpKind::PutMultipart) => self.work.objects,
            Some(OpKind::List | OpKind::ListVersions) => {
                let page = u64::from(self.work.page_keys.max(1));
                range.count().div_ceil(page).max(1)
            }
            Some(OpKind::GetVersion | OpKind::HeadVersion) => range
                .count()
                .saturating_mul(u64::from(self.work.versions.max(1))),
            _ => range.count(),
        };
        let shuffled = self.work.order == ObjectOrder::EachOnce;
        self.permutation = (shuffled && self.extent > 0)
            .then(|| Permutation::new(self.extent, derive_seed(self.seed, self.pass)));
        self.pass += 1;
    }

    /// The next request. `busy` says whether an object is in use by a request
    /// under way, `made` the first number that is still being made.
    pub(crate) fn next(
        &mut self,
        range: &mut Range,
        made: u64,
        busy: impl Fn(u64) -> bool,
    ) -> Draw<Task> {
        match self.work.phase() {
            Some(kind) => self.of_phase(kind, range, busy),
            None => self.of_mix(range, made, busy),
        }
    }

    fn of_phase(
        &mut self,
        kind: OpKind,
        range: &mut Range,
        busy: impl Fn(u64) -> bool,
    ) -> Draw<Task> {
        if matches!(kind, OpKind::Delete | OpKind::DeleteMany) {
            return self.removal(kind, range, busy).unwrap_or(Draw::Done);
        }
        if kind == OpKind::DeleteVersion {
            return self.version_removal(range, busy);
        }
        if self.visited >= self.extent {
            if !self.work.repeat || self.extent == 0 {
                return Draw::Done;
            }
            self.begin_pass(range);
        }
        if matches!(kind, OpKind::Put | OpKind::PutMultipart) {
            let number = self.ring + self.visited;
            self.visited += 1;
            range.tail = range.tail.max(number + 1);
            return Draw::Task(one(kind, number));
        }
        for _ in 0..TRIES {
            if self.visited >= self.extent {
                return Draw::Wait;
            }
            let visited = self.visit(kind);
            if matches!(kind, OpKind::GetVersion | OpKind::HeadVersion) {
                let (at, each) = (visited - self.first, u64::from(self.work.versions.max(1)));
                let number = self.first + at / each;
                if let Some(version) = range.versions.at(number, at % each) {
                    return Draw::Task(Task {
                        version,
                        ..one(kind, number)
                    });
                }
            } else if !range.is_missing(visited) {
                return Draw::Task(one(kind, visited));
            }
        }
        Draw::Wait
    }

    /// The next object of a pass.
    fn visit(&mut self, kind: OpKind) -> u64 {
        let at = self.visited;
        self.visited += 1;
        if matches!(kind, OpKind::List | OpKind::ListVersions) {
            return at;
        }
        self.first
            + match (self.work.order, &self.permutation) {
                (ObjectOrder::AsMade, _) => at,
                (ObjectOrder::EachOnce, Some(permutation)) => permutation.at(at),
                _ => self.at_random(self.extent),
            }
    }

    fn at_random(&mut self, count: u64) -> u64 {
        debug_assert!(count > 0, "no rank is below 0: the draw would never end");
        let ObjectOrder::Zipf { theta } = self.work.order else {
            return self.rng.below(count);
        };
        // A distribution for about this many: it need not follow each change.
        let rounded = count.next_power_of_two();
        if self
            .zipf
            .as_ref()
            .is_none_or(|(known, _)| *known != rounded)
        {
            self.zipf = Some((rounded, Zipf::new(rounded, theta)));
        }
        loop {
            let Some((_, zipf)) = &self.zipf else {
                return 0;
            };
            let rank = zipf.next(&mut self.rng);
            if rank < count {
                return rank;
            }
        }
    }

    fn making(&mut self, kind: OpKind, range: &mut Range) -> Task {
        let number = range.tail;
        range.tail += 1;
        one(kind, number)
    }

    fn removal(
        &mut self,
        kind: OpKind,
        range: &mut Range,
        busy: impl Fn(u64) -> bool,
    ) -> Option<Draw<Task>> {
        while range.count() > 0 && range.is_missing(range.head) {
            range.head += 1;
        }
        let most = match kind {
            OpKind::DeleteMany => u64::from(self.work.delete_batch.clamp(1, 1000)),
            _ => 1,
        };
        let count = range.count().min(most);
        if count == 0 {
            return None;
        }
        let number = range.head;
        if (number..number + count).any(busy) {
            return Some(Draw::Wait);
        }
        range.head += count;
        debug_assert!(
            range.head <= range.tail,
            "{} objects are removed, more than there are",
            range.head
        );
        range.versions.forget_below(range.head);
        Some(Draw::Task(Task {
            count: count as u32,
            ..one(kind, number)
        }))
    }

    fn of_mix(&mut self, range: &mut Range, made: u64, busy: impl Fn(u64) -> bool) -> Draw<Task> {
        for _ in 0..TRIES {
            let kind = self.kind();
            match kind {
                OpKind::Put | OpKind::PutMultipart => {
                    if range.count() < self.work.objects.saturating_mul(MOST_TIMES) {
                        return Draw::Task(self.making(kind, range));
                    }
                    // Full: something that is there is put again.
                    let count = made.saturating_sub(range.head);
                    if count > 0 {
                        let number = range.head + self.at_random(count);
                        if !busy(number) {
                            return Draw::Task(one(kind, number));
                        }
                    }
                }
                OpKind::Delete | OpKind::DeleteMany => {
                    let left = made.saturating_sub(range.head);
                    let least = u64::from(self.work.delete_batch.max(1));
                    let enough = left > least.min(self.work.objects / 2);
                    if let (true, Some(draw @ Draw::Task(_))) =
                        (enough, self.removal(kind, range, &busy))
                    {
                        return draw;
                    }
                }
                OpKind::List | OpKind::ListVersions => return Draw::Task(one(kind, 0)),
                _ if kind.is_of_version() => {
                    if let Some(task) = self.version_of_mix(kind, range, made, &busy) {
                        return Draw::Task(task);
                    }
                }
                _ => {
                    let count = made.saturating_sub(range.head);
                    if count == 0 {
                        continue;
                    }
                    let number = range.head + self.at_random(count);
                    if !range.is_missing(number) {
                        return Draw::Task(one(kind, number));
                    }
                }
            }
        }
        Draw::Wait
    }

    /// A request for a version in a mix.
    fn version_of_mix(
        &mut self,
        kind: OpKind,
        range: &Range,
        made: u64,
        busy: impl Fn(u64) -> bool,
    ) -> Option<Task> {
        let count = made.saturating_sub(range.head);
        if count == 0 {
            return None;
        }
        let number = range.head + self.at_random(count);
        let (number, place) = match kind {
            // One stays of each object, so that there is something to read.
            OpKind::DeleteVersion => {
                let found = range.versions.with_several(number);
                (found.filter(|n| *n < made && !busy(*n))?, 0)
            }
            _ => (
                number,
                self.rng.below(range.versions.count_of(number).max(1)),
            ),
        };
        let version = range.versions.at(number, place)?;
        Some(Task {
            version,
            ..one(kind, number)
        })
    }

    /// The next version to remove: the oldest of each object in turn, and never
    /// two of one at the same time.
    fn version_removal(&mut self, range: &mut Range, busy: impl Fn(u64) -> bool) -> Draw<Task> {
        if range.versions.are_of_null() {
            return self
                .removal(OpKind::DeleteVersion, range, busy)
                .unwrap_or(Draw::Done);
        }
        for _ in 0..TRIES {
            let Some(number) = range.versions.object_from(self.visited) else {
                range.head = range.tail;
                range.missing.clear();
                return Draw::Done;
            };
            self.visited = number + 1;
            let version = range.versions.at(number, 0);
            if let Some(version) = version.filter(|_| !busy(number)) {
                if range.versions.count_of(number) == 1 {
                    range.note_missing(number);
                }
                return Draw::Task(Task {
                    version,
                    ..one(OpKind::DeleteVersion, number)
                });
            }
        }
        Draw::Wait
    }

    fn kind(&mut self) -> OpKind {
        let mut at = self.rng.below(self.total_weight.max(1));
        for share in &self.work.ops {
            match at.checked_sub(u64::from(share.weight)) {
                None => return share.kind,
                Some(rest) => at = rest,
            }
        }
        OpKind::Get
    }
}

fn one(kind: OpKind, number: u64) -> Task {
    Task {
        kind,
        number,
        count: 1,
        version: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_model::workload::ObjectSizes;

    fn work(ops: &[(OpKind, u32)]) -> Arc<ObjectWork> {
        Arc::new(ObjectWork {
            repeat: true,
            delete_batch: 1,
            ..ObjectWork::new(ops.iter().copied(), 10, ObjectSizes::Fixed(1))
        })
    }

    #[test]
    fn a_phase_that_makes_objects_puts_its_own_again() {
        let work = work(&[(OpKind::Put, 1)]);
        let mut range = Range {
            tail: 3,
            ..Range::default()
        };
        let mut picker = Picker::new(&work, 0, 1, &range);
        let mut numbers = Vec::new();
        for _ in 0..25 {
            let Draw::Task(task) = picker.next(&mut range, 0, |_| false) else {
                panic!("there is always something to put")
            };
            numbers.push(task.number);
        }
        let ring: Vec<u64> = (3..13).chain(3..13).chain(3..8).collect();
        assert_eq!((numbers, range.tail), (ring, 13));
    }

    #[test]
    fn a_mix_that_only_puts_stays_within_twice_its_objects() {
        let work = work(&[(OpKind::Put, 9), (OpKind::Get, 1)]);
        let mut range = Range {
            tail: 10,
            ..Range::default()
        };
        let mut picker = Picker::new(&work, 0, 1, &range);
        let mut puts = 0;
        for _ in 0..1000 {
            let made = range.tail;
            if let Draw::Task(task) = picker.next(&mut range, made, |_| false) {
                puts += u64::from(task.kind == OpKind::Put);
                assert!(task.number < 20, "{task:?}");
            }
        }
        assert!(puts > 800 && range.count() == 20, "{puts} {range:?}");
    }
}
