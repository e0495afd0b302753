//! Work on object stores: requests with their weights, sizes of objects,
//! layouts of keys.

use fathom_model::OpKind;
use fathom_model::unit::parse_bytes;
use fathom_model::workload::{KeyLayout, MetaShare, ObjectSizes};
use schemars::{Schema, json_schema};

use super::{Count, Value};
use crate::diagnostic::{Problems, error};
use crate::node::{Node, NodeKind, Out};
use fathom_model::nearest::nearest;

/// Sizes with weights that are named at most.
const MOST_SIZES: usize = 256;

/// One request, or several with weights.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestsValue(pub Vec<MetaShare>);

/// Words of other tools.
const OTHER_WORDS: [(&str, OpKind); 10] = [
    ("retention", OpKind::PutRetention),
    ("read", OpKind::Get),
    ("write", OpKind::Put),
    ("stat", OpKind::Head),
    ("range", OpKind::GetRange),
    ("multipart", OpKind::PutMultipart),
    ("versions", OpKind::ListVersions),
    ("versioned", OpKind::PutVersion),
    ("tag", OpKind::PutTags),
    ("remove", OpKind::Delete),
];

/// The request with this name.
pub(crate) fn request(text: &str) -> Result<OpKind, String> {
    let name = text.trim().to_ascii_lowercase().replace('-', "_");
    let own = || OpKind::ALL.into_iter().filter(|kind| kind.is_object());
    if let Some(kind) = own().find(|kind| kind.name() == name) {
        return Ok(kind);
    }
    if let Some((_, kind)) = OTHER_WORDS.iter().find(|(word, _)| *word == name) {
        return Ok(*kind);
    }
    let all: Vec<&str> = own().map(OpKind::name).collect();
    Err(match nearest(&name, all.iter().copied()) {
        Some(word) => format!("'{text}' is not a known request; did you mean {word}?"),
        None => format!("'{text}' is not a known request; known: {}", all.join(", ")),
    })
}

fn weighted(name: &str, weight: u64) -> Result<MetaShare, String> {
    let weight = u32::try_from(weight).ok().filter(|weight| *weight > 0);
    Ok(MetaShare {
        kind: request(name)?,
        weight: weight.ok_or_else(|| format!("the weight of {name} must be 1 to {}", u32::MAX))?,
    })
}

fn each_once(shares: Vec<MetaShare>) -> Result<RequestsValue, String> {
    for (at, share) in shares.iter().enumerate() {
        if shares[..at].iter().any(|other| other.kind == share.kind) {
            return Err(format!("{} is named twice", share.kind.name()));
        }
    }
    Ok(RequestsValue(shares))
}

impl Value for RequestsValue {
    const KIND: &'static str = "request";

    fn from_text(text: &str) -> Result<Self, String> {
        if !text.contains([',', ':']) {
            let kind = request(text)?;
            return Ok(RequestsValue(vec![MetaShare { kind, weight: 1 }]));
        }
        let shares = text.split(',').map(|part| match part.split_once(':') {
            Some((name, weight)) => weighted(name, Count::from_text(weight)?.0),
            None => Err(format!(
                "'{part}' has no weight; write for example get:45,head:30,put:15,delete:10"
            )),
        });
        each_once(shares.collect::<Result<_, String>>()?)
    }

    fn from_node(node: &Node, problems: &mut Problems) -> Option<Self> {
        let NodeKind::Map(entries) = &node.kind else {
            let Some(text) = node.text() else {
                let message = format!("expected a request, found {}", node.describe());
                let help = "write a request, or {get: 45, head: 30, put: 15, delete: 10}";
                problems.push(error("wrong_type", node.span, message).help(help));
                return None;
            };
            let read = RequestsValue::from_text(text);
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
        "get"
    }

    fn schema() -> Schema {
        json_schema!({
            "description": "A request, or several with weights: {get: 45, head: 30, put: 15, delete: 10}.",
            "type": ["object", "string"],
            "additionalProperties": { "type": "integer", "minimum": 1 }
        })
    }
}

/// Bytes of each object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectSizesValue(pub ObjectSizes);

impl Value for ObjectSizesValue {
    const KIND: &'static str = "object size";

    fn from_text(text: &str) -> Result<Self, String> {
        let bytes = |text: &str| parse_bytes(text.trim()).map_err(|error| error.to_string());
        let text = text.trim();
        if let Some(max) = text.strip_prefix("log2:") {
            let max_bytes = bytes(max)?;
            return Ok(ObjectSizesValue(ObjectSizes::Log2 { max_bytes }));
        }
        if text.contains(['/', ',']) {
            let mut all = Vec::new();
            for part in text.split(',') {
                let Some((size, weight)) = part.split_once('/') else {
                    return Err(format!(
                        "'{part}' has no weight; write for example 4k/70,1m/30"
                    ));
                };
                let weight: u32 = weight
                    .trim()
                    .parse()
                    .map_err(|_| format!("the weight '{weight}' is not a number"))?;
                all.push((bytes(size)?, weight));
            }
            return match all.len() > MOST_SIZES || all.iter().all(|(_, weight)| *weight == 0) {
                true => Err(format!("1 to {MOST_SIZES} sizes with weights are possible")),
                false => Ok(ObjectSizesValue(ObjectSizes::Weighted(all))),
            };
        }
        Ok(ObjectSizesValue(match text.split_once('-') {
            None => ObjectSizes::Fixed(bytes(text)?),
            Some((min, max)) => {
                let (min_bytes, max_bytes) = (bytes(min)?, bytes(max)?);
                if min_bytes > max_bytes {
                    return Err(format!("'{text}' ends before it begins"));
                }
                ObjectSizes::Range {
                    min_bytes,
                    max_bytes,
                }
            }
        }))
    }

