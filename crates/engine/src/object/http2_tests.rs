//! Work on a store in memory that is asked over HTTP/2.

use fathom_model::workload::{ObjectSizes, Verify};
use fathom_model::{ErrorClass, Job, OpKind};
use fathom_s3::StoreServer;

use super::tests::{MS, done, errors, job, object, run, server};

fn over_http2(server: &StoreServer, tag: u64, ops: &[(OpKind, u32)]) -> Job {
    let mut job = job(server, tag, ops);
    job.workload.store_mut().unwrap().http2 = true;
    job
}

/// Bodies larger than the windows that both ends begin with, up and down.
#[test]
fn objects_go_and_come_whole() {
    let server = server("");
    let kinds = [OpKind::Put, OpKind::Get, OpKind::GetRange, OpKind::Head];
    let more = [OpKind::PutMultipart, OpKind::GetParallel, OpKind::List];
    for (tag, kind) in (300..).zip(kinds.into_iter().chain(more)) {
        let mut job = over_http2(&server, tag, &[(kind, 1)]);
        object(&mut job).sizes = ObjectSizes::Range {
            min_bytes: 1,
            max_bytes: 3_000_000,
        };
        object(&mut job).part_bytes = 400_000;
        job.workload.verify = Some(Verify {
            on_read: true,
            ..Verify::default()
        });
        let end = run(&job);
        assert_eq!(end.report.errors, [], "{kind:?}");
        assert_eq!(done(&end, kind).2, 0, "{kind:?}");
        let least = if kind == OpKind::List { 1 } else { 40 };
        assert!(done(&end, kind).0 >= least, "{kind:?}");
        // Two workers, three requests in flight, two parts at once: all stay.
        let connections = end.report.endpoints[0].connections;
        assert!(connections == 6 || connections == 12, "{connections}");
    }
}

#[test]
fn faults_are_counted_exactly_by_class() {
    let server = server("GET:503@7,GET:404@11,GET:close@17,GET:truncate@19,GET:corrupt@23");
    let mut job = over_http2(&server, 320, &[(OpKind::Get, 1)]);
    job.workload.workers = 1;
    object(&mut job).objects = 299;
    object(&mut job).sizes = ObjectSizes::Fixed(50_000);
    job.workload.verify = Some(Verify {
        on_read: true,
        ..Verify::default()
    });
    // Whether a listing before is counted makes no difference: 1 and 300 are
    // multiples of none.
    let faults = |every: u64, sooner: &[u64]| {
        let fits =
            |n: &u64| n.is_multiple_of(every) && !sooner.iter().any(|s| n.is_multiple_of(*s));
        (2..=300).filter(fits).count() as u64
    };
    let end = run(&job);
    let expected = [
        (ErrorClass::SlowDown, faults(7, &[])),
        (ErrorClass::Refused, faults(11, &[7])),
        (
            ErrorClass::Reset,
            faults(17, &[7, 11]) + faults(19, &[7, 11, 17]),
        ),
        (ErrorClass::Verify, faults(23, &[7, 11, 17, 19])),
    ];
    for (class, count) in expected {
        assert_eq!(errors(&end, class), count, "{}", class.name());
    }
    let failed: u64 = expected.iter().map(|(_, count)| count).sum();
    assert_eq!(done(&end, OpKind::Get).0, 299 - failed);
}

#[test]
fn a_server_that_speaks_something_else_is_an_error() {
    let mute = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = mute.local_addr().unwrap();
    let answering = std::thread::spawn(move || {
        use std::io::{Read, Write};
        let (mut stream, _) = mute.accept().unwrap();
        let mut some = [0; 100];
        let got = stream.read(&mut some).unwrap();
        assert!(some[..got].starts_with(b"PRI * HTTP/2.0"));
        stream
            .write_all(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n")
            .unwrap();
    });
    let other = server("");
    let mut job = over_http2(&other, 330, &[(OpKind::Put, 1)]);
    let store = job.workload.store_mut().unwrap();
    store.endpoints = vec![format!("http://{address}")];
    store.timeout_ns = 2000 * MS;
    job.workload.workers = 1;
    job.workload.queue_depth = 1;
    let error = crate::prepare::prepare(&job, &mut crate::prepare::NoHooks)
        .unwrap_err()
        .to_string();
    assert!(error.contains("HTTP/2"), "{error}");
    answering.join().unwrap();
}
