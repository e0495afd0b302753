//! Names and targets.

use fathom_model::Target;
use schemars::{Schema, json_schema};

use super::Value;
use crate::diagnostic::{Problems, error};
use crate::node::{Located, Node, NodeKind, Out};

/// A name of a plan or workload: what a heading of a report can hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name(pub String);

const MAX_NAME_CHARS: usize = 80;

impl Value for Name {
    const KIND: &'static str = "name";

    fn from_text(text: &str) -> Result<Self, String> {
        let name = text.trim();
        let length = name.chars().count();
        if length == 0 || length > MAX_NAME_CHARS || name.chars().any(char::is_control) {
            return Err(format!(
                "a name has 1 to {MAX_NAME_CHARS} characters on one line, for example database"
            ));
        }
        Ok(Name(name.to_owned()))
    }

    fn to_out(&self) -> Out {
        Out::Text(self.0.clone())
    }

    fn example() -> &'static str {
        "database"
    }

    fn schema() -> Schema {
        json_schema!({
            "description": "A name for headings and tables.",
            "type": ["string", "number"],
            "minLength": 1,
            "maxLength": MAX_NAME_CHARS
        })
    }
}

/// One or several targets.
#[derive(Debug, Clone, PartialEq)]
pub struct Targets(pub Vec<Located<Target>>);

const MAX_TARGETS: usize = 256;

impl Value for Targets {
    const KIND: &'static str = "target";

    fn from_text(text: &str) -> Result<Self, String> {
        let target = text.parse().map_err(|e| format!("{e}"))?;
        Ok(Targets(vec![Located::new(target)]))
    }

    fn from_node(node: &Node, problems: &mut Problems) -> Option<Self> {
        let items: &[Node] = match &node.kind {
            NodeKind::Scalar(_) => std::slice::from_ref(node),
            NodeKind::List(items) => items,
            NodeKind::Null | NodeKind::Map(_) => &[],
        };
        if items.is_empty() || items.len() > MAX_TARGETS {
            let problem = error(
                "wrong_type",
                node.span,
                format!(
                    "expected 1 to {MAX_TARGETS} targets, found {}",
                    node.describe()
                ),
            );
            problems.push(problem.help("write a path, or a list such as [/mnt/a, /mnt/b]"));
            return None;
        }
        let mut targets: Vec<Located<Target>> = Vec::new();
        for item in items {
            let Some(text) = item.text() else {
                let message = format!("expected a target, found {}", item.describe());
                problems.error("wrong_type", item.span, message);
                continue;
            };
            match text.parse::<Target>() {
                Ok(target) => match targets.iter().find(|t| t.value == target) {
                    Some(first) => problems.push(
                        error(
                            "target_twice",
                            item.span,
                            format!("{target} is named twice"),
                        )
                        .relate(first.span, "here first"),
                    ),
                    None => targets.push(Located {
                        value: target,
                        span: item.span,
                    }),
                },
                Err(wrong) => problems.error("bad_value", item.span, wrong.to_string()),
            }
        }
        Some(Targets(targets))
    }

    fn to_out(&self) -> Out {
        let texts = self.0.iter().map(|t| Out::Text(t.value.to_string()));
        let mut texts: Vec<Out> = texts.collect();
        match (texts.len(), texts.pop()) {
            (1, Some(only)) => only,
            (_, Some(last)) => {
                texts.push(last);
                Out::List(texts)
            }
            (_, None) => Out::List(texts),
        }
    }

    fn example() -> &'static str {
        "/mnt/data"
    }

    fn schema() -> Schema {
        json_schema!({
            "description": "A directory, file or block device; null: for the null target; sim:MODEL for a simulated drive. Or a list of these.",
            "type": ["string", "array"],
            "items": { "type": "string" },
            "minItems": 1
        })
    }
}
