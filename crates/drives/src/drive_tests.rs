use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use fathom_model::rng::Rng;
use proptest::prelude::*;

use super::*;

const SECOND: u64 = 1_000_000_000;
/// Simulated trials do not start at 0.
const ORIGIN: u64 = 7 * SECOND;

fn drive(text: &str) -> Box<dyn Drive> {
    open_drive(text, 5).unwrap()
}

fn read(offset: u64, bytes: u32) -> SimOp {
    SimOp::new(OpKind::Read, offset, bytes)
}

/// Submits an operation and carries on until its end is known.
pub(super) fn end_of(drive: &mut dyn Drive, now_ns: u64, op: &SimOp) -> SimEnd {
    let number = match drive.submit(now_ns, op) {
        SimAnswer::Ends(end) => return end,
        SimAnswer::Later(number) => number,
    };
    let mut known = Vec::new();
    loop {
        let at_ns = drive.wake_ns().unwrap();
        drive.advance(at_ns, &mut known);
        if let Some((_, end)) = known.iter().find(|(n, _)| *n == number) {
            return *end;
        }
    }
}

fn write(offset: u64, bytes: u32) -> SimOp {
    SimOp {
        kind: OpKind::Write,
        ..read(offset, bytes)
    }
}

/// What a closed loop sees.
struct Seen {
    /// Latencies in the order of submission.
    latencies_ns: Vec<u64>,
    ops_per_second: f64,
}

impl Seen {
    fn mean_ns(&self) -> f64 {
        self.latencies_ns.iter().sum::<u64>() as f64 / self.latencies_ns.len() as f64
    }

    fn quantile_ns(&self, q: f64) -> u64 {
        let mut sorted = self.latencies_ns.clone();
        sorted.sort_unstable();
        sorted[((sorted.len() - 1) as f64 * q) as usize]
    }
}

/// Keeps `depth` operations in flight.
fn closed_loop(
    drive: &mut dyn Drive,
    depth: usize,
    ops: usize,
    mut next_op: impl FnMut(u64) -> SimOp,
) -> Seen {
    let mut ends: BinaryHeap<Reverse<u64>> = (0..depth).map(|_| Reverse(ORIGIN)).collect();
    let mut open: HashMap<u64, usize> = HashMap::new();
    let mut starts = Vec::with_capacity(ops);
    let mut latencies_ns = vec![0; ops];
    let mut last = ORIGIN;
    let mut known = Vec::new();
    while starts.len() < ops || !open.is_empty() {
        let next = ends.peek().map_or(u64::MAX, |Reverse(at)| *at);
        let wake = drive.wake_ns().unwrap_or(u64::MAX);
        if wake <= next || starts.len() == ops {
            drive.advance(wake, &mut known);
            for (number, end) in known.drain(..) {
                let index = open.remove(&number).unwrap();
                latencies_ns[index] = end.at_ns - starts[index];
                last = last.max(end.at_ns);
                ends.push(Reverse(end.at_ns));
            }
            continue;
        }
        ends.pop();
        let index = starts.len();
        starts.push(next);
        match drive.submit(next, &next_op(index as u64)) {
            SimAnswer::Ends(end) => {
                assert!(end.at_ns >= next);
                latencies_ns[index] = end.at_ns - next;
                last = last.max(end.at_ns);
                ends.push(Reverse(end.at_ns));
            }
            SimAnswer::Later(number) => {
                open.insert(number, index);
            }
        }
    }
    Seen {
        ops_per_second: latencies_ns.len() as f64 * 1e9 / (last - ORIGIN) as f64,
        latencies_ns,
    }
}

fn anywhere(drive: &dyn Drive, bytes: u32) -> impl FnMut(u64) -> SimOp + use<> {
    let blocks = drive.capacity_bytes() / u64::from(bytes);
    let mut rng = Rng::new(1);
    move |_| read(rng.below(blocks) * u64::from(bytes), bytes)
}

fn near(value: f64, wanted: f64, tolerance: f64) -> bool {
    (value / wanted - 1.0).abs() <= tolerance
}

