//! The text of a job file: sections, options, comments, includes.
//!
//! `;` and `#` begin a comment anywhere in a line, as in fio. `include FILE`
//! stands for the options of another file, which has no sections of its own.

use std::sync::Arc;

use fathom_model::secret::{MASK, is_secret_name};

use super::place::{FioPlace, FioProblem};
use super::substitute::{SubstituteError, substitute};
use super::surroundings::FioSurroundings;

/// Includes within includes.
const MAX_INCLUDE_DEPTH: usize = 8;
/// Sections and options of all files together; a job file has dozens.
const MAX_OPTIONS: usize = 20_000;
/// fio's limit of a section's name.
const MAX_NAME: usize = 255;
/// A longer line is no job file.
const MAX_LINE: usize = 4096;

/// A section as it was written.
#[derive(Debug, Clone)]
pub(crate) struct RawSection {
    pub(crate) name: String,
    pub(crate) place: FioPlace,
    /// The first job of a further job file waits for those before it.
    pub(crate) first_of_file: bool,
    pub(crate) settings: Vec<RawSetting>,
}

impl RawSection {
    /// Whether it sets what jobs below it begin with.
    pub(crate) fn is_global(&self) -> bool {
        self.name.starts_with("global")
    }
}

/// An option as it was written.
#[derive(Debug, Clone)]
pub(crate) struct RawSetting {
    pub(crate) name: String,
    /// `None` when there was no `=`.
    pub(crate) value: Option<String>,
    pub(crate) place: FioPlace,
    pub(crate) value_place: FioPlace,
    /// Variables in it that are not set.
    pub(crate) unset: Vec<String>,
}

/// Reads the sections of a job file.
pub(crate) fn read(
    file: &str,
    text: &str,
    surroundings: &dyn FioSurroundings,
    problems: &mut Vec<FioProblem>,
) -> Vec<RawSection> {
    let mut reader = LineReader {
        surroundings,
        problems,
        sections: Vec::new(),
        options: 0,
        open: vec![file.to_owned()],
    };
    reader.file(&Arc::from(file), text);
    reader.sections
}

struct LineReader<'a> {
    surroundings: &'a dyn FioSurroundings,
    problems: &'a mut Vec<FioProblem>,
    sections: Vec<RawSection>,
    options: usize,
    /// The files that are being read, the outermost first.
    open: Vec<String>,
}

