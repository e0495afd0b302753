//! A judged cluster for a ticket that takes Markdown.

use fathom_model::cluster::ClusterLook;

use super::tables::tables;
use super::{NOTHING, title};
use crate::diagnosis::escaped;
use crate::listing::Listing;
use crate::table::Align;

/// What stands out, then the tables that it rests on.
pub fn markdown(look: &ClusterLook) -> String {
    let mut out = format!("# {}\n\n", escaped(&title(look)));
    if look.findings.is_empty() {
        out.push_str(&format!("{NOTHING}\n"));
    }
    for finding in &look.findings {
        out.push_str(&format!(
            "- **{}**: {} ({})\n  - {}\n",
            escaped(&finding.severity.to_uppercase()),
            escaped(&finding.found),
            escaped(&finding.rule),
            escaped(&finding.remedy)
        ));
    }
    for listing in tables(look) {
        table(&mut out, &listing);
    }
    for (index, note) in look.notes.iter().enumerate() {
        out.push_str(if index == 0 { "\n## Notes\n\n" } else { "" });
        out.push_str(&format!("- {}\n", escaped(note)));
    }
    out
}

fn table(out: &mut String, listing: &Listing) {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let heads = listing.heads.iter();
    out.push_str(&format!("\n## {}\n\n", listing.title));
    out.push_str(&line(
        heads.clone().map(|(head, _)| escaped(head)).collect(),
    ));
    let rule = |align: Align| match align {
        Align::Left => "---".to_owned(),
        Align::Right => "---:".to_owned(),
    };
    out.push_str(&line(heads.map(|(_, align)| rule(*align)).collect()));
    for row in &listing.rows {
        out.push_str(&line(row.iter().map(|cell| escaped(cell)).collect()));
    }
    if listing.more > 0 {
        out.push_str(&format!("\n{}\n", escaped(&listing.rest())));
    }
}
