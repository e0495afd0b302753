//! Sits the exam and prints its table: `exam [SEED [REPEATS [NAME]]]`.

// An example prints.
#![allow(clippy::print_stdout)]

fn main() {
    let mut arguments = std::env::args().skip(1);
    let number = |text: Option<String>| text.and_then(|t| t.parse::<u64>().ok());
    let seed = number(arguments.next()).unwrap_or(1);
    let repeats = number(arguments.next()).unwrap_or(1) as u32;
    let name = arguments.next().unwrap_or_default();
    let paper = fathom_exam::sit_some(seed, repeats, |scenario| scenario.contains(&name));
    println!("{paper}");
}
