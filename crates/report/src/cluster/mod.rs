//! A judged cluster as text, Markdown, JSON and a page.

mod html;
mod markdown;
mod tables;

use fathom_model::cluster::ClusterLook;

use crate::sentence::sentence_of;
use crate::table::{clean, wrap};

pub use html::html;
pub use markdown::markdown;

/// A judged cluster as JSON.
///
/// # Errors
/// A figure that is not finite.
pub fn json(look: &ClusterLook) -> crate::Result<String> {
    Ok(fathom_model::indented_json(look)? + "\n")
}

/// The schema of the JSON.
///
/// # Errors
/// Never, as far as is known.
pub fn schema() -> crate::Result<String> {
    Ok(fathom_model::indented_json(&schemars::schema_for!(ClusterLook))? + "\n")
}

/// What was looked at: `Gluster, from volume profile p.txt`.
fn title(look: &ClusterLook) -> String {
    format!("{}, from {}", name(look), look.sources.join(", "))
}

fn name(look: &ClusterLook) -> &'static str {
    match look.kind.as_str() {
        "gluster" => "Gluster",
        _ => "Ceph",
    }
}

const NOTHING: &str = "Nothing stands out in what was given.";

/// What stands out most, in one sentence.
fn sentence(look: &ClusterLook) -> String {
    match look.findings.as_slice() {
        [] => NOTHING.to_owned(),
        [one] => sentence_of(&one.found),
        [first, rest @ ..] => format!(
            "{} {} more found.",
            sentence_of(&first.found),
            match rest.len() {
                1 => "1 thing".to_owned(),
                n => format!("{n} things"),
            }
        ),
    }
}

/// What stands out, then the tables that it rests on.
pub fn text(look: &ClusterLook, width: usize) -> String {
    let mut out = format!("{}\n\n", clean(&title(look)));
    if look.findings.is_empty() {
        out.push_str(NOTHING);
        out.push('\n');
    }
    for finding in &look.findings {
        let severity = finding.severity.to_uppercase();
        lines(
            &mut out,
            "",
            "  ",
            &format!("{severity}: {} ({})", finding.found, finding.rule),
            width,
        );
        lines(&mut out, "    -> ", "       ", &finding.remedy, width);
    }
    for table in tables::tables(look) {
        out.push_str(&format!("\n{}", table.text(0, width)));
    }
    for note in &look.notes {
        lines(&mut out, "\nNote: ", "  ", note, width);
    }
    out
}

fn lines(out: &mut String, first: &str, next: &str, text: &str, width: usize) {
    let room = width.saturating_sub(first.len().max(next.len()));
    for (index, part) in wrap(&clean(text), room).iter().enumerate() {
        out.push_str(if index == 0 { first } else { next });
        out.push_str(part);
        out.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use fathom_model::cluster::{ClusterFinding, ClusterMember, ClusterOperation, SizeCount};

    use super::*;

    #[test]
    fn findings_come_before_the_tables() {
        let look = ClusterLook {
            kind: "gluster".to_owned(),
            sources: vec!["profile".to_owned()],
            findings: vec![ClusterFinding {
                rule: "slow-member".to_owned(),
                severity: "warning".to_owned(),
                found: "h9:/b takes 8 times as long".to_owned(),
                remedy: "Look at that host.".to_owned(),
                ..ClusterFinding::default()
            }],
            operations: vec![ClusterOperation {
                name: "LOOKUP".to_owned(),
                calls: 1000,
                mean_ns: 2e6,
                time_share: 0.75,
            }],
            members: vec![ClusterMember {
                name: "h9:/b".to_owned(),
                slow: true,
                times_middle: Some(8.0),
                ..ClusterMember::default()
            }],
            writes: vec![SizeCount {
                from_bytes: 4096,
                count: 9,
            }],
            ..ClusterLook::default()
        };
        let shown = text(&look, 80);
        assert!(
            shown.starts_with("Gluster, from profile\n\nWARNING: h9:/b takes"),
            "{shown}"
        );
        assert!(shown.contains("LOOKUP"), "{shown}");
        assert!(shown.contains("SLOW"), "{shown}");
        assert!(shown.contains("4.00 KiB and more"), "{shown}");
        assert!(text(&ClusterLook::default(), 80).contains("Nothing stands out"));
        let page = html(&look).unwrap();
        assert!(page.starts_with("<!doctype html>"), "{page}");
        assert!(
            page.contains("<h1>Gluster</h1>\n<p>From profile</p>"),
            "{page}"
        );
        assert!(
            page.contains("<p class=\"meaning\">h9:/b takes 8 times"),
            "{page}"
        );
        assert!(
            page.contains("<td class=\"n\" data-label=\"of time\">75 %</td>"),
            "{page}"
        );
        assert!(page.contains("Writes by their size"), "{page}");
        let ticket = markdown(&look);
        assert!(ticket.starts_with("# Gluster, from profile\n"), "{ticket}");
        assert!(
            ticket.contains("- **WARNING**: h9:/b takes 8 times"),
            "{ticket}"
        );
        assert!(ticket.contains("| LOOKUP | 75 % | 1,000 |"), "{ticket}");
        assert!(markdown(&ClusterLook::default()).contains("Nothing stands out"));
    }
}
