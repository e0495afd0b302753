//! Whether what an operation found is what should be there.

use fathom_model::OpKind;

use super::{Hand, Trouble};
use crate::meta::names::Thing;
use crate::meta::task::Task;

impl Hand {
    /// Checks what the last operation found, where that was asked for.
    /// `expected` entries are in the directory, if that is known.
    pub(crate) fn check(&mut self, task: &Task, expected: Option<u64>) -> Result<(), Trouble> {
        if !self.ways.verify || self.directories.is_none() {
            return Ok(());
        }
        match task.kind {
            OpKind::Stat | OpKind::Lookup if !self.altered => {
                let size_bytes = self.geometry.size_of(self.rank, task.number);
                self.found_is(size_bytes, "bytes long")
            }
            OpKind::Getxattr => self.found_is(self.xattr.len() as u64, "bytes in its attribute"),
            OpKind::Readlink => {
                self.other.clear();
                self.other
                    .push_thing(Thing::File, self.rank, task.number, 0);
                self.found_is(self.other.as_bytes().len() as u64, "bytes in its target")
            }
            OpKind::Readdir | OpKind::ReaddirStat => match expected {
                Some(expected) => self.found_is(expected, "entries in it"),
                None => Ok(()),
            },
            OpKind::ReadFile | OpKind::SwiftGet if !self.altered => self.check_contents(task),
            _ => Ok(()),
        }
    }

    fn found_is(&self, expected: u64, what: &str) -> Result<(), Trouble> {
        match self.found == expected {
            true => Ok(()),
            false => Err(Trouble::Wrong(format!(
                "{} {what} instead of {expected}",
                self.found
            ))),
        }
    }

    fn check_contents(&mut self, task: &Task) -> Result<(), Trouble> {
        let owner = self.owner(task.number);
        let record = self.geometry.tree.record_bytes;
        let kept = self
            .size_bytes
            .min(self.buffer.len() as u64 / record * record);
        if self.size_bytes > kept {
            return Ok(());
        }
        let mut at = 0;
        while at < kept {
            let length = self.unit_bytes.min(kept - at) as usize;
            let should = self.contents.record(owner, at, length);
            let is = &self.buffer[at as usize..at as usize + length];
            if should != is {
                let differs = should.iter().zip(is).take_while(|(a, b)| a == b).count();
                let text = format!(
                    "other contents than were written, from byte {}",
                    at + differs as u64
                );
                return Err(Trouble::Wrong(text));
            }
            at += length as u64;
        }
        Ok(())
    }
}