impl LineReader<'_> {
    fn file(&mut self, file: &Arc<str>, text: &str) {
        for (number, whole) in (1..).zip(text.split('\n')) {
            let line = before_comment(whole).trim_end_matches(is_blank);
            let content = line.trim_start_matches(is_blank);
            if content.is_empty() {
                continue;
            }
            let indent = line.chars().count() - content.chars().count();
            let place = FioPlace::new(file, number, indent + 1);
            self.options += 1;
            if self.options > MAX_OPTIONS || self.problems.len() >= 100 {
                self.problems.push(FioProblem::at(
                    &place,
                    "reading ends here: there are too many options or mistakes",
                ));
                return;
            }
            if content.len() > MAX_LINE {
                let message = format!("this line has more than {MAX_LINE} bytes");
                self.problems.push(FioProblem::at(&place, message));
            } else if content.starts_with('[') {
                self.section(content, place);
            } else {
                self.option(content, place);
            }
        }
    }

    fn section(&mut self, line: &str, place: FioPlace) {
        if self.open.len() > 1 {
            self.problems.push(
                FioProblem::at(&place, "an included file has a section")
                    .help("it can have options only; give it to fathom as a job file of its own"),
            );
            return;
        }
        let name = line.strip_prefix('[').and_then(|l| l.strip_suffix(']'));
        let problem = match name {
            None => Some("the name of this section has no ']' at the end"),
            Some("") => Some("this section has no name"),
            Some(name) if name.len() > MAX_NAME => Some("the name of this section is too long"),
            Some(name) if name.contains('\0') => Some("the name of this section has a NUL"),
            Some(_) => None,
        };
        if let Some(message) = problem {
            self.problems.push(FioProblem::at(&place, message));
        }
        // Its options are read all the same, for their own mistakes.
        self.sections.push(RawSection {
            name: name.unwrap_or_default().to_owned(),
            place,
            first_of_file: false,
            settings: Vec::new(),
        });
    }

    fn option(&mut self, line: &str, place: FioPlace) {
        if self.sections.is_empty() {
            let message = format!("'{}' stands before the first section", named(line));
            self.problems
                .push(FioProblem::at(&place, message).help("begin with a line [global] or [NAME]"));
            return;
        }
        if let Some(rest) = line.strip_prefix("include")
            && (rest.is_empty() || rest.starts_with(is_blank))
        {
            return self.include(rest.trim_matches(is_blank), &place);
        }
        match setting(line, place.clone(), self.surroundings) {
            Ok(setting) => {
                if let Some(section) = self.sections.last_mut() {
                    section.settings.push(setting);
                }
            }
            Err(error) => {
                let problem = FioProblem::at(&place, error.to_string());
                self.problems.push(problem);
            }
        }
    }

    fn include(&mut self, path: &str, place: &FioPlace) {
        if path.is_empty() {
            let problem = FioProblem::at(place, "include names no file");
            self.problems.push(problem.help("write `include FILE`"));
            return;
        }
        if self.open.len() > MAX_INCLUDE_DEPTH {
            let message = format!("includes are nested more than {MAX_INCLUDE_DEPTH} deep");
            self.problems.push(FioProblem::at(place, message));
            return;
        }
        // As it is named, or beside the file that names it.
        let beside = place
            .file
            .rsplit_once('/')
            .map(|(directory, _)| format!("{directory}/{path}"));
        let mut candidates = std::iter::once(path.to_owned()).chain(beside);
        let mut first_error = None;
        let found = candidates.find_map(|candidate| {
            if self.open.contains(&candidate) {
                first_error = Some("it includes itself".to_owned());
                return None;
            }
            match self.surroundings.read(&candidate) {
                Ok(text) => Some((candidate, text)),
                Err(error) => {
                    first_error.get_or_insert_with(|| error.to_string());
                    None
                }
            }
        });
        match found {
            Some((path, text)) => {
                let file: Arc<str> = Arc::from(path.as_str());
                self.open.push(path);
                self.file(&file, &text);
                self.open.pop();
            }
            None => {
                let why = first_error.unwrap_or_default();
                let message = format!("cannot include '{}': {why}", short(path));
                self.problems.push(FioProblem::at(place, message));
            }
        }
    }
}

/// Splits `name=value` after putting in what variables stand for.
pub(crate) fn setting(
    line: &str,
    place: FioPlace,
    surroundings: &dyn FioSurroundings,
) -> Result<RawSetting, SubstituteError> {
    let done = substitute(line, surroundings)?;
    let (name, value) = match done.text.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (done.text.as_str(), None),
    };
    let behind = value.map_or("", |v| v).trim_matches(is_blank);
    let offset = match (value, done.changed) {
        (Some(value), false) => {
            let blanks = value.chars().take_while(|c| is_blank(*c)).count();
            name.chars().count() + 1 + blanks
        }
        _ => 0,
    };
    Ok(RawSetting {
        name: name.trim_matches(is_blank).to_owned(),
        value: value.map(|_| behind.to_owned()),
        value_place: place.right(offset),
        place,
        unset: done.unset,
    })
}

/// The name of an option as messages show it. Where the equals sign was
/// forgotten, what stands behind the name of a secret is the secret.
pub(crate) fn named(name: &str) -> String {
    match name.split_once(char::is_whitespace) {
        Some((first, _)) if is_secret_name(first) => format!("{} {MASK}", short(first)),
        _ => short(name),
    }
}

/// A text as far as it fits into a message.
pub(crate) fn short(text: &str) -> String {
    const LENGTH: usize = 60;
    let plain: String = text
        .chars()
        .take(LENGTH)
        .flat_map(char::escape_debug)
        .collect();
    match text.chars().nth(LENGTH) {
        Some(_) => plain + "…",
        None => plain,
    }
}

fn before_comment(line: &str) -> &str {
    line.split([';', '#']).next().unwrap_or_default()
}

fn is_blank(c: char) -> bool {
    c.is_whitespace() || c.is_control()
}
