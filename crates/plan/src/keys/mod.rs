//! The keys of a plan file, each declared once with all that is to be known
//! about it.

mod groups;
mod payload;
mod plan;
mod workload;

pub use payload::PayloadKeys;
pub use plan::{Axis, Matrix, PauseKeys, PlanKeys, WorkloadList};
pub use workload::WorkloadKeys;

use schemars::{Schema, json_schema};

use crate::diagnostic::Problems;
use crate::node::{Node, Out};
use crate::section::{self, Section};
use crate::value::Value;

/// Makes a section the value of a key.
macro_rules! section_value {
    ($Section:ty, $example:literal) => {
        impl Value for $Section {
            const KIND: &'static str = "map";

            fn from_text(_: &str) -> Result<Self, String> {
                Err(format!(
                    "this is a map with keys of its own; write {}",
                    $example
                ))
            }

            fn from_node(node: &Node, problems: &mut Problems) -> Option<Self> {
                Some(section::read(node, problems))
            }

            fn update(&mut self, over: &Self) {
                Section::overlay(self, over);
            }

            fn to_out(&self) -> Out {
                Out::Map(self.entries())
            }

            fn example() -> &'static str {
                $example
            }

            fn schema() -> Schema {
                definition_ref::<$Section>()
            }
        }
    };
}

section_value!(PayloadKeys, "{content: random, compress: 50}");
section_value!(PauseKeys, "{floor: 1s, ceiling: 30s}");
section_value!(WorkloadKeys, "{rw: randread, bs: 4k, runtime: 30s}");

/// A reference to the section's schema among the definitions.
pub(crate) fn definition_ref<S: Section>() -> Schema {
    json_schema!({ "$ref": format!("#/$defs/{}", S::TITLE) })
}

/// The definitions that a plan's schema refers to, by name.
pub(crate) fn definitions() -> serde_json::Map<String, serde_json::Value> {
    [
        (WorkloadKeys::TITLE, schema_of::<WorkloadKeys>()),
        (PayloadKeys::TITLE, schema_of::<PayloadKeys>()),
        (PauseKeys::TITLE, schema_of::<PauseKeys>()),
        (Matrix::TITLE, Matrix::definition()),
    ]
    .into_iter()
    .map(|(name, schema)| (name.to_owned(), schema.to_value()))
    .collect()
}

/// The JSON Schema of a section: its keys and aliases, nothing else.
pub(crate) fn schema_of<S: Section>() -> Schema {
    let mut properties = serde_json::Map::new();
    for key in S::keys() {
        let mut schema = (key.schema)();
        let kind = schema.remove("description");
        let kind = kind.and_then(|d| d.as_str().map(str::to_owned));
        let text = [
            Some(key.text()),
            kind,
            Some(format!("Default: {}.", key.default)),
        ];
        let text: Vec<String> = text.into_iter().flatten().collect();
        schema.insert("description".to_owned(), text.join(" ").into());
        properties.insert(key.name.to_owned(), schema.to_value());
        for alias in key.aliases {
            let mut schema = (key.schema)();
            let text = format!("Another name of {}.", key.name);
            schema.insert("description".to_owned(), text.into());
            schema.insert("deprecated".to_owned(), true.into());
            properties.insert((*alias).to_owned(), schema.to_value());
        }
    }
    json_schema!({
        "type": "object",
        "properties": properties,
        "additionalProperties": false
    })
}
