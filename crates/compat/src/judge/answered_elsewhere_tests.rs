//! Direct reads that no device saw, flushes that were never made, and nothing at all.

use super::*;

/// The finding of a check.
fn finding(result: &ResultDocument, id: &str) -> Finding {
    let findings = opinion(result).verdict.findings;
    findings.into_iter().find(|f| f.id == id).unwrap()
}

#[test]
fn direct_reads_of_holes_are_invalid_by_requests_alone() {
    // fio 3.33 on a sparse file: 20 requests for 1,820,000 operations in 2 s.
    let mut result = sound();
    let job = &mut result.jobs[0];
    job.directions[0].ops = Some(1_820_000.0);
    job.directions[0].duration_ns = Some(2e9);
    let device = &mut result.devices.as_mut().unwrap()[0];
    (device.reads, device.read_bytes, device.write_bytes) = (20.0, None, None);
    let found = finding(&result, "V01");
    assert_eq!(found.status, FindingStatus::Invalid, "{found:?}");
    assert!(found.remedy.contains("holes of a sparse file"), "{found:?}");
    assert!(!found.remedy.contains("direct=1"), "{found:?}");
    assert_eq!(opinion(&result).verdict.validity, Validity::NotTrusted);
    assert_eq!(holds(&result, Aspect::Throughput), Holds::No);
    // A count of zero is treated alike on a device that counts.
    result.devices.as_mut().unwrap()[0].reads = 0.0;
    assert_eq!(status(&result, "V01"), Some(FindingStatus::Invalid));
    // Stacked and multipath devices may count nothing.
    let device = &mut result.devices.as_mut().unwrap()[0];
    (device.name, device.stacked) = ("dm-0".to_owned(), true);
    assert_eq!(status(&result, "V01"), Some(FindingStatus::NotMeasured));
}

#[test]
fn buffered_reads_keep_the_remedy_of_the_table() {
    let mut result = sound();
    set(&mut result, "direct", "0");
    result.devices.as_mut().unwrap()[0].read_bytes = Some(1e6);
    let remedy = finding(&result, "V01").remedy;
    assert!(remedy.contains("Read with direct=1"), "{remedy}");
}

#[test]
fn direct_writes_that_nobody_flushed_are_not_believed_to_be_durable() {
    let result = never_flushed();
    let found = finding(&result, "V07");
    assert_eq!(found.status, FindingStatus::Info);
    assert!(found.evidence.contains("volatile write cache"), "{found:?}");
    assert!(!found.remedy.contains("direct=1"), "{found:?}");
    assert_eq!(holds(&result, Aspect::Durability), Holds::Unknown);
    assert_eq!(holds(&result, Aspect::Throughput), Holds::Yes);
    assert_eq!(opinion(&result).verdict.validity, Validity::Trusted);
    let missing = opinion(&result).missing;
    assert!(missing.iter().any(|m| m.supplied_by.contains("end_fsync")));
    assert_eq!(holds(&writing(), Aspect::Durability), Holds::Yes);
}

#[test]
fn a_flush_that_was_never_made_makes_nothing_durable() {
    for key in ["fsync", "fdatasync"] {
        let mut result = never_flushed();
        set(&mut result, "direct", "0");
        // Without a count the number of writes decides: 600,000.
        for (every, expected) in [
            ("1000000", Holds::No),
            ("2000k", Holds::No),
            ("1000", Holds::Yes),
        ] {
            set(&mut result, key, every);
            assert_eq!(holds(&result, Aspect::Durability), expected, "{every}");
        }
        // A count outranks the option.
        result.jobs[0].flushes = Some(latency(60_000.0, 0.0));
        assert_eq!(holds(&result, Aspect::Durability), Holds::No);
        result.jobs[0].flushes = Some(latency(60_000.0, 600.0));
        assert_eq!(holds(&result, Aspect::Durability), Holds::Yes);
        result.jobs[0].flushes = Some(latency(60_000.0, 0.0));
        let found = finding(&result, "V07");
        assert!(found.evidence.contains("never flushed"), "{found:?}");
        // What makes each write durable is in no count.
        set(&mut result, "sync", "1");
        assert_eq!(holds(&result, Aspect::Durability), Holds::Yes);
    }
}

#[test]
fn flushes_of_fdatasync_without_times_are_in_no_count() {
    let mut result = never_flushed();
    (read(&mut result).total, read(&mut result).completion) = (None, None);
    result.jobs[0].flushes = Some(latency(60_000.0, 0.0));
    set(&mut result, "fdatasync", "100");
    assert_eq!(holds(&result, Aspect::Durability), Holds::Yes);
    result.jobs[0].options.remove("fdatasync");
    set(&mut result, "fsync", "100");
    assert_eq!(holds(&result, Aspect::Durability), Holds::Unknown);
}

#[test]
fn nothing_measured_is_nothing_to_trust() {
    let empty = ResultDocument {
        jobs: vec![ResultJob::default()],
        ..ResultDocument::default()
    };
    assert_eq!(opinion(&empty).verdict.validity, Validity::NotTrusted);
    assert_eq!(judge_results(&[]).validity, Validity::NotTrusted);
}

#[test]
fn buffered_writes_that_end_before_the_first_write_back_are_the_speed_of_memory() {
    let mut result = never_flushed();
    set(&mut result, "direct", "0");
    result.devices = None;
    assert_eq!(status(&result, "V07"), Some(FindingStatus::Caveat));
    for direction in &mut result.jobs[0].directions {
        direction.duration_ns = Some(6e8);
    }
    let found = finding(&result, "V07");
    assert_eq!(found.status, FindingStatus::Invalid, "{found:?}");
    assert!(found.evidence.contains("speed of memory"), "{found:?}");
}
