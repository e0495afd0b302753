//! The only module that knows the YAML library: text to [`Node`], [`Out`] to
//! text, both with limits against hostile input.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use serde_saphyr::options::{AliasLimits, DuplicateKeyPolicy};
use serde_saphyr::{FlowSeq, Location, Options, Spanned};

pub use crate::node::{Node, NodeKind};
use crate::node::{Out, Span};

/// A plan file may be this long.
pub(crate) const MAX_TEXT_BYTES: usize = 1 << 20;
/// A single value may be this long: the longest path of Linux.
const MAX_SCALAR_BYTES: usize = 4096;
const MAX_DEPTH: usize = 24;
const MAX_NODES: usize = 50_000;
const MAX_EVENTS: usize = 200_000;
const MAX_ALIASES: usize = 1_000;

/// A text that is not YAML, or exceeds a limit.
#[derive(Debug)]
pub struct SyntaxError {
    /// What is wrong.
    pub message: String,
    /// Where, if the parser knows.
    pub span: Option<Span>,
}

/// Reads one YAML document. An empty document is an empty map.
pub fn read(text: &str) -> Result<Node, SyntaxError> {
    if text.len() > MAX_TEXT_BYTES {
        return Err(SyntaxError {
            message: format!(
                "the plan is {} bytes long; the limit is {MAX_TEXT_BYTES} bytes",
                text.len()
            ),
            span: None,
        });
    }
    let parsed: Result<Spanned<Raw>, _> = serde_saphyr::from_str_with_options(text, options());
    match parsed {
        Ok(raw) => {
            let mut budget = MAX_NODES;
            build(raw, text, &mut budget)
        }
        Err(error) => Err(SyntaxError {
            span: error
                .location()
                .and_then(|location| span_of(location, text).or_else(|| point(location, text))),
            message: first_line(&error.without_snippet().to_string()),
        }),
    }
}

fn options() -> Options {
    let budget = serde_saphyr::budget! {
        max_depth: MAX_DEPTH,
        flow_nesting_limit: MAX_DEPTH,
        max_nodes: MAX_NODES,
        max_events: MAX_EVENTS,
        max_aliases: MAX_ALIASES,
        max_anchors: MAX_ALIASES,
        max_documents: 1,
    };
    let mut alias_limits = AliasLimits::default();
    alias_limits.max_total_replayed_events = MAX_EVENTS;
    alias_limits.max_replay_stack_depth = 16;
    serde_saphyr::options! {
        budget: budget,
        alias_limits: alias_limits,
        duplicate_keys: DuplicateKeyPolicy::PassThrough,
        with_snippet: false,
    }
}

/// The library appends its own view of the place; ours is drawn elsewhere.
fn first_line(message: &str) -> String {
    let line = message.lines().next().unwrap_or_default();
    let line = line.split(" at line ").next().unwrap_or_default();
    let line = line.trim_end_matches(':');
    let line = line.strip_prefix("error: ").unwrap_or(line);
    match line.strip_prefix("budget breached: ") {
        Some(limit) => {
            format!("the plan is larger or more entangled than any plan needs ({limit})")
        }
        None => line.to_owned(),
    }
}

fn span_of(location: Location, text: &str) -> Option<Span> {
    if location == Location::UNKNOWN {
        return None;
    }
    let span = location.span();
    let start = usize::try_from(span.byte_offset()?).ok()?;
    let length = usize::try_from(span.byte_len().unwrap_or(0)).ok()?;
    let span = Span {
        start: u32::try_from(start).ok()?,
        end: u32::try_from(start.saturating_add(length)).ok()?,
    };
    let range = span.range_in(text);
    // A label ends with its line, so that a block scalar or map does not
    // paint half the file.
    let first_line = text[range.clone()].lines().next().unwrap_or_default();
    Some(Span {
        start: u32::try_from(range.start).ok()?,
        end: u32::try_from(range.start + first_line.len()).ok()?,
    })
}

/// The place of a syntax error, which has a line and column but no bytes.
fn point(location: Location, text: &str) -> Option<Span> {
    let line = usize::try_from(location.line()).ok()?.checked_sub(1)?;
    let column = usize::try_from(location.column()).ok()?.saturating_sub(1);
    let lines = text.split_inclusive('\n');
    let line_start: usize = lines.clone().take(line).map(str::len).sum();
    let this = lines.clone().nth(line).unwrap_or_default().trim_end();
    let within = this
        .char_indices()
        .nth(column)
        .map_or(this.len(), |(at, _)| at);
    let at = u32::try_from(line_start + within).ok()?;
    Some(Span { start: at, end: at })
}

