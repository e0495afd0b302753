//! Work on many files: operations with their weights, sizes of files.

use fathom_model::OpKind;
use fathom_model::unit::parse_bytes;
use fathom_model::workload::{FileSizes, MetaShare};
use schemars::{Schema, json_schema};

use super::{Count, Size, Value};
use crate::diagnostic::{Problems, error};
use crate::node::{Node, NodeKind, Out};
use fathom_model::nearest::nearest;

/// An exponential size is limited to this many times its mean, unless told.
const LIMIT_FACTOR: u64 = 8;

/// One operation, or several with weights.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperationsValue(pub Vec<MetaShare>);

/// Words of other tools.
const OTHER_WORDS: [(&str, OpKind); 15] = [
    ("wait-for-create", OpKind::AwaitCreate),
    ("read", OpKind::ReadFile),
    ("write", OpKind::Create),
    ("delete", OpKind::Unlink),
    ("remove", OpKind::Unlink),
    ("ls", OpKind::Readdir),
    ("ls-l", OpKind::ReaddirStat),
    ("delete-renamed", OpKind::Unlink),
    ("put", OpKind::SwiftPut),
    ("rewrite", OpKind::TruncateOverwrite),
    ("filecreate", OpKind::Create),
    ("filestat", OpKind::Stat),
    ("filedelete", OpKind::Unlink),
    ("dircreate", OpKind::Mkdir),
    ("dirstat", OpKind::Statdir),
];

/// The operation with this name.
pub(crate) fn operation(text: &str) -> Result<OpKind, String> {
    let text = text.trim().to_ascii_lowercase();
    let own = || OpKind::ALL.into_iter().filter(|kind| kind.is_metadata());
    let name = text.replace('-', "_");
    if let Some(kind) = own().find(|kind| kind.name() == name) {
        return Ok(kind);
    }
    if let Some((_, kind)) = OTHER_WORDS.iter().find(|(word, _)| *word == text) {
        return Ok(*kind);
    }
    let all: Vec<&str> = own().map(OpKind::name).collect();
    Err(match nearest(&name, all.iter().copied()) {
        Some(word) => format!("'{text}' is not a known operation; did you mean {word}?"),
        None => format!(
            "'{text}' is not a known operation; known: {}",
            all.join(", ")
        ),
    })
}

fn weighted(name: &str, weight: u64) -> Result<MetaShare, String> {
    let weight = u32::try_from(weight).ok().filter(|weight| *weight > 0);
    Ok(MetaShare {
        kind: operation(name)?,
        weight: weight.ok_or_else(|| format!("the weight of {name} must be 1 to {}", u32::MAX))?,
    })
}

fn each_once(shares: Vec<MetaShare>) -> Result<OperationsValue, String> {
    for (at, share) in shares.iter().enumerate() {
        if shares[..at].iter().any(|other| other.kind == share.kind) {
            return Err(format!("{} is named twice", share.kind.name()));
        }
    }
    Ok(OperationsValue(shares))
}

impl Value for OperationsValue {
    const KIND: &'static str = "operation";

    fn from_text(text: &str) -> Result<Self, String> {
        if !text.contains([',', ':']) {
            let kind = operation(text)?;
            return Ok(OperationsValue(vec![MetaShare { kind, weight: 1 }]));
        }
        let shares = text.split(',').map(|part| match part.split_once(':') {
            Some((name, weight)) => weighted(name, Count::from_text(weight)?.0),
            None => Err(format!(
                "'{part}' has no weight; write for example stat:60,create:20,unlink:20"
            )),
        });
        each_once(shares.collect::<Result<_, String>>()?)
    }

    fn from_node(node: &Node, problems: &mut Problems) -> Option<Self> {
        let NodeKind::Map(entries) = &node.kind else {
            let text = node.text();
            let Some(text) = text else {
                let message = format!("expected an operation, found {}", node.describe());
                let help = "write an operation, or {stat: 60, create: 20, unlink: 20}";
                problems.push(error("wrong_type", node.span, message).help(help));
                return None;
            };
            let read = OperationsValue::from_text(text);
            return read
                .map_err(|message| problems.error("bad_value", node.span, message))
                .ok();
        };
        let mut shares = Vec::new();
        for (key, value) in entries {
            let weight = Count::from_node(value, problems)?;
            match weighted(key.text().unwrap_or_default(), weight.0) {
                Ok(share) => shares.push(share),
                Err(message) => {
                    problems.error("bad_value", key.span, message);
                    return None;
                }
            }
        }
        let read = each_once(shares);
        read.map_err(|message| problems.error("bad_value", node.span, message))
            .ok()
    }

