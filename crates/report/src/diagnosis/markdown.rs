//! For a ticket that takes Markdown.

use fathom_model::diagnosis::Diagnosis;

use super::next_step::{Source, next_step};
use super::text::{COLUMNS, MOST_DISKS, recorded, row};
use crate::table::clean;

/// The answer, its evidence, the next step and the devices.
pub fn markdown(diagnosis: &Diagnosis, source: &Source) -> String {
    let mut out = format!("# {}\n\n", escaped(&super::headline(diagnosis)));
    list(&mut out, "", &diagnosis.evidence);
    let ceiling = super::ceiling_lines(diagnosis);
    list(&mut out, "Volume capacity", &ceiling);
    list(&mut out, "What would settle it", &diagnosis.settle);
    if let Some(step) = next_step(diagnosis, source) {
        out.push_str(&format!("Next: {}\n\n", escaped(&step)));
    }
    out.push_str(&format!("{}\n\n", escaped(&recorded(diagnosis))));
    if !diagnosis.disks.is_empty() {
        let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        let names = COLUMNS.map(|(name, _)| name.to_owned());
        out.push_str(&line(&names));
        let rules = names.map(|name| match name.as_str() {
            "device" => "---".to_owned(),
            _ => "---:".to_owned(),
        });
        out.push_str(&line(&rules));
        for disk in diagnosis.disks.iter().take(MOST_DISKS) {
            out.push_str(&line(&row(disk).map(|cell| escaped(&cell))));
        }
        out.push('\n');
    }
    list(&mut out, "Remarks", &diagnosis.remarks);
    out.truncate(out.trim_end().len());
    out + "\n"
}

fn list(out: &mut String, title: &str, lines: &[String]) {
    if lines.is_empty() {
        return;
    }
    if !title.is_empty() {
        out.push_str(&format!("## {title}\n\n"));
    }
    for line in lines {
        out.push_str(&format!("- {}\n", escaped(line)));
    }
    out.push('\n');
}

/// Names of others are no markup.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in clean(text).chars() {
        if matches!(
            c,
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '#'
        ) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn markup_of_others_stays_text() {
        assert_eq!(
            escaped("a|b <i> [x](y) `z`"),
            "a\\|b \\<i\\> \\[x\\](y) \\`z\\`"
        );
    }
}