/// A value as the library gives it. Plain scalars arrive typed; their text is
/// taken from the source, so that `1e3`, `0x10` and `4k` stay what they are.
enum Raw {
    Null,
    Plain,
    Text(String),
    List(Vec<Spanned<Raw>>),
    Map(Vec<(Spanned<Raw>, Spanned<Raw>)>),
}

fn build(raw: Spanned<Raw>, text: &str, budget: &mut usize) -> Result<Node, SyntaxError> {
    let span = span_of(raw.defined, text);
    let refuse = |message| Err(SyntaxError { message, span });
    *budget = match budget.checked_sub(1) {
        Some(rest) => rest,
        None => return refuse(format!("the plan has more than {MAX_NODES} values")),
    };
    let source = || {
        span.map_or("", |s| &text[s.range_in(text)])
            .trim()
            .to_owned()
    };
    let kind = match raw.value {
        // The engine is called so: written out, null is a word like others.
        Raw::Null if source() == "null" => NodeKind::Scalar(source()),
        Raw::Null => NodeKind::Null,
        Raw::Plain => NodeKind::Scalar(source()),
        Raw::Text(value) => NodeKind::Scalar(value),
        Raw::List(items) => NodeKind::List(
            items
                .into_iter()
                .map(|item| build(item, text, budget))
                .collect::<Result<_, _>>()?,
        ),
        Raw::Map(entries) => NodeKind::Map(
            entries
                .into_iter()
                .map(|(key, value)| Ok((build(key, text, budget)?, build(value, text, budget)?)))
                .collect::<Result<_, _>>()?,
        ),
    };
    match &kind {
        NodeKind::Scalar(value) if value.len() > MAX_SCALAR_BYTES => refuse(format!(
            "a value of {} bytes; the limit is {MAX_SCALAR_BYTES} bytes",
            value.len()
        )),
        _ => Ok(Node { span, kind }),
    }
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RawVisitor)
    }
}

struct RawVisitor;

macro_rules! plain {
    ($($method:ident: $type:ty),+) => {
        $(fn $method<E>(self, _: $type) -> Result<Raw, E> {
            Ok(Raw::Plain)
        })+
    };
}

impl<'de> Visitor<'de> for RawVisitor {
    type Value = Raw;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a plan")
    }

    plain!(visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_i128: i128,
        visit_u128: u128, visit_f64: f64);

    fn visit_unit<E>(self) -> Result<Raw, E> {
        Ok(Raw::Null)
    }

    fn visit_none<E>(self) -> Result<Raw, E> {
        Ok(Raw::Null)
    }

    fn visit_str<E>(self, text: &str) -> Result<Raw, E> {
        Ok(Raw::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Raw, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(Raw::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Raw, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(Raw::Map(entries))
    }
}

/// Writes a YAML document.
pub(crate) fn write(out: &Out) -> String {
    let options = serde_saphyr::ser_options! { compact_list_indent: false };
    // Writing to a string fails only for types that `Out` does not have.
    let mut text = serde_saphyr::to_string_with_options(out, options).unwrap_or_default();
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

impl Serialize for Out {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Out::Text(text) => serializer.serialize_str(text),
            Out::Number(number) => serializer.serialize_u64(*number),
            Out::Switch(on) => serializer.serialize_bool(*on),
            Out::Row(items) => FlowSeq(items).serialize(serializer),
            Out::List(items) => {
                let mut seq = serializer.serialize_seq(Some(items.len()))?;
                for item in items {
                    seq.serialize_element(item)?;
                }
                seq.end()
            }
            Out::Map(entries) => {
                let mut map = serializer.serialize_map(Some(entries.len()))?;
                for (key, value) in entries {
                    map.serialize_entry(key, value)?;
                }
                map.end()
            }
        }
    }
}

/// A value on one line, for labels.
pub(crate) fn write_inline(out: &Out) -> String {
    let join = |items: Vec<String>| items.join(",");
    match out {
        Out::Text(text) => text.clone(),
        Out::Number(number) => number.to_string(),
        Out::Switch(on) => on.to_string(),
        Out::Row(items) | Out::List(items) => join(items.iter().map(write_inline).collect()),
        Out::Map(entries) => join(
            entries
                .iter()
                .map(|(key, value)| format!("{key}:{}", write_inline(value)))
                .collect(),
        ),
    }
}
