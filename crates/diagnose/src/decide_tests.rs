//! Cases with a known truth: the article's own, and simulated ones by seed.

use fathom_model::rng::Rng;

use super::*;
use crate::recording::{CpuShares, DiskMoment, Moment, RecordedHost};

/// A device under a load, by Little's law and one formula: below its limit an
/// operation takes its own time, at the limit the rate stays and the queue is
/// as long as the program makes it.
struct Device {
    limit: f64,
    own_ms: f64,
    /// How much the rate at the limit varies.
    jitter: f64,
}

impl Device {
    fn serve(&self, wanted: f64, in_flight: f64, rng: &mut Rng) -> DiskMoment {
        let noise = 1.0 + self.jitter * (2.0 * rng.unit() - 1.0);
        let limit = self.limit * noise;
        let (rate, queue) = match wanted < limit {
            true => (wanted, wanted * self.own_ms / 1000.0),
            false => (limit, in_flight.max(limit * self.own_ms / 1000.0)),
        };
        let wait = queue / rate * 1000.0;
        DiskMoment {
            name: "sda".to_owned(),
            reads: 0.7 * rate,
            writes: 0.3 * rate,
            read_bytes: 0.7 * rate * 4096.0,
            write_bytes: 0.3 * rate * 4096.0,
            read_wait_ms: Some(wait),
            write_wait_ms: Some(wait),
            queue: Some(queue),
            util: Some(queue.min(1.0)),
            ..DiskMoment::default()
        }
    }
}

fn cpu(busy: f64, iowait: f64) -> Option<CpuShares> {
    Some(CpuShares {
        user: busy,
        iowait,
        idle: (1.0 - busy - iowait).max(0.0),
        ..CpuShares::default()
    })
}

fn recording(cpus: u32, moments: Vec<Moment>) -> Recording {
    Recording {
        host: RecordedHost {
            cpus: Some(cpus),
            ..RecordedHost::default()
        },
        source: "simulated".to_owned(),
        moments,
        remarks: Vec::new(),
    }
}

/// Minutes of samples of ten seconds, each drawn.
fn record(mut moment: impl FnMut(usize) -> Moment) -> Recording {
    let moments = (0..60).map(|i| Moment {
        seconds: Some(10.0),
        ..moment(i)
    });
    recording(8, moments.collect())
}

fn none(_: &str) -> Option<Ceiling> {
    None
}

fn limit_of(operations: f64) -> impl Fn(&str) -> Option<Ceiling> {
    move |_| {
        Some(Ceiling {
            source: "the limit of the volume, as given".to_owned(),
            operations,
            block_bytes: None,
            read_share: None,
            wait_ms: None,
        })
    }
}

#[test]
fn a_queue_that_is_shown_as_none_is_explained_beside_a_yes() {
    let moment = |limit_used: Option<f64>| Moment {
        disks: vec![DiskMoment {
            name: "nvme0n1".to_owned(),
            reads: 100.0,
            read_wait_ms: Some(0.02),
            queue: Some(0.002),
            ..DiskMoment::default()
        }],
        groups: vec![crate::recording::DoerMoment {
            name: "app".to_owned(),
            limit_used,
            ..crate::recording::DoerMoment::default()
        }],
        io_pressure_some: Some(0.9),
        ..Moment::default()
    };
    let told = |found: Diagnosis| {
        assert_eq!(found.answer, Answer::Yes, "{:?}", found.evidence);
        found.remarks.join(" ")
    };
    let of_ceiling = told(diagnose(&record(|_| moment(None)), limit_of(100.0)));
    let end = "nvme0n1: a queue of 0.00 beside YES: its operations end so soon";
    assert!(of_ceiling.contains(end), "{of_ceiling}");
    let of_limit = told(diagnose(&record(|_| moment(Some(1.0))), none));
    assert!(of_limit.contains("waits before the device"), "{of_limit}");
}

