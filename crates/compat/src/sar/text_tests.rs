use super::*;
use crate::recordings::read as read_any;

const TWELVE: &str = "\
Linux 6.1.0-49-amd64 (db1) \t11/21/26 \t_x86_64_\t(2 CPU)

11:40:01 PM     CPU     %user     %nice   %system   %iowait    %steal     %idle
11:50:01 PM     all     10.00      0.00      5.00     20.00      1.00     64.00
12:00:01 AM     all     50.00      2.00     10.00      0.00      0.00     38.00
Average:        all     30.00      1.00      7.50     10.00      0.50     51.00

11:40:01 PM   runq-sz  plist-sz   ldavg-1   ldavg-5  ldavg-15   blocked
11:50:01 PM         3       180      1.50      1.00      0.50         2
12:00:01 AM         1       180      0.50      1.00      0.50         0
Average:            2       180      1.00      1.00      0.50         1

11:40:01 PM       DEV       tps     rkB/s     wkB/s     dkB/s   areq-sz    aqu-sz     await     %util
11:50:01 PM       sda    100.00    400.00    400.00      0.00      8.00      2.50     25.00     99.00
11:50:01 PM       sdb      0.00      0.00      0.00      0.00      0.00      0.00      0.00      0.00
12:00:01 AM       sda     10.00     40.00     40.00      0.00      8.00      0.10     10.00      9.00
Average:          sda     55.00    220.00    220.00      0.00      8.00      1.30     17.50     54.00

11:40:01 PM     IFACE   rxpck/s   txpck/s    rxkB/s    txkB/s   rxcmp/s   txcmp/s  rxmcst/s   %ifutil
11:50:01 PM        lo      1.00      1.00      1.00      1.00      0.00      0.00      0.00      0.00
11:50:01 PM      eth0   1000.00   1000.00 110000.0      1.00      0.00      0.00      0.00     90.00

11:40:01 PM  pswpin/s pswpout/s
11:50:01 PM    100.00     10.00
";

#[test]
fn tables_are_joined_by_their_times_over_midnight() {
    let found = read_any(TWELVE).unwrap();
    assert_eq!(found.source, "sar (text)");
    assert_eq!(found.host.cpus, Some(2));
    assert_eq!(found.moments.len(), 2);
    let first = &found.moments[0];
    assert_eq!(
        first.at,
        Some(jiff::civil::date(2026, 11, 21).at(23, 50, 1, 0))
    );
    assert_eq!(first.seconds, Some(600.0));
    assert_eq!(first.cpu.unwrap().iowait, 0.2);
    assert_eq!(
        (first.runnable, first.blocked, first.load),
        (Some(3.0), Some(2.0), Some(1.5))
    );
    assert_eq!(first.network_use, Some(0.9));
    assert_eq!(first.swap_in_bytes_per_second, Some(409_600.0));
    assert_eq!(first.disks.len(), 2);
    assert_eq!(first.disks[0].queue, Some(2.5));
    assert_eq!(first.disks[0].read_bytes, 409_600.0);
    assert_eq!(first.disks[0].operations(), 100.0);
    let second = &found.moments[1];
    assert_eq!(
        second.at,
        Some(jiff::civil::date(2026, 11, 22).at(0, 0, 1, 0))
    );
    assert_eq!(second.seconds, Some(600.0));
    assert_eq!(second.disks[0].util, Some(0.09));
}

#[test]
fn clocks_of_24_hours_commas_and_restarts() {
    let text = "\
Linux 5.10.0 (host) \t21.11.2026 \t_x86_64_\t(4 CPU)

10:00:00        CPU      %usr     %nice      %sys   %iowait    %steal      %irq     %soft    %guest    %gnice     %idle
10:10:00        all     10,47      0,00      5,76      0,52      0,52      0,00      0,52      0,00      0,00     82,20
10:10:00          0     90,00      0,00      5,76      0,52      0,52      0,00      0,52      0,00      0,00      2,20

10:12:00     LINUX RESTART\t(4 CPU)

10:20:00        CPU      %usr     %nice      %sys   %iowait    %steal      %irq     %soft    %guest    %gnice     %idle
10:30:00        all      1,00      0,00      0,00      0,00      0,00      0,00      0,00      0,00      0,00     99,00
";
    let found = read_any(text).unwrap();
    assert_eq!(found.moments.len(), 2);
    let cpu = found.moments[0].cpu.unwrap();
    assert!((cpu.user - 0.1047).abs() < 1e-9, "not that of CPU 0");
    assert!((cpu.system - 0.0628).abs() < 1e-9);
    assert_eq!(
        found.moments[1].seconds,
        Some(600.0),
        "not over the restart"
    );
    assert!(
        found
            .remarks
            .iter()
            .any(|r| r.contains("restarted 1 times")),
        "{:?}",
        found.remarks
    );
    assert!(found.remarks.iter().any(|r| r.contains("no disks")));
}

#[test]
fn old_columns_are_known() {
    let text = "\
Linux 2.6.32 (old) \t2012-03-01 \t_x86_64_\t(1 CPU)

00:00:01          DEV       tps  rd_sec/s  wr_sec/s  avgrq-sz  avgqu-sz     await     svctm     %util
00:10:01       dev8-0     10.00     80.00     16.00      9.60      0.30     30.00      2.00      2.00
";
    let found = read_any(text).unwrap();
    let disk = &found.moments[0].disks[0];
    assert_eq!((disk.read_bytes, disk.write_bytes), (40_960.0, 8192.0));
    assert_eq!(disk.queue, Some(0.3));
}

#[test]
fn what_sar_printed_here_is_read() {
    let text = include_str!("../../tests/fixtures/sar-A.txt");
    let found = read_any(text).unwrap();
    assert_eq!(found.source, "sar (text)");
    assert!(found.moments.len() >= 3, "{}", found.moments.len());
    for moment in &found.moments {
        assert_eq!(moment.seconds, Some(1.0));
        let cpu = moment.cpu.unwrap();
        let sum = cpu.user + cpu.system + cpu.iowait + cpu.steal + cpu.idle;
        assert!((sum - 1.0).abs() < 0.01, "{sum}");
        assert!(
            moment.disks.iter().any(|disk| disk.name == "vda"),
            "{:?}",
            moment.disks
        );
        assert!(moment.load.is_some() && moment.swap_in_bytes_per_second.is_some());
    }
}

proptest::proptest! {
    #[test]
    fn any_text_is_survived(text in "(([0-9]{2}:[0-9]{2}:[0-9]{2}( AM| PM)?|Average:) +(CPU|DEV|all|sda|runq-sz|[0-9.,]{1,6}| ){0,9}\n|\n|\\PC*\n){0,12}") {
        if let Ok(found) = read(&text) {
            proptest::prop_assert!(found.moments.len() <= 12);
        }
    }
}
