//! What the files of a tree hold, as far as its shape does not say: pieces of
//! which contents were made, attributes, payload. Who only looks at names does
//! not care; who compares contents does.

use fathom_model::workload::{MetaWork, Workload};
use fathom_model::{OpKind, rng::splitmix64};

/// What files hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileContents {
    /// Contents were made in pieces of this length.
    pub(crate) record_bytes: u64,
    /// Bytes of an attribute, and how many there are.
    xattrs: (u32, u32),
    /// Stands for the payload.
    payload: u64,
}

impl FileContents {
    /// What work would leave in files that it makes.
    pub(crate) fn of(meta: &MetaWork, workload: &Workload) -> FileContents {
        let text = format!("{:?}", workload.payload);
        FileContents {
            record_bytes: meta.tree.record_bytes,
            xattrs: (meta.tree.xattr_bytes, meta.xattrs),
            payload: text
                .bytes()
                .fold(1, |key, byte| splitmix64(key ^ u64::from(byte))),
        }
    }

    /// Whether work that wants `wants` can take files as they are.
    pub(crate) fn serves(
        &self,
        wants: &FileContents,
        meta: &MetaWork,
        workload: &Workload,
    ) -> bool {
        let does = |kinds: &[OpKind]| kinds.iter().any(|kind| meta.does(*kind));
        let compares = workload.verify.is_some() && does(&[OpKind::ReadFile, OpKind::SwiftGet]);
        let rewrites = does(&[OpKind::Overwrite, OpKind::TruncateOverwrite, OpKind::Append]);
        let adds = meta.ops.len() > 1 && does(&[OpKind::Create, OpKind::SwiftPut]);
        let attributes = does(&[OpKind::Getxattr, OpKind::SwiftGet]);
        (!(compares || rewrites || adds) || self.payload == wants.payload)
            && (!(rewrites || adds) || self.record_bytes == wants.record_bytes)
            && (!attributes || self.xattrs == wants.xattrs)
    }

    /// What they hold while the work is done.
    pub(crate) fn before(&self, wants: &FileContents, meta: &MetaWork) -> FileContents {
        // Whoever makes all files finds none before.
        match meta.phase() {
            Some(OpKind::Create | OpKind::SwiftPut) => wants.clone(),
            _ => self.clone(),
        }
    }

    /// What they hold after the work.
    pub(crate) fn after(&self, wants: &FileContents, meta: &MetaWork) -> FileContents {
        let held = self.before(wants, meta);
        match meta.does(OpKind::Setxattr) {
            true => FileContents {
                xattrs: wants.xattrs,
                ..held
            },
            false => held,
        }
    }

    /// As a part of the tree's list.
    pub(crate) fn line(&self) -> String {
        let (bytes, count) = self.xattrs;
        format!(
            "{} {bytes}x{count} {:016x}",
            self.record_bytes, self.payload
        )
    }

    /// From such a part.
    pub(crate) fn parse(text: &str) -> Option<FileContents> {
        let mut words = text.split(' ');
        let record_bytes = words.next()?.parse().ok()?;
        let (bytes, count) = words.next()?.split_once('x')?;
        Some(FileContents {
            record_bytes,
            xattrs: (bytes.parse().ok()?, count.parse().ok()?),
            payload: u64::from_str_radix(words.next()?, 16).ok()?,
        })
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use fathom_model::workload::{MetaTree, Verify};

    use super::*;

    pub(crate) fn work(files: u64) -> MetaWork {
        MetaWork::new([(OpKind::Stat, 1)], MetaTree::flat(files, 10))
    }

    #[test]
    fn only_who_looks_into_files_cares_how_they_were_filled() {
        let workload = Workload::example("t");
        let verified = Workload {
            verify: Some(Verify::default()),
            ..workload.clone()
        };
        let with = |kind| {
            let mut work = work(5);
            work.ops[0].kind = kind;
            work
        };
        let held = FileContents::of(&work(5), &workload);
        assert_eq!(FileContents::parse(&held.line()), Some(held.clone()));
        assert_eq!(FileContents::parse("1 2 3"), None);
        let other = FileContents {
            record_bytes: 3,
            xattrs: (1, 2),
            ..held.clone()
        };
        assert!(held.serves(&other, &with(OpKind::Stat), &workload));
        assert!(held.serves(&other, &with(OpKind::ReadFile), &verified));
        assert!(!held.serves(&other, &with(OpKind::Overwrite), &workload));
        assert!(!held.serves(&other, &with(OpKind::Getxattr), &workload));
        let payload = FileContents {
            payload: 3,
            ..held.clone()
        };
        assert!(held.serves(&payload, &with(OpKind::ReadFile), &workload));
        assert!(!held.serves(&payload, &with(OpKind::ReadFile), &verified));
        assert_eq!(held.after(&other, &with(OpKind::Create)), other);
        let marked = held.after(&other, &with(OpKind::Setxattr));
        assert_eq!((marked.record_bytes, marked.xattrs), (10, (1, 2)));
        assert_eq!(held.after(&other, &with(OpKind::ReadFile)), held);
    }
}
