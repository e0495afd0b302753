//! The schema of what `fathom watch --json` prints.

use fathom_model::watch_line::WatchLine;

/// The JSON Schema of a line.
///
/// # Errors
/// None in practice.
pub fn schema() -> crate::Result<String> {
    Ok(fathom_model::indented_json(&schemars::schema_for!(WatchLine))? + "\n")
}
