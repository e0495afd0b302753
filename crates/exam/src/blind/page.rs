//! The page about all batches that were sat.

use fathom_stats::proportion::interval_of_share;

use super::paper::{BlindGrade, BlindPaper, BlindResult};

/// Lines of an answer that the page shows; the paper of the sitting keeps more.
const MOST_LINES: usize = 40;

/// What stands above the batches.
const BEFORE: &str = "\
<!-- Written by fathom-lab exam --page. Do not edit. -->
# The exam that outsiders write

How often is fathom right about systems that its authors did not think of? Each batch of cases was written by
somebody who had read the guide and neither the rules nor their tests. Each case sets up a real mechanism, and its
author says what the truth is and which answers are right, before fathom is asked. **A batch counts the first
time only**: its misses are mended afterwards, and another batch shows whether that helped.

How to write one: [the laboratory](../guide/lab.md#cases-of-your-own).";

/// The page, of the results of first sittings.
pub fn blind_page(papers: &[BlindPaper]) -> String {
    let mut page = format!(
        "{BEFORE}\n\n## Score\n\n| batch | right | partly | wrong | never | 95 % interval | sat |\n\
         |---|---:|---:|---:|---:|---:|---|\n"
    );
    for paper in papers {
        page += &score(paper);
    }
    page += "\n*never*: a YES for storage that holds nothing back, a sound system condemned, fathom blamed for what its \
             target did, or another answer that the author rules out.\n";
    for paper in papers {
        page += &batch(paper);
    }
    page
}

fn score(paper: &BlindPaper) -> String {
    let right = paper.count(BlindGrade::Right);
    let interval = interval_of_share(right as u64, paper.counted() as u64);
    let interval = interval.map_or("-".to_owned(), |(low, high)| {
        format!("{:.0} to {:.0} %", 100.0 * low, 100.0 * high)
    });
    format!(
        "| {} | {right} of {} | {} | {} | {} | {interval} | {}, fathom {} |\n",
        in_table(&paper.title),
        paper.counted(),
        paper.count(BlindGrade::Partly),
        paper.count(BlindGrade::Wrong),
        paper.count(BlindGrade::Never),
        paper.sitting.date,
        paper.sitting.version,
    )
}

/// A batch, misses first.
fn batch(paper: &BlindPaper) -> String {
    let mut text = format!(
        "\n## {}\n\n{}. Sat on {}, fathom {}, {}. SHA-256 of the cases: `{}`.\n",
        paper.title,
        paper.by.trim_end_matches('.'),
        paper.sitting.date,
        paper.sitting.version,
        paper.sitting.machine,
        paper.digest
    );
    let misses = [BlindGrade::Never, BlindGrade::Wrong, BlindGrade::Partly];
    let of = |grade| paper.results.iter().filter(move |one| one.grade == grade);
    for one in misses.into_iter().flat_map(of) {
        text += &miss(one);
    }
    text += "\n| case | truth | grade |\n|---|---|---|\n";
    let rest = [BlindGrade::Right, BlindGrade::Disturbed, BlindGrade::Broken];
    for one in misses.into_iter().chain(rest).flat_map(of) {
        let remark = match &one.remark {
            Some(remark) => format!(" ({})", in_table(remark)),
            None => String::new(),
        };
        text += &format!(
            "| {} | {} | {}{remark} |\n",
            in_table(&one.name),
            in_table(&one.truth),
            one.grade.word()
        );
    }
    text
}

fn miss(one: &BlindResult) -> String {
    let remark = match &one.remark {
        Some(remark) => format!(" ({remark})"),
        None => String::new(),
    };
    // A fence that no line of the answer can close.
    format!(
        "\n### {}: {}{remark}\n\nThe truth: {}\n\nAsked by `{}`, fathom said:\n\n~~~~~~text\n{}\n~~~~~~\n",
        one.name,
        one.grade.word(),
        one.truth,
        one.ask.replace('\n', "; ").replace('`', "'"),
        beginning(&one.said).replace("~~~~~~", "~~~")
    )
}

/// The first lines of an answer.
fn beginning(said: &str) -> String {
    let mut lines: Vec<&str> = said.lines().take(MOST_LINES + 1).collect();
    if lines.len() > MOST_LINES {
        lines.truncate(MOST_LINES);
        lines.push("…");
    }
    lines.join("\n")
}

fn in_table(text: &str) -> String {
    let text: Vec<&str> = text.split_whitespace().collect();
    text.join(" ").replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::super::paper::Sitting;
    use super::*;

    #[test]
    fn misses_stand_first_and_cannot_break_the_page() {
        let sitting = Sitting {
            date: "2026-11-26".to_owned(),
            version: "0.1.0".to_owned(),
            machine: "2 CPUs".to_owned(),
        };
        let mut paper = BlindPaper::new("Batch 1", "An outsider.", "00ff", sitting);
        let result = |name: &str, grade, said: &str| BlindResult {
            name: name.to_owned(),
            truth: "one\n| two".to_owned(),
            ask: "fathom diagnose".to_owned(),
            grade,
            remark: None,
            said: said.to_owned(),
            status: Some(0),
        };
        let long = format!("no\n~~~~~~\n# not a title{}", "\nmore".repeat(100));
        paper.results = vec![
            result("first", BlindGrade::Right, "yes"),
            result("second", BlindGrade::Wrong, &long),
        ];
        let page = blind_page(&[paper]);
        assert!(
            page.contains("| Batch 1 | 1 of 2 | 0 | 1 | 0 | 9 to 91 % |"),
            "{page}"
        );
        let place = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text}: {page}"));
        assert!(place("### second: wrong") < place("| second | one \\| two | wrong |"));
        assert!(place("| second |") < place("| first |"));
        assert_eq!(page.matches("\n~~~~~~").count(), 2, "one fence");
        assert!(
            page.lines().count() < 80 && page.contains("\n…\n"),
            "{page}"
        );
    }
}
