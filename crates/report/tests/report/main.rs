//! Reports of synthetic runs, as their readers get them.

mod synthetic;

use fathom_report::{csv, html, json, markdown, text};

#[test]
fn every_format_renders_every_run() {
    let run = synthetic::hostile();
    assert!(!text::render(&run, &text::TextOptions::default()).contains('\x1b'));
    assert!(!html::render(&run).unwrap().contains("<script>alert"));
    assert!(!markdown::render(&run).contains("\x1b"));
    assert_eq!(csv::render(&run).matches("run_id").count(), 1);
    assert!(json::render(&run, true).unwrap().contains("fathom.run/1"));
}
