//! What was measured and when, first of all what went wrong; and at the end where.

use fathom_model::{JudgedRun, JudgedTrial};

use super::page::{Page, Tone};
use crate::table::{clean, display_width};
use crate::{facts, headline, moment, names};

/// Failed operations of which the message is shown.
const MESSAGES: usize = 3;

pub(super) fn write(page: &mut Page, run: &JudgedRun) {
    write_alarms(page, run);
    write_title(page, run);
    page.field("Target", &facts::targets(run).join(", "));
    for target in facts::fingerprints(run) {
        if let Some(fs) = &target.filesystem {
            page.field("", &facts::filesystem_line(fs));
        }
    }
    if let Some(label) = facts::user_label(run) {
        page.field("Label", &clean(label));
    }
    if let Some(line) = facts::measurement_line(run) {
        page.field("Note", &line);
    }
    // A study has answers of its own.
    let measured = run
        .rows
        .iter()
        .any(|row| row.ops.iter().any(|op| op.ops > 0));
    if measured && run.comparison.is_none() && run.view.is_none() {
        page.blank();
        page.paragraph(0, 0, &headline::sentence(run));
    }
}

/// The device and the host: facts that are needed to understand a result, not to read it.
pub(super) fn write_place(page: &mut Page, run: &JudgedRun) {
    for target in facts::fingerprints(run) {
        for device in facts::leaves(target) {
            page.field("Device", &facts::device_line(device));
        }
    }
    page.field("Host", &facts::host_line(run));
}

fn write_title(page: &mut Page, run: &JudgedRun) {
    let title = format!(
        "fathom {}  {}",
        clean(&run.run.tool_version),
        clean(&run.run.name)
    );
    let date = moment::readable(run.run.started_unix_ns);
    let gap = page
        .width
        .saturating_sub(display_width(&title) + display_width(&date));
    let bold = page.paint(&title, Tone::Strong);
    if gap >= 2 {
        page.line(&format!("{bold}{}{date}", " ".repeat(gap)));
    } else {
        page.line(&bold);
        page.line(&date);
    }
    page.blank();
}

/// What changes how everything below must be read.
fn write_alarms(page: &mut Page, run: &JudgedRun) {
    if let Some(text) = facts::ended_line(run) {
        let (word, rest) = text.split_once(' ').unwrap_or((&text, ""));
        let word = word.to_uppercase();
        for line in crate::table::wrap(&format!("{word} {rest}"), page.width) {
            let line = match line.strip_prefix(word.as_str()) {
                Some(rest) => format!("{}{rest}", page.paint(&word, Tone::Bad)),
                None => line,
            };
            page.line(&line);
        }
        page.blank();
    }
    if let Some(text) = facts::failures_line(run) {
        page.field_toned("ERRORS", &text, None);
        let details = run.trials.iter().flat_map(|t| &t.errors);
        let details = details.filter(|detail| !facts::is_reason(run, &detail.message));
        for detail in details.take(MESSAGES) {
            page.paragraph(10, 12, &detail.message);
        }
        page.blank();
    }
    write_unfinished(page, run);
}

fn write_unfinished(page: &mut Page, run: &JudgedRun) {
    let mut any = false;
    // Of the only trial, which ended as the run did, that says all.
    let is_said = |trial: &JudgedTrial| {
        run.trials.len() == 1 && trial.stuck.is_empty() && trial.reason == run.run.reason
    };
    for trial in facts::unfinished(run).filter(|trial| !is_said(trial)) {
        any = true;
        let reason = facts::without_reason(run, facts::reason_of(trial));
        let state = names::state(trial.state).to_uppercase();
        let label = facts::trial_name(run, trial);
        page.field_toned(
            &format!("Trial {}", trial.index + 1),
            &format!(
                "{state} ({label}, iteration {}): {reason}",
                trial.iteration + 1
            ),
            Some((&state, Tone::Bad)),
        );
        for stuck in trial.stuck.iter().take(MESSAGES) {
            let age = fathom_model::unit::span(stuck.age_ns);
            page.paragraph(10, 12, &format!("not back after {age}: {}", stuck.message));
        }
    }
    if any {
        page.blank();
    }
}
