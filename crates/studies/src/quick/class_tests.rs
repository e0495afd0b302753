use super::*;

fn measured(sequential_read: f64, random_read: f64, single_read: f64) -> Measured {
    Measured {
        sequential_read: Some(sequential_read),
        random_read: Some(random_read),
        single_read: Some(single_read),
        ..Measured::default()
    }
}

#[test]
fn no_class_stands_for_reads_that_no_drive_gives() {
    assert!(!measured(14_000.0, 2_500_000.0, 25_000.0).is_beyond_drives());
    assert!(measured(1_048_576.0, 4_000_000.0, 125_000.0).is_beyond_drives());
}

#[test]
fn a_result_is_like_the_highest_class_that_all_figures_reach() {
    let answers = measured(1310.0, 85_900.0, 18_100.0).class_answers();
    assert_eq!(
        answers,
        [
            "Reads faster than a SATA SSD, but slower than an NVMe SSD in random reads at depth \
             32 (85,900 of the 330,000 IOPS published for one). Use it for file servers, \
             virtual machines and databases of moderate load",
        ]
    );
    let answers = measured(6800.0, 410_000.0, 19_000.0).class_answers();
    assert_eq!(answers.len(), 1, "{answers:?}");
    assert!(
        answers[0].starts_with("Reads like an NVMe SSD. Use it"),
        "{answers:?}"
    );
}

#[test]
fn what_is_slower_than_a_hard_disk_says_in_what() {
    let answers = measured(210.0, 41.2, 11.0).class_answers();
    assert_eq!(
        answers,
        ["Slower than a hard disk in random reads at depth 32: 41.2 of 170 IOPS published for one"]
    );
}

#[test]
fn one_slow_figure_keeps_a_result_below_a_class() {
    let answers = measured(3500.0, 400_000.0, 5_000.0).class_answers();
    let [answer] = answers.as_slice() else {
        panic!("{answers:?}");
    };
    for part in [
        "Reads faster than a hard disk, but slower than a SATA SSD",
        "one at a time (5,000 of the 13,000 IOPS published for one)",
    ] {
        assert!(answer.contains(part), "{answer}");
    }
    assert!(!answer.contains("backups"), "{answer}");
}

#[test]
fn the_baseline_of_cloud_volumes_is_named() {
    let volume = measured(131.0, 3_010.0, 1_400.0);
    let answer = volume.cloud_baseline().unwrap();
    assert!(answer.contains("(3,000 IOPS)"), "{answer}");
    assert_eq!(measured(131.0, 3_400.0, 1_400.0).cloud_baseline(), None);
}

#[test]
fn commits_of_a_platter_are_named_and_others_are_not() {
    let with = |commits| Measured {
        commits: Some(commits),
        ..Measured::default()
    };
    assert!(
        with(88.0)
            .slow_commits()
            .unwrap()
            .contains("88.0 per second")
    );
    assert_eq!(with(9_530.0).slow_commits(), None);
    // Between both it depends on what reads let expect.
    assert_eq!(with(467.0).slow_commits(), None);
    let fast = Measured {
        commits: Some(467.0),
        ..measured(3500.0, 400_000.0, 15_000.0)
    };
    assert!(fast.slow_commits().unwrap().contains("2.14 ms"));
}

#[test]
fn slow_writes_take_the_advice_away() {
    let slow = Measured {
        commits: Some(10.0),
        sequential_write: Some(10.5),
        ..measured(3500.0, 400_000.0, 15_000.0)
    };
    let answers = with_slow_writes(&slow.class_answers(), &slow.slow_writes());
    assert_eq!(
        answers,
        [
            "Reads like an NVMe SSD, but commits are as slow as a hard disk's (10.0 per second): \
             databases will wait for them, and large writes are slower than a hard disk's (10.5 of \
             270 MB/s): backups and copies to it will take long"
        ]
    );
    let alone = with_slow_writes(&[], &slow.slow_writes()[..1]);
    assert!(alone[0].starts_with("Commits are as slow"), "{alone:?}");
}

#[test]
fn writes_as_slow_as_the_reads_are_no_surprise() {
    let with = |sequential_write| Measured {
        sequential_write: Some(sequential_write),
        ..measured(131.0, 3_010.0, 1_400.0)
    };
    assert_eq!(with(125.0).slow_sequence(), None);
    assert!(with(30.0).slow_sequence().is_some());
}

#[test]
fn a_generator_without_headroom_makes_it_a_least() {
    let mut measured = measured(560.0, 99_000.0, 14_000.0);
    assert!(measured.class_answers()[0].starts_with("Reads like a SATA SSD"));
    measured.is_least = true;
    assert!(measured.class_answers()[0].starts_with("Reads at least like a SATA SSD"));
}
