//! The text of the list of test files.
//!
//! ```text
//! fathom test files 2
//! <state> <inode> <birth, ns since 1970, or -> <run tag, hex> <sum, hex> <name>
//! ```
//!
//! Lines are only added; the last one of a name counts, and `gone` takes a name
//! off. So a crash can damage the last lines and nothing before them. The sum
//! tells a damaged line, which is left out, from one that was written so.

use std::collections::BTreeMap;

use crate::target_file::FileIdentity;

pub(super) const HEADER: &str = "fathom test files 2";
/// Its lines had no birth time and no sum.
const FIRST_HEADER: &str = "fathom test files 1";
/// How the name of a tree of files ends.
pub(super) const TREE: &str = "tree";

/// How far a test file came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileState {
    /// It is about to be created.
    Creating,
    /// It is there; not all of it is known to be written.
    Allocated,
    /// All of it was written and made durable.
    Written,
}

/// One listed file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ListedFile {
    pub(crate) state: FileState,
    pub(crate) inode: u64,
    /// `None` where the file system does not keep it.
    pub(crate) born_ns: Option<u64>,
    /// Tag of the run that created it.
    pub(crate) run_tag: u64,
}

impl ListedFile {
    /// A file that is about to be created.
    pub(crate) fn creating(run_tag: u64) -> ListedFile {
        ListedFile {
            state: FileState::Creating,
            inode: 0,
            born_ns: None,
            run_tag,
        }
    }

    /// Notes which file it is.
    pub(crate) fn identify(&mut self, identity: &FileIdentity) {
        self.inode = identity.inode;
        self.born_ns = identity.born_ns;
        if self.state == FileState::Creating {
            self.state = FileState::Allocated;
        }
    }
}

/// Lines that make a list that says `before` say `after`.
pub(super) fn render(
    before: &BTreeMap<String, ListedFile>,
    after: &BTreeMap<String, ListedFile>,
) -> String {
    let mut text = String::new();
    for (name, entry) in after {
        if before.get(name) == Some(entry) {
            continue;
        }
        let state = match entry.state {
            FileState::Creating => "creating",
            FileState::Allocated => "allocated",
            FileState::Written => "written",
        };
        let born = entry.born_ns.map_or("-".to_owned(), |ns| ns.to_string());
        line(
            &mut text,
            &format!("{state} {} {born} {:016x}", entry.inode, entry.run_tag),
            name,
        );
    }
    for name in before.keys().filter(|name| !after.contains_key(*name)) {
        line(&mut text, "gone 0 - 0", name);
    }
    text
}

fn line(text: &mut String, fields: &str, name: &str) {
    *text += &format!("{fields} {:08x} {name}\n", sum(fields, name));
}

fn sum(fields: &str, name: &str) -> u32 {
    let whole = format!("{fields} {name}");
    xxhash_rust::xxh3::xxh3_64(whole.as_bytes()) as u32
}

/// What is wrong with a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ListFault {
    /// It is not a list.
    NoList,
    /// The line with this number names a file that a list cannot hold.
    Name(usize),
}

/// Lines that a crash damaged are left out, which makes their files somebody
/// else's.
pub(super) fn parse(text: &str, prefix: &str) -> Result<BTreeMap<String, ListedFile>, ListFault> {
    let mut entries = BTreeMap::new();
    if text.is_empty() {
        return Ok(entries);
    }
    let (header, rest) = text.split_once('\n').ok_or(ListFault::NoList)?;
    let read: fn(&str) -> Option<ListLine<'_>> = match header {
        HEADER => entry,
        FIRST_HEADER => first_entry,
        _ => return Err(ListFault::NoList),
    };
    // The last line has no end if a crash cut it off.
    let whole = rest.rfind('\n').map_or("", |end| &rest[..end]);
    for (number, line) in (2..).zip(whole.split('\n')) {
        // No damage makes this of what fathom writes.
        if line.contains('/') {
            return Err(ListFault::Name(number));
        }
        let Some((entry, name)) = read(line) else {
            continue;
        };
        if !is_name(name, prefix) {
            return Err(ListFault::Name(number));
        }
        match entry {
            Some(entry) => entries.insert(name.to_owned(), entry),
            None => entries.remove(name),
        };
    }
    Ok(entries)
}

/// Whether fathom makes files or trees of this name.
fn is_name(name: &str, prefix: &str) -> bool {
    let ending = name.strip_prefix(prefix).and_then(|n| n.strip_prefix('.'));
    ending.is_some_and(|ending| {
        let number = !ending.is_empty() && ending.bytes().all(|byte| byte.is_ascii_digit());
        number || ending == TREE
    })
}

/// What a line says (`None`: the file is gone) of which name.
type ListLine<'t> = (Option<ListedFile>, &'t str);

fn entry(line: &str) -> Option<ListLine<'_>> {
    let mut fields = line.splitn(6, ' ');
    let state = fields.next()?;
    let (inode, born, tag) = (fields.next()?, fields.next()?, fields.next()?);
    let (listed_sum, name) = (fields.next()?, fields.next()?);
    let listed_sum = u32::from_str_radix(listed_sum, 16).ok()?;
    let read = &line[..state.len() + inode.len() + born.len() + tag.len() + 3];
    if sum(read, name) != listed_sum {
        return None;
    }
    if state == "gone" {
        return Some((None, name));
    }
    let entry = ListedFile {
        state: state_of(state)?,
        inode: inode.parse().ok()?,
        born_ns: match born {
            "-" => None,
            born => Some(born.parse().ok()?),
        },
        run_tag: u64::from_str_radix(tag, 16).ok()?,
    };
    Some((Some(entry), name))
}

/// A line of the first version: `<state> <inode> <run tag, hex> <name>`.
fn first_entry(line: &str) -> Option<ListLine<'_>> {
    let mut fields = line.splitn(4, ' ');
    let entry = ListedFile {
        state: state_of(fields.next()?)?,
        inode: fields.next()?.parse().ok()?,
        born_ns: None,
        run_tag: u64::from_str_radix(fields.next()?, 16).ok()?,
    };
    Some((Some(entry), fields.next()?))
}

fn state_of(word: &str) -> Option<FileState> {
    match word {
        "creating" => Some(FileState::Creating),
        "allocated" => Some(FileState::Allocated),
        "written" => Some(FileState::Written),
        _ => None,
    }
}

#[cfg(test)]
#[path = "list_text_tests.rs"]
mod tests;