#[test]
fn the_ticket_of_the_article_is_a_queue_for_the_cpus() {
    // Peaks of 200 reads and 40 writes per second on a volume of 1,000, and a
    // load average of 80 on 32 CPUs.
    let device = Device {
        limit: 1_000.0,
        own_ms: 0.5,
        jitter: 0.0,
    };
    let mut rng = Rng::new(1);
    let moments = (0..60).map(|i| {
        let peak = if i == 30 { 240.0 } else { 60.0 };
        let mut disk = device.serve(peak, 1.0, &mut rng);
        (disk.reads, disk.writes) = (peak * 200.0 / 240.0, peak * 40.0 / 240.0);
        Moment {
            seconds: Some(10.0),
            load: Some(80.0),
            cpu: cpu(0.99, 0.0),
            disks: vec![disk],
            ..Moment::default()
        }
    });
    let recording = recording(32, moments.collect());
    let diagnosis = diagnose(&recording, limit_of(1_000.0));
    assert_eq!(
        (diagnosis.answer, diagnosis.limiter),
        (Answer::No, Shortage::CpuQueue)
    );
    assert_eq!(
        diagnosis.evidence,
        [
            "the host is short of CPU: 32 CPUs were at 90 % and above for 100 % of the time; load average 2.5 per CPU",
            "sda peaks at 240 of 1,000 IOPS (24 %), 200 reads and 40 writes per second at most; \
             ceiling: the limit of the volume, as given",
        ]
    );
    assert_eq!(diagnosis.ceiling.unwrap().peak_share, 0.24);
    let remarks = &diagnosis.remarks;
    let of_load = |line: &String| line.contains("load average");
    assert!(
        !remarks.iter().any(of_load),
        "the evidence has it: {remarks:?}"
    );
}

#[test]
fn a_load_average_adds_to_what_the_cpus_show() {
    let of = |load: Option<f64>, busy: f64| {
        let moments = (0..60).map(|_| Moment {
            seconds: Some(10.0),
            load,
            cpu: cpu(busy, 0.0),
            disks: vec![DiskMoment {
                name: "sda".to_owned(),
                queue: Some(0.01),
                ..DiskMoment::default()
            }],
            ..Moment::default()
        });
        let found = diagnose(&recording(32, moments.collect()), none);
        assert_eq!(
            (found.answer, found.limiter),
            (Answer::No, Shortage::CpuQueue),
            "{found:#?}"
        );
        found.evidence[0].clone()
    };
    let busy = "the host is short of CPU: 32 CPUs were at 90 % and above for 100 % of the time";
    assert_eq!(of(None, 0.99), busy);
    assert_eq!(
        of(Some(80.0), 0.99),
        format!("{busy}; load average 2.5 per CPU")
    );
    assert_eq!(
        of(Some(80.0), 0.5),
        "the host is short of CPU: a load average of 2.5 for each of 32 CPUs, while hardly any task \
         waits for I/O"
    );
}

#[test]
fn a_test_load_gives_the_ceiling_of_the_same_device() {
    let device = Device {
        limit: 1_000.0,
        own_ms: 0.5,
        jitter: 0.01,
    };
    let mut rng = Rng::new(2);
    // Twice a minute of the test within ten quiet ones.
    let test = record(|i| Moment {
        disks: vec![match i % 30 < 6 {
            true => device.serve(1_000.0, 2.0, &mut rng),
            false => device.serve(3.0, 1.0, &mut rng),
        }],
        ..Moment::default()
    });
    let ceiling = Ceiling::of_test(&test, "sda").unwrap();
    assert!(
        (ceiling.operations / 1_000.0 - 1.0).abs() < 0.02,
        "{ceiling:?}"
    );
    assert_eq!(ceiling.block_bytes.map(f64::round), Some(4096.0));
    assert_eq!(Ceiling::of_test(&test, "sdb"), None);
}

#[test]
fn blocks_of_another_size_compare_nothing() {
    let device = Device {
        limit: 1_000.0,
        own_ms: 10.0,
        jitter: 0.0,
    };
    let mut rng = Rng::new(3);
    let load = record(|_| {
        let mut disk = device.serve(300.0, 1.0, &mut rng);
        (disk.read_bytes, disk.write_bytes) = (300.0 * 262_144.0, 0.0);
        Moment {
            disks: vec![disk],
            cpu: cpu(0.2, 0.1),
            ..Moment::default()
        }
    });
    let of_small_blocks = |_: &str| {
        Some(Ceiling {
            source: "a test".to_owned(),
            operations: 1_000.0,
            block_bytes: Some(4096.0),
            read_share: None,
            wait_ms: None,
        })
    };
    let diagnosis = diagnose(&load, of_small_blocks);
    assert_eq!(diagnosis.answer, Answer::NotProven);
    assert!(
        diagnosis.settle[0].contains("blocks and a mix like the load's own"),
        "{:?}",
        diagnosis.settle
    );
}

