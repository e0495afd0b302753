//! The account: what became of every option that a job file uses.

use super::place::FioPlace;

/// Ignored options that are told one by one.
const NAMED: usize = 10;

/// What became of one option of one job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FioEntry {
    /// Name of the job; `global` for what all of them inherit.
    pub job: String,
    /// Name of the option.
    pub option: String,
    /// Its value as it was read.
    pub value: Option<String>,
    /// Where it is written.
    pub place: Option<FioPlace>,
    /// What became of it.
    pub outcome: OptionOutcome,
}

/// What became of an option.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum OptionOutcome {
    /// It is done as asked.
    Run,
    /// Something of the same meaning is done: what.
    Mapped(String),
    /// It is left out: why.
    Ignored(String),
    /// The job cannot run with it: what to do instead.
    Refused(String),
}

impl OptionOutcome {
    /// `run`, `mapped`, `ignored` or `refused`.
    pub fn word(&self) -> &'static str {
        match self {
            OptionOutcome::Run => "run",
            OptionOutcome::Mapped(_) => "mapped",
            OptionOutcome::Ignored(_) => "ignored",
            OptionOutcome::Refused(_) => "refused",
        }
    }

    /// What is said beside the word.
    pub fn remark(&self) -> &str {
        match self {
            OptionOutcome::Run => "",
            OptionOutcome::Mapped(remark)
            | OptionOutcome::Ignored(remark)
            | OptionOutcome::Refused(remark) => remark,
        }
    }
}

/// What became of every option of a run, in the order in which they are
/// written; an inherited option stands once for each fate that it has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FioAccount {
    /// One entry per option and fate.
    pub entries: Vec<FioEntry>,
}

impl FioAccount {
    /// Entries that came to nothing, or to something else than asked.
    pub fn left_out(&self) -> impl Iterator<Item = &FioEntry> {
        let out = |e: &&FioEntry| {
            matches!(
                e.outcome,
                OptionOutcome::Ignored(_) | OptionOutcome::Refused(_)
            )
        };
        self.entries.iter().filter(out)
    }

    /// What is ignored and why, a line each; of many options only how many.
    pub fn ignored(&self) -> Vec<String> {
        let ignored = |entry: &&FioEntry| matches!(entry.outcome, OptionOutcome::Ignored(_));
        let ignored: Vec<&FioEntry> = self.entries.iter().filter(ignored).collect();
        let line = |entry: &&FioEntry| {
            let place = entry.place.as_ref();
            let place = place.map_or(String::new(), |place| format!("{place}: "));
            let remark = entry.outcome.remark();
            format!("{place}{} is ignored: {remark}", entry.option)
        };
        let mut lines: Vec<String> = ignored.iter().take(NAMED).map(line).collect();
        if ignored.len() > NAMED {
            let more = ignored.len() - NAMED;
            lines.push(format!(
                "{more} more options are ignored; --account lists them"
            ));
        }
        lines
    }

    /// The account as a table of text.
    pub fn render(&self) -> String {
        let cell = |entry: &FioEntry| {
            let option = match &entry.value {
                Some(_) if super::is_secret(&entry.option) => format!("{}=…", entry.option),
                Some(value) => format!("{}={}", entry.option, super::lines::short(value)),
                None => entry.option.clone(),
            };
            let place = entry
                .place
                .as_ref()
                .map_or(String::new(), ToString::to_string);
            [
                place,
                entry.job.clone(),
                option,
                entry.outcome.word().to_owned(),
            ]
        };
        let rows: Vec<[String; 4]> = self.entries.iter().map(cell).collect();
        let width = |column: usize| {
            let widths = rows.iter().map(|row| row[column].chars().count());
            widths.max().unwrap_or(0).min(48)
        };
        let widths: Vec<usize> = (0..4).map(width).collect();
        let mut text = String::new();
        for (row, entry) in rows.iter().zip(&self.entries) {
            let mut line = String::new();
            for (cell, width) in row.iter().zip(&widths) {
                line += &format!("{cell:<width$}  ");
            }
            line += entry.outcome.remark();
            text += line.trim_end();
            text.push('\n');
        }
        text
    }
}
