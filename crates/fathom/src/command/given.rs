//! A file that a user gives to be judged, as text.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use fathom_diagnose::foreign::MOST_BYTES;
use fathom_model::unit;

/// The content; `-` is standard input. Bytes that are not UTF-8 are replaced.
///
/// # Errors
/// It cannot be read, or is too large.
pub(crate) fn text(path: &Path) -> Result<String, String> {
    let mut bytes = Vec::new();
    let read = match path == Path::new("-") {
        true => std::io::stdin()
            .lock()
            .take(MOST_BYTES + 1)
            .read_to_end(&mut bytes),
        false => File::open(path).and_then(|f| f.take(MOST_BYTES + 1).read_to_end(&mut bytes)),
    };
    read.map_err(|error| error.to_string())?;
    if bytes.len() as u64 > MOST_BYTES {
        let most = unit::bytes_exact(MOST_BYTES);
        return Err(format!("larger than {most}; cut it into parts of a day"));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