#[test]
fn a_second_device_at_its_end_forbids_good_news_of_the_first() {
    let fast = Device {
        limit: 100_000.0,
        own_ms: 8.0,
        jitter: 0.0,
    };
    let slow = Device {
        limit: 150.0,
        own_ms: 1.0,
        jitter: 0.05,
    };
    let mut rng = Rng::new(11);
    let both = record(|i| {
        let rising = fast.serve(1_000.0 + 1_000.0 * (i % 4) as f64, 1.0, &mut rng);
        let wanted = if i % 10 == 0 { 60.0 } else { 400.0 };
        let full = slow.serve(wanted, 2.0 + 4.0 * rng.unit(), &mut rng);
        let full = DiskMoment {
            name: "sdb".to_owned(),
            ..full
        };
        Moment {
            disks: vec![rising, full],
            cpu: cpu(0.2, 0.2),
            ..Moment::default()
        }
    });
    let found = diagnose(&both, none);
    assert_eq!(found.disks[0].name, "sda");
    assert_eq!(found.answer, Answer::NotProven, "{found:#?}");
    assert!(
        found.evidence[0].starts_with("sdb: longer queues"),
        "{:?}",
        found.evidence
    );
    // Alone, the first has room.
    let mut alone = both;
    for moment in &mut alone.moments {
        moment.disks.truncate(1);
    }
    assert_eq!(diagnose(&alone, none).answer, Answer::No);
}

#[test]
fn an_answer_without_figures_says_what_is_missing() {
    // `uptime` of a host whose number of CPUs is not known.
    let lone = Moment {
        load: Some(9.0),
        ..Moment::default()
    };
    let recording = Recording {
        moments: vec![lone],
        ..Recording::default()
    };
    let found = diagnose(&recording, none);
    assert_eq!(found.answer, Answer::NotProven);
    assert_eq!(
        found.evidence,
        ["neither devices nor CPU time were recorded"]
    );
}

#[test]
fn use_all_the_time_is_no_proof() {
    // One program, one read at a time: always one in flight, %util 100 %.
    let device = Device {
        limit: 100_000.0,
        own_ms: 0.1,
        jitter: 0.0,
    };
    let mut rng = Rng::new(4);
    let load = record(|_| Moment {
        disks: vec![device.serve(9_900.0, 1.0, &mut rng)],
        cpu: cpu(0.1, 0.1),
        ..Moment::default()
    });
    let diagnosis = diagnose(&load, none);
    assert_ne!(diagnosis.answer, Answer::Yes);
    assert!(diagnosis.disks[0].util.unwrap() > 0.9);
    // And it is told where the two contradict one another.
    let mut wrong = load.clone();
    for moment in &mut wrong.moments {
        (moment.disks[0].util, moment.disks[0].queue) = (Some(1.0), Some(0.23));
    }
    let remarks = diagnose(&wrong, none).remarks;
    assert!(remarks[0].contains("%util says 100 %"), "{remarks:?}");
}

#[test]
fn nothing_recorded_answers_nothing() {
    let diagnosis = diagnose(&Recording::default(), none);
    assert_eq!(diagnosis.answer, Answer::NotProven);
    assert_eq!((diagnosis.cpu, diagnosis.disks.len()), (None, 0));
}

/// What is drawn, and the right answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Truth {
    FullDisk,
    HeldVolume,
    CpuHog,
    Swapping,
    BusyNotFull,
    Idle,
    OneByOne,
    FullDiskAndCpu,
}

