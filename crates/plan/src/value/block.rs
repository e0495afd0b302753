//! Block sizes: one, a range, or drawn by weight.

use fathom_model::unit::parse_count;
use fathom_model::workload::ByKind;
use schemars::{Schema, json_schema};

use super::number::size_text;
use super::{Size, Value};
use crate::diagnostic::{Problems, error};
use crate::node::{Node, NodeKind, Out};

/// Sizes of blocks as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Blocks {
    /// `4k`.
    Fixed(u64),
    /// `4k-64k`.
    Range(u64, u64),
    /// `{4k: 70, 64k: 30}`: bytes and weight.
    Weighted(Vec<(u64, u32)>),
    /// `4k,64k`: sizes of reads, writes and trims, none of them by kind itself.
    /// A kind that is left out has the default size.
    ByKind(Box<ByKind<Blocks>>),
}

/// At most this many sizes in a weighted draw.
const MAX_SIZES: usize = 64;

impl Value for Blocks {
    const KIND: &'static str = "block size";

    fn from_text(text: &str) -> Result<Self, String> {
        if text.contains(',') {
            return by_kind(text);
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
        if entries.iter().any(|(key, _)| kind_of(key).is_some()) {
            return by_kind_from_map(entries, problems);
        }
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
            Blocks::ByKind(kinds) => Out::Map(
                named(kinds)
                    .filter_map(|(name, blocks)| Some((name.to_owned(), blocks?.to_out())))
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
            Blocks::ByKind(kinds) => {
                let text = |blocks: Option<&Blocks>| blocks.map_or(String::new(), Value::to_text);
                match (&kinds.write, &kinds.trim) {
                    (write, trim) if write == trim => {
                        format!("{},{}", text(kinds.read.as_ref()), text(write.as_ref()))
                    }
                    _ => named(kinds)
                        .map(|(_, b)| text(b))
                        .collect::<Vec<_>>()
                        .join(","),
                }
            }
        }
    }

    fn example() -> &'static str {
        "4k"
    }

    fn schema() -> Schema {
        json_schema!({
            "description": "A size (4k), a range (4k-64k), or weights ({4k: 70, 64k: 30} or 4k/70:64k/30); by kind as {read: 4k, write: 64k} or 4k,64k.",
            "type": ["string", "integer", "object"],
            "additionalProperties": { "type": ["integer", "string", "object"] },
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

fn named(kinds: &ByKind<Blocks>) -> impl Iterator<Item = (&'static str, Option<&Blocks>)> {
    let [read, write, trim] = KINDS;
    [
        (read, kinds.read.as_ref()),
        (write, kinds.write.as_ref()),
        (trim, kinds.trim.as_ref()),
    ]
    .into_iter()
}

const KINDS: [&str; 3] = ["read", "write", "trim"];

fn kind_of(key: &Node) -> Option<usize> {
    let name = key.text()?;
    KINDS.iter().position(|kind| *kind == name)
}

/// `4k,64k` (reads; writes and trims) or `4k,64k,4k`; what is empty has the
/// default size, and trims that are not named have that of writes.
fn by_kind(text: &str) -> Result<Blocks, String> {
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    if parts.len() > 3 {
        return Err(format!(
            "'{text}' gives {} block sizes; write those of reads, writes and trims, for example \
             4k,64k,64k",
            parts.len()
        ));
    }
    let of = |at: usize| match parts.get(at) {
        None | Some(&"") => Ok(None),
        Some(part) => Blocks::from_text(part).map(Some),
    };
    let write = of(1)?;
    let kinds = ByKind {
        read: of(0)?,
        trim: if parts.len() == 2 {
            write.clone()
        } else {
            of(2)?
        },
        write,
    };
    if kinds.is_empty() {
        return Err(format!("'{text}' gives no block size; write 4k or 4k,64k"));
    }
    Ok(Blocks::ByKind(Box::new(kinds)))
}

/// `{read: 4k, write: 64k}`.
fn by_kind_from_map(entries: &[(Node, Node)], problems: &mut Problems) -> Option<Blocks> {
    let mut kinds = ByKind::default();
    for (key, value) in entries {
        let slot = match kind_of(key) {
            Some(0) => &mut kinds.read,
            Some(1) => &mut kinds.write,
            Some(_) => &mut kinds.trim,
            None => {
                let message = "block sizes by kind are those of read, write and trim";
                problems.error("bad_value", key.span, message);
                return None;
            }
        };
        let blocks = Blocks::from_node(value, problems)?;
        if matches!(blocks, Blocks::ByKind(_)) {
            let message = "one kind of operation has one size, range or set of weights";
            problems.error("bad_value", value.span, message);
            return None;
        }
        *slot = Some(blocks);
    }
    Some(Blocks::ByKind(Box::new(kinds)))
}

fn weighted(text: &str) -> Result<Blocks, String> {
    let sizes = text
        .split(':')
        .take(MAX_SIZES + 1)
        .map(|part| {
            let (size, weight) = part.split_once('/').ok_or_else(|| {
                format!("'{part}' lacks a weight; write size/weight, for example 4k/70:64k/30")
            })?;
            let weight = match weight.trim() {
                "" => None,
                weight => Some(Weight::from_text(weight)?.0),
            };
            Ok((Size::from_text(size)?.0, weight))
        })
        .collect::<Result<Vec<_>, String>>()?;
    check_weights(share_out(sizes))
}

/// Weights that are left out get equal parts of what is left of 100.
fn share_out(sizes: Vec<(u64, Option<u32>)>) -> Vec<(u64, u32)> {
    let missing = sizes.iter().filter(|(_, weight)| weight.is_none()).count() as u32;
    if missing == 0 {
        return sizes
            .into_iter()
            .map(|(b, w)| (b, w.unwrap_or(1)))
            .collect();
    }
    let given: u32 = sizes.iter().filter_map(|(_, weight)| *weight).sum();
    // In parts of `missing`, so that the shares stay whole.
    let each = 100u32.saturating_sub(given).max(1);
    let scale = |weight: u32| weight.saturating_mul(missing);
    sizes
        .into_iter()
        .map(|(b, w)| (b, w.map_or(each, scale)))
        .collect()
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
        for text in [
            "4k",
            "512",
            "4k-64k",
            "4k/70:64k/30",
            "2300",
            "4k,64k",
            ",64k",
            "4k,64k,1m",
            "4k-8k,512/50:4k/50",
        ] {
            assert_eq!(Blocks::from_text(text).unwrap().to_text(), text);
        }
        assert_eq!(Blocks::from_text("4k-4k"), Ok(Blocks::Fixed(4096)));
    }

    #[test]
    fn trims_have_the_size_of_writes_where_they_are_not_named() {
        let Ok(Blocks::ByKind(kinds)) = Blocks::from_text("4k,64k") else {
            panic!("no sizes by kind");
        };
        assert_eq!(kinds.trim, Some(Blocks::Fixed(65536)));
        let Ok(Blocks::ByKind(kinds)) = Blocks::from_text("4k,64k,") else {
            panic!("no sizes by kind");
        };
        assert_eq!(kinds.trim, None);
    }

    #[test]
    fn weights_that_are_left_out_share_the_rest() {
        let blocks = Blocks::from_text("4k/50:8k/:16k/").unwrap();
        let sizes = vec![(4096, 100), (8192, 50), (16384, 50)];
        assert_eq!(blocks, Blocks::Weighted(sizes));
    }

    #[test]
    fn mistakes_say_what_to_write() {
        for (text, hint) in [
            ("4k,8k,4k,4k", "reads, writes and trims"),
            (",", "no block size"),
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