#[test]
fn ideal_obeys_littles_law() {
    for (depth, iops) in [(1, 10_000.0), (4, 40_000.0), (64, 40_000.0)] {
        let mut d = drive("ideal?latency_us=100,parallel=4");
        let seen = closed_loop(&mut *d, depth, 20_000, |_| read(0, 4096));
        assert!(
            near(seen.ops_per_second, iops, 0.01),
            "{depth}: {}",
            seen.ops_per_second
        );
        let in_flight = seen.ops_per_second * seen.mean_ns() / 1e9;
        assert!(near(in_flight, depth as f64, 0.02), "{depth}: {in_flight}");
    }
}

#[test]
fn a_flush_waits_for_what_came_before() {
    for text in ["ideal?latency_us=1000", "hdd", "ssd", "cloud"] {
        let mut d = drive(text);
        let written = end_of(&mut *d, ORIGIN, &write(1 << 30, 1 << 20));
        let sync = SimOp {
            kind: OpKind::Sync,
            ..read(0, 0)
        };
        assert!(
            end_of(&mut *d, ORIGIN, &sync).at_ns >= written.at_ns,
            "{text}"
        );
    }
}

#[test]
fn a_hard_disk_seeks_turns_and_has_zones() {
    let mut d = drive("hdd");
    let next = anywhere(&*d, 4096);
    let seen = closed_loop(&mut *d, 1, 5000, next);
    // Mean of sqrt(|x - y|) for two random places is 8/15; half a turn is 4.17 ms.
    let wanted_ms = 0.6 + 15.4 * 8.0 / 15.0 + 60_000.0 / 7200.0 / 2.0;
    assert!(
        near(seen.mean_ns() / 1e6, wanted_ms, 0.03),
        "{}",
        seen.mean_ns()
    );
    for (start, mibs) in [(0, 250.0), (7_999_000_000_000, 120.0)] {
        let mut d = drive("hdd");
        let seen = closed_loop(&mut *d, 1, 10_000, |n| read(start + n * 65536, 65536));
        let rate = seen.ops_per_second * 65536.0 / 1_048_576.0;
        assert!(near(rate, mibs, 0.03), "{start}: {rate}");
    }
    // One at a time: depth does not help.
    let mut d = drive("hdd");
    let next = anywhere(&*d, 4096);
    let deep = closed_loop(&mut *d, 32, 5000, next);
    assert!(near(deep.ops_per_second, seen.ops_per_second, 0.03));
    let trim = SimOp {
        kind: OpKind::Trim,
        ..read(0, 4096)
    };
    assert_eq!(
        end_of(&mut *d, u64::MAX / 2, &trim).result,
        Err(libc::EOPNOTSUPP)
    );
}

#[test]
fn a_solid_state_drive_scales_with_depth_and_has_a_tail() {
    let mut rates = Vec::new();
    for depth in [1, 8, 64, 256] {
        let mut d = drive("ssd");
        let next = anywhere(&*d, 4096);
        let seen = closed_loop(&mut *d, depth, 50_000, next);
        if depth == 1 {
            assert!(near(seen.mean_ns(), 81_200.0, 0.02), "{}", seen.mean_ns());
            // exp(2.326 sigma) for the 99th percentile of a log-normal.
            let spread = seen.quantile_ns(0.99) as f64 / seen.quantile_ns(0.5) as f64;
            assert!(near(spread, (2.326f64 * 0.25).exp(), 0.05), "{spread}");
        }
        rates.push(seen.ops_per_second);
    }
    assert!(rates.windows(2).all(|w| w[1] > 1.3 * w[0]), "{rates:?}");
    // 64 units of 80 µs cannot do more than 800,000; the link of 3.2 GiB/s
    // cannot do more than 819,200.
    assert!(rates[3] < 800_000.0, "{rates:?}");
    let mut d = drive("ssd");
    let seen = closed_loop(&mut *d, 32, 20_000, |n| read(n * 1_048_576, 1 << 20));
    assert!(
        near(seen.ops_per_second, 3200.0, 0.02),
        "{}",
        seen.ops_per_second
    );
}

