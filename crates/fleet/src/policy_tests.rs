//! What the owner's list lets through.

use std::os::unix::fs::symlink;

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
        let error = check(path).unwrap_err();
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
    let error = policy.check(&trial("null:"), true).unwrap_err();
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
    };
    let mut spec = trial(directory.path().to_str().unwrap());
    let named = |path: &str| fathom_model::workload::NamedFiles {
        paths: vec![path.into()],
        create: true,
        ours: false,
    };
    spec.workload.named = Some(named("own"));
    policy.check(&spec, false).unwrap();
    spec.workload.named = Some(named("/etc/passwd"));
    assert!(policy.check(&spec, false).is_err());
    spec.workload.named = None;
    spec.workload.replay = Some(fathom_model::workload::Replay::of("/etc/passwd".into()));
    assert!(policy.check(&spec, false).is_err());
}
