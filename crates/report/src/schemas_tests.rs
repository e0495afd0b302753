//! The committed schemas of what is printed about one host.

fn committed(name: &str, schema: &str) {
    let path = format!("{}/../../docs/schema/{name}", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, schema).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == schema,
        "docs/schema/{name} is out of date; run UPDATE_DOCS=1 cargo test -p fathom-report --lib \
         schemas"
    );
}

#[test]
fn the_committed_schemas_are_those_of_the_types() {
    committed(
        "diagnosis.schema.json",
        &crate::diagnosis::schema().unwrap(),
    );
    committed("stack.schema.json", &crate::stack::schema().unwrap());
    committed("use.schema.json", &crate::machine::schema().unwrap());
    committed("cluster.schema.json", &crate::cluster::schema().unwrap());
    committed("alarms.schema.json", &crate::alarms::schema().unwrap());
    committed("rules.schema.json", &crate::rules::schema().unwrap());
    committed("watch.schema.json", &crate::watch_line::schema().unwrap());
}
