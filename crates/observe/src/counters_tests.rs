use super::*;
use proptest::prelude::*;

const OLD: &str = "   8       0 sda 100 5 2048 30 200 6 4096 70 1 90 100\n   8       1 sda1 9 9 9 9 9 9 9 9 9 9 9";
const WITH_DISCARDS: &str = " 259       0 nvme0n1 10 0 80 5 20 0 160 6 0 9 11 7 0 700 8";
const WITH_FLUSHES: &str = " 254       0 vda 69422 24874 3624866 14509 33744 15209 5093672 21186 0 11556 36482 9055 20 1097152 633 4703 153";

#[test]
fn old_kernels_have_no_discards_and_no_flushes() {
    let counters = parse_diskstats(OLD, "sda").unwrap();
    assert_eq!(
        (counters.reads, counters.read_sectors, counters.read_ms),
        (100, 2048, 30)
    );
    assert_eq!(
        (counters.writes, counters.write_sectors, counters.write_ms),
        (200, 4096, 70)
    );
    assert_eq!(
        (counters.in_flight, counters.busy_ms, counters.queue_ms),
        (1, 90, 100)
    );
    assert_eq!((counters.discards, counters.flushes), (None, None));
    let activity = counters.since(&DeviceCounters::default());
    assert_eq!((activity.discards, activity.flush_time_ns), (None, None));
    assert_eq!(
        (activity.read_bytes, activity.write_bytes),
        (1 << 20, 2 << 20)
    );
}

#[test]
fn fifteen_and_seventeen_fields_bring_discards_and_flushes() {
    let counters = parse_diskstats(WITH_DISCARDS, "nvme0n1").unwrap();
    assert_eq!(
        (counters.discards, counters.flushes),
        (Some((7, 700, 8)), None)
    );
    let counters = parse_diskstats(WITH_FLUSHES, "vda").unwrap();
    assert_eq!(counters.discards, Some((9055, 1_097_152, 633)));
    assert_eq!(counters.flushes, Some((4703, 153)));
    let longer = format!("{WITH_FLUSHES} 1 2 3 later");
    assert_eq!(parse_diskstats(&longer, "vda"), Some(counters));
}

#[test]
fn names_match_whole_and_with_slashes() {
    assert_eq!(parse_diskstats(OLD, "sda1").unwrap().reads, 9);
    assert_eq!(parse_diskstats(OLD, "sd"), None);
    let cciss = "104 0 cciss/c0d0 1 2 3 4 5 6 7 8 9 10 11";
    assert_eq!(parse_diskstats(cciss, "cciss!c0d0").unwrap().reads, 1);
}

#[test]
fn short_and_odd_lines_are_none() {
    assert_eq!(parse_stat(""), None);
    assert_eq!(parse_stat("1 2 3 4"), None);
    assert_eq!(parse_stat("1 2 3 4 5 x 7 8 9 10 11"), None);
    let negative = parse_stat("1 2 3 4 5 6 7 8 -1 10 11").unwrap();
    assert_eq!((negative.in_flight, negative.busy_ms), (0, 10));
}

#[test]
fn a_wrapped_time_continues() {
    let last = DeviceCounters {
        read_ms: (1 << 32) - 10,
        reads: 5,
        ..Default::default()
    };
    let now = DeviceCounters {
        read_ms: 40,
        reads: 6,
        ..Default::default()
    };
    assert_eq!(now.since(&last).read_time_ns, 50_000_000);
    assert_eq!(now.since(&last).reads, 1);
}

#[test]
fn a_device_that_came_back_counts_from_zero() {
    let last = DeviceCounters {
        reads: 1_000,
        writes: 10,
        write_ms: 3,
        discards: Some((5, 50, 1)),
        ..Default::default()
    };
    let now = DeviceCounters {
        reads: 3,
        writes: 20,
        write_ms: 7,
        discards: Some((1, 8, 1)),
        ..Default::default()
    };
    let activity = now.since(&last);
    assert_eq!((activity.reads, activity.writes), (3, 20));
    assert_eq!(activity.write_time_ns, 7_000_000);
    assert_eq!(activity.discards, Some(1));
}

#[test]
fn a_time_that_alone_goes_back_is_no_time() {
    let last = DeviceCounters {
        reads: 5,
        queue_ms: 101,
        ..Default::default()
    };
    let now = DeviceCounters {
        reads: 6,
        queue_ms: 100,
        ..Default::default()
    };
    assert_eq!(now.since(&last).queue_time_ns, 0);
}

proptest! {
    #[test]
    fn growth_is_the_difference_even_across_a_wrap(last in 0_u64..1 << 32, grown in 0_u64..1 << 20) {
        prop_assert_eq!(growth(last + grown, last), Some(grown));
        prop_assert_eq!(growth((last + grown) % (1 << 32), last), Some(grown));
    }

    #[test]
    fn any_text_is_survived(text in "\\PC*", now in any::<[u64; 4]>(), last in any::<[u64; 4]>()) {
        let _ = parse_diskstats(&text, "sda");
        let counters = |n: [u64; 4]| DeviceCounters {
            reads: n[0], write_sectors: n[1], queue_ms: n[2], in_flight: n[3], ..Default::default()
        };
        let activity = counters(now).since(&counters(last));
        prop_assert_eq!(activity.in_flight, now[3]);
    }
}
