//! The JSON Schema of plan files, for editors and checkers.

use fathom_model::PLAN_SCHEMA;
use schemars::{JsonSchema, Schema, SchemaGenerator, generate::SchemaSettings, json_schema};

use crate::keys::{PlanKeys, definitions, schema_of};

/// The plan file as a type that has a schema.
struct PlanFile;

impl JsonSchema for PlanFile {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "fathom plan".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let mut schema = schema_of::<PlanKeys>();
        schema.insert(
            "description".to_owned(),
            "What fathom measures: targets, workloads, matrix, iterations.".into(),
        );
        schema.insert(
            "required".to_owned(),
            serde_json::json!(["plan", "workloads"]),
        );
        schema.insert("$defs".to_owned(), definitions().into());
        if let Some(version) = schema.pointer_mut("/properties/plan") {
            *version = json_schema!({
                "description": "Version of the plan format.",
                "const": PLAN_SCHEMA
            })
            .to_value();
        }
        schema
    }
}

/// The JSON Schema of plan files, as pretty-printed JSON with a final line
/// feed.
pub fn schema() -> String {
    let generator = SchemaSettings::draft2020_12().into_generator();
    let schema = generator.into_root_schema_for::<PlanFile>();
    let mut text = fathom_model::indented_json(&schema).unwrap_or_default();
    text.push('\n');
    text
}
