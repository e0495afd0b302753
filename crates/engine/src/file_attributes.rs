//! Attributes with which a file or directory refuses changes whatever its mode is,
//! and whoever asks: `chattr +i` and `chattr +a`.

use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, StatxAttributes, StatxFlags, statx};

/// Why a change of a path was refused with `EPERM`, and what lifts that: an
/// attribute of the path, or of the directory that it is in.
pub(crate) fn refusal(path: &Path) -> Option<String> {
    let parent = path.parent().filter(|parent| *parent != Path::new(""));
    let places = [
        ("it", path.to_owned()),
        (
            "its directory",
            parent.map_or_else(|| PathBuf::from("."), Path::to_owned),
        ),
    ];
    places
        .into_iter()
        .find_map(|(what, place)| of_place(what, &place))
}

fn of_place(what: &str, place: &Path) -> Option<String> {
    let found = statx(CWD, place, AtFlags::empty(), StatxFlags::TYPE).ok()?;
    let has = |attribute| {
        found.stx_attributes_mask.contains(attribute) && found.stx_attributes.contains(attribute)
    };
    let (attribute, letter) = if has(StatxAttributes::IMMUTABLE) {
        ("immutable", 'i')
    } else if has(StatxAttributes::APPEND) {
        ("append-only", 'a')
    } else {
        return None;
    };
    Some(format!(
        "{what} has the attribute {attribute} (lsattr shows it), which refuses changes by \
         anybody; allow them with chattr -{letter} {}",
        place.display()
    ))
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use rustix::fs::{IFlags, ioctl_getflags, ioctl_setflags};

    use super::*;
    use crate::Error;
    use crate::prepare::not_permitted;

    /// Sets an attribute or lifts it, where user and file system allow that.
    fn set(path: &Path, attribute: IFlags, to: bool) -> bool {
        let file = File::open(path).unwrap();
        let flags = ioctl_getflags(&file).map(|mut flags| {
            flags.set(attribute, to);
            flags
        });
        flags.is_ok_and(|flags| ioctl_setflags(&file, flags).is_ok())
    }

    #[test]
    fn an_attribute_that_refuses_changes_is_named_with_what_lifts_it() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("f");
        std::fs::write(&file, "x").unwrap();
        assert_eq!(refusal(&file), None);
        for (letter, name, attribute) in [
            ('i', "immutable", IFlags::IMMUTABLE),
            ('a', "append-only", IFlags::APPEND),
        ] {
            if !set(&file, attribute, true) {
                println!("skipped: attributes cannot be set here");
                return;
            }
            let denied = std::fs::write(&file, "y").unwrap_err();
            let written = not_permitted(&file, "write to", denied).to_string();
            let removed = std::fs::remove_file(&file).unwrap_err();
            let removed = Error::io("remove", &file)(removed).to_string();
            assert!(set(&file, attribute, false));
            for told in [written, removed] {
                assert!(
                    told.contains(&format!("has the attribute {name}")),
                    "{told}"
                );
                let command = format!("chattr -{letter} {}", file.display());
                assert!(told.ends_with(&command), "{told}");
            }
        }
        assert!(set(dir.path(), IFlags::IMMUTABLE, true));
        let denied = std::fs::remove_file(&file).unwrap_err();
        let told = Error::io("remove", &file)(denied).to_string();
        assert!(set(dir.path(), IFlags::IMMUTABLE, false));
        assert!(told.contains("its directory has the attribute"), "{told}");
    }
}
