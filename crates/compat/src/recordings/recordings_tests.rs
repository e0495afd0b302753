//! Real output of the tools, and what becomes of broken ones.

use proptest::prelude::*;

use super::*;

const JSON: &str = include_str!("../../samples/iostat-12.6.json");
const TEXT: &str = include_str!("../../samples/iostat-12.6.txt");
const BASIC: &str = include_str!("../../samples/iostat-basic-12.6.txt");
const OLD_TEXT: &str = include_str!("../../samples/iostat-10.2.txt");
const SADF: &str = include_str!("../../samples/sadf-12.6.json");
const VMSTAT: &str = include_str!("../../samples/vmstat-4.txt");
const TOP: &str = include_str!("../../samples/top-4.txt");
const UPTIME: &str = include_str!("../../samples/uptime.txt");

#[test]
fn json_of_iostat_is_read_without_the_mean_since_the_start() {
    let recording = read(JSON).unwrap();
    assert_eq!(recording.host.cpus, Some(2));
    assert_eq!(recording.host.name.as_deref(), Some("vm"));
    let first = &recording.moments[0];
    assert_eq!(first.seconds, Some(1.0), "from the sample that is left out");
    let vda = first.disks.iter().find(|d| d.name == "vda").unwrap();
    assert_eq!(
        (vda.reads, vda.writes, vda.discards),
        (7408.0, 11532.0, 2.0)
    );
    assert_eq!(vda.read_bytes, 29660.0 * 1024.0);
    assert_eq!(vda.queue, Some(0.94));
    assert!(
        (first.cpu.unwrap().user - 0.83).abs() < 1e-9,
        "nice ones included"
    );
    assert!((first.cpu.unwrap().busy() - 1.0).abs() < 1e-9);
}

#[test]
fn text_of_iostat_says_the_same_in_every_version() {
    let new = read(TEXT).unwrap();
    assert_eq!(new.moments.len(), 2);
    let vda = new.moments[0]
        .disks
        .iter()
        .find(|d| d.name == "vda")
        .unwrap();
    assert_eq!((vda.reads, vda.read_bytes), (40.0, 468.0 * 1024.0));
    assert_eq!(new.host.cpus, Some(2));
    assert_eq!(new.moments[0].seconds, Some(1.0));

    let old = read(OLD_TEXT).unwrap();
    assert_eq!((old.host.cpus, old.moments.len()), (Some(32), 1));
    let moment = &old.moments[0];
    assert_eq!((moment.seconds, moment.disks.len()), (Some(10.0), 2));
    assert_eq!(moment.cpu.unwrap().iowait, 0.2);
    let sda = &moment.disks[0];
    assert_eq!(
        (sda.operations(), sda.queue, sda.util),
        (150.0, Some(3.0), Some(0.9))
    );
    assert_eq!(
        sda.mean_wait_ms(),
        Some(20.0),
        "weighted by reads and writes"
    );

    let basic = read(BASIC).unwrap();
    assert!(
        basic.moments[0]
            .disks
            .iter()
            .any(|d| d.undivided > 0.0 || d.name == "vda")
    );
}

#[test]
fn sadf_vmstat_and_top_are_read() {
    let sar = read(SADF).unwrap();
    let moment = &sar.moments[0];
    assert_eq!(moment.seconds, Some(1.0));
    assert_eq!(moment.load, Some(9.0));
    assert!(moment.runnable.unwrap() > 1.0);
    assert!(moment.io_pressure_some.is_some() && moment.network_use.is_some());
    assert!(moment.cpu.unwrap().busy() > 0.99);
    assert!(
        moment
            .disks
            .iter()
            .any(|d| d.name == "vda" && d.undivided == 30.0)
    );

    let vmstat = read(VMSTAT).unwrap();
    assert_eq!(vmstat.moments.len(), 2);
    assert_eq!(vmstat.moments[0].runnable, Some(13.0));
    assert_eq!(vmstat.moments[0].seconds, Some(1.0));
    assert!(vmstat.moments[0].paged_bytes_per_second.is_some());
    assert_eq!(vmstat.moments[0].cpu.unwrap().user, 0.97);

    let top = read(TOP).unwrap();
    assert_eq!(top.moments[0].load, Some(9.16));
    assert!((top.moments[0].cpu.unwrap().busy() - 1.0).abs() < 1e-9);
    assert_eq!(read(UPTIME).unwrap().moments[0].load, Some(9.16));
    let comma = read(" 10:00:00 up 1 day,  load average: 80,10, 75,20, 70,00\n").unwrap();
    assert_eq!(comma.moments[0].load, Some(80.1));
}

