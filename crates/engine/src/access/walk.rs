//! Positions in order: sequential, backwards, strided, skipping.
//!
//! Workers that share files split them: the cells of all files in a row are cut
//! into one contiguous region per worker, and each worker walks through its
//! own. Nobody reads what another worker's read has just brought into a cache,
//! and all regions together are the whole.

use super::ground::Ground;

/// A contiguous piece of one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Segment {
    file: u32,
    start: u64,
    end: u64,
}

/// How a walk goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Gait {
    /// Each block starts where the one before ended, rounded up to the alignment.
    Forward,
    /// Each block ends where the one before started, rounded down.
    Backward,
    /// Starts are this far apart. Each lap begins one cell further on than the
    /// lap before, so that the laps together visit every cell.
    Stride(u64),
    /// Each block starts this far from the end of the one before, rounded away
    /// from it to the alignment. Every lap is the same.
    Skip(i64),
}

/// Rounds to multiples. Nearly all alignments are powers of two, which saves
/// a division per access.
#[derive(Debug, Clone, Copy)]
struct Alignment {
    bytes: u64,
    power_of_two: bool,
}

impl Alignment {
    fn new(bytes: u64) -> Alignment {
        Alignment {
            bytes,
            power_of_two: bytes.is_power_of_two(),
        }
    }

    #[inline]
    fn down(self, value: u64) -> u64 {
        if self.power_of_two {
            value & !(self.bytes - 1)
        } else {
            value - value % self.bytes
        }
    }

    #[inline]
    fn up(self, value: u64) -> u64 {
        self.down(value + (self.bytes - 1))
    }
}

/// A walk through a worker's region, for ever.
#[derive(Debug, Clone)]
pub(crate) struct Walk {
    gait: Gait,
    segments: Vec<Segment>,
    current: usize,
    /// Where the next block starts (ends, when walking backwards).
    position: u64,
    lap_shift: u64,
    /// Nothing was visited yet (skipping only).
    fresh: bool,
    align: Alignment,
    cell_bytes: u64,
    longest: u64,
    /// It begins at the end.
    back: bool,
}

impl Walk {
    pub(crate) fn new(ground: &Ground, gait: Gait) -> Walk {
        let segments = region(ground);
        let longest = segments.iter().map(|s| s.end - s.start).max().unwrap_or(0);
        let mut walk = Walk {
            gait: match gait {
                Gait::Stride(bytes) => {
                    Gait::Stride(bytes.max(1).div_ceil(ground.align) * ground.align)
                }
                other => other,
            },
            segments,
            current: 0,
            position: 0,
            lap_shift: 0,
            fresh: true,
            align: Alignment::new(ground.align),
            cell_bytes: ground.cell_bytes,
            longest,
            back: false,
        };
        walk.back = match gait {
            Gait::Skip(skip) => walk.goes_back(ground.max_block, skip),
            gait => gait == Gait::Backward,
        };
        walk.restart();
        walk
    }

    /// Goes back to where the first lap begins.
    pub(crate) fn restart(&mut self) {
        (self.fresh, self.lap_shift) = (true, 0);
        (self.current, self.position) = match self.back {
            true => {
                let last = self.segments.len() - 1;
                (last, self.segments[last].end)
            }
            false => (0, self.segments[0].start),
        };
    }

    /// File (from the worker's first) and position of the next block.
    #[inline]
    pub(crate) fn next(&mut self, bytes: u64) -> (u32, u64) {
        match self.gait {
            Gait::Forward => self.forward(bytes, self.align.up(bytes)),
            Gait::Stride(stride) => self.forward(bytes, stride),
            Gait::Backward => self.backward(bytes),
            Gait::Skip(skip) => self.skip(bytes, skip),
        }
    }

