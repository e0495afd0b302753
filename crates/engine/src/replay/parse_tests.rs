use fathom_model::workload::{Replay, ReplayTiming};
use proptest::prelude::*;

use super::*;

fn read(text: &str) -> Result<Recorded, ListError> {
    parse(text.as_bytes(), "log", &Replay::of("log".into()))
}

const V2: &str = "fio version 2 iolog
/dev/sda add
/dev/sda open
/dev/sda read 0 4096
/dev/sda wait 250 0
/dev/sda write 8192 512

/dev/sda wait 50 0
/dev/sda sync 0 0
/dev/sdb add
/dev/sdb open
/dev/sdb trim 4096 4096
/dev/sda close
";

fn op(at_us: u64, action: Action, offset: u64, len: u32, file: u16) -> RecordedOp {
    RecordedOp {
        at_ns: at_us * 1000,
        offset,
        len,
        file,
        action,
    }
}

#[test]
fn version_2_has_waits_that_add_up() {
    let recorded = read(V2).unwrap();
    let expected = [
        op(0, Action::Read, 0, 4096, 0),
        op(250, Action::Write, 8192, 512, 0),
        op(300, Action::Fsync, 0, 0, 0),
        op(300, Action::Trim, 4096, 4096, 1),
    ];
    assert_eq!(*recorded.ops, expected);
    assert_eq!(*recorded.files, ["/dev/sda", "/dev/sdb"]);
    assert_eq!(recorded.span_ns, 300_000);
}

#[test]
fn version_3_has_times_in_front() {
    let text = "fio version 3 iolog\n0 /f add\n0 /f open\n10 /f read 4096 4096\n\
                35 /f datasync 0 0\n90 /f close\n";
    let recorded = read(text).unwrap();
    let expected = [
        op(10, Action::Read, 4096, 4096, 0),
        op(35, Action::Fdatasync, 0, 0, 0),
    ];
    assert_eq!(*recorded.ops, expected);
    assert_eq!(recorded.span_ns, 90_000);
}

#[test]
fn offsets_shrink_and_align_and_kinds_are_left_out() {
    let replay = Replay {
        timing: ReplayTiming::Recorded {
            speed_percent: 200.0,
        },
        shrink: 3,
        align_bytes: 512,
        skip_syncs: true,
        skip_trims: true,
        ..Replay::of("log".into())
    };
    let recorded = parse(V2.as_bytes(), "log", &replay).unwrap();
    let mut expected = [
        op(0, Action::Read, 0, 4096, 0),
        op(125, Action::Write, 2560, 512, 0),
    ];
    expected[1].at_ns = 125_000;
    assert_eq!(*recorded.ops, expected);
}

#[test]
fn mistakes_are_told_with_file_line_and_column() {
    let v2 = |line: &str| format!("fio version 2 iolog\n/f add\n{line}\n");
    let v3 = |line: &str| format!("fio version 3 iolog\n5 /f add\n{line}\n");
    for (text, at) in [
        (String::new(), "log:1:1: "),
        ("blktrace".to_owned(), "log:1:1: no I/O log"),
        ("fio version 9 iolog".to_owned(), "log:1:13: "),
        (v2("/f read x 4096"), "log:3:9: 'x' is not an offset"),
        (v2("/f read 0"), "log:3:4: a read needs"),
        (v2("/f read 0 0"), "log:3:11: lengths"),
        (v2("/f read 0 99999999999"), "log:3:11: lengths"),
        (v2("/f read 18446744073709551615 1"), "log:3:9: the offset"),
        (v2("/f read 0 4096 7"), "log:3:16: '7' is one word"),
        (v2("  /f erase 0 4096"), "log:3:6: 'erase'"),
        (v2("/g read 0 4096"), "log:3:1: '/g' was not added"),
        (v2("/f"), "log:3:1: expected"),
        (v2("/f wait"), "log:3:4: the microseconds"),
        (v2("/f wait -1"), "log:3:9: '-1'"),
        (v2("/f wait 99999999999999"), "log:3:9: later"),
        (v3("4 /f read 0 4096"), "log:3:1: time goes back"),
        (v3("6 /f wait 5 0"), "log:3:6: version 3"),
        (v3("six /f read 0 1"), "log:3:1: 'six'"),
        (v2(&"x".repeat(9000)), "log:3:8192: the line has no end"),
    ] {
        let message = read(&text).unwrap_err().to_string();
        assert!(message.starts_with(at), "{message}");
    }
    let bytes = [b"fio version 2 iolog\n/f add\n/f \xff".as_slice()].concat();
    let message = parse(&bytes[..], "log", &Replay::of("log".into()));
    let message = message.unwrap_err().to_string();
    assert!(message.starts_with("log:3:4: "), "{message}");
}

proptest! {
    #[test]
    fn anything_is_read_or_refused(
        version in 2u8..4,
        lines in prop::collection::vec("(5 )?(/f )?(add|read|wait|trim|sync|x)?( [0-9]{0,22}){0,3}", 0..20),
    ) {
        let text = format!("fio version {version} iolog\n5 /f add\n{}", lines.join("\n"));
        if let Ok(recorded) = read(&text) {
            prop_assert!(recorded.ops.is_sorted_by_key(|op| op.at_ns));
        }
    }

    #[test]
    fn bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = parse(&bytes[..], "log", &Replay::of("log".into()));
        let mut log = b"fio version 3 iolog\n".to_vec();
        log.extend(bytes);
        let _ = parse(&log[..], "log", &Replay::of("log".into()));
    }
}
