//! Prints the simulated promises about steadiness as a Markdown table.
//!
//! `cargo run --release -p fathom-analysis --example steadiness -- 200`

#![allow(clippy::print_stdout)] // an example prints

fn main() {
    let runs = std::env::args().nth(1).and_then(|n| n.parse().ok());
    println!("| claim | setting | series | share | promise | kept |");
    println!("|---|---|--:|--:|---|---|");
    for row in fathom_analysis::steadiness_accuracy(runs.unwrap_or(100)) {
        println!(
            "| {} | {} | {} | {:.1} % | {} | {} |",
            row.claim,
            row.setting,
            row.runs,
            100.0 * row.share,
            row.promise,
            if row.kept { "yes" } else { "no" }
        );
    }
}
