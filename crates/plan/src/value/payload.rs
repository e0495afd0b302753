//! Content of what is written.

use fathom_model::workload::Content;
use schemars::{Schema, json_schema};

use super::Value;
use crate::node::Out;

/// Content as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ContentValue(pub(crate) Content);

const MAX_PATTERN_BYTES: usize = 512;

impl Value for ContentValue {
    const KIND: &'static str = "content";

    fn from_text(text: &str) -> Result<Self, String> {
        let bytes = match text.trim() {
            "random" => return Ok(ContentValue(Content::Random)),
            "zeros" | "zeroes" | "zero" => return Ok(ContentValue(Content::Zeros)),
            other => match (other.strip_prefix("0x"), other.strip_prefix("text:")) {
                (Some(digits), _) => hex(digits),
                (_, Some(pattern)) => Some(pattern.as_bytes().to_vec()),
                _ => None,
            },
        };
        match bytes {
            Some(bytes) if (1..=MAX_PATTERN_BYTES).contains(&bytes.len()) => {
                Ok(ContentValue(Content::Bytes(bytes)))
            }
            _ => Err(format!(
                "'{text}' is not a known content; write random, zeros, 0xdeadbeef or text:abc \
                 (1 to {MAX_PATTERN_BYTES} bytes)"
            )),
        }
    }

    fn to_out(&self) -> Out {
        Out::Text(match &self.0 {
            Content::Random => "random".to_owned(),
            Content::Zeros => "zeros".to_owned(),
            Content::Bytes(bytes) => {
                let digits: Vec<String> = bytes.iter().map(|b| format!("{b:02x}")).collect();
                format!("0x{}", digits.concat())
            }
        })
    }

    fn example() -> &'static str {
        "random"
    }

    fn schema() -> Schema {
        json_schema!({
            "description": "random, zeros, 0xHEX or text:TEXT.",
            "type": ["string", "integer"],
            "pattern": "^(random|zero|zeros|zeroes|0x[0-9a-fA-F]+|text:.+)$"
        })
    }
}

fn hex(digits: &str) -> Option<Vec<u8>> {
    if !digits.len().is_multiple_of(2) || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    (0..digits.len() / 2)
        .map(|at| u8::from_str_radix(&digits[2 * at..2 * at + 2], 16).ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_bytes_in_hex_or_text() {
        let bytes = |text| ContentValue::from_text(text).map(|c| c.0);
        assert_eq!(bytes("0xdead"), Ok(Content::Bytes(vec![0xde, 0xad])));
        assert_eq!(bytes("text:ab"), Ok(Content::Bytes(vec![0x61, 0x62])));
        for text in ["0x", "0xd", "0xé1", "text:", "ones"] {
            assert!(bytes(text).is_err(), "{text}");
        }
    }
}
