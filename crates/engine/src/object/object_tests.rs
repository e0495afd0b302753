//! Work on a store in memory, from one end to the other.

use std::net::SocketAddr;

use fathom_model::workload::{
    Bounds, EngineKind, KeySource, ObjectOrder, ObjectSizes, ObjectStore, ObjectWork, OnError,
    OpMix, Rate, RateUnit, Verify, Work, Workload,
};
use fathom_model::{ErrorClass, Histogram, Job, OpKind, Phase, Target};
use fathom_s3::{Credentials, Script, StoreServer};

use super::{clean_bucket, give_credentials, remove_objects_of_run, shelf};
use crate::group::GroupEnd;
use crate::prepare::{NoHooks, prepare};
use crate::{EndReason, Group};

pub(super) const MS: u64 = 1_000_000;

pub(super) fn server(script: &str) -> StoreServer {
    let any = SocketAddr::from(([127, 0, 0, 1], 0));
    let server = StoreServer::start(any, 1 << 30, Script::parse(script).unwrap()).unwrap();
    // Another test's server may have had this port, and objects of the same run.
    let endpoints = format!("{:?}", [server.endpoint()]);
    shelf::forget(endpoints.trim_end_matches(']'));
    server
}

pub(super) fn store(server: &StoreServer) -> ObjectStore {
    give_credentials("object tests", Credentials::default());
    ObjectStore {
        region: "us-east-1".to_owned(),
        keys: KeySource::Given("object tests".to_owned()),
        timeout_ns: 20_000 * MS,
        ..ObjectStore::new(vec![server.endpoint()])
    }
}

/// A job of `ops` on 20 objects of each of two workers.
pub(super) fn job(server: &StoreServer, tag: u64, ops: &[(OpKind, u32)]) -> Job {
    let mut workload = Workload::example("objects");
    workload.engine = EngineKind::S3;
    workload.mix = OpMix::NONE;
    workload.workers = 2;
    workload.queue_depth = 3;
    workload.on_error = OnError::Continue;
    workload.bounds = Bounds::default();
    let sizes = ObjectSizes::Range {
        min_bytes: 1,
        max_bytes: 200_000,
    };
    let requests = ObjectWork {
        part_bytes: 64 << 10,
        parts_at_once: 2,
        page_keys: 7,
        delete_batch: 6,
        backoff_ns: MS,
        ..ObjectWork::new(ops.iter().copied(), 20, sizes)
    };
    workload.work = Work::objects(store(server), requests);
    Job {
        workload,
        target: Target::Bucket("bucket/some prefix".to_owned()),
        seed: 1,
        run_tag: tag,
        destructive: false,
        keep_files: false,
        file_prefix: "t".to_owned(),
    }
}

pub(super) fn object(job: &mut Job) -> &mut ObjectWork {
    job.workload.requests_mut().unwrap()
}

pub(super) fn run(job: &Job) -> GroupEnd {
    let prepared = prepare(job, &mut NoHooks).unwrap();
    let mut group = Group::start(job, &prepared).unwrap();
    group.go();
    group.finish()
}

/// Operations, bytes and errors of a kind, in all phases.
pub(super) fn done(end: &GroupEnd, kind: OpKind) -> (u64, u64, u64) {
    let samples = end.samples.iter().filter_map(|sample| sample.op(kind));
    samples.fold((0, 0, 0), |(ops, bytes, errors), op| {
        (ops + op.ops, bytes + op.bytes, errors + op.errors.total())
    })
}

pub(super) fn latency(end: &GroupEnd, kind: OpKind) -> Histogram {
    let mut all = Histogram::new();
    for op in end.samples.iter().filter_map(|sample| sample.op(kind)) {
        all.merge(&op.service);
    }
    all
}

pub(super) fn errors(end: &GroupEnd, class: ErrorClass) -> u64 {
    end.samples.iter().map(|s| s.errors().get(class)).sum()
}

