//! Prints the JSON Schema of `--json`:
//! `cargo run -p fathom-report --example schema > docs/run.schema.json`.

use std::io::Write as _;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let schema = fathom_report::json::schema()?;
    std::io::stdout().write_all(schema.as_bytes())?;
    Ok(())
}
