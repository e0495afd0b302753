//! A read cache that forgets what was not used for longest.

use std::collections::HashMap;

/// Lines that are kept at most: larger caches have longer lines.
const LINES_MAX: u64 = 1 << 18;
const LINE_BYTES: u64 = 64 << 10;
const NONE: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct CacheLine {
    number: u64,
    newer: u32,
    older: u32,
}

pub(super) struct Lru {
    line_bytes: u64,
    most: usize,
    places: HashMap<u64, u32>,
    lines: Vec<CacheLine>,
    newest: u32,
    oldest: u32,
    hits: u64,
    misses: u64,
}

impl Lru {
    /// `None` for a cache of no size.
    pub(super) fn new(bytes: u64) -> Option<Lru> {
        (bytes > 0).then(|| {
            let line_bytes = bytes.div_ceil(LINES_MAX).max(LINE_BYTES);
            Lru {
                line_bytes,
                most: (bytes / line_bytes).max(1) as usize,
                places: HashMap::new(),
                lines: Vec::new(),
                newest: NONE,
                oldest: NONE,
                hits: 0,
                misses: 0,
            }
        })
    }

    /// Whether all of a range is there; it is from now on.
    pub(super) fn touch(&mut self, offset: u64, bytes: u32) -> bool {
        let hit = self.fill(offset, bytes);
        self.hits += u64::from(hit);
        self.misses += u64::from(!hit);
        hit
    }

    /// Puts a range in; says whether it was there already.
    pub(super) fn fill(&mut self, offset: u64, bytes: u32) -> bool {
        let end = (offset + u64::from(bytes)).div_ceil(self.line_bytes);
        let mut all = true;
        for number in offset / self.line_bytes..end {
            all &= self.use_line(number);
        }
        all
    }

    pub(super) fn counts(&self) -> (u64, u64) {
        (self.hits, self.misses)
    }

    fn use_line(&mut self, number: u64) -> bool {
        if let Some(&place) = self.places.get(&number) {
            self.unlink(place);
            self.link_newest(place);
            return true;
        }
        let place = if self.lines.len() < self.most {
            self.lines.push(CacheLine {
                number,
                newer: NONE,
                older: NONE,
            });
            (self.lines.len() - 1) as u32
        } else {
            let place = self.oldest;
            self.unlink(place);
            self.places.remove(&self.lines[place as usize].number);
            self.lines[place as usize].number = number;
            place
        };
        self.places.insert(number, place);
        debug_assert!(
            self.places.len() == self.lines.len() && self.lines.len() <= self.most,
            "{} numbers for {} lines of {}",
            self.places.len(),
            self.lines.len(),
            self.most
        );
        self.link_newest(place);
        false
    }

    fn unlink(&mut self, place: u32) {
        let CacheLine { newer, older, .. } = self.lines[place as usize];
        match self.lines.get_mut(newer as usize) {
            Some(line) => line.older = older,
            None => self.newest = older,
        }
        match self.lines.get_mut(older as usize) {
            Some(line) => line.newer = newer,
            None => self.oldest = newer,
        }
    }

    fn link_newest(&mut self, place: u32) {
        let before = self.newest;
        self.lines[place as usize].newer = NONE;
        self.lines[place as usize].older = before;
        match self.lines.get_mut(before as usize) {
            Some(line) => line.newer = place,
            None => self.oldest = place,
        }
        self.newest = place;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_used_for_longest_is_forgotten() {
        let mut cache = Lru::new(3 * LINE_BYTES).unwrap();
        let line = |n: u64| n * LINE_BYTES;
        for n in [0, 1, 2] {
            assert!(!cache.touch(line(n), 4096));
        }
        assert!(cache.touch(line(0), 4096));
        assert!(!cache.touch(line(3), 4096));
        assert!(!cache.touch(line(1), 4096), "1 was the oldest");
        assert!(cache.touch(line(0), 4096));
        assert!(cache.touch(line(3), 4096));
        assert!(!cache.touch(line(3) - 512, 1024), "2 is gone");
        assert_eq!(cache.counts(), (3, 6));
    }
}