    /// `self.position` is where the block before ended, so that the first
    /// one of a segment lies at its start (going on) or end (going back).
    #[inline]
    fn skip(&mut self, bytes: u64, skip: i64) -> (u32, u64) {
        let segment = self.segments[self.current];
        let start = if self.fresh {
            Some(self.position)
        } else {
            let end = self.align.up(self.position);
            let distance = self.align.up(skip.unsigned_abs());
            match skip > 0 {
                true => end.checked_add(distance),
                false => end.checked_sub(distance),
            }
        };
        let fits = |at: &u64| *at >= segment.start && at.saturating_add(bytes) <= segment.end;
        let at = match start.filter(fits) {
            Some(at) => at,
            None => self.next_start(bytes, skip),
        };
        self.fresh = false;
        self.position = at + bytes;
        (self.segments[self.current].file, at)
    }

    /// Where a block lies that begins a segment, the next one in the direction
    /// of the walk. Every segment holds a largest block.
    #[cold]
    fn next_start(&mut self, bytes: u64, skip: i64) -> u64 {
        let last = self.segments.len() - 1;
        if self.goes_back(bytes, skip) {
            if !self.fresh {
                self.current = self.current.checked_sub(1).unwrap_or(last);
            }
            let segment = self.segments[self.current];
            self.align.down(segment.end - bytes).max(segment.start)
        } else {
            self.current = if self.current == last {
                0
            } else {
                self.current + 1
            };
            self.segments[self.current].start
        }
    }

    fn goes_back(&self, bytes: u64, skip: i64) -> bool {
        skip < 0 && self.align.up(skip.unsigned_abs()) > self.align.up(bytes)
    }

    #[inline]
    fn forward(&mut self, bytes: u64, advance: u64) -> (u32, u64) {
        debug_assert!(
            bytes <= self.longest,
            "no segment holds {bytes} bytes: the walk would never end"
        );
        while self.position + bytes > self.segments[self.current].end {
            self.next_segment();
        }
        let at = self.position;
        self.position += advance;
        (self.segments[self.current].file, at)
    }

    /// Every segment holds a largest block at its start, so this is called
    /// again only while a lap's shift leaves too little of short segments.
    #[cold]
    fn next_segment(&mut self) {
        self.current += 1;
        if self.current == self.segments.len() {
            self.current = 0;
            if let Gait::Stride(stride) = self.gait {
                self.lap_shift += self.cell_bytes;
                if self.lap_shift >= stride || self.lap_shift + self.cell_bytes > self.longest {
                    self.lap_shift = 0;
                }
            }
        }
        self.position = self.segments[self.current].start + self.lap_shift;
    }

    #[inline]
    fn backward(&mut self, bytes: u64) -> (u32, u64) {
        debug_assert!(
            bytes <= self.longest,
            "no segment holds {bytes} bytes: the walk would never end"
        );
        loop {
            let segment = self.segments[self.current];
            match self.position.checked_sub(bytes) {
                Some(start) if self.align.down(start) >= segment.start => {
                    self.position = self.align.down(start);
                    return (segment.file, self.position);
                }
                _ => {
                    let last = self.segments.len() - 1;
                    self.current = self.current.checked_sub(1).unwrap_or(last);
                    self.position = self.segments[self.current].end;
                }
            }
        }
    }
}

/// The segments of the worker's region. Never empty: there is at least one
/// cell for each worker that shares.
fn region(ground: &Ground) -> Vec<Segment> {
    let worker = ground.share.0;
    let (first, after) = (ground.boundary(worker), ground.boundary(worker + 1));
    let mut segments = Vec::new();
    let mut cell = first;
    while cell < after {
        let file = cell / ground.cells_per_file;
        let file_after = (file + 1) * ground.cells_per_file;
        let start = (cell - file * ground.cells_per_file) * ground.cell_bytes;
        let end = if after >= file_after {
            ground.span
        } else {
            (after - file * ground.cells_per_file) * ground.cell_bytes
        };
        segments.push(Segment {
            file: file as u32,
            start,
            end,
        });
        cell = file_after;
    }
    segments
}