    fn to_out(&self) -> Out {
        Out::Text(self.to_text())
    }

    fn to_text(&self) -> String {
        use fathom_model::unit::bytes_exact;
        let tight = |bytes: u64| bytes_exact(bytes).replace(' ', "");
        match &self.0 {
            ObjectSizes::Fixed(bytes) => tight(*bytes),
            ObjectSizes::Range {
                min_bytes,
                max_bytes,
            } => format!("{}-{}", tight(*min_bytes), tight(*max_bytes)),
            ObjectSizes::Log2 { max_bytes } => format!("log2:{}", tight(*max_bytes)),
            ObjectSizes::Weighted(all) => {
                let parts = all.iter().map(|(b, w)| format!("{}/{w}", tight(*b)));
                parts.collect::<Vec<_>>().join(",")
            }
        }
    }

    fn example() -> &'static str {
        "1m"
    }

    fn schema() -> Schema {
        json_schema!({
            "description": "A size, a range (4k-1m), log2:1m, or sizes with weights (4k/70,1m/30).",
            "type": ["integer", "string"]
        })
    }
}

/// How keys are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyLayoutValue(pub KeyLayout);

impl Value for KeyLayoutValue {
    const KIND: &'static str = "layout of keys";

    fn from_text(text: &str) -> Result<Self, String> {
        let wrong = || format!("'{text}' is not a layout; write flat, hashed, or tree:3x16");
        let layout = match text.trim() {
            "flat" => KeyLayout::Flat,
            "hashed" => KeyLayout::Hashed,
            other => {
                let shape = other.strip_prefix("tree:").ok_or_else(wrong)?;
                let (depth, fan_out) = shape.split_once('x').ok_or_else(wrong)?;
                KeyLayout::Tree {
                    depth: depth.parse().map_err(|_| wrong())?,
                    fan_out: fan_out.parse().map_err(|_| wrong())?,
                }
            }
        };
        match layout {
            KeyLayout::Tree { depth, fan_out } if !(1..=16).contains(&depth) || fan_out == 0 => {
                Err("a tree has 1 to 16 levels and at least 1 prefix in each".to_owned())
            }
            layout => Ok(KeyLayoutValue(layout)),
        }
    }

    fn to_out(&self) -> Out {
        Out::Text(self.to_text())
    }

    fn to_text(&self) -> String {
        match self.0 {
            KeyLayout::Flat => "flat".to_owned(),
            KeyLayout::Hashed => "hashed".to_owned(),
            KeyLayout::Tree { depth, fan_out } => format!("tree:{depth}x{fan_out}"),
        }
    }

    fn example() -> &'static str {
        "tree:3x16"
    }

    fn schema() -> Schema {
        json_schema!({
            "description": "flat, hashed, or tree:DEPTHxFANOUT.",
            "type": "string"
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_back_as_written() {
        for text in ["get", "get:45,head:30", "put_multipart"] {
            assert_eq!(RequestsValue::from_text(text).unwrap().to_text(), text);
        }
        assert!(request("multipart-put").is_err());
        assert_eq!(request("get-range"), Ok(OpKind::GetRange));
        assert_eq!(request("stat"), Ok(OpKind::Head));
        for text in ["4k", "1k-1m", "log2:10m", "4k/70,1m/30", "123"] {
            let value = ObjectSizesValue::from_text(text).unwrap();
            assert_eq!(
                ObjectSizesValue::from_text(&value.to_text()),
                Ok(value),
                "{text}"
            );
        }
        for text in ["flat", "hashed", "tree:3x16"] {
            assert_eq!(KeyLayoutValue::from_text(text).unwrap().to_text(), text);
        }
    }

    #[test]
    fn what_is_wrong_is_told() {
        assert!(request("gett").unwrap_err().contains("did you mean get?"));
        for text in ["x", "1m-1k", "4k/x", "4k/0", "log2:", "4k,1m"] {
            assert!(ObjectSizesValue::from_text(text).is_err(), "{text}");
        }
        for text in ["tree", "tree:0x1", "tree:17x2", "tree:2x0", "round"] {
            assert!(KeyLayoutValue::from_text(text).is_err(), "{text}");
        }
        assert!(RequestsValue::from_text("get:1,get:2").is_err());
    }
}
