//! Shares in percent that may differ between reads, writes and trims.

use fathom_model::workload::ByKind;
use schemars::{Schema, json_schema};

use super::{Percent, Value};
use crate::node::Out;

/// One share for all kinds (`80`), or those of reads, writes and trims
/// (`50,80`; trims like writes).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shares(pub ByKind<u8>);

impl Value for Shares {
    const KIND: &'static str = "percentages";

    fn from_text(text: &str) -> Result<Self, String> {
        let parts: Vec<&str> = text.split(',').collect();
        if parts.len() > 3 {
            return Err(format!(
                "'{text}' gives {} shares; write one, or those of reads, writes and trims",
                parts.len()
            ));
        }
        let of = |part: &str| Percent::from_text(part).map(|Percent(share)| Some(share));
        let read = of(parts[0])?;
        let write = parts.get(1).map_or(Ok(read), |part| of(part))?;
        let trim = parts.get(2).map_or(Ok(write), |part| of(part))?;
        Ok(Shares(ByKind { read, write, trim }))
    }

    fn to_out(&self) -> Out {
        let share = |share: Option<u8>| u64::from(share.unwrap_or(100));
        let ByKind { read, write, trim } = self.0;
        match (share(read), share(write), share(trim)) {
            (all, write, trim) if all == write && all == trim => Out::Number(all),
            (read, write, trim) => Out::Text(format!("{read},{write},{trim}")),
        }
    }

    fn example() -> &'static str {
        "80"
    }

    fn schema() -> Schema {
        json_schema!({
            "description": "A whole percentage, or up to three of reads, writes and trims: 50,80.",
            "type": ["integer", "string"],
            "pattern": "^[0-9]+ *%?( *, *[0-9]+ *%?){0,2}$",
            "minimum": 0,
            "maximum": 100
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_given_follows_what_is() {
        let shares = |text| Shares::from_text(text).map(|s| s.to_text());
        assert_eq!(shares("80"), Ok("80".to_owned()));
        assert_eq!(shares("50, 80%"), Ok("50,80,80".to_owned()));
        assert_eq!(shares("50,80,0"), Ok("50,80,0".to_owned()));
        for text in ["", "101", "50,", "1,2,3,4"] {
            assert!(shares(text).is_err(), "{text}");
        }
    }
}