#[test]
fn phases_visit_every_object_once_and_leave_nothing() {
    let server = server("");
    let phases = [
        (OpKind::Put, 40),
        (OpKind::Get, 40),
        (OpKind::GetRange, 40),
        (OpKind::GetParallel, 40),
        (OpKind::Head, 40),
        (OpKind::List, 6),
        (OpKind::ListVersions, 6),
        (OpKind::PutTags, 40),
        (OpKind::GetTags, 40),
        (OpKind::Copy, 40),
        (OpKind::PutVersion, 40),
        (OpKind::PutMultipart, 40),
        (OpKind::Delete, 80),
    ];
    for (kind, expected) in phases {
        let mut job = job(&server, 1, &[(kind, 1)]);
        job.workload.verify = Some(Verify {
            on_read: true,
            ..Verify::default()
        });
        let end = run(&job);
        assert_eq!(end.report.errors, [], "{}", kind.name());
        assert_eq!(end.end_reason, EndReason::Ops, "{}", kind.name());
        let (ops, bytes, failed) = done(&end, kind);
        assert_eq!((ops, failed), (expected, 0), "{}", kind.name());
        assert_eq!(bytes > 0, kind.moves_bytes(), "{}", kind.name());
        assert_eq!(
            end.report.finishers.unwrap().ops,
            expected,
            "{}",
            kind.name()
        );
        let endpoint = &end.report.endpoints[0];
        assert!(
            endpoint.requests >= expected && endpoint.failed == 0,
            "{endpoint:?}"
        );
    }
    let left = server.keys();
    assert_eq!(left.len(), 40, "copies are left: {left:?}");
    let store = store(&server);
    let removed = remove_objects_of_run(&store, "bucket/some prefix", 1, &mut NoHooks).unwrap();
    assert_eq!(removed.objects, 40);
    assert!(server.keys().is_empty() && server.uploads() == 0);
}

#[test]
fn batches_remove_all_and_what_is_missing_is_made_first() {
    let server = server("");
    let job = job(&server, 2, &[(OpKind::DeleteMany, 1)]);
    let end = run(&job);
    assert_eq!(
        done(&end, OpKind::DeleteMany),
        (8, 0, 0),
        "6 + 6 + 6 + 2 of each worker"
    );
    assert!(server.keys().is_empty());
}

#[test]
fn a_mix_never_reads_what_is_not_there() {
    let server = server("");
    for order in [ObjectOrder::Uniform, ObjectOrder::Zipf { theta: 1.1 }] {
        let ops = [
            (OpKind::Get, 45),
            (OpKind::Head, 30),
            (OpKind::Put, 15),
            (OpKind::Delete, 10),
            (OpKind::List, 2),
        ];
        let mut job = job(&server, 3, &ops);
        object(&mut job).order = order;
        job.workload.bounds.ops = Some(600);
        job.workload.verify = Some(Verify::default());
        let end = run(&job);
        assert_eq!(end.report.errors, []);
        let all: u64 = ops.iter().map(|(kind, _)| done(&end, *kind).0).sum();
        assert_eq!(all, 600);
        assert!(ops.iter().all(|(kind, _)| done(&end, *kind).0 > 0));
    }
}

#[test]
fn faults_are_counted_exactly_by_class_and_are_no_work() {
    let script = "GET:503@7,GET:404@11,GET:500@13,GET:close@17,GET:truncate@19";
    let server = server(script);
    let mut job = job(&server, 4, &[(OpKind::Get, 1)]);
    job.workload.workers = 1;
    object(&mut job).objects = 200;
    object(&mut job).sizes = ObjectSizes::Fixed(1000);
    // The listing that begins the preparation is a GET as well.
    let faults = |every: u64, sooner: &[u64]| {
        let fits =
            |n: &u64| n.is_multiple_of(every) && !sooner.iter().any(|s| n.is_multiple_of(*s));
        (2..=201).filter(fits).count() as u64
    };
    let end = run(&job);
    let expected = [
        (ErrorClass::SlowDown, faults(7, &[])),
        (ErrorClass::Refused, faults(11, &[7])),
        (ErrorClass::Failed, faults(13, &[7, 11])),
        (
            ErrorClass::Reset,
            faults(17, &[7, 11, 13]) + faults(19, &[7, 11, 13, 17]),
        ),
    ];
    for (class, count) in expected {
        assert_eq!(errors(&end, class), count, "{}", class.name());
    }
    let failed: u64 = expected.iter().map(|(_, count)| count).sum();
    assert_eq!(
        done(&end, OpKind::Get),
        (200 - failed, (200 - failed) * 1000, failed)
    );
    assert_eq!(latency(&end, OpKind::Get).count(), 200 - failed);
    assert_eq!(end.report.endpoints[0].failed, failed);
}

#[test]
fn a_retry_is_seen_and_is_no_failure() {
    let server = server("PUT:503@5");
    let mut job = job(&server, 5, &[(OpKind::Put, 1)]);
    job.workload.workers = 1;
    object(&mut job).retries = 3;
    let end = run(&job);
    assert_eq!(done(&end, OpKind::Put).0, 20);
    assert_eq!(errors(&end, ErrorClass::SlowDown), 0);
    // Every fifth of all that were sent: 20 that succeed are 4 of 5.
    let retries = done(&end, OpKind::Retry).0;
    assert!((4..=5).contains(&retries), "{retries}");
    assert!(
        latency(&end, OpKind::Retry).min().unwrap() >= MS,
        "the pause"
    );
    let endpoint = &end.report.endpoints[0];
    assert_eq!((endpoint.retries, endpoint.slow_downs), (retries, retries));
}