#[test]
fn a_full_write_cache_is_a_cliff() {
    let text = "slc?cache=1GiB,drain_mibs=100,write_mibs=2000,tail=0";
    let mut d = drive(text);
    let seen = closed_loop(&mut *d, 8, 4096, |n| write(n << 20, 1 << 20));
    let rate = |latencies: &[u64]| {
        8.0 * latencies.len() as f64 / (latencies.iter().sum::<u64>() as f64 / 1e9)
    };
    let (early, late) = (
        rate(&seen.latencies_ns[8..900]),
        rate(&seen.latencies_ns[2000..]),
    );
    assert!(near(early, 2000.0, 0.05), "{early}");
    assert!(near(late, 100.0, 0.02), "{late}");
    // After ten idle seconds there is room for 1,000 MiB again.
    let mut now = ORIGIN + 100 * SECOND;
    let mut fast = 0;
    while fast < 5000 {
        let end = end_of(&mut *d, now, &write(0, 1 << 20));
        if end.at_ns - now > 5_000_000 {
            break;
        }
        fast += 1;
        now = end.at_ns;
    }
    assert!((1000..1200).contains(&fast), "{fast}");
}

#[test]
fn a_cache_recovers_while_the_drive_is_idle() {
    for model in [
        "slc?cache=1GiB,drain_mibs=100,write_mibs=2000,tail=0",
        "slc?cache=1GiB,drain_mibs=100,folded_mibs=50,write_mibs=2000,tail=0",
    ] {
        let mut drive = open_drive(model, 1).unwrap();
        let mut now_ns = 0;
        let fast = |drive: &mut dyn Drive, now_ns: &mut u64| {
            for count in 0.. {
                let op = SimOp::new(OpKind::Write, 0, 1 << 20);
                let SimAnswer::Ends(end) = drive.submit(*now_ns, &op) else {
                    panic!("a cache always knows");
                };
                let took_ns = end.at_ns - *now_ns;
                *now_ns = end.at_ns;
                if took_ns > 5_000_000 {
                    return count;
                }
            }
            0
        };
        assert!((1000..1100).contains(&fast(&mut *drive, &mut now_ns)));
        now_ns += 3 * SECOND;
        assert!((280..340).contains(&fast(&mut *drive, &mut now_ns)));
        now_ns += 1000 * SECOND;
        assert!((1000..1100).contains(&fast(&mut *drive, &mut now_ns)));
    }
}

#[test]
fn a_cloud_volume_caps_operations_and_bytes() {
    let mut d = drive("cloud?iops=3000,mibs=125");
    let seen = closed_loop(&mut *d, 64, 30_000, |n| read(n * 4096, 4096));
    assert!(
        near(seen.ops_per_second, 3000.0, 0.01),
        "{}",
        seen.ops_per_second
    );
    let mut d = drive("cloud?iops=3000,mibs=125");
    let seen = closed_loop(&mut *d, 64, 3000, |n| read(n << 20, 1 << 20));
    assert!(
        near(seen.ops_per_second, 125.0, 0.03),
        "{}",
        seen.ops_per_second
    );
    let mut d = drive("cloud?iops=1000,burst_s=10,tail=0");
    let seen = closed_loop(&mut *d, 64, 20_000, |n| read(n * 4096, 4096));
    let quick = seen
        .latencies_ns
        .iter()
        .take_while(|ns| **ns < 1_000_000)
        .count();
    // 10,000 saved-up operations, and what is earned while they are used up.
    assert!((10_000..10_300).contains(&quick), "{quick}");
}

