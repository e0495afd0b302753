//! The documents beside the code say what the code does: the reference page,
//! the JSON Schema and the examples.
//!
//! `FATHOM_BLESS=1 cargo test -p fathom-plan --test documents` writes the
//! generated ones anew.

use std::path::{Path, PathBuf};

use fathom_plan::{ScheduleContext, parse, reference, schema, templates};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn same(file: &str, generated: &str) {
    let path = root().join(file);
    if std::env::var_os("FATHOM_BLESS").is_some() {
        std::fs::write(&path, generated).unwrap_or_else(|e| panic!("{file}: {e}"));
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        stored == generated,
        "{file} is stale; write it anew with FATHOM_BLESS=1"
    );
}

#[test]
fn the_schema_is_up_to_date() {
    same("docs/schema/plan.schema.json", &schema());
}

#[test]
fn the_reference_is_up_to_date() {
    same("docs/reference/plan.md", &reference());
}

#[test]
fn every_example_is_a_plan_that_runs() {
    let folder = root().join("examples/plans");
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|e| e != "yaml") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap();
        let plan = parse(name, &text).unwrap_or_else(|e| panic!("{e}"));
        let schedule = plan.schedule(&ScheduleContext::default());
        let schedule = schedule.unwrap_or_else(|e| panic!("{e}"));
        assert!(!schedule.trials.is_empty(), "{name}");
        let found = plan.lint(&ScheduleContext::default());
        assert!(found.is_empty(), "{name}:\n{found}");
        seen += 1;
    }
    assert!(seen >= 5, "only {seen} examples");
}

#[test]
fn the_plan_in_the_reference_is_as_it_tells() {
    let page = reference();
    let text = page.split("```yaml\n").nth(1).unwrap();
    let text = text.split("```").next().unwrap();
    let plan = parse("reference.yaml", text).unwrap_or_else(|e| panic!("{e}"));
    let schedule = plan.schedule(&ScheduleContext::default()).unwrap();
    assert_eq!(schedule.trials.len(), 18);
    let labels: Vec<&str> = schedule.trials.iter().map(|t| t.label.as_str()).collect();
    assert!(labels.contains(&"randread-4k q32 j4"), "{labels:?}");
    assert!(labels.contains(&"commits j4"), "{labels:?}");
}

#[test]
fn the_set_in_the_reference_is_as_it_tells() {
    let page = reference();
    let text = page.split("```yaml\n").nth(2).unwrap();
    let text = text.split("```").next().unwrap();
    let plan = parse("reference.yaml", text).unwrap_or_else(|e| panic!("{e}"));
    let schedule = plan.schedule(&ScheduleContext::default()).unwrap();
    let sets: Vec<Option<u32>> = schedule.trials.iter().map(|t| t.together).collect();
    let turn = |set| [None, Some(set), Some(set)];
    assert_eq!(sets, [turn(0), turn(1), turn(2)].concat());
    assert_eq!(schedule.trials[2].start_delay_ns, 10_000_000_000);
    assert!(plan.lint(&ScheduleContext::default()).is_empty());
}

/// The names in the schema are the names that are understood, and every
/// template uses only those.
#[test]
fn the_schema_knows_the_keys_of_the_templates() {
    let schema: serde_json::Value = serde_json::from_str(&schema()).unwrap();
    let keys = &schema["$defs"]["workload"]["properties"];
    let items = &schema["properties"]["workloads"]["items"]["$ref"];
    assert_eq!(items, "#/$defs/workload");
    assert!(
        keys["iodepth"]["description"]
            .as_str()
            .unwrap()
            .contains("in flight")
    );
    assert_eq!(schema["properties"]["plan"]["const"], 1);
    for template in templates() {
        for line in template.text.lines() {
            let line = line.trim_start().trim_start_matches("- ");
            let Some((key, _)) = line.split_once(": ") else {
                continue;
            };
            if !key.chars().all(|c| c.is_ascii_lowercase() || c == '_') {
                continue;
            }
            let known = [
                &schema["properties"][key],
                &keys[key],
                &schema["$defs"]["pause"]["properties"][key],
                &schema["$defs"]["payload"]["properties"][key],
            ];
            assert!(
                known.iter().any(|k| k.is_object()),
                "{}: {key}",
                template.name
            );
        }
    }
}
