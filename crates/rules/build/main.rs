//! Reads the tables of rules and writes them as Rust: what is wrong in a table is
//! an error of the build, and code that names a rule or number that no table has
//! does not compile.

// Cargo reads what a build script prints, and shows a panic as the error it is.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

mod code;
mod schema;

use std::fs;
use std::path::Path;

/// The tables, by the names of their files and modules, with what their rules are for.
const TABLES: [(&str, &str); 8] = [
    ("check", "Checks of results"),
    ("method", "Limiters, steadiness, comparisons and studies"),
    ("network", "Networks (fathom net)"),
    ("diagnosis", "Bottlenecks (fathom diagnose)"),
    ("alarm", "Alarms (fathom alarms)"),
    ("stack", "Layers under a path (fathom stack)"),
    ("class", "Classes of storage (fathom quick)"),
    ("cluster", "Dumps of storage clusters (fathom diagnose)"),
];

fn main() {
    // Cargo runs a build script in the folder of its package. A path from when the
    // script was compiled would read the tables of another checkout where two share
    // a target folder, or one was copied.
    let folder = Path::new("tables");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut text = String::new();
    for (name, about) in TABLES {
        let path = folder.join(format!("{name}.toml"));
        println!("cargo::rerun-if-changed={}", path.display());
        let table = fs::read_to_string(&path).map_err(|error| error.to_string());
        let table = table.and_then(|table| schema::read(&table));
        match table {
            Ok(table) => text += &code::module(name, about, &table),
            Err(error) => panic!("{}: {error}", path.display()),
        }
    }
    text += &code::list(&TABLES.map(|(name, _)| name));
    let out = std::env::var_os("OUT_DIR").unwrap();
    fs::write(Path::new(&out).join("tables.rs"), text).unwrap();
}
