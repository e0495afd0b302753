//! What options of iostat change, and files that are no recording.

use super::*;

const BANNER: &str = "Linux 6.1.0 (db1) \t11/22/26 \t_x86_64_\t(2 CPU)\n\n";

/// Samples of a device as `iostat -x` prints them.
fn samples(reads: &[&str]) -> String {
    let one = |reads: &&str| {
        format!(
            "avg-cpu:  %user   %nice %system %iowait  %steal   %idle\n\
             \x20          0.00   87.44   12.56    0.00    0.00    0.00\n\n\
             Device            r/s     rkB/s  aqu-sz  %util\n\
             vda             {reads}    184.00    0.50   0.40\n\n\n"
        )
    };
    reads.iter().map(one).collect()
}

fn reads(recording: &Recording) -> Vec<f64> {
    recording.moments.iter().map(|m| m.disks[0].reads).collect()
}

#[test]
fn what_y_left_out_is_not_left_out_again() {
    let text = samples(&["16.00", "1.00", "4.00"]);
    let usual = read(&format!("{BANNER}{text}")).unwrap();
    assert_eq!(reads(&usual), [1.0, 4.0]);
    assert!(
        usual.remarks[0].contains("unless iostat ran with -y"),
        "{:?}",
        usual.remarks
    );
    let without = read(&format!("{BANNER}\n{text}")).unwrap();
    assert_eq!(reads(&without), [16.0, 1.0, 4.0]);
    assert!(without.remarks.is_empty(), "{:?}", without.remarks);
    // A file whose every other line is empty says nothing of it.
    let doubled = format!("{BANNER}\n{text}").replace('\n', "\n\n");
    assert_eq!(reads(&read(&doubled).unwrap()).len(), 2);
}

#[test]
fn json_shows_what_y_left_out() {
    let sample = |second: u8| {
        format!(
            "\t\t\t\t{{\"timestamp\": \"11/22/26 10:00:0{second}\", \"disk\": [\n\
             {{\"disk_device\": \"vda\", \"r/s\": {second}.00}}]}}"
        )
    };
    let of = |blank: &str| {
        let samples = [1, 3, 5].map(sample).join(",\n");
        let text =
            format!("{{\"sysstat\": {{\"hosts\": [{{\"statistics\": [\n{blank}{samples}\n]}}]}}}}");
        read(&text).unwrap()
    };
    assert_eq!(reads(&of("")), [3.0, 5.0]);
    let without = of("\n");
    assert_eq!(reads(&without), [1.0, 3.0, 5.0]);
    assert_eq!(without.moments[0].seconds, Some(2.0), "as the next one");
}

#[test]
fn values_for_people_are_read_with_their_units() {
    let sample = "avg-cpu:  %user   %nice %system %iowait  %steal   %idle\n\
        \x20         46.4%    5.0%   13.8%    3.0%    0.1%   31.7%\n\n\
        \x20    r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz Device\n\
        \x20  14.00    1.5M     0.00   0.0%    0.14    17.4k vda\n\
        \x20   1.00    4.0k     0.00   0.0%    0.14     4.0k vdb\n\n\
        \x20    w/s     wkB/s   wrqm/s  %wrqm w_await wareq-sz Device\n\
        \x20   2.00    2.0k     0.00   0.0%    0.00     0.0k vda\n\n\
        \x20    f/s f_await  aqu-sz  %util Device\n\
        \x20   3.00    0.00    0.25   0.8% vda\n\n\n";
    let found = read(&format!("{BANNER}{sample}{sample}{sample}")).unwrap();
    assert_eq!(found.moments.len(), 2);
    let moment = &found.moments[0];
    assert_eq!(moment.cpu.unwrap().user, 0.514);
    assert_eq!(moment.disks.len(), 2);
    let vda = &moment.disks[0];
    assert_eq!((vda.reads, vda.read_bytes), (14.0, 1.5 * 1_048_576.0));
    assert_eq!((vda.writes, vda.write_bytes), (2.0, 2048.0));
    assert_eq!(
        (vda.flushes, vda.queue, vda.util),
        (3.0, Some(0.25), Some(0.008))
    );
    // Without the CPU a sample begins with the first group.
    let (_, devices) = sample.split_once("\n\n").unwrap();
    let found = read(&format!("{BANNER}{devices}{devices}{devices}")).unwrap();
    assert_eq!(found.moments.len(), 2);
    assert_eq!(found.moments[1].disks[0].writes, 2.0);
}

#[test]
fn what_is_no_number_is_named_with_its_column() {
    let odd = read("Device r/s w/s\nsda 1 1.2x\n")
        .unwrap_err()
        .to_string();
    assert!(odd.contains("'1.2x' under w/s is not a number"), "{odd}");
}

#[test]
fn short_columns_tell_the_bytes_of_all_kinds_and_unknown_ones_are_not_zero() {
    let of = |columns: &str, values: &str| {
        let sample = format!("Device {columns}\nvda {values}\n\n\n");
        let recording = read(&format!("{BANNER}{sample}{sample}")).unwrap();
        fathom_diagnose::diagnose(&recording, |_| None)
            .disks
            .remove(0)
    };
    let short = of(
        "tps kB/s rqm/s await areq-sz aqu-sz %util",
        "10 80 0 1 8 0.1 1",
    );
    assert_eq!((short.bytes, short.block_bytes), (81_920.0, Some(8192.0)));
    let none = of("tps kB_dscd/s", "10 0");
    assert_eq!(none.block_bytes, None);
}

#[test]
fn files_that_are_no_recording_are_told_for_what_they_are() {
    for (text, words) in [
        ("", "the file is empty"),
        (" \n\n", "the file is empty"),
        (
            "{\"fio version\": \"fio-3.33\", \"jobs\": []}",
            "a result of fio",
        ),
        (
            "{\"sysstat\": {\"hosts\": [{\"statistics\": [{\"avg-cpu\": {\"user\": 46.51, \"ni",
            "ends before its first whole sample",
        ),
    ] {
        let told = read(text).unwrap_err().to_string();
        assert!(told.contains(words), "{text}: {told}");
    }
}

#[test]
fn a_load_average_tells_nothing_of_shares_of_cpus() {
    let text = " 20:51:57 up  3:50,  0 user,  load average: 2.54, 2.39, 5.66\n";
    let mut recording = read(text).unwrap();
    recording.host.cpus = Some(4);
    let found = fathom_diagnose::diagnose(&recording, |_| None);
    let cpu = found.cpu.unwrap();
    assert_eq!((cpu.busy, cpu.iowait, cpu.steal), (None, None, None));
    assert_eq!(cpu.load_per_cpu, Some(0.635));
    let evidence = found.evidence.join("\n");
    assert!(!evidence.contains("busy"), "{evidence}");
}
