//! Alarms as text and JSON.

use fathom_model::alarm::{Alarm, AlarmState, Alarms};
use fathom_model::unit;
use fathom_rules::{Rule, alarm, threshold};

use crate::table::{clean, wrap};

/// Alarms as JSON.
///
/// # Errors
/// A figure that is not finite.
pub fn json(alarms: &Alarms) -> crate::Result<String> {
    Ok(fathom_model::indented_json(alarms)? + "\n")
}

/// The schema of the JSON.
///
/// # Errors
/// Never, as far as is known.
pub fn schema() -> crate::Result<String> {
    Ok(fathom_model::indented_json(&schemars::schema_for!(Alarms))? + "\n")
}

/// All rules, each with its threshold.
pub fn list() -> String {
    let rules = alarm::TABLE.rules;
    let width = rules.iter().map(|rule| rule.id.len()).max().unwrap_or(0);
    let line = |rule: &&Rule| {
        format!(
            "{:<width$}  {:<8}  {}\n",
            rule.id,
            rule.gravity().name(),
            threshold(rule)
        )
    };
    let mut text: String = rules.iter().map(line).collect();
    text += "\n`fathom alarms explain NAME` says what one finds and what to do about it.\n";
    text
}

/// What fires with its remedy, what could not be decided, and how many are ok.
pub fn text(alarms: &Alarms, width: usize, verbose: bool) -> String {
    let of = |state: AlarmState| alarms.alarms.iter().filter(move |a| a.state == state);
    let count = |state: AlarmState| of(state).count();
    let firing = count(AlarmState::Firing);
    let mut out = format!(
        "{}: {} firing, {} ok, {} not measurable",
        clean(&alarms.host),
        firing,
        count(AlarmState::Ok),
        count(AlarmState::NotMeasurable)
    );
    if alarms.seconds > 0.0 {
        out += &format!(", over {}", unit::span((alarms.seconds * 1e9) as u64));
    }
    out.push('\n');
    for alarm in of(AlarmState::Firing) {
        let head = format!(
            "{}  {}: {}",
            alarm.severity.to_uppercase(),
            alarm.rule,
            alarm.title
        );
        out.push('\n');
        lines(&mut out, "", "  ", &head, width);
        for instance in found(alarm) {
            lines(&mut out, "    ", "      ", &instance, width);
        }
        lines(&mut out, "    -> ", "       ", &alarm.remedy, width);
    }
    let near = of(AlarmState::NotMeasurable).filter(|alarm| !alarm.instances.is_empty());
    for (index, alarm) in near.enumerate() {
        if index == 0 {
            out.push_str("\nSeen for too short a time to say (watch longer with --for):\n");
        }
        lines(
            &mut out,
            "  ",
            "    ",
            &format!("{}: {}", alarm.rule, alarm.reason),
            width,
        );
    }
    for (index, note) in alarms.notes.iter().enumerate() {
        if index == 0 {
            out.push_str("\nRemarks:\n");
        }
        lines(&mut out, "  - ", "    ", note, width);
    }
    if verbose {
        section(&mut out, "Ok:", of(AlarmState::Ok), width);
        let unknown = of(AlarmState::NotMeasurable).filter(|alarm| alarm.instances.is_empty());
        section(&mut out, "Not measurable here:", unknown, width);
    } else {
        let how = "--verbose shows all; `fathom alarms explain NAME` says what one means.";
        lines(&mut out, "\n", "", how, width);
    }
    out
}

fn found(alarm: &Alarm) -> Vec<String> {
    match alarm.instances.len() {
        0 | 1 => vec![alarm.reason.clone()],
        many => {
            let firing = alarm
                .instances
                .iter()
                .filter(|i| i.state == AlarmState::Firing);
            let names: Vec<&str> = firing.map(|i| i.name.as_str()).take(12).collect();
            vec![format!(
                "{} (of {many}: {})",
                alarm.reason,
                names.join(", ")
            )]
        }
    }
}

fn section<'a>(
    out: &mut String,
    title: &str,
    alarms: impl Iterator<Item = &'a Alarm>,
    width: usize,
) {
    out.push_str(&format!("\n{title}\n"));
    for alarm in alarms {
        lines(
            out,
            "  ",
            "    ",
            &format!("{}: {}", alarm.rule, alarm.reason),
            width,
        );
    }
}

fn lines(out: &mut String, first: &str, next: &str, text: &str, width: usize) {
    let room = width.saturating_sub(next.len().max(first.len()));
    for (index, part) in wrap(&clean(text), room).iter().enumerate() {
        out.push_str(if index == 0 { first } else { next });
        out.push_str(part);
        out.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use fathom_model::alarm::AlarmInstance;

    use super::*;

    #[test]
    fn what_fires_comes_first_with_its_remedy() {
        let alarm = |rule: &str, state: AlarmState| Alarm {
            rule: rule.to_owned(),
            title: "A file system is more than 80 % full".to_owned(),
            severity: "warning".to_owned(),
            state,
            reason: "/data: 91 %".to_owned(),
            remedy: "Free space.".to_owned(),
            instances: vec![AlarmInstance::default()],
            ..Alarm::default()
        };
        let alarms = Alarms {
            host: "node1".to_owned(),
            alarms: vec![
                alarm("disk-space", AlarmState::Firing),
                alarm("steal", AlarmState::NotMeasurable),
                alarm("inodes", AlarmState::Ok),
            ],
            ..Alarms::default()
        };
        let shown = text(&alarms, 80, false);
        assert!(
            shown.starts_with("node1: 1 firing, 1 ok, 1 not measurable\n"),
            "{shown}"
        );
        assert!(
            shown.contains("WARNING disk-space: A file system"),
            "{shown}"
        );
        assert!(shown.contains("    -> Free space.\n"), "{shown}");
        assert!(shown.contains("watch longer"), "{shown}");
        assert!(
            text(&alarms, 80, true).contains("\nOk:\n  inodes: "),
            "{shown}"
        );
    }
}
