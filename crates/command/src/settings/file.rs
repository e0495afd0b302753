//! The file of settings: sections of options and tables of names, each with its place.

use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::SettingsError;

/// A file of settings is shorter.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// Settings of every command that has the option.
pub(crate) const DEFAULTS: &str = "defaults";

/// What a file of settings says.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SettingsFile {
    pub(crate) path: PathBuf,
    pub(crate) sections: Vec<Section>,
    pub(crate) names: Vec<Named>,
}

/// Options of one command.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Section {
    /// The words of the command; none for `[defaults]`.
    pub(crate) command: Vec<String>,
    /// Where it begins.
    pub(crate) at: Place,
    pub(crate) settings: Vec<Setting>,
}

/// One option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Setting {
    /// Its long name.
    pub(crate) option: String,
    /// What it is set to.
    pub(crate) value: SettingValue,
    pub(crate) at: Place,
}

/// What an option is set to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SettingValue {
    Switch(bool),
    Text(String),
    List(Vec<String>),
}

impl SettingValue {
    /// As it would be typed.
    pub(crate) fn shown(&self) -> String {
        match self {
            SettingValue::Switch(on) => on.to_string(),
            SettingValue::Text(text) => text.clone(),
            SettingValue::List(values) => values.join(","),
        }
    }
}

/// Line and column of a place in the file, from one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) line: usize,
    pub(crate) column: usize,
}

/// What a name of the user stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NamedKind {
    Target,
    Endpoint,
    Hosts,
    Slo,
}

impl NamedKind {
    pub(crate) const ALL: [NamedKind; 4] = [
        NamedKind::Target,
        NamedKind::Endpoint,
        NamedKind::Hosts,
        NamedKind::Slo,
    ];

    /// The table of the file.
    pub(crate) fn table(self) -> &'static str {
        match self {
            NamedKind::Target => "targets",
            NamedKind::Endpoint => "endpoints",
            NamedKind::Hosts => "hosts",
            NamedKind::Slo => "slos",
        }
    }

    /// The option that takes such names; targets are typed without one.
    pub(crate) fn option(self) -> Option<&'static str> {
        match self {
            NamedKind::Target => None,
            NamedKind::Endpoint => Some("endpoint"),
            NamedKind::Hosts => Some("hosts"),
            NamedKind::Slo => Some("slo"),
        }
    }
}

/// A name of the user.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) kind: NamedKind,
    pub(crate) name: String,
    pub(crate) values: Vec<String>,
    pub(crate) at: Place,
}

/// The text of the file; `None` where there is none.
pub(super) fn read(path: &Path) -> Result<Option<String>, SettingsError> {
    match fathom_deadline::paths::read_text_soon(path, FILE_BYTES_MAX) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(SettingsError {
            place: path.display().to_string(),
            problem: format!("cannot be read: {error}"),
        }),
    }
}

impl SettingsFile {
    /// What `text` says.
    pub(super) fn parse(path: PathBuf, text: &str) -> Result<SettingsFile, SettingsError> {
        let source = Source { path: &path, text };
        let root = DeTable::parse(text).map_err(|error| {
            let at = source.place(error.span().unwrap_or_default());
            source.error(at, error.message().to_owned())
        })?;
        let mut sections = Vec::new();
        let mut names = Vec::new();
        for (key, value) in root.get_ref() {
            let at = source.place(key.span());
            let word = key.get_ref().as_ref();
            let DeValue::Table(table) = value.get_ref() else {
                let problem = format!(
                    "'{word}' stands outside of every section\n\
                     help: put it below [{DEFAULTS}], or below the command it is for: [io]"
                );
                return Err(source.error(at, problem));
            };
            match NamedKind::ALL.into_iter().find(|kind| kind.table() == word) {
                Some(kind) => source.names(kind, table, &mut names)?,
                None => {
                    let command = match word {
                        DEFAULTS => Vec::new(),
                        word => vec![word.to_owned()],
                    };
                    source.sections(command, at, table, &mut sections)?;
                }
            }
        }
        // The parser sorts by name; people look for the order of their file.
        sections.sort_by_key(|section: &Section| section.at.line);
        names.sort_by_key(|named: &Named| named.at.line);
        Ok(SettingsFile {
            path,
            sections,
            names,
        })
    }

    /// A mistake at a place of this file.
    pub(crate) fn error(&self, at: Place, problem: String) -> SettingsError {
        SettingsError {
            place: self.shown_place(at),
            problem,
        }
    }

    /// `FILE:LINE:COLUMN`.
    pub(crate) fn shown_place(&self, at: Place) -> String {
        format!("{}:{}:{}", self.path.display(), at.line, at.column)
    }
}

/// A text that is read, and where it is from.
struct Source<'t> {
    path: &'t Path,
    text: &'t str,
}

