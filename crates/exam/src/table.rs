//! The confusion table, as text.

use std::collections::BTreeMap;
use std::fmt;

use crate::case::Expected;
use crate::grade::{Grade, Paper};

impl fmt::Display for Paper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let grades = [
            Grade::Right,
            Grade::Missed,
            Grade::Doubted,
            Grade::Condemned,
            Grade::Misnamed,
        ];
        writeln!(
            f,
            "{:<46} {:>5} {:>6} {:>7} {:>9} {:>8}",
            "scenario", "right", "missed", "doubted", "condemned", "misnamed"
        )?;
        let mut order: Vec<&'static str> = Vec::new();
        let mut counts: BTreeMap<&'static str, [usize; 5]> = BTreeMap::new();
        for answer in &self.answers {
            if !order.contains(&answer.scenario) {
                order.push(answer.scenario);
            }
            let row = counts.entry(answer.scenario).or_default();
            if let Some(column) = grades.iter().position(|g| *g == answer.grade) {
                row[column] += 1;
            }
        }
        for name in order {
            let row = counts.get(name).copied().unwrap_or_default();
            write_row(f, name, row)?;
        }
        let total = std::array::from_fn(|column| self.count(grades[column]));
        write_row(f, "all", total)?;
        let sound = |e: &Expected| matches!(e, Expected::Sound { .. });
        let sound_cases = self.answers.iter().filter(|a| sound(&a.expected)).count();
        writeln!(
            f,
            "\n{} of {} judgements are right ({:.1} %); {} of {sound_cases} sound systems condemned",
            self.count(Grade::Right),
            self.answers.len(),
            100.0 * self.right_share(),
            self.count(Grade::Condemned),
        )?;
        for answer in self.answers.iter().filter(|a| a.grade != Grade::Right) {
            writeln!(
                f,
                "\n{:?}: {} (seed {:#x}, {})\n  said {:?}, limiter {:?}",
                answer.grade,
                answer.scenario,
                answer.seed,
                answer.case,
                answer.validity,
                answer.limiter,
            )?;
            if let Some(steadiness) = &answer.steadiness {
                writeln!(f, "  {steadiness}")?;
            }
            for objection in &answer.objections {
                writeln!(f, "  {objection}")?;
            }
        }
        for broken in &self.broken {
            writeln!(f, "could not be carried out: {broken}")?;
        }
        Ok(())
    }
}

fn write_row(f: &mut fmt::Formatter<'_>, name: &str, row: [usize; 5]) -> fmt::Result {
    write!(f, "{name:<46}")?;
    for (count, width) in row.into_iter().zip([6, 7, 8, 10, 9]) {
        match count {
            0 => write!(f, "{:>width$}", "·")?,
            count => write!(f, "{count:>width$}")?,
        }
    }
    writeln!(f)
}
