//! Writes reports of synthetic runs to a directory, to be looked at:
//! `cargo run -p fathom-report --example demo -- DIR`.

#[path = "../tests/report/synthetic/mod.rs"]
#[allow(dead_code)]
mod synthetic;

use std::path::Path;

use fathom_model::JudgedRun;
use fathom_report::{csv, html, json, markdown, text};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = std::env::args().nth(1).unwrap_or_else(|| ".".to_owned());
    let directory = Path::new(&directory);
    std::fs::create_dir_all(directory)?;
    let runs: [(&str, JudgedRun); 12] = [
        ("quick", synthetic::quick()),
        ("caveats", synthetic::quick_caveats()),
        ("cache", synthetic::not_trusted_cache()),
        ("openloop", synthetic::open_loop_lag()),
        ("matrix", synthetic::matrix()),
        ("long", synthetic::long_run(3600)),
        ("interrupted", synthetic::interrupted()),
        ("failed", synthetic::failed()),
        ("errors", synthetic::errors()),
        ("hostile", synthetic::hostile()),
        ("hosts", synthetic::fleet(4, 60)),
        ("hosts-84", synthetic::fleet(84, 3600)),
    ];
    for (name, run) in &runs {
        let write = |ending: &str, text: &str| {
            std::fs::write(directory.join(format!("{name}.{ending}")), text)
        };
        write("html", &html::render(run)?)?;
        write("summary.html", &html::summary_page::render(run)?)?;
        for image in fathom_report::images::charts(run) {
            let folder = directory.join(name);
            std::fs::create_dir_all(&folder)?;
            std::fs::write(folder.join(format!("{}.svg", image.name)), image.svg)?;
        }
        write("txt", &text::render(run, &text::TextOptions::default()))?;
        write("md", &markdown::render(run))?;
        write("csv", &csv::render(run))?;
        write("json", &json::render(run, false)?)?;
    }
    Ok(())
}
