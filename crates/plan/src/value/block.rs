//! Block sizes: one, a range, or drawn by weight.

use fathom_model::unit::parse_count;
use schemars::{Schema, json_schema};

use super::number::size_text;
use super::{Size, Value};
use crate::diagnostic::{Problems, error};
use crate::node::{Node, NodeKind, Out};

/// Sizes of blocks as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Blocks {
    /// `4k`.
    Fixed(u64),
    /// `4k-64k`.
    Range(u64, u64),
    /// `{4k: 70, 64k: 30}`: bytes and weight.
    Weighted(Vec<(u64, u32)>),
}

/// At most this many sizes in a weighted draw.
const MAX_SIZES: usize = 64;

impl Value for Blocks {
    const KIND: &'static str = "block size";

    fn from_text(text: &str) -> Result<Self, String> {
        if text.contains(',') {
            return Err(format!(
                "'{text}' gives reads, writes and trims different block sizes, which one \
                 workload cannot; write one size, a range as 4k-64k, or weights as 4k/70:64k/30"
            ));
        }
        if text.contains('/') {
            return weighted(text);
        }
        match text.split_once('-') {
            Some((min, max)) if !min.trim().is_empty() => {
                let (Size(min), Size(max)) = (Size::from_text(min)?, Size::from_text(max)?);
                if min > max {
                    return Err(format!(
                        "'{text}' runs backwards; write the smaller size first"
                    ));
                }
                Ok(if min == max {
                    Blocks::Fixed(min)
                } else {
                    Blocks::Range(min, max)
                })
            }
            _ => Size::from_text(text).map(|Size(bytes)| Blocks::Fixed(bytes)),
        }
    }

    fn from_node(node: &Node, problems: &mut Problems) -> Option<Self> {
        let NodeKind::Map(entries) = &node.kind else {
            let Some(text) = node.text() else {
                let message = format!("expected a block size, found {}", node.describe());
                let problem = error("wrong_type", node.span, message);
                problems.push(problem.help("write 4k, 4k-64k or {4k: 70, 64k: 30}"));
                return None;
            };
            return Blocks::from_text(text)
                .map_err(|message| problems.error("bad_value", node.span, message))
                .ok();
        };
        let mut sizes = Vec::new();
        for (key, value) in entries.iter().take(MAX_SIZES + 1) {
            let size = Size::from_node(key, problems);
            let weight = Weight::from_node(value, problems);
            sizes.push((size?.0, weight?.0));
        }
        check_weights(sizes)
            .map_err(|message| problems.error("bad_value", node.span, message))
            .ok()
    }

    fn to_out(&self) -> Out {
        match self {
            Blocks::Fixed(bytes) => Size(*bytes).to_out(),
            Blocks::Range(min, max) => {
                Out::Text(format!("{}-{}", size_text(*min), size_text(*max)))
            }
            Blocks::Weighted(sizes) => Out::Map(
                sizes
                    .iter()
                    .map(|(bytes, weight)| (size_text(*bytes), Out::Number(u64::from(*weight))))
                    .collect(),
            ),
        }
    }

    fn to_text(&self) -> String {
        match self {
            Blocks::Fixed(bytes) => size_text(*bytes),
            Blocks::Range(min, max) => format!("{}-{}", size_text(*min), size_text(*max)),
            Blocks::Weighted(sizes) => {
                let parts = sizes.iter().map(|(b, w)| format!("{}/{w}", size_text(*b)));
                parts.collect::<Vec<_>>().join(":")
            }
        }
    }

    fn example() -> &'static str {
        "4k"
    }

    fn schema() -> Schema {
        json_schema!({
            "description": "A size (4k), a range (4k-64k), or weights ({4k: 70, 64k: 30} or 4k/70:64k/30).",
            "type": ["string", "integer", "object"],
            "additionalProperties": { "type": ["integer", "string"] },
            "minimum": 1
        })
    }
}

/// A relative weight.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Weight(u32);

impl Value for Weight {
    const KIND: &'static str = "weight";

    fn from_text(text: &str) -> Result<Self, String> {
        let digits = text.trim().trim_end_matches('%');
        match parse_count(digits).map(u32::try_from) {
            Ok(Ok(weight @ 1..=1_000_000)) => Ok(Weight(weight)),
            _ => Err(format!(
                "'{text}' is not a weight; write a whole number from 1 to 1,000,000, for example 70"
            )),
        }
    }

    fn to_out(&self) -> Out {
        Out::Number(u64::from(self.0))
    }

    fn example() -> &'static str {
        "70"
    }

    fn schema() -> Schema {
        json_schema!({ "type": "integer", "minimum": 1 })
    }
}

fn weighted(text: &str) -> Result<Blocks, String> {
    let sizes = text
        .split(':')
        .take(MAX_SIZES + 1)
        .map(|part| {
            let (size, weight) = part.split_once('/').ok_or_else(|| {
                format!("'{part}' lacks a weight; write size/weight, for example 4k/70:64k/30")
            })?;
            Ok((Size::from_text(size)?.0, Weight::from_text(weight)?.0))
        })
        .collect::<Result<Vec<_>, String>>()?;
    check_weights(sizes)
}

fn check_weights(sizes: Vec<(u64, u32)>) -> Result<Blocks, String> {
    if sizes.is_empty() {
        return Err("no block size is given; write for example {4k: 70, 64k: 30}".to_owned());
    }
    if sizes.len() > MAX_SIZES {
        return Err(format!("more than {MAX_SIZES} block sizes in one workload"));
    }
    for (at, (bytes, _)) in sizes.iter().enumerate() {
        if sizes[..at].iter().any(|(other, _)| other == bytes) {
            return Err(format!(
                "the block size {} is given twice",
                size_text(*bytes)
            ));
        }
    }
    Ok(Blocks::Weighted(sizes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_forms_are_read_back_as_written() {
        for text in ["4k", "512", "4k-64k", "4k/70:64k/30", "2300"] {
            assert_eq!(Blocks::from_text(text).unwrap().to_text(), text);
        }
        assert_eq!(Blocks::from_text("4k-4k"), Ok(Blocks::Fixed(4096)));
    }

    #[test]
    fn mistakes_say_what_to_write() {
        for (text, hint) in [
            ("4k,8k", "4k-64k"),
            ("64k-4k", "smaller size first"),
            ("4k/70:64k", "size/weight"),
            ("4k/0", "from 1"),
            ("4k/50:4096/50", "twice"),
            ("-4k", "4096, 4k"),
        ] {
            let message = Blocks::from_text(text).unwrap_err();
            assert!(message.contains(hint), "{text}: {message}");
        }
    }
}
