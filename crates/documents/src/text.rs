//! A file that a user gives to be judged, as text.

use std::io::{self, ErrorKind, Read};
use std::path::Path;

use fathom_compat::recordings::{MOST_BYTES, NotText, text_of};
use fathom_model::unit;
use fathom_observe::similar_name;

/// Why a file that was handed in is not read.
#[derive(Debug, thiserror::Error)]
pub enum TextError {
    /// There is none.
    #[error("there is no such file\nhelp: {0}")]
    Missing(String),
    /// It is somebody else's.
    #[error("{0}; recordings are for their owner only: run as that user, or as root")]
    Forbidden(io::Error),
    /// The system does not read it.
    #[error("{0}")]
    Unreadable(io::Error),
    /// It is too large.
    #[error(
        "larger than {}; cut it into parts of some hours",
        unit::bytes_exact(MOST_BYTES)
    )]
    TooLarge,
    /// It is a format that is known and no text.
    #[error("{0}")]
    NotText(#[from] NotText),
}

/// The content; `-` is standard input. UTF-16 is read, other bytes that are not
/// UTF-8 are replaced.
///
/// # Errors
/// It cannot be read, is too large, or is a recognised format that is not text.
pub fn read(path: &Path) -> Result<String, TextError> {
    let mut bytes = Vec::new();
    let read = match path == Path::new("-") {
        true => io::stdin()
            .lock()
            .take(MOST_BYTES + 1)
            .read_to_end(&mut bytes),
        false => fathom_deadline::paths::open_bounded(path)
            .and_then(|f| f.take(MOST_BYTES + 1).read_to_end(&mut bytes)),
    };
    read.map_err(|error| TextError::about(path, error))?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(TextError::TooLarge);
    }
    Ok(text_of(bytes)?)
}

impl TextError {
    fn about(path: &Path, error: io::Error) -> TextError {
        match error.kind() {
            ErrorKind::NotFound => TextError::Missing(match similar_name(path) {
                Some(similar) => format!("did you mean '{similar}'?"),
                None => "`fathom record list` names what was recorded here".to_owned(),
            }),
            ErrorKind::PermissionDenied => TextError::Forbidden(error),
            _ => TextError::Unreadable(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_missing_or_no_text_is_told_with_what_to_do() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), b"\x1f\x8b\x08\0").unwrap();
        let told = read(file.path()).unwrap_err().to_string();
        assert!(told.contains("gunzip"), "{told}");
        let similar = file.path().with_extension("x");
        let told = read(&similar).unwrap_err().to_string();
        assert!(told.contains("did you mean"), "{told}");
        let told = read(Path::new("nofile")).unwrap_err().to_string();
        assert!(told.contains("fathom record list"), "{told}");
    }
}
