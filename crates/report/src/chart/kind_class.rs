//! The colour of a kind of operation: a class that the style has a rule for. Block
//! operations have their own; those on files and objects have that of what they resemble.

use fathom_model::OpKind;

/// The class of lines and bars of a kind.
pub(crate) fn of(kind: OpKind) -> &'static str {
    match kind {
        OpKind::Read => "k-read",
        OpKind::Write => "k-write",
        OpKind::Trim => "k-trim",
        OpKind::Sync => "k-sync",
        OpKind::Commit => "k-commit",
        kind if kind.looks() || kind.reads_objects() => "k-read",
        OpKind::Unlink
        | OpKind::Rmdir
        | OpKind::Truncate
        | OpKind::Delete
        | OpKind::DeleteMany
        | OpKind::DeleteVersion => "k-trim",
        OpKind::Fsync => "k-sync",
        _ => "k-write",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The colours of a theme: what stands between its selector and the end of its block.
    fn theme(selector: &str) -> &'static str {
        let style = include_str!("../../assets/report.css");
        let (_, block) = style.split_once(selector).unwrap();
        block.split_once('}').unwrap().0
    }

    /// The variable that a rule of charts takes its colour from.
    fn variable(selector: &str, property: &str) -> &'static str {
        let style = include_str!("../../assets/chart.css");
        let start = format!("{selector} {{ {property}: var(");
        let rule = style.split_once(&start);
        let (_, rule) = rule.unwrap_or_else(|| panic!("no rule {start}"));
        rule.split_once(')').unwrap().0
    }

    #[test]
    fn every_kind_has_a_colour_as_a_line_and_as_a_bar_in_each_theme() {
        let themes = [
            theme(":root {"),
            theme(":root[data-theme=\"dark\"] {"),
            theme(":root:not([data-theme=\"light\"]) {"),
            theme(":root, :root[data-theme=\"dark\"] {"),
        ];
        for kind in OpKind::ALL {
            let class = of(kind);
            let line = variable(&format!(".{class}"), "stroke");
            let bar = variable(&format!(".bar.{class}"), "fill");
            for colour in [line, bar] {
                let entry = format!("{colour}: #");
                for theme in themes {
                    assert!(theme.contains(&entry), "{}: {colour}", kind.name());
                }
            }
        }
    }
}
