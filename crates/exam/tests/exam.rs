//! The exam itself: the judgement against known truth.

// A test prints its table.
#![allow(clippy::print_stdout)]

use fathom_exam::{Grade, all, sit};

#[test]
fn the_judgement_is_right_and_condemns_no_sound_system() {
    assert!(all().len() >= 40, "{} scenarios", all().len());
    let paper = sit(0x5EED, 2);
    println!("{paper}");
    assert!(paper.broken.is_empty(), "{:?}", paper.broken);
    assert!(paper.right_share() >= 0.95, "{:.3}", paper.right_share());
    assert_eq!(paper.count(Grade::Condemned), 0);
}
