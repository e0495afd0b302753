//! Prints the JSON Schema of `fathom judge --json`:
//! `cargo run -p fathom-report --example opinion_schema > docs/schema/opinion.schema.json`.

use std::io::Write as _;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let schema = fathom_report::opinion::schema()?;
    std::io::stdout().write_all(schema.as_bytes())?;
    Ok(())
}
