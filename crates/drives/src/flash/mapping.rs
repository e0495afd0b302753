//! What a drive writes by itself: a page mapping with greedy collection.
//!
//! The drive is mapped in at most 16,384 pages of whatever size that makes, in
//! erase blocks of 32. A write lands on a page each time that a page's worth of
//! bytes has come in, so where a random load goes is sampled. When free
//! blocks run out the one with the fewest valid pages is moved and erased
//! (greedy collection; Bux, Iliadis, "Performance of greedy garbage collection
//! in flash-based solid-state drives", 2010). Under uniform random writes the
//! write amplification climbs over the first two capacities to a steady value
//! that the spare share sets.

use fathom_model::rng::{Rng, derive_seed};

const PAGES_MAX: u64 = 16_384;
const PAGES_PER_BLOCK: usize = 32;
/// Blocks beyond capacity and spare, so that collection always has room.
const RESERVE_BLOCKS: usize = 3;
/// Capacities written at random until the drive counts as steady.
const STEADY_CAPACITIES: u64 = 4;
/// Pages over which the present write amplification is averaged.
const AVERAGE_PAGES: f64 = 256.0;
const NOWHERE: u32 = u32::MAX;

#[derive(Clone)]
pub(super) struct Mapping {
    page_bytes: u64,
    /// Physical page of each logical one.
    physical: Vec<u32>,
    /// Logical page of each physical one; out of date where the other table
    /// says otherwise.
    logical: Vec<u32>,
    valid: Vec<u16>,
    is_free: Vec<bool>,
    free: Vec<u32>,
    open_block: u32,
    open_pages: usize,
    moved: Vec<u32>,
    host_pages: u64,
    media_pages: u64,
    /// Write amplification of late.
    amplification: f64,
    collected: bool,
    /// Bytes written and trimmed that have not made up a page yet.
    written: u64,
    trimmed: u64,
    /// Where the last write ended.
    last_end: u64,
}

impl Mapping {
    pub(super) fn new(capacity_bytes: u64, spare: f64) -> Mapping {
        let page_bytes = capacity_bytes.div_ceil(PAGES_MAX).max(4096);
        let pages = capacity_bytes.div_ceil(page_bytes) as usize;
        let data_blocks = (pages as f64 * (1.0 + spare) / PAGES_PER_BLOCK as f64).ceil() as usize;
        let blocks = data_blocks + RESERVE_BLOCKS;
        Mapping {
            page_bytes,
            physical: vec![NOWHERE; pages],
            logical: vec![NOWHERE; blocks * PAGES_PER_BLOCK],
            valid: vec![0; blocks],
            is_free: (0..blocks).map(|block| block > 0).collect(),
            free: (1..blocks as u32).rev().collect(),
            open_block: 0,
            open_pages: 0,
            moved: Vec::with_capacity(PAGES_PER_BLOCK),
            host_pages: 0,
            media_pages: 0,
            amplification: 1.0,
            collected: false,
            written: 0,
            trimmed: 0,
            last_end: 0,
        }
    }

    /// Fills the drive and overwrites it at random until it is steady.
    pub(super) fn precondition(&mut self, seed: u64) {
        let pages = self.physical.len() as u64;
        for page in 0..pages {
            self.write_page(page as usize);
        }
        self.overwrite(STEADY_CAPACITIES * pages, derive_seed(seed, 0x57EA));
    }

    /// The write amplification of a steady drive of this make.
    pub(super) fn steady_amplification(&self, spare: f64) -> f64 {
        let capacity = self.physical.len() as u64 * self.page_bytes;
        let mut twin = Mapping::new(capacity, spare);
        twin.precondition(1);
        let (host, media) = (twin.host_pages, twin.media_pages);
        twin.overwrite(2 * self.physical.len() as u64, 2);
        (twin.media_pages - media) as f64 / (twin.host_pages - host) as f64
    }