#[test]
fn recordings_that_were_cut_off_keep_what_is_whole() {
    let whole = read(JSON).unwrap();
    let cut = &JSON[..JSON.len() * 2 / 3];
    let rest = read(cut).unwrap();
    assert!(rest.moments.len() < whole.moments.len());
    let same = rest.moments.len() - 1;
    assert_eq!(rest.moments[..same], whole.moments[..same]);
    assert!(
        rest.remarks
            .iter()
            .any(|r| r.contains("the end was missing"))
    );
    let commas = JSON.replace(": 42.54", ": 42,54").replace("0.94", "0,94");
    let read_commas = read(&commas).unwrap();
    assert_eq!(read_commas.moments, whole.moments);
}

#[test]
fn what_is_no_recording_is_told() {
    assert_eq!(read("hello\n"), Err(RecordingError::Unknown));
    assert_eq!(read("{\"a\": 1}"), Err(RecordingError::Unknown));
    assert_eq!(read(""), Err(RecordingError::Nothing));
    assert!(matches!(
        read("{]"),
        Err(RecordingError::Broken { line: 1, .. })
    ));
    let empty = "{\"sysstat\": {\"hosts\": [{\"statistics\": []}]}}";
    assert_eq!(read(empty), Err(RecordingError::Empty("iostat")));
    let odd = "Device r/s w/s\nsda 1 x\n";
    assert!(matches!(
        read(odd),
        Err(RecordingError::Broken { line: 2, .. })
    ));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn no_text_is_fatal(text in "(Device|avg-cpu:|r b swpd free|load average:|[0-9., {}\\[\\]\":/sa-z%\n]){0,60}") {
        let _ = read(&text);
    }

    #[test]
    fn no_cut_and_no_changed_byte_is_fatal(which in 0usize..6, at in 0usize..20_000, byte in 32u8..127) {
        let sample = [JSON, TEXT, SADF, VMSTAT, TOP, OLD_TEXT][which];
        let at = at % sample.len();
        let mut bytes = sample.as_bytes().to_vec();
        bytes[at] = byte;
        let _ = read(&String::from_utf8_lossy(&bytes));
        let _ = read(&String::from_utf8_lossy(&bytes[..at]));
    }
}

#[test]
fn sectors_under_the_name_of_kilobytes_are_known_by_the_size_of_requests() {
    // 100 reads and 50 writes of 4 KiB a second.
    let sample = |unit: &str, rate: f64| {
        format!(
            r#"{{"disk": [{{"disk_device": "sda", "r/s": 100.0, "w/s": 50.0, "r{unit}/s": {},
                "w{unit}/s": {}, "rareq-sz": 4.0, "wareq-sz": 4.0, "aqu-sz": 1.0}}]}}"#,
            rate * 2.0,
            rate
        )
    };
    let of = |unit: &str, rate: f64| {
        let one = sample(unit, rate);
        read(&format!(
            r#"{{"sysstat": {{"hosts": [{{"nodename": "a", "statistics": [{one}, {one}]}}]}}}}"#
        ))
        .unwrap()
    };
    for (unit, rate, fault) in [
        ("kB", 200.0, false),
        ("kB", 400.0, true),
        ("sec", 400.0, false),
        ("MB", 0.1953125, false),
        ("MB", 400.0, true),
    ] {
        let found = of(unit, rate);
        let disk = &found.moments[0].disks[0];
        assert_eq!(
            (disk.read_bytes, disk.write_bytes),
            (409_600.0, 204_800.0),
            "{unit} {rate}"
        );
        let told = found
            .remarks
            .iter()
            .any(|remark| remark.contains("sectors"));
        assert_eq!(told, fault, "{unit} {rate}");
    }
}
