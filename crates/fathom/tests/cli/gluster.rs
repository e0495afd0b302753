//! Lookups on a real Gluster volume, in namespaces of its own.

use std::process::Command;

use serde_json::Value;

use crate::bench::{Bench, is_root};

/// The daemon takes seconds to start and to stop.
const LIMIT_S: &str = "240";

#[test]
fn lookups_are_counted_on_a_mounted_volume() {
    let has = |tool: &str| {
        let paths = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&paths).any(|path| path.join(tool).is_file())
    };
    let needed = [
        "glusterd",
        "gluster",
        "glusterfs",
        "unshare",
        "ip",
        "timeout",
    ];
    if let Some(missing) = needed.into_iter().find(|tool| !has(tool)) {
        println!("skipped: {missing} is not installed");
        return;
    }
    if !is_root() {
        println!("skipped: a volume can only be made as root");
        return;
    }
    let bench = Bench::new();
    // Bricks need extended attributes of the system, which every file system
    // with a device has; overlays have not.
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/gluster.sh");
    let isolated = "unshare --net --mount --pid --fork --kill-child --mount-proc sh";
    let load =
        "meta . --files 100 --threads 2 --files-per-dir 10 --phases create,stat --paths whole";
    let output = Command::new("timeout")
        .args([LIMIT_S])
        .args(isolated.split(' '))
        .arg(script)
        .arg(bench.data())
        .arg(env!("CARGO_BIN_EXE_fathom"))
        .args(load.split(' '))
        .arg("--json")
        .env("FATHOM_STORE", bench.store())
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    if matches!(output.status.code(), Some(77 | 124)) {
        println!("skipped: no volume could be had here: {told}");
        return;
    }
    assert_eq!(output.status.code(), Some(0), "{told}");
    let read = |name: &str| -> Value {
        let text = std::fs::read(bench.data().join(name)).unwrap();
        serde_json::from_slice(&text).unwrap_or_else(|error| panic!("{error}: {told}"))
    };
    let used = |result: &Value, trial: usize| result["trials"][trial]["summary"]["gluster"].clone();
    let note = used(&read("not-started.json"), 0)["notes"][0].clone();
    assert!(note.as_str().unwrap().contains("is not started"), "{note}");
    let counted = read("counted.json");
    let create = used(&counted, 0);
    assert_eq!(create["volume"], "lookups");
    let bricks = create["bricks"].as_array().unwrap();
    assert_eq!(bricks.len(), 2);
    for brick in bricks {
        let of = |name: &str| {
            let mut calls = brick["calls"].as_array().unwrap().iter();
            let found = calls.find(|one| one["name"] == name);
            found.map_or(0, |one| one["calls"].as_u64().unwrap())
        };
        assert_eq!(of("CREATE"), 200, "each brick of a replica makes each file");
        assert!(of("LOOKUP") >= 200, "{brick}");
    }
}