    fn overwrite(&mut self, count: u64, seed: u64) {
        let mut rng = Rng::new(seed);
        let pages = self.physical.len() as u64;
        for _ in 0..count {
            self.write_page(rng.below(pages) as usize);
        }
    }

    /// Takes a write of the host and says how many bytes go to the medium for
    /// each of its bytes.
    pub(super) fn write(&mut self, offset: u64, bytes: u32) -> f64 {
        let end = offset + u64::from(bytes);
        let goes_on = offset == std::mem::replace(&mut self.last_end, end);
        if goes_on {
            // Of a sequence each page counts once, where it is complete.
            for page in offset / self.page_bytes..end / self.page_bytes {
                self.write_page(page as usize);
            }
            return self.amplification;
        }
        self.written += u64::from(bytes);
        let mut at = offset;
        while self.written >= self.page_bytes {
            self.written -= self.page_bytes;
            let page = self.page_at(at);
            self.write_page(page);
            at += self.page_bytes;
        }
        self.amplification
    }

    /// Takes a trim of the host.
    pub(super) fn trim(&mut self, offset: u64, bytes: u32) {
        self.trimmed += u64::from(bytes);
        let mut at = offset;
        while self.trimmed >= self.page_bytes {
            self.trimmed -= self.page_bytes;
            let page = self.page_at(at);
            self.forget(page);
            at += self.page_bytes;
        }
    }

    /// Whether garbage was ever collected.
    pub(super) fn has_collected(&self) -> bool {
        self.collected
    }

    fn page_at(&self, offset: u64) -> usize {
        let page = (offset / self.page_bytes) as usize;
        page.min(self.physical.len() - 1)
    }

    fn write_page(&mut self, page: usize) {
        let before = self.media_pages;
        self.forget(page);
        self.append(page);
        self.host_pages += 1;
        while self.free.len() < RESERVE_BLOCKS - 1 && self.collect() {}
        let now = (self.media_pages - before) as f64;
        self.amplification += (now - self.amplification) / AVERAGE_PAGES;
    }

    fn forget(&mut self, page: usize) {
        let old = std::mem::replace(&mut self.physical[page], NOWHERE);
        if old != NOWHERE {
            self.valid[old as usize / PAGES_PER_BLOCK] -= 1;
        }
    }

    /// Writes a page where the open block goes on.
    fn append(&mut self, page: usize) {
        if self.open_pages == PAGES_PER_BLOCK {
            // The reserve sees to it that there is one.
            let Some(block) = self.free.pop() else {
                return;
            };
            self.is_free[block as usize] = false;
            self.open_block = block;
            self.open_pages = 0;
        }
        let place = self.open_block as usize * PAGES_PER_BLOCK + self.open_pages;
        self.open_pages += 1;
        self.logical[place] = page as u32;
        self.physical[page] = place as u32;
        self.valid[self.open_block as usize] += 1;
        self.media_pages += 1;
    }

    /// Moves what is valid out of the emptiest block. `false` when nothing
    /// would be gained.
    fn collect(&mut self) -> bool {
        let candidates = self.valid.iter().zip(&self.is_free).enumerate();
        let victim = candidates
            .filter(|(block, (_, free))| !**free && *block != self.open_block as usize)
            .min_by_key(|(_, (valid, _))| **valid);
        let Some((victim, (valid, _))) = victim else {
            return false;
        };
        if usize::from(*valid) == PAGES_PER_BLOCK {
            return false;
        }
        self.collected = true;
        let start = victim * PAGES_PER_BLOCK;
        let mut moved = std::mem::take(&mut self.moved);
        for place in start..start + PAGES_PER_BLOCK {
            let page = self.logical[place];
            if self.physical.get(page as usize) == Some(&(place as u32)) {
                moved.push(page);
            }
        }
        self.valid[victim] = 0;
        self.is_free[victim] = true;
        self.free.insert(0, victim as u32);
        for page in moved.drain(..) {
            self.append(page as usize);
        }
        self.moved = moved;
        true
    }
}