#[test]
fn a_store_that_hangs_is_a_timeout() {
    let server = server("GET:hang=60s@6");
    let mut job = job(&server, 6, &[(OpKind::Get, 1)]);
    job.workload.workers = 1;
    object(&mut job).objects = 10;
    job.workload.store_mut().unwrap().timeout_ns = 700 * MS;
    let end = run(&job);
    assert_eq!(errors(&end, ErrorClass::Timeout), 1);
    assert_eq!(done(&end, OpKind::Get).0, 9);
}

#[test]
fn a_store_that_is_silent_when_the_load_is_over_is_not_waited_for() {
    let server = server("GET:hang=600s@6");
    let mut job = job(&server, 6, &[(OpKind::Get, 1)]);
    job.workload.workers = 1;
    job.workload.queue_depth = 1;
    job.workload.bounds.time_ns = Some(500 * MS);
    // Whoever waits for the request waits for ten minutes.
    job.workload.store_mut().unwrap().timeout_ns = 600_000 * MS;
    let end = run(&job);
    assert_eq!(errors(&end, ErrorClass::Timeout), 1);
    assert_eq!(done(&end, OpKind::Get).0, 5);
}

#[test]
fn contents_that_were_changed_are_found() {
    let server = server("GET:corrupt@9");
    let mut job = job(&server, 7, &[(OpKind::Get, 1)]);
    job.workload.workers = 1;
    job.workload.verify = Some(Verify::default());
    let end = run(&job);
    assert_eq!(errors(&end, ErrorClass::Verify), 2, "requests 9 and 18");
    job.workload.verify = None;
    assert_eq!(errors(&run(&job), ErrorClass::Verify), 0, "nobody looked");
}

#[test]
fn an_injected_delay_is_found_again() {
    let server = server("GET:delay=60ms@10");
    let mut job = job(&server, 8, &[(OpKind::Get, 1)]);
    object(&mut job).sizes = ObjectSizes::Fixed(1000);
    object(&mut job).objects = 50;
    let end = run(&job);
    let all = latency(&end, OpKind::Get);
    assert_eq!(all.count(), 100);
    // At least: a host under load adds what it likes, and takes nothing away.
    assert_eq!(
        all.count_above(59 * MS).clamp(10, 100),
        all.count_above(59 * MS)
    );
    let first = latency(&end, OpKind::FirstByte);
    assert!(first.count_above(59 * MS) >= 10);
}

#[test]
fn an_open_loop_counts_from_when_requests_were_due() {
    let server = server("GET:delay=100ms@4");
    let mut job = job(&server, 9, &[(OpKind::Get, 1)]);
    job.workload.workers = 1;
    job.workload.queue_depth = 1;
    object(&mut job).repeat = true;
    job.workload.bounds.ops = Some(40);
    job.workload.rate = Some(Rate {
        per_second: 200.0,
        unit: RateUnit::Ops,
        arrival: Default::default(),
    });
    let end = run(&job);
    let mut response = Histogram::new();
    for op in end.samples.iter().filter_map(|s| s.op(OpKind::Get)) {
        response.merge(op.response.as_ref().unwrap());
    }
    assert_eq!(response.count(), 40);
    let slow = latency(&end, OpKind::Get).count_above(95 * MS);
    assert!(slow >= 9);
    assert!(
        response.count_above(95 * MS) > slow,
        "those behind it waited too"
    );
}

#[test]
fn a_foreign_bucket_is_left_alone() {
    let server = server("");
    let first = job(&server, 10, &[(OpKind::Put, 1)]);
    run(&first);
    // The prefix holds objects now: for the root of the bucket that is foreign.
    let mut second = job(&server, 11, &[(OpKind::Put, 1)]);
    second.target = Target::Bucket("bucket".to_owned());
    let error = prepare(&second, &mut NoHooks).unwrap_err().to_string();
    assert!(error.contains("not empty"), "{error}");
    let mut reading = job(&server, 12, &[(OpKind::Get, 1)]);
    reading.target = Target::Bucket("bucket".to_owned());
    object(&mut reading).existing = true;
    let end = run(&reading);
    assert_eq!(done(&end, OpKind::Get).0, 40);
    let store = store(&server);
    let found = clean_bucket(&store, "bucket/some prefix", (false, false), &mut NoHooks).unwrap();
    assert_eq!((found.objects, found.runs.len()), (40, 1));
    clean_bucket(&store, "bucket/some prefix", (true, false), &mut NoHooks).unwrap();
    assert!(server.keys().is_empty());
}

