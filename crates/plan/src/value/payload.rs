//! Content of what is written.

use fathom_model::workload::Content;
use schemars::{Schema, json_schema};

use super::{Value, parts};
use crate::node::Out;

/// Content as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContentValue(pub Content);

impl Value for ContentValue {
    const KIND: &'static str = "content";

    fn from_text(text: &str) -> Result<Self, String> {
        let unknown = |why: String| {
            format!(
                "'{text}' is not a known content ({why}); write random, zeros, 0xdeadbeef, \
                 text:abc or parts as \"abc\"0xdead%o (1 to {} bytes)",
                parts::MAX_BYTES
            )
        };
        let content = match text.trim() {
            "random" => Content::Random,
            "zeros" | "zeroes" | "zero" => Content::Zeros,
            other => match other.strip_prefix("text:") {
                Some(text) if (1..=parts::MAX_BYTES).contains(&text.len()) => {
                    Content::Bytes(text.as_bytes().to_vec())
                }
                Some(_) => return Err(unknown("no text, or too long".to_owned())),
                None => parts::read(other).map_err(unknown)?,
            },
        };
        Ok(ContentValue(content))
    }

    fn to_out(&self) -> Out {
        Out::Text(match &self.0 {
            Content::Random => "random".to_owned(),
            Content::Zeros => "zeros".to_owned(),
            Content::Bytes(bytes) => parts::hex_text(bytes),
            Content::Parts(parts) => parts::text(parts),
        })
    }

    fn example() -> &'static str {
        "random"
    }

    fn schema() -> Schema {
        json_schema!({
            "description": "random, zeros, 0xHEX, text:TEXT, or parts one after the other: \"TEXT\", 0xHEX, a whole number, %o (the block's offset).",
            "type": ["string", "integer"],
            "pattern": "^(random|zero|zeros|zeroes|text:.+|(\"[^\"]*\"|0[xX][0-9a-fA-F]+|-?[0-9]+|%o| )+)$"
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_bytes_in_hex_or_text() {
        let bytes = |text| ContentValue::from_text(text).map(|c| c.0);
        assert_eq!(bytes("0xdead"), Ok(Content::Bytes(vec![0xde, 0xad])));
        assert_eq!(bytes("text:ab"), Ok(Content::Bytes(vec![0x61, 0x62])));
        for text in ["0x", "0xé1", "text:", "ones"] {
            assert!(bytes(text).is_err(), "{text}");
        }
    }
}
