//! The committed JSON Schema, and documents against it.
//!
//! The validator below knows the keywords that the schema uses and refuses
//! any other, so that a keyword can never be passed over in silence.

use fathom_model::{CROSSCHECK_SCHEMA, Crosscheck};
use serde_json::Value;

use crate::synthetic;
use fathom_report::json;

const COMMITTED: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../docs/schema/run.schema.json"
);

#[test]
fn the_committed_schema_is_the_code_s() {
    let committed = std::fs::read_to_string(COMMITTED).unwrap_or_default();
    assert!(
        committed == json::schema().unwrap(),
        "docs/schema/run.schema.json is stale; run \
         `cargo run -p fathom-report --example schema > docs/schema/run.schema.json`"
    );
}

#[test]
fn the_committed_schema_of_comparisons_is_the_code_s() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/schema/comparison.schema.json"
    );
    assert!(
        std::fs::read_to_string(path).unwrap_or_default() == json::comparison_schema().unwrap(),
        "docs/schema/comparison.schema.json is stale; run \
         `cargo run -p fathom-report --example schema comparison > \
         docs/schema/comparison.schema.json`"
    );
}

#[test]
fn the_committed_schema_of_several_comparisons_is_the_code_s() {
    let path = COMMITTED.replace("run.schema.json", "comparisons.schema.json");
    assert!(
        std::fs::read_to_string(path).unwrap_or_default() == json::comparisons_schema().unwrap(),
        "docs/schema/comparisons.schema.json is stale; run \
         `cargo run -p fathom-report --example schema comparisons > \
         docs/schema/comparisons.schema.json`"
    );
}

#[test]
fn the_committed_schema_of_cross_checks_is_the_code_s() {
    let path = COMMITTED.replace("run.schema.json", "crosscheck.schema.json");
    assert!(
        std::fs::read_to_string(path).unwrap_or_default()
            == json::schema_of::<Crosscheck>(CROSSCHECK_SCHEMA, "fathom cross-check").unwrap(),
        "docs/schema/crosscheck.schema.json is stale; run \
         `cargo run -p fathom-report --example schema crosscheck > \
         docs/schema/crosscheck.schema.json`"
    );
}

#[test]
fn the_committed_schema_of_opinions_is_the_code_s() {
    let path = COMMITTED.replace("run.schema.json", "opinion.schema.json");
    let committed = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        committed == fathom_report::opinion::schema().unwrap(),
        "docs/schema/opinion.schema.json is stale; run \
         `cargo run -p fathom-report --example opinion_schema > docs/schema/opinion.schema.json`"
    );
}

#[test]
fn opinions_are_valid() {
    let schema: Value = serde_json::from_str(&fathom_report::opinion::schema().unwrap()).unwrap();
    for opinion in [crate::opinion::doubted(), crate::opinion::bare()] {
        let text = fathom_report::opinion::json(&opinion, false).unwrap();
        let document = serde_json::from_str(&text).unwrap();
        let mut faults = Vec::new();
        validate(&schema, &schema, &document, "", &mut faults);
        assert_eq!(faults, Vec::<String>::new());
    }
}

#[test]
fn documents_are_valid() {
    let schema: Value = serde_json::from_str(&json::schema().unwrap()).unwrap();
    for run in [
        synthetic::quick_caveats(),
        synthetic::open_loop_lag(),
        synthetic::interrupted(),
        synthetic::failed(),
        synthetic::errors(),
        synthetic::hostile(),
    ] {
        let document = serde_json::from_str(&json::render(&run, false).unwrap()).unwrap();
        let mut faults = Vec::new();
        validate(&schema, &schema, &document, "", &mut faults);
        assert_eq!(faults, Vec::<String>::new());
    }
}

