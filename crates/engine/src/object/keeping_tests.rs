//! What is given too little time, kept, or of somebody else.

use fathom_model::workload::ObjectSizes;
use fathom_model::{ErrorClass, OpKind, Target};

use super::tests::{MS, done, errors, job, latency, object, run, server, store};
use super::{clean_bucket, keep_objects_of_run, remove_objects_of_run};
use crate::prepare::{NoHooks, prepare};

const PLACE: &str = "bucket/some prefix";

#[test]
fn an_answer_that_comes_too_late_is_no_success() {
    let server = server("GET:delay=1s@2");
    let mut job = job(&server, 400, &[(OpKind::Get, 1)]);
    object(&mut job).sizes = ObjectSizes::Fixed(512);
    // Making the objects has the same time, and they are not delayed.
    job.workload.store_mut().unwrap().timeout_ns = 500 * MS;
    let end = run(&job);
    let late = errors(&end, ErrorClass::Timeout);
    assert!(late >= 20, "every second one is late: {late}");
    assert_eq!(done(&end, OpKind::Get).0 + late, 40);
    let slowest = latency(&end, OpKind::Get).max();
    assert!(slowest.is_none_or(|ns| ns <= 500 * MS), "{slowest:?}");
    // However little the load was given, removing gets its time.
    let hasty = job.workload.store().unwrap();
    remove_objects_of_run(hasty, PLACE, 400, &mut NoHooks).unwrap();
    assert!(server.keys().is_empty());
}

#[test]
fn what_comes_with_the_head_takes_no_time_to_transfer() {
    let server = server("");
    let mut puts = job(&server, 401, &[(OpKind::Put, 1)]);
    object(&mut puts).sizes = ObjectSizes::Fixed(512);
    let end = run(&puts);
    assert_eq!(done(&end, OpKind::FirstByte).0, 40);
    assert_eq!(done(&end, OpKind::Transfer).0, 0, "nothing followed");
}

#[test]
fn what_was_to_be_kept_is_only_removed_on_request() {
    let server = server("");
    let kept = job(&server, 402, &[(OpKind::Put, 1)]);
    run(&kept);
    run(&job(&server, 403, &[(OpKind::Put, 1)]));
    let store = store(&server);
    keep_objects_of_run(&store, PLACE, 402, &NoHooks).unwrap();
    let cleaned = clean_bucket(&store, PLACE, (true, false), &mut NoHooks).unwrap();
    assert_eq!((cleaned.runs.len(), cleaned.kept_runs), (1, 1));
    assert_eq!(server.keys().len(), 41, "its objects and the note");

    // The note is no object that is read.
    let mut reading = job(&server, 404, &[(OpKind::Get, 1)]);
    object(&mut reading).existing = true;
    assert_eq!(done(&run(&reading), OpKind::Get).0, 40);

    let cleaned = clean_bucket(&store, PLACE, (true, true), &mut NoHooks).unwrap();
    assert_eq!((cleaned.runs.len(), cleaned.kept_runs), (1, 0));
    assert!(server.keys().is_empty());
}

#[test]
fn nothing_is_made_in_the_root_of_somebody_elses_bucket() {
    let server = server("");
    let mut other = job(&server, 405, &[(OpKind::Put, 1)]);
    other.target = Target::Bucket("bucket/fathom-notes".to_owned());
    run(&other);
    // Even reading makes what is read.
    for kind in [OpKind::Get, OpKind::Put] {
        let mut root = job(&server, 406, &[(kind, 1)]);
        root.target = Target::Bucket("bucket".to_owned());
        let error = prepare(&root, &mut NoHooks).unwrap_err().to_string();
        assert!(error.contains("not empty"), "{error}");
    }
    remove_objects_of_run(&store(&server), "bucket/fathom-notes", 405, &mut NoHooks).unwrap();
    // What other runs left there is no stranger.
    let mut root = job(&server, 407, &[(OpKind::Put, 1)]);
    root.target = Target::Bucket("bucket".to_owned());
    run(&root);
    root.run_tag = 408;
    run(&root);
}