#[test]
fn endpoints_take_turns_and_each_is_told() {
    let (one, two) = (server(""), server("GET:503@2"));
    let mut job = job(&one, 13, &[(OpKind::Get, 1)]);
    let endpoints = vec![one.endpoint(), two.endpoint()];
    job.workload.store_mut().unwrap().endpoints = endpoints;
    // Objects that only one of the two has: half of the reads are refused.
    let prepared = prepare(&job, &mut NoHooks).unwrap();
    let mut group = Group::start(&job, &prepared).unwrap();
    group.go();
    let end = group.finish();
    let [first, second] = end.report.endpoints.as_slice() else {
        panic!("{:?}", end.report.endpoints);
    };
    assert_eq!(first.endpoint, one.endpoint());
    assert!(first.connections == 3 && second.connections == 3);
    assert!(second.slow_downs > 0 && first.slow_downs == 0);
}

#[test]
fn nothing_is_sent_to_a_store_that_is_not_there() {
    let gone = server("");
    let job = job(&gone, 14, &[(OpKind::Put, 1)]);
    drop(gone);
    let error = prepare(&job, &mut NoHooks).unwrap_err().to_string();
    assert!(
        error.contains("no connection to http://127.0.0.1:"),
        "{error}"
    );
}

#[test]
fn the_null_store_has_a_ceiling() {
    let server = server("");
    for kind in [OpKind::Get, OpKind::Put, OpKind::PutMultipart, OpKind::List] {
        let job = job(&server, 15, &[(kind, 1)]);
        let ceiling = crate::measure_ceiling(&job, 30 * MS).unwrap();
        assert!(ceiling.ops_per_second > 1.0, "{}: {ceiling:?}", kind.name());
    }
}

#[test]
fn a_load_bounded_by_time_ends() {
    let server = server("");
    let mut job = job(&server, 16, &[(OpKind::Get, 1)]);
    object(&mut job).repeat = true;
    job.workload.bounds.time_ns = Some(300 * MS);
    job.workload.store_mut().unwrap().no_keep_alive = true;
    let end = run(&job);
    assert_eq!(end.end_reason, EndReason::Time);
    let measured = end.samples.iter().filter(|s| s.phase == Phase::Measure);
    assert!(measured.map(fathom_model::Sample::data_ops).sum::<u64>() > 0);
    let connects = done(&end, OpKind::Connect).0;
    assert!(
        connects >= done(&end, OpKind::Get).0,
        "each has one of its own"
    );
}

#[test]
fn objects_that_are_kept_are_removed_by_the_run_that_made_them() {
    let server = server("");
    let end = run(&job(&server, 5, &[(OpKind::PutRetention, 1)]));
    assert_eq!(end.report.errors, []);
    assert_eq!(done(&end, OpKind::PutRetention), (40, 0, 0));
    // Whoever does not lift it removes nothing.
    let end = run(&job(&server, 5, &[(OpKind::Delete, 1)]));
    assert_eq!(done(&end, OpKind::Delete), (0, 0, 40));
    let store = store(&server);
    let removed = remove_objects_of_run(&store, "bucket/some prefix", 5, &mut NoHooks).unwrap();
    assert_eq!(removed.objects, 40);
    assert!(server.keys().is_empty());
}

#[test]
fn each_endpoint_is_asked_with_its_own_keys() {
    let (one, two) = (server(""), server(""));
    for name in ["first", "second"] {
        let keys = Credentials {
            key_id: name.to_uppercase(),
            secret: "topsecret".to_owned(),
            ..Credentials::default()
        };
        give_credentials(name, keys);
    }
    let mut job = job(&one, 80, &[(OpKind::Put, 1)]);
    let store = job.workload.store_mut().unwrap();
    store.endpoints = vec![one.endpoint(), two.endpoint()];
    store.keys = KeySource::Given("first".to_owned());
    store.endpoint_keys = vec![None, Some(KeySource::Given("second".to_owned()))];
    let end = run(&job);
    assert_eq!(end.report.errors, []);
    let mut asked = 0;
    for (server, id) in [(&one, "FIRST"), (&two, "SECOND")] {
        let signers = server.signers();
        assert_eq!(signers.keys().collect::<Vec<_>>(), [id]);
        asked += signers[id];
    }
    // How many each gets depends on how fast it answers; one asks for the bucket.
    assert_eq!(asked, 41);
    let whose: Vec<_> = end
        .report
        .endpoints
        .iter()
        .map(|e| e.keys.as_str())
        .collect();
    assert_eq!(whose, ["first", "second"]);
    let store = job.workload.store_mut().unwrap();
    store.endpoint_keys[0] = Some(KeySource::Given("nobody knows".to_owned()));
    assert!(prepare(&job, &mut NoHooks).is_err());
}

#[test]
fn the_null_store_takes_objects_of_all_sizes() {
    let server = server("");
    let mut job = job(&server, 70, &[(OpKind::Get, 1)]);
    job.target = Target::Null;
    let end = run(&job);
    assert_eq!(end.report.errors, []);
    assert_eq!(done(&end, OpKind::Get).0, 40);
}
