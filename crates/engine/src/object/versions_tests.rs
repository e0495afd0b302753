//! Versions of objects, in a store that keeps them.

use fathom_model::OpKind;
use fathom_model::workload::{ObjectSizes, Verify};

use super::remove_objects_of_run;
use super::tests::{done, errors, job, object, run, server, store};
use crate::EndReason;
use crate::prepare::{NoHooks, prepare};

#[test]
fn every_version_is_made_read_and_removed_once() {
    let server = server("");
    server.keep_versions();
    let of = |kind| {
        let mut job = job(&server, 300, &[(kind, 1)]);
        object(&mut job).versions = 3;
        job.workload.verify = Some(Verify {
            on_read: true,
            ..Verify::default()
        });
        job
    };
    // 2 workers with 20 objects each.
    for (kind, expected) in [
        (OpKind::GetVersion, 120),
        (OpKind::HeadVersion, 120),
        (OpKind::PutVersion, 40),
        (OpKind::DeleteVersion, 160),
    ] {
        let end = run(&of(kind));
        assert_eq!(end.report.errors, [], "{}", kind.name());
        assert_eq!(end.end_reason, EndReason::Ops);
        let (ops, bytes, failed) = done(&end, kind);
        assert_eq!((ops, failed), (expected, 0), "{}", kind.name());
        assert_eq!(bytes > 0, kind.moves_bytes());
    }
    assert!(server.keys().is_empty());
    let removed = remove_objects_of_run(&store(&server), "bucket/some prefix", 300, &mut NoHooks);
    assert_eq!(removed.unwrap().objects, 0, "not one version is left");
}

#[test]
fn versions_that_are_lacking_are_made_and_those_of_puts_are_known() {
    let server = server("");
    server.keep_versions();
    for kind in [OpKind::Put, OpKind::PutMultipart] {
        let tag = 310 + kind.index() as u64;
        run(&job(&server, tag, &[(kind, 1)]));
        let before = server.requests();
        let end = run(&job(&server, tag, &[(OpKind::GetVersion, 1)]));
        assert_eq!(done(&end, OpKind::GetVersion).0, 40);
        assert_eq!(
            server.requests() - before,
            41,
            "a listing, and no object anew"
        );
        let mut more = job(&server, tag, &[(OpKind::GetVersion, 1)]);
        object(&mut more).versions = 2;
        let before = server.requests();
        let twice = run(&more);
        let (ops, bytes, failed) = done(&end, OpKind::GetVersion);
        assert_eq!(
            done(&twice, OpKind::GetVersion),
            (2 * ops, 2 * bytes, failed)
        );
        assert_eq!(server.requests() - before, 121, "one more of each is made");
    }
}

#[test]
fn a_mix_never_asks_for_what_it_removed() {
    let server = server("");
    server.keep_versions();
    let ops = [
        (OpKind::GetVersion, 45),
        (OpKind::HeadVersion, 30),
        (OpKind::PutVersion, 15),
        (OpKind::DeleteVersion, 10),
    ];
    let mut job = job(&server, 330, &ops);
    job.workload.bounds.ops = Some(3000);
    job.workload.queue_depth = 8;
    object(&mut job).sizes = ObjectSizes::Fixed(100);
    object(&mut job).versions = 2;
    let end = run(&job);
    assert_eq!(end.report.errors, []);
    let counts = ops.map(|(kind, _)| done(&end, kind).0);
    assert_eq!(counts.iter().sum::<u64>(), 3000);
    assert!(counts.iter().all(|count| *count > 100), "{counts:?}");
    // No object lost its last version.
    assert_eq!(server.keys().len(), 40);
}

#[test]
fn a_bucket_without_versions_is_told_how_to_have_them() {
    let server = server("");
    let job = job(&server, 340, &[(OpKind::GetVersion, 1)]);
    let error = prepare(&job, &mut NoHooks).unwrap_err().to_string();
    assert!(error.contains("put-bucket-versioning"), "{error}");
}

#[test]
fn the_null_store_has_a_version_of_everything() {
    let server = server("");
    let mut job = job(&server, 350, &[(OpKind::GetVersion, 1)]);
    job.target = fathom_model::Target::Null;
    let end = run(&job);
    assert_eq!(end.report.errors, []);
    assert_eq!(done(&end, OpKind::GetVersion).0, 40);
    assert_eq!(errors(&end, fathom_model::ErrorClass::Verify), 0);
    object(&mut job).ops[0].kind = OpKind::DeleteVersion;
    assert_eq!(done(&run(&job), OpKind::DeleteVersion).0, 40);
}
