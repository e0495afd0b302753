//! What is there of one worker's files: a few numbers instead of a list.
//!
//! Files are made at the tail and removed at the head, so that those that
//! exist are always a range of numbers. Renaming goes through that range in
//! order: those before `moved` bear the name of the round that is under way.

/// A range of numbers that exist.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) head: u64,
    pub(crate) tail: u64,
}

impl Window {
    pub(crate) fn count(self) -> u64 {
        debug_assert!(
            self.head <= self.tail,
            "files are removed that were not made: {self:?}"
        );
        self.tail - self.head
    }
}

/// What there is of one rank.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Rank {
    pub(crate) files: Window,
    /// Rounds of renaming that are complete.
    pub(crate) round: u32,
    /// Files before this number have been renamed in the round under way.
    pub(crate) moved: u64,
    /// Files before this number have the extended attribute.
    pub(crate) marked: u64,
    /// Files are no longer as long as they were made.
    pub(crate) altered: bool,
    /// An operation failed: what is there is not exactly known.
    pub(crate) unsure: bool,
    pub(crate) links: Window,
    pub(crate) symlinks: Window,
    pub(crate) directories: Window,
}

impl Rank {
    /// How often a file has been renamed.
    #[inline]
    pub(crate) fn round_of(&self, number: u64) -> u32 {
        self.round + u32::from(number < self.moved)
    }

    /// The number of the file that is renamed next; `None` without files.
    pub(crate) fn next_renamed(&self) -> Option<u64> {
        (self.files.count() > 0).then(|| self.moved.max(self.files.head))
    }

    /// The file with that number has been renamed. True when the round is
    /// complete.
    pub(crate) fn renamed(&mut self, number: u64) -> bool {
        debug_assert!(
            (self.files.head..self.files.tail).contains(&number),
            "{number} is renamed and is not there"
        );
        self.moved = number + 1;
        let complete = self.moved >= self.files.tail;
        if complete {
            self.round += 1;
            self.moved = 0;
        }
        complete
    }

    /// The number of the file that is marked next: the first without a mark,
    /// else any. `None` without files.
    pub(crate) fn next_marked(&self) -> Option<u64> {
        let next = self.marked.max(self.files.head);
        (next < self.files.tail).then_some(next)
    }

    /// As a line of the tree's list.
    pub(crate) fn line(&self) -> String {
        let windows = [self.files, self.links, self.symlinks, self.directories];
        let mut line = format!(
            "rank {} {} {} {} {}",
            self.round,
            self.moved,
            self.marked,
            u8::from(self.altered),
            u8::from(self.unsure)
        );
        for window in windows {
            line += &format!(" {} {}", window.head, window.tail);
        }
        line
    }

    /// From such a line.
    pub(crate) fn parse(line: &str) -> Option<Rank> {
        let mut words = line.strip_prefix("rank ")?.split(' ');
        let mut number = || words.next()?.parse::<u64>().ok();
        let mut rank = Rank {
            round: u32::try_from(number()?).ok()?,
            moved: number()?,
            marked: number()?,
            altered: number()? != 0,
            unsure: number()? != 0,
            ..Rank::default()
        };
        for window in [
            &mut rank.files,
            &mut rank.links,
            &mut rank.symlinks,
            &mut rank.directories,
        ] {
            let (head, tail) = (number()?, number()?);
            *window = (head <= tail).then_some(Window { head, tail })?;
        }
        Some(rank)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rank_is_read_back() {
        let rank = Rank {
            files: Window { head: 3, tail: 9 },
            round: 2,
            moved: 5,
            marked: 4,
            altered: true,
            unsure: false,
            links: Window { head: 0, tail: 1 },
            symlinks: Window::default(),
            directories: Window { head: 7, tail: 7 },
        };
        assert_eq!(Rank::parse(&rank.line()), Some(rank));
        assert_eq!(Rank::parse("rank 1 2"), None);
        let backwards = rank.line().replace(" 3 9", " 9 3");
        assert_eq!(Rank::parse(&backwards), None);
    }

    #[test]
    fn names_stay_known_while_files_are_renamed_made_and_removed() {
        let mut rank = Rank {
            files: Window { head: 0, tail: 3 },
            ..Rank::default()
        };
        let mut names: std::collections::BTreeMap<u64, u32> = (0..3).map(|n| (n, 0)).collect();
        for step in 0..200 {
            match step % 5 {
                0 | 2 | 4 => {
                    let number = rank.next_renamed().unwrap();
                    *names.get_mut(&number).unwrap() += 1;
                    rank.renamed(number);
                }
                1 => {
                    // A new file has the name that the rest of the round has.
                    let number = rank.files.tail;
                    rank.files.tail += 1;
                    names.insert(number, rank.round_of(number));
                }
                _ => {
                    names.remove(&rank.files.head);
                    rank.files.head += 1;
                }
            }
            for (number, round) in &names {
                assert_eq!(rank.round_of(*number), *round, "step {step}, file {number}");
            }
        }
    }
}
