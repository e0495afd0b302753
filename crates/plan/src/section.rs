//! Sections of a plan file: maps with known keys.
//!
//! [`section!`] declares a section once: each key with its type, aliases,
//! default, example and description. Reading with "did you mean", writing,
//! the flags, the JSON Schema and the reference page all follow from that one
//! declaration, so they cannot disagree.

use fathom_model::OpKind;
use schemars::Schema;

use crate::diagnostic::{Problem, Problems, error, warning};
use crate::foreign;
use crate::node::{Node, NodeKind, Out, Span};
use crate::works::Works;
use fathom_model::nearest::nearest;

/// Everything there is to know about one key.
#[derive(Debug)]
pub(crate) struct Key {
    /// Canonical name in a plan file, snake_case.
    pub(crate) name: &'static str,
    /// Other names that are understood.
    pub(crate) aliases: &'static [&'static str],
    /// Group in `--help` and in the reference.
    pub(crate) heading: &'static str,
    /// Description: paragraphs of plain text.
    pub(crate) doc: &'static [&'static str],
    /// What holds when the key is left out.
    pub(crate) default: &'static str,
    /// A value as written in a plan file.
    pub(crate) example: &'static str,
    /// What the value is.
    pub(crate) kind: &'static str,
    /// The works that it means something for.
    pub(crate) works: Works,
    /// JSON Schema of the value.
    pub(crate) schema: fn() -> Schema,
    /// Whether a text is a right value.
    pub(crate) check: fn(&str) -> Result<(), String>,
}

impl Key {
    /// The flag's long name: kebab-case.
    pub(crate) fn flag(&self) -> String {
        self.name.replace('_', "-")
    }

    /// The description in one string. `(OPERATIONS)` and `(REQUESTS)` in it stand for
    /// the names in the table of operations.
    pub(crate) fn text(&self) -> String {
        let lines = self.doc.iter().map(|line| line.trim());
        let text = lines.collect::<Vec<_>>().join(" ").trim().to_owned();
        let names = |of: fn(OpKind) -> bool| {
            let names = OpKind::ALL.into_iter().filter(|kind| of(*kind));
            names.map(OpKind::name).collect::<Vec<_>>().join(", ")
        };
        text.replace("(OPERATIONS)", &names(OpKind::is_metadata))
            .replace("(REQUESTS)", &names(OpKind::is_object))
    }
}

/// The works that a key names; all of them where it names none.
pub(crate) const fn works(named: &[Works]) -> Works {
    let mut all = Works::NONE;
    let mut at = 0;
    while at < named.len() {
        all = all.and(named[at]);
        at += 1;
    }
    if named.is_empty() { Works::ALL } else { all }
}

/// A map with known keys.
pub(crate) trait Section: Default {
    /// What the section is called in messages: `workload`, `pause`, …
    const TITLE: &'static str;

    /// Its keys in the order in which they are written and documented.
    fn keys() -> &'static [Key];

    /// Reads the value of the key with this canonical name.
    fn set(&mut self, name: &str, node: &Node, problems: &mut Problems);

    /// The keys that are set, as written to a plan file.
    fn entries(&self) -> Vec<(String, Out)>;

