//! Files at paths that the user named.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use fathom_deadline::paths;
use fathom_outputs::{Mark, Output as Destination, Refused};

/// Whether files that fathom did not write may be replaced (`--force`).
static FORCE: AtomicBool = AtomicBool::new(false);

/// From now on files that fathom did not write may be replaced.
pub fn allow_overwriting() {
    FORCE.store(true, Ordering::Relaxed);
}

/// Whether files that fathom did not write may be replaced.
pub fn may_overwrite() -> bool {
    FORCE.load(Ordering::Relaxed)
}

/// Looks whether a file of fathom's may be written at a path that the user
/// named. Call it before the measurement.
///
/// # Errors
/// Something stands there that is not fathom's, or nothing can be written.
pub fn admit(path: &Path, mark: Mark) -> Result<Destination, Refused> {
    // Where nothing answers, looking at it would wait for ever.
    paths::answers(path).map_err(|silent| Refused::Io {
        path: path.to_owned(),
        error: silent.into(),
    })?;
    Destination::admit(path, mark, FORCE.load(Ordering::Relaxed))
}

/// Writes a text to a path that the user named.
///
/// # Errors
/// As [`admit`], and when it cannot be written.
pub fn write_file(path: &Path, mark: Mark, text: &str) -> Result<(), Refused> {
    admit(path, mark)?.write(|out| out.write_all(text.as_bytes()))
}