#[test]
fn faults_come_where_the_parameters_say() {
    let mut d = drive("ideal?eio_at=3,short_at=5,stuck_at=6");
    let ends: Vec<SimEnd> = (0..6)
        .map(|_| end_of(&mut *d, ORIGIN, &read(0, 4096)))
        .collect();
    assert_eq!(ends[1].result, Ok(4096));
    assert_eq!(ends[2].result, Err(libc::EIO));
    assert_eq!(ends[4].result, Ok(2048));
    assert_eq!(ends[5].at_ns, u64::MAX);
    let mut d = drive("flaky?eio_every=10");
    let failed = (0..100).filter(|_| end_of(&mut *d, ORIGIN, &read(0, 512)).result.is_err());
    assert_eq!(failed.count(), 10);
    let mut d = drive("flaky");
    let failed = (0..10_000).filter(|_| end_of(&mut *d, ORIGIN, &read(0, 512)).result.is_err());
    assert_eq!(failed.count(), 10);
}

#[test]
fn a_stall_holds_up_everything_for_its_length() {
    let mut d = drive("ideal?latency_us=1000,parallel=1,stall_at_s=2,stall_s=3");
    let seen = closed_loop(&mut *d, 1, 3000, |_| read(0, 4096));
    let long: Vec<&u64> = seen
        .latencies_ns
        .iter()
        .filter(|ns| **ns > SECOND)
        .collect();
    assert_eq!(long.len(), 1);
    assert!(near(*long[0] as f64, 3.001e9, 0.001), "{long:?}");
    let mut d = drive("ideal?latency_us=1000,stall_at_s=2,stall_s=3");
    end_of(&mut *d, ORIGIN, &read(0, 4096));
    let within = end_of(&mut *d, ORIGIN + 4 * SECOND, &read(0, 4096));
    assert_eq!(within.at_ns, ORIGIN + 5 * SECOND + 1_000_000);
    let after = end_of(&mut *d, ORIGIN + 6 * SECOND, &read(0, 4096));
    assert_eq!(after.at_ns, ORIGIN + 6 * SECOND + 1_000_000);
}

#[test]
fn what_does_not_exist_is_answered_with_what_does() {
    let error = |text| match open_drive(text, 1) {
        Ok(_) => panic!("{text} was accepted"),
        Err(error) => error.to_string(),
    };
    let text = error("floppy");
    assert!(
        text.contains("'floppy'") && text.contains("ideal, hdd, ssd, slc, enterprise, cloud"),
        "{text}"
    );
    let text = error("ssd?reed_us=5");
    assert!(
        text.contains("'reed_us'") && text.contains("read_us") && text.contains("stall_s"),
        "{text}"
    );
    for bad in [
        "ssd?read_us=fast",
        "ssd?read_us",
        "ssd?read_us=-1",
        "hdd?size=3q",
        "ideal?parallel=0",
        "ssd?tail=nan",
    ] {
        let text = error(bad);
        assert!(text.contains("from"), "{text}");
    }
}

#[test]
fn sizes_are_sizes_and_beyond_the_end_is_an_error() {
    let mut d = drive("ssd?size=1GiB,read_us=50");
    assert_eq!(d.capacity_bytes(), 1 << 30);
    assert_eq!(
        end_of(&mut *d, ORIGIN, &read((1 << 30) - 512, 1024)).result,
        Err(libc::ENOSPC)
    );
}

proptest! {
    #[test]
    fn ends_never_lie_before_submission_and_come_from_the_seed(
        model in prop::sample::select(vec!["ideal", "hdd", "ssd", "slc?cache=1MiB", "cloud"]),
        seed in any::<u64>(),
        ops in prop::collection::vec((0u64..2_000_000, 0usize..4, any::<u32>(), 0u32..2_000_000), 1..200),
    ) {
        let mut drives = [open_drive(model, seed).unwrap(), open_drive(model, seed).unwrap()];
        let mut now = ORIGIN;
        for (gap, kind, place, bytes) in ops {
            now += gap;
            let kind = OpKind::from_index(kind).unwrap_or(OpKind::Read);
            let op = SimOp::new(kind, u64::from(place) * 64, bytes);
            let ends = drives.each_mut().map(|drive| drive.submit(now, &op));
            if let SimAnswer::Ends(end) = ends[0] {
                prop_assert!(end.at_ns >= now);
            }
            prop_assert_eq!(ends[0], ends[1]);
        }
    }
}
