//! Which keys of a bucket a run may have made, and may therefore remove: those
//! of the shape that [`super::prepare`] gives them, below the run's own prefix.
//! What a listing says is no reason to remove a key; that the key has this
//! shape is.

/// The object that says that its run was to be kept.
pub(super) const KEPT: &str = "kept";

/// The keys of a run, or of the part of it that one host made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OwnKeys {
    /// The prefix of the run, with `/` at its end.
    run: String,
    /// Below it the name of one host's objects, if only those are meant.
    part: Option<String>,
}

impl OwnKeys {
    /// All keys of the run whose prefix is `run`, which ends with `/`.
    pub(super) fn of_run(run: &str) -> OwnKeys {
        OwnKeys {
            run: run.to_owned(),
            part: None,
        }
    }

    /// Those of one host of the run.
    pub(super) fn of_part(run: &str, part: &str) -> OwnKeys {
        OwnKeys {
            run: run.to_owned(),
            part: Some(part.to_owned()),
        }
    }

    /// What all of them begin with.
    pub(super) fn prefix(&self) -> String {
        match &self.part {
            Some(part) => format!("{}{part}/", self.run),
            None => self.run.clone(),
        }
    }

    /// Whether a key of the run is that of an object of its own: no copy, folder or
    /// note.
    pub(super) fn names_object(&self, key: &str) -> bool {
        let below = key.strip_prefix(&self.run).unwrap_or_default();
        let third = below.split('/').nth(2);
        third.is_some_and(|third| third != COPIES) && !key.ends_with('/')
    }

    /// Whether the run can have made an object with this key.
    pub(super) fn owns(&self, key: &str) -> bool {
        let Some(below) = key.strip_prefix(&self.run) else {
            return false;
        };
        if !is_plain(below) {
            return false;
        }
        let mut segments = below.split('/');
        let host = segments.next().unwrap_or_default();
        if let Some(part) = &self.part
            && host != part
        {
            return false;
        }
        match (host, segments.next(), segments.next()) {
            // Some stores list the folders that a key implies.
            ("", None, _) | (_, Some(""), None) => true,
            (KEPT, None, _) => self.part.is_none(),
            (_, Some(place), Some(_)) => is_place(place),
            _ => false,
        }
    }
}

/// What copies have before the key of their object.
pub(super) const COPIES: &str = "copies";

/// Whether a part of a key consists of what fathom writes into keys: nothing
/// that a server, a proxy or a file system behind it could take for another
/// place.
fn is_plain(below: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-_.".contains(&byte);
    let folder = below.strip_suffix('/').unwrap_or(below);
    let strange = |segment: &str| matches!(segment, "" | "." | "..");
    below.bytes().all(plain) && (below.is_empty() || !folder.split('/').any(strange))
}

