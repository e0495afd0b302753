use proptest::prelude::*;

use super::*;
use crate::results::{ResultFile, read_results};

const HEADER: &str = "idx\tthread\top\tclient_id\tn_objects\tbytes\tendpoint\tfile\terror\tstart\tfirst_byte\tlast_byte\tend\tduration_ns\tcat\n";

/// Four GETs a second for ten seconds of two threads, each 20 ms; every tenth
/// fails.
fn file() -> String {
    let mut text = HEADER.to_owned();
    for n in 0..40_u32 {
        let (second, quarter) = (n / 4, n % 4);
        let at = |ms: u32| {
            format!(
                "2026-05-01T12:00:{second:02}.{:03}000000Z",
                quarter * 250 + ms
            )
        };
        let error = if n % 10 == 9 { "503 Slow Down" } else { "" };
        text += &format!(
            "{n}\t{}\tGET\tc1\t1\t4096\thttp://h{}:9000\tf\t{error}\t{}\t{}\t{}\t{}\t20000000\t0\n",
            n % 2,
            n % 2,
            at(0),
            at(5),
            at(20),
            at(20),
        );
    }
    text + "# warp get --full\n"
}

#[test]
fn operations_are_read_and_failures_are_no_work() {
    let ResultFile::Results(results) = read_results("get.csv", &file()).unwrap() else {
        panic!("no results")
    };
    let [result] = results.as_slice() else {
        panic!("{results:?}")
    };
    assert_eq!(result.tool.as_deref(), Some("warp"));
    let [job] = result.jobs.as_slice() else {
        panic!("{:?}", result.jobs)
    };
    assert_eq!((job.name.as_str(), job.failures_ignored), ("GET", Some(4)));
    let direction = &job.directions[0];
    assert_eq!(direction.kind, Some(OpKind::Get));
    assert_eq!(
        (direction.ops, direction.bytes),
        (Some(36.0), Some(36.0 * 4096.0))
    );
    let latency = direction.total.as_ref().unwrap();
    assert_eq!((latency.min_ns, latency.max_ns), (Some(20e6), Some(20e6)));
    assert_eq!(job.series[0].values.len(), 9);
    let said = result.remarks.join("\n");
    for words in [
        "2 requests in flight",
        "first byte after 5.",
        "4 failures: 503",
        "warp get",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
}

#[test]
fn errors_with_lines_and_marks_in_them_are_one_request() {
    let line = "1\t0\tPUT\tc\t1\t10\th\tf\t\"Put: \"\"x\"\"\n\tbroken\"\t2026-05-01T12:00:00Z\t\t\t\
                2026-05-01T12:00:01Z\t1\t0\n";
    let result = read("x", &format!("{HEADER}{line}{line}")).unwrap();
    assert_eq!(result.damage, Vec::<String>::new());
    assert_eq!(result.jobs[0].failures_ignored, Some(2));
    let said = result.remarks.join(" ");
    assert!(said.contains("2 failures: Put: \"x\" broken"), "{said}");
}

#[test]
fn times_have_nanoseconds_and_zones() {
    assert_eq!(unix_ns("1970-01-01T00:00:01.5Z"), Some(1_500_000_000));
    assert_eq!(
        unix_ns("2024-02-29T12:00:00Z"),
        Some(1_709_208_000_000_000_000)
    );
    assert_eq!(
        unix_ns("2024-02-29T14:00:00.000000001+02:00"),
        Some(1_709_208_000_000_000_001)
    );
    for bad in [
        "",
        "2024",
        "2024-13-01T00:00:00Z",
        "2024-01-01T00:00:00",
        "2024-01-01 00:00:00Z",
    ] {
        assert_eq!(unix_ns(bad), None, "{bad}");
    }
}

#[test]
fn lines_that_are_broken_are_counted() {
    let text = format!("{}x\ty\n{}", file(), "1\t2\tPUT\n");
    let result = read("x", &text).unwrap();
    assert_eq!(result.damage, ["2 lines cannot be read"]);
}

proptest! {
    #[test]
    fn no_text_panics(line in "[0-9A-Z:.\t-]{0,120}", time in "\\PC{0,40}") {
        let _ = read("x", &format!("{HEADER}{line}\n"));
        let _ = unix_ns(&time);
    }
}
