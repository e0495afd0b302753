//! What becomes of one trial while it is translated.

use super::FioTrial;

/// One section of a job file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FioSection {
    /// Name of the section, and so of fio's job.
    pub name: String,
    /// Options in order; an empty value is a bare name.
    pub options: Vec<(String, String)>,
}

/// Something that fio cannot do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{label}: {key}: {reason}")]
pub struct Refusal {
    /// The row that asks for it.
    pub label: String,
    /// The key of the plan.
    pub key: &'static str,
    /// Why fio cannot do it, and what would be possible.
    pub reason: String,
}

/// Options of one section that the others of the trial do not share.
pub(super) type Own = Vec<(String, String)>;

/// The options that all sections of a trial share.
#[derive(Debug)]
pub(super) struct Draft {
    label: String,
    options: Own,
    differences: Vec<String>,
    refusals: Vec<Refusal>,
}

impl Draft {
    pub(super) fn new(label: &str) -> Draft {
        Draft {
            label: label.to_owned(),
            options: Vec::new(),
            differences: Vec::new(),
            refusals: Vec::new(),
        }
    }

    /// Adds an option.
    pub(super) fn set(&mut self, name: &str, value: impl ToString) {
        self.options.push((name.to_owned(), value.to_string()));
    }

    /// The value of an option that was set.
    pub(super) fn value(&self, name: &str) -> Option<&str> {
        let found = self.options.iter().find(|(n, _)| n == name);
        found.map(|(_, value)| value.as_str())
    }

    /// Says what fio does otherwise.
    pub(super) fn differs(&mut self, text: impl Into<String>) {
        self.differences.push(text.into());
    }

    /// Says what fio cannot do.
    pub(super) fn refuse(&mut self, key: &'static str, reason: impl Into<String>) {
        self.refusals.push(Refusal {
            label: self.label.clone(),
            key,
            reason: reason.into(),
        });
    }

    /// The sections: shared options and each one's own.
    pub(super) fn finish(
        self,
        before: Vec<FioSection>,
        each: Vec<Own>,
    ) -> Result<FioTrial, Vec<Refusal>> {
        if !self.refusals.is_empty() {
            return Err(self.refusals);
        }
        let name = section_name(&self.label);
        let sections = each.into_iter().map(|own| FioSection {
            name: name.clone(),
            options: self.options.iter().cloned().chain(own).collect(),
        });
        Ok(FioTrial {
            before,
            sections: sections.collect(),
            differences: self.differences,
        })
    }
}

/// A label as the name of a section. `global` is no job, and a bracket would
/// end the name.
pub(super) fn section_name(label: &str) -> String {
    let plain = |c: char| match c {
        '[' | ']' | '/' | ';' | '#' => '_',
        c if c.is_control() => '_',
        c => c,
    };
    let name: String = label.trim().chars().map(plain).take(100).collect();
    match name.as_str() {
        "" => "job".to_owned(),
        "global" | "defaults" | "default" => format!("{name}_"),
        _ => name,
    }
}
