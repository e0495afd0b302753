//! Checksums, from one end to the other: of what is put, also in parts and
//! behind the payload, and of what is read.

use fathom_model::workload::ObjectChecksum::{Crc32, Crc32c, Crc64nvme, Sha1, Sha256};
use fathom_model::workload::Verify;
use fathom_model::{ErrorClass, Job, OpKind};
use fathom_s3::StoreServer;

use super::tests::{done, errors, job, object, run, server};

fn on_read(job: &mut Job) {
    job.workload.verify = Some(Verify {
        on_read: true,
        ..Verify::default()
    });
}

#[test]
fn a_store_compares_the_checksums_of_what_is_put() {
    let kinds = [Crc32, Crc32c, Crc64nvme, Sha1, Sha256];
    for (tag, checksum) in (400..).zip(kinds) {
        for trailing in [false, true] {
            for kind in [OpKind::Put, OpKind::PutMultipart] {
                let server = server("");
                let mut job = job(&server, tag, &[(kind, 1)]);
                let store = job.workload.store_mut().unwrap();
                store.checksum = Some(checksum);
                store.checksum_trailing = trailing;
                let end = run(&job);
                let what = format!("{checksum:?} {trailing} {}", kind.name());
                assert_eq!(end.report.errors, [], "{what}");
                assert_eq!(done(&end, kind).0, 40, "{what}");
                let mut get = job.clone();
                object(&mut get).ops[0].kind = OpKind::Get;
                on_read(&mut get);
                let end = run(&get);
                assert_eq!(end.report.errors, [], "{what}");
                assert_eq!(done(&end, OpKind::Get).0, 40, "{what}");
                // The memory keeps no checksum of parts that were put together.
                let compared = end.report.endpoints[0].checksums_compared;
                assert_eq!(compared, if kind == OpKind::Put { 40 } else { 0 }, "{what}");
            }
        }
    }
}

/// What a server answers to a request in plain words.
fn answer(server: &StoreServer, request: &str) -> String {
    let mut stream = std::net::TcpStream::connect(server.address()).unwrap();
    std::io::Write::write_all(&mut stream, request.as_bytes()).unwrap();
    let mut answer = String::new();
    std::io::Read::read_to_string(&mut stream, &mut answer).unwrap();
    answer
}

#[test]
fn had_they_been_wrong_the_store_would_have_said_so() {
    let server = server("");
    let head = "PUT /b/k HTTP/1.1\r\nhost: x\r\nconnection: close\r\n";
    let body = "3\r\nabc\r\n0\r\nx-amz-checksum-crc32c:AAAAAA==\r\n\r\n";
    let trailing = format!(
        "{head}x-amz-decoded-content-length: 3\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let leading = format!("{head}x-amz-checksum-crc32c: AAAAAA==\r\ncontent-length: 3\r\n\r\nabc");
    for request in [leading, trailing] {
        let answer = answer(&server, &request);
        let refused = answer.starts_with("HTTP/1.1 400") && answer.contains("BadDigest");
        assert!(refused, "{answer}");
    }
}

#[test]
fn what_others_put_is_held_against_what_the_store_says_of_it() {
    let server = server("GET:corrupt@9");
    let mut put = job(&server, 420, &[(OpKind::Put, 1)]);
    put.workload.store_mut().unwrap().checksum = Some(Sha256);
    run(&put);
    let mut get = job(&server, 421, &[(OpKind::Get, 1)]);
    get.workload.workers = 1;
    object(&mut get).existing = true;
    on_read(&mut get);
    let end = run(&get);
    assert_eq!(
        errors(&end, ErrorClass::Verify),
        4,
        "requests 9, 18, 27 and 36"
    );
    assert_eq!(done(&end, OpKind::Get).0, 36);
    assert_eq!(end.report.endpoints[0].checksums_compared, 40);
    let said = &end.report.errors[0].message;
    assert!(said.contains("the store says"), "{said}");
    get.workload.verify = None;
    let end = run(&get);
    assert_eq!(
        (
            end.report.errors.len(),
            end.report.endpoints[0].checksums_compared
        ),
        (0, 0)
    );
}
