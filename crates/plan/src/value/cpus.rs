//! Lists of CPUs.

use fathom_model::limits::{MAX_CPU, MAX_CPUS};
use schemars::{Schema, json_schema};

use super::Value;
use crate::diagnostic::{Problems, error};
use crate::node::{Node, NodeKind, Out};

/// CPUs in the order in which workers are pinned to them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CpuList(pub Vec<u32>);

impl Value for CpuList {
    const KIND: &'static str = "CPU list";

    fn from_text(text: &str) -> Result<Self, String> {
        let wrong = || format!("'{text}' is not a list of CPUs; write for example 0-3,8");
        let mut cpus = Vec::new();
        for part in text.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let first: u32 = first.trim().parse().map_err(|_| wrong())?;
            let last: u32 = last.trim().parse().map_err(|_| wrong())?;
            if first > last || last > MAX_CPU {
                return Err(wrong());
            }
            cpus.extend(first..=last);
            if cpus.len() > MAX_CPUS {
                return Err(format!("'{text}' names more than {MAX_CPUS} CPUs"));
            }
        }
        Ok(CpuList(cpus))
    }

    fn from_node(node: &Node, problems: &mut Problems) -> Option<Self> {
        let texts: Vec<&str> = match &node.kind {
            NodeKind::Scalar(text) => vec![text.as_str()],
            NodeKind::List(items) => items.iter().filter_map(Node::text).collect(),
            NodeKind::Null | NodeKind::Map(_) => Vec::new(),
        };
        if texts.is_empty() {
            let message = format!("expected a list of CPUs, found {}", node.describe());
            problems.push(error("wrong_type", node.span, message).help("write [0, 1] or 0-3,8"));
            return None;
        }
        CpuList::from_text(&texts.join(","))
            .map_err(|message| problems.error("bad_value", node.span, message))
            .ok()
    }

    fn to_out(&self) -> Out {
        Out::Row(
            self.0
                .iter()
                .map(|cpu| Out::Number(u64::from(*cpu)))
                .collect(),
        )
    }

    fn to_text(&self) -> String {
        let texts: Vec<String> = self.0.iter().map(u32::to_string).collect();
        texts.join(",")
    }

    fn example() -> &'static str {
        "0-3"
    }

    fn schema() -> Schema {
        json_schema!({
            "description": "CPU numbers: [0, 1], or text as 0-3,8.",
            "type": ["array", "string", "integer"],
            "items": { "type": ["integer", "string"] },
            "minimum": 0
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_spelled_out_and_bounded() {
        assert_eq!(CpuList::from_text("0-2,8"), Ok(CpuList(vec![0, 1, 2, 8])));
        for text in ["", "a", "3-1", "0-65536", "0-4096", "1,,2"] {
            assert!(CpuList::from_text(text).is_err(), "{text}");
        }
    }
}