/// Whether a segment of a key names the shape of objects and a turn.
fn is_place(segment: &str) -> bool {
    let Some((shape, turn)) = segment.split_once('-') else {
        return false;
    };
    shape.len() == 8
        && shape.bytes().all(|byte| byte.is_ascii_hexdigit())
        && !turn.is_empty()
        && turn.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a key is the note of [`super::keep_objects_of_run`].
pub(super) fn is_note(key: &str) -> bool {
    let tag = key.strip_suffix(KEPT).and_then(|run| run.strip_suffix('/'));
    tag.is_some_and(|run| is_tag(run.rsplit('/').next().unwrap_or(run)))
}

/// Whether a segment of a key is the name of a run.
pub(super) fn is_tag(segment: &str) -> bool {
    let tag = segment.strip_prefix("fathom-");
    tag.is_some_and(|tag| tag.len() == 16 && tag.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// The prefix of the run that a key is of; `None` when fathom did not make it.
pub(super) fn run_of<'k>(key: &'k str, prefix: &str) -> Option<&'k str> {
    let below = key.strip_prefix(prefix)?;
    let tag = below.split('/').next().filter(|tag| is_tag(tag))?;
    let run = key.get(..prefix.len() + tag.len() + 1)?;
    let folder = key.ends_with('/');
    (!folder && OwnKeys::of_run(run).owns(key)).then_some(run)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_fathom_named_is_of_a_run() {
        let run = "p/fathom-0123456789abcdef/";
        for key in ["fathom-test/00c0ffee-3/w0/7", "kept"] {
            let key = format!("{run}{key}");
            assert_eq!(run_of(&key, "p/"), Some(run), "{key}");
        }
        for key in [
            "p/fathom-0123/fathom-test/00c0ffee-3/x",
            "fathom-0123456789abcdef/fathom-test/00c0ffee-3/x",
            "p/fathom-notes.txt",
            "p/fathom-0123456789abcdef",
            "p/fathom-0123456789abcdef/",
            "p/fathom-0123456789abcdef/foo",
            "p/fathom-0123456789abcdef/x/y/z",
            "p/fathom-0123456789abcdef/x/00c0ffee-3",
            "p/fathom-0123456789abcdef/x/kept",
            "p/fathom-0123456789abcdef/x/00c0ffee-3/../../../precious",
        ] {
            assert_eq!(run_of(key, "p/"), None, "{key}");
        }
    }

    #[test]
    fn copies_folders_and_notes_are_told_from_objects() {
        let run = "p/fathom-0123456789abcdef/";
        let own = OwnKeys::of_part(run, "t-h1");
        assert!(own.names_object(&format!("{run}t-h1/00c0ffee-3/w0/000000000007")));
        for key in [
            "t-h1/00c0ffee-3/copies/w1/7",
            "t-h1/00c0ffee-3/",
            "t-h1/",
            "kept",
        ] {
            assert!(!own.names_object(&format!("{run}{key}")), "{key}");
        }
    }

    #[test]
    fn a_run_owns_what_it_can_have_made_and_nothing_that_leads_elsewhere() {
        let run = "p/fathom-0123456789abcdef/";
        let (all, part) = (OwnKeys::of_run(run), OwnKeys::of_part(run, "t-h1"));
        assert_eq!(part.prefix(), format!("{run}t-h1/"));
        for key in [
            "t-h1/00c0ffee-3/w0/000000000007",
            "t-h1/00c0ffee-3/copies/ab/w1-000000000007",
            "t-h1/00c0ffee-3/",
            "t-h1/",
        ] {
            let key = format!("{run}{key}");
            assert!(all.owns(&key) && part.owns(&key), "{key}");
        }
        for key in ["kept", "", "t/00c0ffee-3/w0/1", "t-h10/00c0ffee-3/w0/1"] {
            let key = format!("{run}{key}");
            assert!(all.owns(&key) && !part.owns(&key), "{key}");
        }
        for key in [
            "precious",
            "p/precious",
            "p/fathom-0123456789abcdee/t-h1/00c0ffee-3/w0/1",
            "P/fathom-0123456789abcdef/t-h1/00c0ffee-3/w0/1",
            "p%2Ffathom-0123456789abcdef%2Ft-h1/00c0ffee-3/w0/1",
            "p/fathom-0123456789abcdef/t-h1/00c0ffee-3/../../../precious",
            "p/fathom-0123456789abcdef/t-h1/00c0ffee-3/./1",
            "p/fathom-0123456789abcdef/t-h1/00c0ffee-3//1",
            "p/fathom-0123456789abcdef/t-h1/00c0ffee-3/%2e%2e/1",
            "p/fathom-0123456789abcdef/t-h1/00c0ffee-3/w0\\..\\1",
            "p/fathom-0123456789abcdef/t-h1/00c0ffee-3/w0/\0",
            "p/fathom-0123456789abcdef/t-h1/00c0ffee-3/w0/\u{1b}[2J",
            "p/fathom-0123456789abcdef/t-h1/00c0ffee-3/w0/\u{fffd}",
            "p/fathom-0123456789abcdef/report.csv",
            "p/fathom-0123456789abcdef//",
        ] {
            assert!(!all.owns(key) && !part.owns(key), "{key:?}");
        }
    }
}
