//! Prints the JSON Schema of `--json`:
//! `cargo run -p fathom-report --example schema > docs/schema/run.schema.json`, or
//! `… --example schema comparison > docs/schema/comparison.schema.json` (or `comparisons`,
//! `crosscheck`).

use std::io::Write as _;

use fathom_model::{CROSSCHECK_SCHEMA, Crosscheck};
use fathom_report::json::schema_of;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let schema = match std::env::args().nth(1).as_deref() {
        Some("comparison") => fathom_report::json::comparison_schema()?,
        Some("comparisons") => fathom_report::json::comparisons_schema()?,
        Some("crosscheck") => schema_of::<Crosscheck>(CROSSCHECK_SCHEMA, "fathom cross-check")?,
        _ => fathom_report::json::schema()?,
    };
    std::io::stdout().write_all(schema.as_bytes())?;
    Ok(())
}
