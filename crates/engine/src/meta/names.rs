//! Names and paths, written into a buffer without allocation.
//!
//! `f-RANK-NUMBER` is a file (`f-RANK-NUMBER~N` after N rounds of renaming),
//! `d-…` a directory, `s-…` a symbolic link, `l-…` a second name, `t-…` a file
//! that is yet to get its name.

use std::ffi::CStr;

/// Longest path that is written: `PATH_MAX`.
const CAPACITY: usize = 4096;

/// What a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Thing {
    File,
    Directory,
    Symlink,
    Link,
    /// What a file is called while it is written.
    Temporary,
}

impl Thing {
    fn letter(self) -> u8 {
        match self {
            Thing::File => b'f',
            Thing::Directory => b'd',
            Thing::Symlink => b's',
            Thing::Link => b'l',
            Thing::Temporary => b't',
        }
    }

    /// What a name that fathom gave stands for; `None` for any other name.
    pub(crate) fn of_name(name: &[u8]) -> Option<Thing> {
        let (letter, rest) = name.split_first()?;
        let things = [Thing::File, Thing::Directory, Thing::Symlink, Thing::Link];
        let thing = things
            .into_iter()
            .chain([Thing::Temporary])
            .find(|thing| thing.letter() == *letter)?;
        let rest = rest.strip_prefix(b"-")?;
        let dash = rest.iter().position(|byte| *byte == b'-')?;
        let (rank, number) = (&rest[..dash], &rest[dash + 1..]);
        let number = match number.iter().position(|byte| *byte == b'~') {
            Some(at) if thing == Thing::File => {
                digits(&number[at + 1..])?;
                &number[..at]
            }
            Some(_) => return None,
            None => number,
        };
        digits(rank)?;
        digits(number)?;
        Some(thing)
    }
}

fn digits(text: &[u8]) -> Option<()> {
    let fine = !text.is_empty() && text.len() <= 20 && text.iter().all(u8::is_ascii_digit);
    fine.then_some(())
}

/// A name or path under construction.
#[derive(Debug)]
pub(crate) struct Name {
    bytes: Box<[u8; CAPACITY]>,
    length: usize,
}

impl Name {
    pub(crate) fn new() -> Name {
        Name {
            bytes: Box::new([0; CAPACITY]),
            length: 0,
        }
    }

    /// Starts anew.
    pub(crate) fn clear(&mut self) {
        self.length = 0;
    }

    /// Adds bytes; what does not fit is cut off, and the system refuses it.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let end = (self.length + bytes.len()).min(CAPACITY - 1);
        let taken = end - self.length;
        self.bytes[self.length..end].copy_from_slice(&bytes[..taken]);
        self.length = end;
    }

    /// Adds a number in decimal.
    pub(crate) fn push_number(&mut self, mut number: u64) {
        let mut digits = [0u8; 20];
        let mut at = digits.len();
        loop {
            at -= 1;
            digits[at] = b'0' + (number % 10) as u8;
            number /= 10;
            if number == 0 {
                break;
            }
        }
        self.push(&digits[at..]);
    }

    /// Adds the name of a thing. `round` counts how often a file was renamed.
    pub(crate) fn push_thing(&mut self, thing: Thing, rank: u32, number: u64, round: u32) {
        self.push(&[thing.letter(), b'-']);
        self.push_number(u64::from(rank));
        self.push(b"-");
        self.push_number(number);
        if round > 0 {
            self.push(b"~");
            self.push_number(u64::from(round));
        }
    }

    /// The text so far.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    /// The text as the system takes it.
    pub(crate) fn as_c(&mut self) -> &CStr {
        self.bytes[self.length] = 0;
        CStr::from_bytes_until_nul(&self.bytes[..=self.length]).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_named_is_recognised() {
        let mut name = Name::new();
        for (thing, round) in [
            (Thing::File, 0),
            (Thing::File, 7),
            (Thing::Directory, 0),
            (Thing::Symlink, 0),
            (Thing::Temporary, 0),
            (Thing::Link, 0),
        ] {
            name.clear();
            name.push_thing(thing, 16_000, u64::MAX, round);
            assert_eq!(Thing::of_name(name.as_bytes()), Some(thing));
        }
        assert_eq!(name.as_c().to_bytes(), b"l-16000-18446744073709551615");
        for stranger in [
            "",
            "f",
            "f-",
            "f-1",
            "f-1-",
            "f--1",
            "x-1-2",
            "f-1-2~",
            "d-1-2~3",
            "f-1-2.txt",
            "f-a-2",
            ".fathom-tree",
        ] {
            assert_eq!(Thing::of_name(stranger.as_bytes()), None, "{stranger}");
        }
    }

    #[test]
    fn too_long_a_path_is_cut_and_not_written_beyond() {
        let mut name = Name::new();
        for _ in 0..1000 {
            name.push(b"0123456789");
        }
        assert_eq!(name.as_bytes().len(), CAPACITY - 1);
        assert_eq!(name.as_c().to_bytes().len(), CAPACITY - 1);
    }
}