impl Source<'_> {
    fn place(&self, span: Range<usize>) -> Place {
        let before = self.text.get(..span.start).unwrap_or(self.text);
        let line_start = before.rfind('\n').map_or(0, |end| end + 1);
        Place {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }

    fn error(&self, at: Place, problem: String) -> SettingsError {
        SettingsError {
            place: format!("{}:{}:{}", self.path.display(), at.line, at.column),
            problem,
        }
    }

    /// The options of a command and, in tables of its own, of those below it.
    fn sections(
        &self,
        command: Vec<String>,
        at: Place,
        table: &DeTable<'_>,
        sections: &mut Vec<Section>,
    ) -> Result<(), SettingsError> {
        let mut settings = Vec::new();
        for (key, value) in table {
            let word = key.get_ref().as_ref();
            let place = self.place(key.span());
            if let DeValue::Table(below) = value.get_ref() {
                let mut path = command.clone();
                path.push(word.to_owned());
                self.sections(path, place, below, sections)?;
                continue;
            }
            settings.push(Setting {
                option: word.replace('_', "-"),
                value: self.value(value)?,
                at: place,
            });
        }
        settings.sort_by_key(|setting: &Setting| setting.at.line);
        sections.push(Section {
            command,
            at,
            settings,
        });
        Ok(())
    }

    fn names(
        &self,
        kind: NamedKind,
        table: &DeTable<'_>,
        names: &mut Vec<Named>,
    ) -> Result<(), SettingsError> {
        for (key, value) in table {
            let name = key.get_ref().as_ref();
            let at = self.place(key.span());
            if name.is_empty()
                || name.contains(['/', '=', ',', '@'])
                || name.contains(char::is_whitespace)
            {
                let problem = format!(
                    "'{name}' cannot be typed as a name\nhelp: use letters, digits, - and _"
                );
                return Err(self.error(at, problem));
            }
            let values = match self.value(value)? {
                SettingValue::Text(text) if !text.is_empty() => vec![text],
                SettingValue::List(values) if !values.is_empty() => values,
                _ => {
                    let example = format!("help: write {name} = \"…\", or a list of texts");
                    return Err(self.error(at, format!("'{name}' stands for nothing\n{example}")));
                }
            };
            names.push(Named {
                kind,
                name: name.to_owned(),
                values,
                at,
            });
        }
        Ok(())
    }

    fn value(&self, value: &Spanned<DeValue<'_>>) -> Result<SettingValue, SettingsError> {
        if let DeValue::Boolean(on) = value.get_ref() {
            return Ok(SettingValue::Switch(*on));
        }
        if let DeValue::Array(list) = value.get_ref() {
            let texts: Result<Vec<String>, SettingsError> =
                list.iter().map(|item| self.scalar(item)).collect();
            return texts.map(SettingValue::List);
        }
        self.scalar(value).map(SettingValue::Text)
    }

    fn scalar(&self, value: &Spanned<DeValue<'_>>) -> Result<String, SettingsError> {
        match value.get_ref() {
            DeValue::String(text) => Ok(text.to_string()),
            DeValue::Integer(number) if number.radix() == 10 => Ok(number.as_str().to_owned()),
            DeValue::Float(number) => Ok(number.as_str().to_owned()),
            other => {
                let problem = format!(
                    "an option takes a text, a number, true or false, not {}",
                    other.type_str()
                );
                Err(self.error(self.place(value.span()), problem))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<SettingsFile, SettingsError> {
        SettingsFile::parse(PathBuf::from("c.toml"), text)
    }

    #[test]
    fn sections_have_options_and_tables_have_names_each_with_its_place() {
        let file = parsed(
            "[defaults]\ncolor = 'never'\n\n[io]\nruntime = \"60s\"\niodepth = 32\n  direct = false\n\
             [runs.list]\nlimit = 5\n[targets]\ndb = '/dev/nvme1n1'\n[hosts]\nrack = ['a', 'b']\n",
        )
        .expect("it is right");
        let io = file.sections.iter().find(|s| s.command == ["io"]);
        let io = io.expect("a section");
        let of = |name: &str| io.settings.iter().find(|s| s.option == name);
        assert_eq!(of("iodepth").map(|s| s.value.shown()), Some("32".into()));
        let direct = of("direct").expect("set");
        assert_eq!(direct.at, Place { line: 7, column: 3 });
        assert_eq!(direct.value, SettingValue::Switch(false));
        assert!(file.sections.iter().any(|s| s.command == ["runs", "list"]));
        assert_eq!(file.names[1].values, ["a", "b"]);
    }

    #[test]
    fn a_mistake_is_told_with_its_place() {
        let told = |text: &str| parsed(text).expect_err("a mistake").to_string();
        assert!(told("[io]\nbs = = 4\n").starts_with("c.toml:2:6: "));
        assert!(told("runtime = '1s'\n").starts_with("c.toml:1:1: 'runtime' stands outside"));
        assert!(told("[io]\nbs = 2026-01-01\n").contains("takes a text"));
        assert!(told("[targets]\n'a/b' = 'x'\n").starts_with("c.toml:2:1: "));
        assert!(told("[hosts]\nnone = []\n").contains("stands for nothing"));
    }
}
