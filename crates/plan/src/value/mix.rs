//! Shares of reads, writes and trims.

use fathom_model::workload::OpMix;
use schemars::{Schema, json_schema};

use super::{Percent, Value};
use crate::diagnostic::{Problems, error};
use crate::node::{Node, NodeKind, Out};
use fathom_model::nearest::nearest;

/// Shares as written; they may not add up yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mix {
    pub(crate) read: u8,
    pub(crate) write: u8,
    pub(crate) trim: u8,
}

impl Mix {
    pub(crate) fn total(self) -> u32 {
        u32::from(self.read) + u32::from(self.write) + u32::from(self.trim)
    }

    pub(crate) fn op_mix(self) -> OpMix {
        OpMix {
            read_percent: self.read,
            write_percent: self.write,
            trim_percent: self.trim,
        }
    }
}

impl Value for Mix {
    const KIND: &'static str = "mix";

    fn from_text(text: &str) -> Result<Self, String> {
        let parts: Vec<&str> = text.split('/').collect();
        if !(2..=3).contains(&parts.len()) {
            return Err(format!(
                "'{text}' is not a mix; write reads/writes or reads/writes/trims in percent, \
                 for example 70/30"
            ));
        }
        let share = |at: usize| {
            parts
                .get(at)
                .map_or(Ok(0), |p| Percent::from_text(p).map(|p| p.0))
        };
        Ok(Mix {
            read: share(0)?,
            write: share(1)?,
            trim: share(2)?,
        })
    }

    fn from_node(node: &Node, problems: &mut Problems) -> Option<Self> {
        let entries = match &node.kind {
            NodeKind::Map(entries) => entries,
            NodeKind::Scalar(text) => {
                return Mix::from_text(text)
                    .map_err(|message| problems.error("bad_value", node.span, message))
                    .ok();
            }
            NodeKind::Null | NodeKind::List(_) => {
                let message = format!("expected a mix, found {}", node.describe());
                let problem = error("wrong_type", node.span, message);
                problems.push(problem.help("write {read: 70, write: 30}"));
                return None;
            }
        };
        let mut mix = Mix {
            read: 0,
            write: 0,
            trim: 0,
        };
        let mut whole = true;
        for (key, value) in entries {
            let share = Percent::from_node(value, problems);
            let slot = match key.text() {
                Some("read") => &mut mix.read,
                Some("write") => &mut mix.write,
                Some("trim") => &mut mix.trim,
                other => {
                    problems.push(unknown_share(other.unwrap_or_default(), key));
                    whole = false;
                    continue;
                }
            };
            match share {
                Some(Percent(percent)) => *slot = percent,
                None => whole = false,
            }
        }
        whole.then_some(mix)
    }

    fn to_out(&self) -> Out {
        let shares = [
            ("read", self.read),
            ("write", self.write),
            ("trim", self.trim),
        ];
        Out::Map(
            shares
                .into_iter()
                .filter(|(_, share)| *share > 0)
                .map(|(name, share)| (name.to_owned(), Out::Number(u64::from(share))))
                .collect(),
        )
    }

    fn to_text(&self) -> String {
        match self.trim {
            0 => format!("{}/{}", self.read, self.write),
            trim => format!("{}/{}/{trim}", self.read, self.write),
        }
    }

    fn example() -> &'static str {
        "{read: 70, write: 30}"
    }

    fn schema() -> Schema {
        json_schema!({
            "description": "Percentages of reads, writes and trims that add up to 100; as text 70/30.",
            "type": ["object", "string"],
            "properties": {
                "read": { "type": "integer", "minimum": 0, "maximum": 100 },
                "write": { "type": "integer", "minimum": 0, "maximum": 100 },
                "trim": { "type": "integer", "minimum": 0, "maximum": 100 }
            },
            "additionalProperties": false
        })
    }
}

fn unknown_share(name: &str, key: &Node) -> crate::diagnostic::Problem {
    let names = ["read", "write", "trim"];
    let help = match nearest(name, names) {
        Some(name) => format!("did you mean `{name}`?"),
        None => "a mix has the shares read, write and trim".to_owned(),
    };
    error("unknown_key", key.span, format!("unknown share `{name}`")).help(help)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_form_is_reads_then_writes_then_trims() {
        let mix = Mix::from_text("70/25/5").unwrap();
        assert_eq!(
            (mix.read, mix.write, mix.trim, mix.total()),
            (70, 25, 5, 100)
        );
        assert_eq!(Mix::from_text("70/30").unwrap().to_text(), "70/30");
        assert!(Mix::from_text("70").unwrap_err().contains("70/30"));
    }
}
