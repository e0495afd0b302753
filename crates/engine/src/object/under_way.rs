//! Objects that operations under way are on.
//!
//! Every draw asks about them, between two looks at the sockets and so inside
//! the latencies of the requests in flight: an answer must cost the same
//! whether 8 or 4,096 operations are under way.

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasherDefault, Hasher};

use fathom_model::OpKind;
use fathom_model::rng::splitmix64;

use super::picker::Task;

/// Hashes the number of an object. Numbers are fathom's own, so that nobody can
/// choose them to collide, and the usual hash costs more than all the rest.
#[derive(Debug, Default)]
struct NumberHasher(u64);

impl Hasher for NumberHasher {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = splitmix64(self.0 ^ u64::from(*byte));
        }
    }

    #[inline]
    fn write_u64(&mut self, number: u64) {
        self.0 = splitmix64(self.0 ^ number);
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}

/// How many operations under way are on which object.
#[derive(Debug, Default)]
pub(super) struct UnderWay {
    used: HashMap<u64, u32, BuildHasherDefault<NumberHasher>>,
    /// Those that are being made, in order.
    made: BTreeMap<u64, u32>,
}

impl UnderWay {
    /// An operation begins.
    pub(super) fn begin(&mut self, task: &Task) {
        *self.used.entry(task.number).or_default() += 1;
        if makes(task.kind) {
            *self.made.entry(task.number).or_default() += 1;
        }
    }

    /// An operation that has begun ends.
    pub(super) fn end(&mut self, task: &Task) {
        if let Some(count) = self.used.get_mut(&task.number) {
            *count -= 1;
            if *count == 0 {
                self.used.remove(&task.number);
            }
        }
        if makes(task.kind)
            && let Some(count) = self.made.get_mut(&task.number)
        {
            *count -= 1;
            if *count == 0 {
                self.made.remove(&task.number);
            }
        }
    }

    /// Whether an operation under way is on an object.
    pub(super) fn uses(&self, number: u64) -> bool {
        self.used.contains_key(&number)
    }

    /// The first object that is being made.
    pub(super) fn first_made(&self) -> Option<u64> {
        self.made.first_key_value().map(|(number, _)| *number)
    }
}

/// Whether an operation makes the object that it is on.
pub(super) fn makes(kind: OpKind) -> bool {
    matches!(kind, OpKind::Put | OpKind::PutMultipart)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn task(kind: OpKind, number: u64) -> Task {
        Task {
            kind,
            number,
            count: 1,
            version: 0,
        }
    }

    #[test]
    fn an_object_is_used_until_the_last_operation_on_it_ends() {
        let mut all = UnderWay::default();
        let (get, put) = (task(OpKind::Get, 3), task(OpKind::Put, 3));
        for begun in [&get, &get, &put] {
            all.begin(begun);
        }
        assert_eq!((all.uses(3), all.first_made()), (true, Some(3)));
        all.end(&put);
        all.end(&get);
        assert_eq!((all.uses(3), all.first_made()), (true, None));
        all.end(&get);
        assert!(!all.uses(3));
    }

    proptest! {
        #[test]
        fn it_says_what_a_walk_over_all_would_say(
            tasks in proptest::collection::vec((0u64..8, any::<bool>()), 1..64),
            ends in proptest::collection::vec(0usize..64, 0..64),
        ) {
            let mut walked = Vec::new();
            let mut all = UnderWay::default();
            for (number, puts) in tasks {
                let begun = task(if puts { OpKind::PutMultipart } else { OpKind::Head }, number);
                all.begin(&begun);
                walked.push(begun);
            }
            for at in ends {
                if at < walked.len() {
                    all.end(&walked.swap_remove(at));
                }
                let made = walked.iter().filter(|task| makes(task.kind));
                prop_assert_eq!(all.first_made(), made.map(|task| task.number).min());
                for number in 0..8 {
                    let uses = walked.iter().any(|task| task.number == number);
                    prop_assert_eq!(all.uses(number), uses);
                }
            }
        }
    }
}
