//! What the owner's list lets through.

use std::os::unix::fs::symlink;

use fathom_model::workload::{ObjectStore, Replay, Work};
use fathom_model::{ScheduledTrial, Target};

use super::*;

fn trial(target: &str) -> ScheduledTrial {
    crate::test_trial::trial(target.parse::<Target>().unwrap())
}

#[test]
fn only_what_is_on_the_list_and_links_lead_nowhere_else() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    let allowed = root.join("data");
    std::fs::create_dir_all(allowed.join("below")).unwrap();
    std::fs::create_dir(root.join("data-other")).unwrap();
    symlink(root, allowed.join("out")).unwrap();
    symlink(root.join("nowhere"), allowed.join("dangling")).unwrap();
    let policy = Policy {
        allowed: vec![allowed.clone()],
        destructive: false,
        ..Policy::default()
    };
    let check = |path: &str| {
        let path = allowed.join(path);
        policy.check(&trial(path.to_str().unwrap()), false)
    };
    check("").unwrap();
    check("below").unwrap();
    check("new-file").unwrap();
    for path in [
        "out",
        "out/data-other",
        "..",
        "../data-other",
        "dangling",
        "below/../..",
    ] {
        let error = check(path).unwrap_err().to_string();
        assert!(error.contains("not on the list"), "{path}: {error}");
    }
    policy.check(&trial("null:"), false).unwrap();
    policy.check(&trial("sim:ssd"), false).unwrap();
    assert!(policy.check(&trial("data"), false).is_err(), "relative");
    assert!(Policy::default().check(&trial("/tmp"), false).is_err());
}

#[test]
fn overwriting_needs_the_owner_as_well() {
    let mut policy = Policy::default();
    let error = policy.check(&trial("null:"), true).unwrap_err().to_string();
    assert!(error.contains("--allow-destructive"), "{error}");
    policy.destructive = true;
    policy.check(&trial("null:"), true).unwrap();
}

#[test]
fn files_by_name_are_looked_at_as_well() {
    let directory = tempfile::tempdir().unwrap();
    let policy = Policy {
        allowed: vec![directory.path().to_owned()],
        destructive: false,
        ..Policy::default()
    };
    let mut spec = trial(directory.path().to_str().unwrap());
    let named = |path: &str| fathom_model::workload::NamedFiles {
        paths: vec![path.into()],
        create: true,
        ours: false,
    };
    let own = directory.path().join("own");
    spec.workload.data_set.named = Some(named(own.to_str().unwrap()));
    policy.check(&spec, false).unwrap();
    spec.workload.data_set.named = Some(named("/etc/passwd"));
    assert!(policy.check(&spec, false).is_err());
    spec.workload.data_set.named = None;
    spec.workload.work = Work::recorded(Replay::of("/etc/passwd".into()));
    assert!(policy.check(&spec, false).is_err());
}

#[test]
fn keys_are_shown_to_the_endpoints_of_the_list_and_of_the_environment() {
    let policy = Policy {
        allowed: vec!["s3://bench".into()],
        endpoints: vec!["https://minio:9000".parse().unwrap()],
        ..Policy::default()
    };
    let check = |endpoints: &[&str]| {
        let mut spec = trial("s3://bench/below");
        let endpoints = endpoints.iter().map(|&name| name.to_owned()).collect();
        spec.workload.work = Work::blocks_as_objects(ObjectStore::new(endpoints));
        policy.check(&spec, false)
    };
    check(&["https://minio:9000"]).unwrap();
    check(&["https://MINIO:9000/"]).unwrap();
    // What the environment names, or Amazon.
    check(&[]).unwrap();
    for endpoint in [
        "http://minio:9000",
        "https://minio",
        "https://minio:9000.example",
        "https://elsewhere.example",
        "https://ec2-203-0-113-1.compute-1.amazonaws.com",
    ] {
        let error = check(&["https://minio:9000", endpoint])
            .unwrap_err()
            .to_string();
        assert!(error.contains("endpoint"), "{endpoint}: {error}");
    }
    let error = check(&["https://elsewhere.example"])
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("--allow-endpoint https://elsewhere.example"),
        "{error}"
    );
}

#[test]
fn named_files_and_lists_are_where_the_owner_allows_whatever_the_target_is() {
    let directory = tempfile::tempdir().unwrap();
    let allowed = directory.path().canonicalize().unwrap();
    std::fs::write(allowed.join("file"), "x").unwrap();
    let policy = Policy {
        allowed: vec![allowed.clone()],
        ..Policy::default()
    };
    let check = |path: &Path| {
        let mut spec = trial(allowed.to_str().unwrap());
        spec.workload.data_set.named = Some(fathom_model::workload::NamedFiles {
            paths: vec![path.to_owned()],
            create: true,
            ours: true,
        });
        policy.check(&spec, false)
    };
    check(&allowed.join("file")).unwrap();
    check(&allowed.join("new")).unwrap();
    // Opened below the folder in which the agent was started.
    for path in ["file", "new", "./file"] {
        let error = check(path.as_ref()).unwrap_err().to_string();
        assert!(error.contains("relative"), "{path}: {error}");
    }
    assert!(check("/etc/hostname".as_ref()).is_err());
}