    /// The names of the keys that are set, and where they stand.
    fn places(&self) -> Vec<(&'static str, Option<Span>)>;

    /// Takes over every key that `over` sets.
    fn overlay(&mut self, over: &Self);
}

/// Declares a section.
macro_rules! section {
    (
        $(#[doc = $section_doc:literal])+
        $Section:ident, $title:literal {
            $(
                $(#[doc = $doc:literal])+
                [$heading:expr; default $default:literal; example $example:literal
                    $(; alias $($alias:literal),+)?
                    $(; only $($work:ident),+)?]
                $field:ident: $Type:ty,
            )+
        }
    ) => {
        $(#[doc = $section_doc])+
        #[derive(Debug, Clone, Default, PartialEq)]
        pub struct $Section {
            $($(#[doc = $doc])+ pub $field: Option<$crate::node::Located<$Type>>,)+
        }

        impl $crate::section::Section for $Section {
            const TITLE: &'static str = $title;

            fn keys() -> &'static [$crate::section::Key] {
                const KEYS: &[$crate::section::Key] = &[$($crate::section::Key {
                    name: stringify!($field),
                    aliases: &[$($($alias),+)?],
                    heading: $heading,
                    doc: &[$($doc),+],
                    default: $default,
                    example: $example,
                    kind: <$Type as $crate::value::Value>::KIND,
                    works: $crate::section::works(&[$($($crate::works::Works::$work),+)?]),
                    schema: <$Type as $crate::value::Value>::schema,
                    check: |text| <$Type as $crate::value::Value>::from_text(text).map(drop),
                }),+];
                KEYS
            }

            fn set(
                &mut self,
                name: &str,
                node: &$crate::node::Node,
                problems: &mut $crate::diagnostic::Problems,
            ) {
                match name {
                    $(stringify!($field) => {
                        let value = <$Type as $crate::value::Value>::from_node(node, problems);
                        self.$field = value.map(|value| $crate::node::Located {
                            value,
                            span: node.span,
                        });
                    })+
                    _ => {}
                }
            }

            fn entries(&self) -> Vec<(String, $crate::node::Out)> {
                let mut entries = Vec::new();
                $(if let Some(located) = &self.$field {
                    let out = $crate::value::Value::to_out(&located.value);
                    entries.push((stringify!($field).to_owned(), out));
                })+
                entries
            }

            fn places(&self) -> Vec<(&'static str, Option<$crate::node::Span>)> {
                let places = [$((stringify!($field), self.$field.as_ref().map(|key| key.span))),+];
                let set = places.into_iter();
                set.filter_map(|(name, place)| Some((name, place?))).collect()
            }

            fn overlay(&mut self, over: &Self) {
                $(match (&mut self.$field, &over.$field) {
                    (Some(mine), Some(theirs)) => {
                        $crate::value::Value::update(&mut mine.value, &theirs.value);
                        mine.span = theirs.span;
                    }
                    (mine, Some(theirs)) => *mine = Some(theirs.clone()),
                    (_, None) => {}
                })+
            }
        }
    };
}
pub(crate) use section;

/// Reads a section from a map and reports every key that is unknown or
/// repeated.
pub(crate) fn read<S: Section>(node: &Node, problems: &mut Problems) -> S {
    let mut section = S::default();
    let NodeKind::Map(entries) = &node.kind else {
        if !matches!(node.kind, NodeKind::Null) {
            let message = format!(
                "expected the keys of a {}, found {}",
                S::TITLE,
                node.describe()
            );
            problems.error("wrong_type", node.span, message);
        }
        return section;
    };
    let mut seen: Vec<(&str, &Node)> = Vec::new();
    for (key, value) in entries {
        if problems.is_full() {
            break;
        }
        let Some(name) = key.text() else {
            let message = format!("expected the name of a key, found {}", key.describe());
            problems.error("wrong_type", key.span, message);
            continue;
        };
        let Some(known) = find::<S>(name) else {
            problems.push(unknown::<S>(name, key));
            continue;
        };
        if let Some((_, first)) = seen.iter().find(|(other, _)| *other == known.name) {
            let message = format!("`{}` is given twice", known.name);
            problems.push(error("key_twice", key.span, message).relate(first.span, "here first"));
            continue;
        }
        seen.push((known.name, key));
        if matches!(value.kind, NodeKind::Null) {
            let message = format!("`{name}` has no value");
            let help = format!("write for example `{}: {}`", known.name, known.example);
            problems.push(error("no_value", key.span, message).help(help));
            continue;
        }
        section.set(known.name, value, problems);
    }
    section
}

/// The key with this name or alias; `-` and `_` are the same.
pub(crate) fn find<S: Section>(name: &str) -> Option<&'static Key> {
    let name = name.replace('-', "_");
    S::keys()
        .iter()
        .find(|key| key.name == name || key.aliases.contains(&name.as_str()))
}

fn unknown<S: Section>(name: &str, key: &Node) -> Problem {
    if let Some(known) = foreign::lookup(name) {
        return match known.harmless {
            true => warning("needless_key", key.span, format!("`{name}` has no effect"))
                .help(known.remark),
            false => error(
                "unsupported_key",
                key.span,
                format!("`{name}` is not supported"),
            )
            .help(known.remark),
        };
    }
    let names = S::keys()
        .iter()
        .flat_map(|key| std::iter::once(key.name).chain(key.aliases.iter().copied()));
    let help = match other_word::<S>(name).or_else(|| nearest(name, names)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => keys_in_words::<S>(),
    };
    let message = format!("unknown key `{}` in a {}", shorten(name), S::TITLE);
    error("unknown_key", key.span, message).help(help)
}

/// What people call a thing that has another name here.
const OTHER_WORDS: [(&str, &str); 12] = [
    ("block", "bs"),
    ("block_bytes", "bs"),
    ("transfer_size", "bs"),
    ("io_depth", "iodepth"),
    ("depth", "iodepth"),
    ("duration", "runtime"),
    ("seconds", "runtime"),
    ("time", "runtime"),
    ("read", "rwmixread"),
    ("read_percent", "rwmixread"),
    ("reads", "rwmixread"),
    ("compressible", "payload"),
];

/// The key of this section that is meant by a word of other tools.
fn other_word<S: Section>(name: &str) -> Option<&'static str> {
    let name = name.replace('-', "_").to_lowercase();
    let (_, meant) = OTHER_WORDS.iter().find(|(word, _)| *word == name)?;
    find::<S>(meant).map(|key| key.name)
}

/// So many keys can be read in one breath.
const KEYS_LISTED: usize = 24;

fn keys_in_words<S: Section>() -> String {
    let all: Vec<&str> = S::keys().iter().map(|key| key.name).collect();
    let first = all[..all.len().min(KEYS_LISTED)].join(", ");
    match all.len() > KEYS_LISTED {
        false => format!("a {} has the keys {first}", S::TITLE),
        true => format!(
            "a {} has {} keys, among them {first}; `fathom plan schema` \
             lists them all",
            S::TITLE,
            all.len()
        ),
    }
}

fn shorten(name: &str) -> String {
    match name.chars().count() {
        0..=40 => name.to_owned(),
        _ => name.chars().take(40).chain(['…']).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::WorkloadKeys;

    #[test]
    fn every_other_word_is_none_of_ours_and_means_a_key() {
        for (word, meant) in OTHER_WORDS {
            assert!(find::<WorkloadKeys>(word).is_none(), "`{word}` is a key");
            assert!(find::<WorkloadKeys>(meant).is_some(), "no key `{meant}`");
        }
    }
}
