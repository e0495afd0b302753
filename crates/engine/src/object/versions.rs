//! Versions of objects that are known by name: what the store called them when
//! they were put. The only names that are kept in memory, and no more than a
//! bound; of an object with many the oldest are forgotten first. They stay in the
//! store until the run's objects are removed.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Names that all workers of a group remember together.
pub(super) const MOST_VERSIONS: usize = 1 << 19;
/// What a store without versions calls the only one.
const NO_VERSION: &str = "null";

/// The versions of the objects of one rank.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Versions {
    /// Ascending numbers, and names, oldest first.
    of: BTreeMap<u64, VecDeque<(u64, Box<str>)>>,
    /// Objects with more than one.
    several: BTreeSet<u64>,
    count: usize,
    next: u64,
    /// Every object has one that is called `null`: the null target.
    everywhere: bool,
}

impl Versions {
    /// Those of a store that keeps nothing.
    pub(crate) fn of_null() -> Versions {
        Versions {
            everywhere: true,
            ..Versions::default()
        }
    }

    /// Whether they are those of a store that keeps nothing.
    pub(crate) fn are_of_null(&self) -> bool {
        self.everywhere
    }

    /// The first object from `start` on, and round, of which a version is known.
    pub(crate) fn object_from(&self, start: u64) -> Option<u64> {
        let onward = self.of.range(start..).next();
        onward
            .or_else(|| self.of.first_key_value())
            .map(|(object, _)| *object)
    }

    /// Takes note of a version that was put; at most `most` are kept.
    pub(crate) fn note(&mut self, object: u64, name: &str, most: usize) {
        if name.is_empty() || name == NO_VERSION {
            return;
        }
        if self.count >= most && self.drop_oldest(object).is_none() {
            return;
        }
        self.next += 1;
        self.count += 1;
        let all = self.of.entry(object).or_default();
        all.push_back((self.next, name.into()));
        if all.len() > 1 {
            self.several.insert(object);
        }
    }

    fn drop_oldest(&mut self, object: u64) -> Option<()> {
        let (number, _) = self.of.get(&object)?.front()?;
        let number = *number;
        self.take(object, number).map(|_| ())
    }

    /// How many are known.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// How many of an object are known.
    pub(crate) fn count_of(&self, object: u64) -> u64 {
        match self.everywhere {
            true => 1,
            false => self.of.get(&object).map_or(0, |all| all.len() as u64),
        }
    }

    /// The number of the version of an object at a place, counted round and round.
    pub(crate) fn at(&self, object: u64, place: u64) -> Option<u64> {
        if self.everywhere {
            return Some(0);
        }
        let all = self.of.get(&object)?;
        let place = place % (all.len() as u64).max(1);
        all.get(place as usize).map(|(number, _)| *number)
    }

    /// The name of a version.
    pub(crate) fn name(&self, object: u64, number: u64) -> Option<&str> {
        if self.everywhere {
            return Some(NO_VERSION);
        }
        let all = self.of.get(&object)?;
        let place = all.binary_search_by_key(&number, |(number, _)| *number);
        all.get(place.ok()?).map(|(_, name)| &**name)
    }

    /// The names of those of an object.
    pub(super) fn names_of(&self, object: u64) -> impl Iterator<Item = &str> {
        let all = self.of.get(&object).into_iter().flatten();
        all.map(|(_, name)| &**name)
    }

    /// Forgets a version; its name.
    pub(crate) fn take(&mut self, object: u64, number: u64) -> Option<Box<str>> {
        if self.everywhere {
            return Some(NO_VERSION.into());
        }
        let all = self.of.get_mut(&object)?;
        let place = all.binary_search_by_key(&number, |(number, _)| *number);
        let (_, name) = all.remove(place.ok()?)?;
        self.count -= 1;
        if all.len() < 2 {
            self.several.remove(&object);
        }
        if all.is_empty() {
            self.of.remove(&object);
        }
        Some(name)
    }

    /// An object with more than one, from `start` on and round.
    pub(crate) fn with_several(&self, start: u64) -> Option<u64> {
        let onward = self.several.range(start..).next();
        onward.or_else(|| self.several.first()).copied()
    }

    /// Objects below this one are gone.
    pub(crate) fn forget_below(&mut self, object: u64) {
        while let Some(first) = self.of.first_entry().filter(|first| *first.key() < object) {
            self.several.remove(first.key());
            self.count -= first.remove().len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_known_by_name_until_they_are_taken() {
        let mut all = Versions::default();
        for (object, name) in [(1, "a"), (1, "b"), (2, "c"), (1, "d"), (3, "null"), (3, "")] {
            all.note(object, name, 100);
        }
        assert_eq!([1, 2, 3].map(|object| all.count_of(object)), [3, 1, 0]);
        assert_eq!(
            (all.with_several(2), all.with_several(0)),
            (Some(1), Some(1))
        );
        let names: Vec<_> = (0..4)
            .map(|place| all.name(1, all.at(1, place).unwrap()).unwrap().to_owned())
            .collect();
        assert_eq!(names, ["a", "b", "d", "a"]);
        let second = all.at(1, 1).unwrap();
        assert_eq!(all.take(1, second).as_deref(), Some("b"));
        assert_eq!((all.take(1, second), all.name(1, second)), (None, None));
        let first = all.at(1, 0).unwrap();
        all.take(1, first);
        assert_eq!(
            [0, 2, 3].map(|start| all.object_from(start)),
            [Some(1), Some(2), Some(1)]
        );
        assert_eq!((all.count_of(1), all.with_several(0)), (1, None));
        all.forget_below(2);
        assert_eq!((all.count_of(1), all.count_of(2), all.count), (0, 1, 1));
    }

    #[test]
    fn no_more_are_kept_than_allowed() {
        let mut all = Versions::default();
        for n in 0..50_u64 {
            all.note(n % 2, &n.to_string(), 10);
        }
        all.note(7, "new", 10);
        assert_eq!(
            (all.count, all.count_of(7)),
            (10, 0),
            "no room for another object"
        );
        let newest = all.at(1, 4).unwrap();
        assert_eq!(all.name(1, newest), Some("49"), "the oldest go first");
    }
}
