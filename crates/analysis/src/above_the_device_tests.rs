use fathom_model::fingerprint::DeviceFacts;
use fathom_model::verdict::Limiter;

use crate::test_records::RecordBuilder;

/// Thirty-two operations in flight, a third of one at the device.
fn waiting_above() -> RecordBuilder {
    RecordBuilder::reads().edit(|t| {
        for observation in &mut t.observations {
            observation.devices[0].queue_time_ns = 300_000_000;
        }
    })
}

#[test]
fn operations_that_wait_above_an_idle_device_wait_in_the_file_system() {
    assert_eq!(waiting_above().limiter(), Limiter::Filesystem);
    assert_eq!(
        RecordBuilder::reads().limiter(),
        Limiter::Unknown,
        "they are at the device"
    );
}

#[test]
fn whatever_else_may_hold_them_is_excluded() {
    let busy = waiting_above().edit(|t| {
        for observation in &mut t.observations {
            observation.cpu.as_mut().unwrap().busiest_cpu_ns = 950_000_000;
        }
    });
    assert_eq!(busy.limiter(), Limiter::Unknown, "a CPU");
    let limited = waiting_above().drive_facts(&[("cgroup_read_ops", "5000")], &[]);
    assert_eq!(limited.limiter(), Limiter::Unknown, "a control group");
    let encrypted = waiting_above().with(|b| {
        let target = b.fingerprint.as_mut().unwrap();
        target.devices.insert(
            0,
            DeviceFacts {
                name: "dm-0".to_owned(),
                kind: "dm".to_owned(),
                below: vec!["nvme0n1".to_owned()],
                ..DeviceFacts::default()
            },
        );
    });
    assert_eq!(encrypted.limiter(), Limiter::Unknown, "a layer between");
    let device = waiting_above().with(|b| b.fingerprint.as_mut().unwrap().filesystem = None);
    assert_eq!(device.limiter(), Limiter::Unknown, "no file system");
    assert_ne!(waiting_above().buffered().limiter(), Limiter::Filesystem);
    let unseen = waiting_above().edit(|t| {
        t.observations.iter_mut().for_each(|o| o.cpu = None);
    });
    assert_eq!(
        unseen.limiter(),
        Limiter::Unknown,
        "the CPUs were not observed"
    );
}