    fn to_out(&self) -> Out {
        match self.0.as_slice() {
            [only] => Out::Text(only.kind.name().to_owned()),
            shares => Out::Map(
                shares
                    .iter()
                    .map(|share| {
                        let name = share.kind.name().to_owned();
                        (name, Out::Number(u64::from(share.weight)))
                    })
                    .collect(),
            ),
        }
    }

    fn to_text(&self) -> String {
        match self.0.as_slice() {
            [only] => only.kind.name().to_owned(),
            shares => {
                let parts = shares
                    .iter()
                    .map(|share| format!("{}:{}", share.kind.name(), share.weight));
                parts.collect::<Vec<String>>().join(",")
            }
        }
    }

    fn example() -> &'static str {
        "create"
    }

    fn schema() -> Schema {
        json_schema!({
            "description": "An operation, or several with weights: {stat: 60, create: 20, unlink: 20}.",
            "type": ["object", "string"],
            "additionalProperties": { "type": "integer", "minimum": 1 }
        })
    }
}

/// Bytes of each file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileSizesValue(pub FileSizes);

impl Value for FileSizesValue {
    const KIND: &'static str = "file size";

    fn from_text(text: &str) -> Result<Self, String> {
        let Some(rest) = text.trim().strip_prefix("exp:") else {
            return Size::from_text(text).map(|size| FileSizesValue(FileSizes::Fixed(size.0)));
        };
        let told = |error: fathom_model::unit::UnitError| error.to_string();
        let (mean, max) = match rest.split_once(':') {
            Some((mean, max)) => (parse_bytes(mean).map_err(told)?, Some(max)),
            None => (parse_bytes(rest).map_err(told)?, None),
        };
        let max_bytes = match max {
            Some(max) => parse_bytes(max).map_err(told)?,
            None => mean.saturating_mul(LIMIT_FACTOR),
        };
        if max_bytes < mean {
            return Err(format!(
                "the largest file of '{text}' is smaller than the mean"
            ));
        }
        Ok(FileSizesValue(FileSizes::Exponential {
            mean_bytes: mean,
            max_bytes,
        }))
    }

    fn to_out(&self) -> Out {
        match self.0 {
            FileSizes::Fixed(bytes) => Size(bytes).to_out(),
            FileSizes::Exponential {
                mean_bytes,
                max_bytes,
            } => Out::Text(format!("exp:{mean_bytes}:{max_bytes}")),
        }
    }

    fn example() -> &'static str {
        "4k"
    }

    fn schema() -> Schema {
        json_schema!({
            "description": "A size, or exp:MEAN or exp:MEAN:LARGEST for exponential ones.",
            "type": ["string", "integer"]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_read_with_and_without_weights() {
        let one = OperationsValue::from_text("ls-l").unwrap();
        assert_eq!(one.to_text(), "readdir_stat");
        let mix = OperationsValue::from_text("stat:60,create:20,delete:20").unwrap();
        assert_eq!(mix.to_text(), "stat:60,create:20,unlink:20");
        assert_eq!(OperationsValue::from_text(&mix.to_text()), Ok(mix));
        for wrong in [
            "stat,create",
            "stat:0,create:1",
            "stat:1,stat:2",
            "fsync:x,stat:1",
        ] {
            assert!(OperationsValue::from_text(wrong).is_err(), "{wrong}");
        }
        let told = OperationsValue::from_text("craete").unwrap_err();
        assert!(told.contains("did you mean create?"), "{told}");
    }

    #[test]
    fn sizes_are_fixed_or_exponential() {
        let of = |text: &str| FileSizesValue::from_text(text).map(|value| value.0);
        assert_eq!(of("4k"), Ok(FileSizes::Fixed(4096)));
        assert_eq!(of("0"), Ok(FileSizes::Fixed(0)));
        let exponential = FileSizes::Exponential {
            mean_bytes: 65536,
            max_bytes: 8 * 65536,
        };
        assert_eq!(of("exp:64k"), Ok(exponential));
        assert_eq!(of(&FileSizesValue(exponential).to_text()), Ok(exponential));
        assert!(of("exp:64k:1k").is_err() && of("exp:x").is_err());
    }
}
