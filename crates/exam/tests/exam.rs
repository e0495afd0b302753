//! The exam itself: the judgement against known truth.
//!
//! Grades say whether an answer is right. `judgements.txt` beside this file has what was
//! said of each case, with a digest of all figures and findings: a change of the judges
//! that alters any of them shows there, and is read before it is accepted by
//! `FATHOM_BLESS=1 cargo test -p fathom-exam --test exam`.

// A test prints its table.
#![allow(clippy::print_stdout)]

use std::fmt::Write as _;
use std::path::Path;

use fathom_exam::{Grade, GradedCase, Paper, all, sit};
use xxhash_rust::xxh3::xxh3_64;

#[test]
fn the_judgement_is_right_and_condemns_no_sound_system() {
    assert!(all().len() >= 40, "{} scenarios", all().len());
    let paper = sit(0x5EED, 2);
    println!("{paper}");
    assert!(paper.broken.is_empty(), "{:?}", paper.broken);
    assert!(paper.right_share() >= 0.95, "{:.3}", paper.right_share());
    assert_eq!(paper.count(Grade::Condemned), 0);
    assert_is_as_kept(&judgements(&paper));
}

fn assert_is_as_kept(judgements: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/judgements.txt");
    if std::env::var_os("FATHOM_BLESS").is_some() {
        std::fs::write(&path, judgements).expect("the file can be written");
    }
    let kept = std::fs::read_to_string(&path).expect("the file is there");
    let changed = kept.lines().zip(judgements.lines()).find(|(a, b)| a != b);
    assert!(
        kept == judgements,
        "a judgement changed, first {changed:?}: read them all in a difference of {} after \
         FATHOM_BLESS=1",
        path.display()
    );
}

/// What was said of each case, in the order of the paper.
fn judgements(paper: &Paper) -> String {
    let mut text = String::new();
    for answer in &paper.answers {
        push(&mut text, answer);
    }
    text
}

fn push(text: &mut String, answer: &GradedCase) {
    let document = serde_json::to_string(&answer.judged).expect("a judgement is a document");
    let _ = writeln!(
        text,
        "{}: {:?}, {:?}, {:?} ({} bytes, xxh3 {:016x})",
        answer.scenario,
        answer.grade,
        answer.validity,
        answer.limiter,
        document.len(),
        xxh3_64(document.as_bytes())
    );
    for line in &answer.objections {
        let _ = writeln!(text, "  {line}");
    }
}
