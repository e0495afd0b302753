//! Write-back of ranges after every N writes.

use fathom_model::workload::RangeSync;
use schemars::{Schema, json_schema};

use super::Value;
use crate::node::Out;

/// `write:8`, `wait_before,write,wait_after:64`; without a number after each
/// write. The way in which fio writes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RangeSyncValue(pub RangeSync);

impl RangeSyncValue {
    /// Reads modes and a number of writes.
    ///
    /// # Errors
    /// What is wrong, with an example.
    pub fn read(text: &str) -> Result<RangeSyncValue, String> {
        RangeSyncValue::from_text(text)
    }

    /// What is called; nothing where the number of writes is 0.
    pub fn ranges(self) -> Option<RangeSync> {
        (self.0.every_writes > 0).then_some(self.0)
    }
}

impl Value for RangeSyncValue {
    const KIND: &'static str = "range sync";

    fn from_text(text: &str) -> Result<Self, String> {
        let (modes, every) = text.split_once(':').unwrap_or((text, "1"));
        let wrong = |what: &str| {
            format!(
                "'{text}' is not {what}; write for example write:8 or \
                 wait_before,write,wait_after:8"
            )
        };
        let every = every.trim().parse();
        let mut ranges = RangeSync {
            every_writes: every.map_err(|_| wrong("modes and a number of writes"))?,
            wait_before: false,
            write: false,
            wait_after: false,
        };
        for mode in modes.split(',') {
            match mode.trim() {
                "wait_before" => ranges.wait_before = true,
                "write" => ranges.write = true,
                "wait_after" => ranges.wait_after = true,
                _ => return Err(wrong("made of wait_before, write and wait_after")),
            }
        }
        Ok(RangeSyncValue(ranges))
    }

    fn to_out(&self) -> Out {
        Out::Text(self.0.to_string())
    }

    fn example() -> &'static str {
        "write:8"
    }

    fn schema() -> Schema {
        json_schema!({
            "description": "wait_before, write and wait_after joined by commas, and after a \
                            colon the number of writes.",
            "type": "string",
            "pattern": "^ *(wait_before|write|wait_after)( *, *(wait_before|write|wait_after))* *(: *[0-9]+ *)?$"
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn range_syncs_are_read_as_fio_reads_them() {
        for (text, out) in [
            ("write:8", "write:8"),
            ("write", "write:1"),
            ("wait_after, write :64", "write,wait_after:64"),
            (
                "wait_before,write,wait_after:8",
                "wait_before,write,wait_after:8",
            ),
            ("write:0", "write:0"),
        ] {
            let value = RangeSyncValue::from_text(text).unwrap();
            assert_eq!(value.to_text(), out);
            assert_eq!(value.ranges().is_some(), !out.ends_with(":0"));
        }
        for text in [
            "",
            "8",
            "nonsense:8",
            "write:",
            "write:-1",
            "write:8:8",
            ",:8",
        ] {
            let wrong = RangeSyncValue::from_text(text).err().unwrap();
            assert!(wrong.contains("write:8"), "{text}: {wrong}");
        }
    }
}