#[test]
fn broken_documents_are_not_valid() {
    let schema: Value = serde_json::from_str(&json::schema().unwrap()).unwrap();
    let good: Value =
        serde_json::from_str(&json::render(&synthetic::errors(), false).unwrap()).unwrap();
    type Damage = fn(&mut Value);
    let damages: [(&str, Damage); 6] = [
        ("/schema", |d| d["schema"] = "fathom.run/2".into()),
        ("/run/seed", |d| d["run"]["seed"] = "7".into()),
        ("/run/seed", |d| d["run"]["seed"] = (-1).into()),
        ("/verdict/validity", |d| {
            d["verdict"]["validity"] = "fine".into();
        }),
        ("/rows/0/ops/0/service/mean_ns", |d| {
            let mean = &mut d["rows"][0]["ops"][0]["service"]["mean_ns"];
            mean.as_object_mut().unwrap().remove("unit");
        }),
        ("/trials/0/target", |d| d["trials"][0]["target"] = 1.into()),
    ];
    for (at, damage) in damages {
        let mut document = good.clone();
        damage(&mut document);
        let mut faults = Vec::new();
        validate(&schema, &schema, &document, "", &mut faults);
        assert!(faults.iter().any(|f| f.starts_with(at)), "{at}: {faults:?}");
    }
}

fn validate(root: &Value, schema: &Value, value: &Value, at: &str, faults: &mut Vec<String>) {
    let Some(keywords) = schema.as_object() else {
        assert_eq!(schema, &Value::Bool(true), "a schema is an object or true");
        return;
    };
    for (keyword, rule) in keywords {
        match keyword.as_str() {
            "$ref" => {
                let path = rule.as_str().unwrap().strip_prefix('#').unwrap();
                validate(root, root.pointer(path).unwrap(), value, at, faults);
            }
            "type" => {
                if !list(rule)
                    .iter()
                    .any(|t| is_type(value, t.as_str().unwrap()))
                {
                    faults.push(format!("{at}: {value} is not {rule}"));
                }
            }
            "const" if value != rule => faults.push(format!("{at}: {value} is not {rule}")),
            "enum" if !list(rule).contains(value) => {
                faults.push(format!("{at}: {value} is not one of {rule}"));
            }
            "anyOf" | "oneOf" => {
                let fits = |s: &Value| {
                    let mut inner = Vec::new();
                    validate(root, s, value, at, &mut inner);
                    inner.is_empty()
                };
                let fitting = list(rule).iter().filter(|s| fits(s)).count();
                if fitting == 0 || (keyword == "oneOf" && fitting > 1) {
                    faults.push(format!("{at}: {fitting} alternatives fit"));
                }
            }
            "properties" => {
                for (name, inner) in rule.as_object().unwrap() {
                    if let Some(member) = value.get(name) {
                        validate(root, inner, member, &format!("{at}/{name}"), faults);
                    }
                }
            }
            "required" => {
                for name in list(rule) {
                    if value.get(name.as_str().unwrap()).is_none() {
                        faults.push(format!("{at}: {name} is missing"));
                    }
                }
            }
            "additionalProperties" => {
                let known = keywords.get("properties").and_then(Value::as_object);
                for (name, member) in value.as_object().into_iter().flatten() {
                    if known.is_some_and(|k| k.contains_key(name)) {
                        continue;
                    }
                    if rule == &Value::Bool(false) {
                        faults.push(format!("{at}: {name} is not known"));
                    } else {
                        validate(root, rule, member, &format!("{at}/{name}"), faults);
                    }
                }
            }
            "items" => {
                for (i, item) in value.as_array().into_iter().flatten().enumerate() {
                    validate(root, rule, item, &format!("{at}/{i}"), faults);
                }
            }
            "minimum" if value.as_f64() < rule.as_f64() && value.is_number() => {
                faults.push(format!("{at}: {value} is below {rule}"));
            }
            "maximum" if value.as_f64() > rule.as_f64() => {
                faults.push(format!("{at}: {value} is above {rule}"));
            }
            "const" | "enum" | "minimum" | "maximum" | "$schema" | "$id" | "$defs" | "title"
            | "description" | "format" | "default" => {}
            other => panic!("the validator does not know the keyword {other}"),
        }
    }
}

fn list(value: &Value) -> &[Value] {
    match value {
        Value::Array(values) => values,
        one => std::slice::from_ref(one),
    }
}

fn is_type(value: &Value, name: &str) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("unknown type {other}"),
    }
}