fn case(truth: Truth, seed: u64) -> (Recording, Option<f64>) {
    let mut rng = Rng::new(seed);
    let mut limit = 200.0 + 20_000.0 * rng.unit();
    let jitter = if truth == Truth::HeldVolume {
        0.01
    } else {
        0.12
    };
    let own_ms = 0.05 + 5.0 * rng.unit() / (limit / 200.0);
    if truth == Truth::OneByOne {
        limit = 8_000.0 / own_ms;
    }
    let device = Device {
        limit,
        own_ms,
        jitter,
    };
    let full = matches!(
        truth,
        Truth::FullDisk | Truth::HeldVolume | Truth::FullDiskAndCpu
    );
    let busy = matches!(truth, Truth::CpuHog | Truth::FullDiskAndCpu);
    let (mean_share, spread) = match truth {
        _ if full => (1.0, 0.9),
        Truth::BusyNotFull => (0.45, 0.2),
        Truth::Idle => (0.002, 0.002),
        _ => (0.05, 0.04),
    };
    let recording = record(|_| {
        let wanted = limit * (mean_share + spread * (2.0 * rng.unit() - 1.0)).max(0.0005);
        let in_flight = 4.0 + 60.0 * rng.unit();
        // Who waits for each asks for no more than its time allows.
        let wanted = match truth {
            Truth::OneByOne => (0.8 + 0.2 * rng.unit()) * 1000.0 / device.own_ms,
            _ => wanted,
        };
        let disk = device.serve(wanted, in_flight, &mut rng);
        let waits = match truth {
            Truth::OneByOne => 0.12,
            _ if disk.queue > Some(2.0) => 0.3,
            _ => 0.01,
        };
        let swap = if truth == Truth::Swapping {
            4e6 + 4e6 * rng.unit()
        } else {
            0.0
        };
        Moment {
            cpu: if busy {
                cpu(0.97, 0.01)
            } else {
                cpu(0.2 + 0.2 * rng.unit(), waits)
            },
            runnable: Some(if busy { 24.0 } else { 2.0 }),
            swap_in_bytes_per_second: Some(swap),
            swap_out_bytes_per_second: Some(swap),
            disks: vec![disk],
            ..Moment::default()
        }
    });
    (recording, (truth == Truth::BusyNotFull).then_some(limit))
}

#[test]
fn drawn_cases_are_named_right_and_never_blamed_on_a_sound_disk() {
    let truths = [
        Truth::FullDisk,
        Truth::HeldVolume,
        Truth::CpuHog,
        Truth::Swapping,
        Truth::BusyNotFull,
        Truth::Idle,
        Truth::OneByOne,
        Truth::FullDiskAndCpu,
    ];
    let (mut right, mut all) = (0, 0);
    for seed in 0..40 {
        for truth in truths {
            let (recording, limit) = case(truth, 100 * seed + 7);
            let found = match limit {
                Some(limit) => diagnose(&recording, limit_of(limit)),
                None => diagnose(&recording, none),
            };
            let expected = match truth {
                Truth::FullDisk => (Answer::Yes, Shortage::Disk),
                Truth::HeldVolume => (Answer::Yes, Shortage::VolumeCap),
                Truth::CpuHog => (Answer::No, Shortage::CpuQueue),
                Truth::Swapping => (Answer::No, Shortage::Memory),
                Truth::BusyNotFull | Truth::Idle => (Answer::No, Shortage::Nothing),
                Truth::OneByOne => (Answer::No, Shortage::OneByOne),
                Truth::FullDiskAndCpu => (Answer::NotProven, Shortage::Unknown),
            };
            all += 1;
            let named = (found.answer, found.limiter) == expected;
            right += i32::from(named);
            let sound = !matches!(
                truth,
                Truth::FullDisk | Truth::HeldVolume | Truth::FullDiskAndCpu
            );
            assert!(
                !(sound && found.answer == Answer::Yes),
                "{truth:?} {seed}: {found:#?}"
            );
            if !named {
                println!(
                    "{truth:?} {seed}: {:?} {:?} {:?}",
                    found.answer, found.limiter, found.evidence
                );
            }
            assert!(
                !found.evidence.is_empty() && found.evidence.len() <= 3,
                "{truth:?} {seed}"
            );
        }
    }
    assert!(right * 100 >= all * 95, "{right} of {all}");
}
