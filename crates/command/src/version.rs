//! `fathom --version --json`: what this file was built from.

use std::ffi::OsString;

use fathom_model::workload::EngineKind;
use serde_json::{Value, json};

const SCHEMA: &str = "fathom.version/1";

/// The document, where the arguments ask for the version as JSON.
pub(crate) fn asked_for(arguments: &[OsString]) -> Option<String> {
    let [_, first, second] = arguments else {
        return None;
    };
    let words = [first.to_str()?, second.to_str()?];
    let asked =
        words.contains(&"--json") && words.iter().any(|it| ["--version", "-V"].contains(it));
    asked.then(|| format!("{:#}\n", document()))
}

fn document() -> Value {
    let mut engines = EngineKind::ALL.map(EngineKind::name);
    engines.sort_unstable();
    json!({
        "schema": SCHEMA,
        "version": env!("CARGO_PKG_VERSION"),
        // Set by scripts/release; a build from a work tree is of no commit.
        "commit": option_env!("FATHOM_COMMIT"),
        "target": target(),
        "features": engines,
    })
}

/// The target's name, as the compiler calls it.
fn target() -> String {
    let library = match () {
        () if cfg!(target_env = "musl") => "musl",
        () => "gnu",
    };
    format!("{}-unknown-linux-{library}", std::env::consts::ARCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<OsString> {
        words.iter().map(OsString::from).collect()
    }

    #[test]
    fn the_version_is_a_document_where_json_is_asked_for() {
        let page = asked_for(&words(&["fathom", "--version", "--json"])).unwrap();
        let document: Value = serde_json::from_str(&page).unwrap();
        assert_eq!(document["schema"], SCHEMA);
        assert_eq!(document["version"], env!("CARGO_PKG_VERSION"));
        assert!(document["target"].as_str().unwrap().contains("-linux-"));
        let features = document["features"].as_array().unwrap();
        assert!(features.contains(&Value::from("uring")));
        assert!(asked_for(&words(&["fathom", "--json", "-V"])).is_some());
    }

    #[test]
    fn other_words_ask_for_something_else() {
        for other in [
            &["fathom", "--version"][..],
            &["fathom", "io", "--json"],
            &["fathom", "--json", "--json"],
            &["fathom", "--version", "--json", "io"],
        ] {
            assert!(asked_for(&words(other)).is_none(), "{other:?}");
        }
    }
}
