//! Values that no host can have: shares of the time over 100 %, negative rates,
//! values that are not numbers. They come from damaged files and from faults of the tools,
//! and say nothing; which were left out is said with the recording.

use fathom_diagnose::recording::{CpuShares, DiskMoment, Moment, Recording};

/// The most that shares of the time add up to: tools round each of them, vmstat to
/// whole percent.
const SHARES_MAX: f64 = 1.05;
/// The most of `%util`: the clocks of the device and of the tool differ.
const UTIL_MAX: f64 = 1.1;

/// Leaves out what cannot be, and says what that was.
pub(super) fn leave_out(recording: &mut Recording) {
    let mut told = Told::default();
    for (number, moment) in (1..).zip(&mut recording.moments) {
        told.number = number;
        of_moment(moment, &mut told);
    }
    if let Some(first) = told.first {
        let others = match told.count - 1 {
            0 => String::new(),
            more => format!(", and {more} more like it"),
        };
        let words = format!("left out because it cannot be: {first}{others}");
        recording.remarks.push(words);
    }
}

/// What was left out so far.
#[derive(Default)]
struct Told {
    /// Number of the sample that is looked at.
    number: usize,
    count: usize,
    first: Option<String>,
}

impl Told {
    fn of(&mut self, what: &str, value: f64) {
        self.count += 1;
        let number = self.number;
        self.first
            .get_or_insert_with(|| match value.abs() < LARGEST {
                true => format!("{what} {value:.2} in sample {number}"),
                false => format!("{what} {value:e} in sample {number}"),
            });
    }
}

fn of_moment(moment: &mut Moment, told: &mut Told) {
    if let Some(cpu) = moment.cpu
        && let Some(percent) = impossible_percent(&cpu)
    {
        told.of("CPU percentage", percent);
        moment.cpu = None;
    }
    moment.disks.retain_mut(|disk| of_disk(disk, told));
    let shares = [
        ("I/O pressure", &mut moment.io_pressure_some),
        ("I/O pressure", &mut moment.io_pressure_full),
        ("memory pressure", &mut moment.memory_pressure_some),
    ];
    for (what, share) in shares {
        only_if(
            share,
            |share| (0.0..=SHARES_MAX).contains(&share),
            what,
            told,
        );
    }
    let counts = [
        ("runnable tasks", &mut moment.runnable),
        ("blocked tasks", &mut moment.blocked),
        ("load average", &mut moment.load),
        ("swap-in", &mut moment.swap_in_bytes_per_second),
        ("swap-out", &mut moment.swap_out_bytes_per_second),
        ("paging", &mut moment.paged_bytes_per_second),
        ("network use", &mut moment.network_use),
    ];
    for (what, count) in counts {
        only_if(count, is_rate, what, told);
    }
}

/// The percentage that cannot be one of these shares, or their sum.
fn impossible_percent(cpu: &CpuShares) -> Option<f64> {
    let shares = [cpu.user, cpu.system, cpu.iowait, cpu.steal, cpu.idle];
    let all = shares.into_iter().chain(cpu.nice);
    let sum: f64 = shares.iter().sum();
    let mut all = all.chain([sum]);
    let found = all.find(|share| !(0.0..=SHARES_MAX).contains(share));
    found.map(|share| share * 100.0)
}

/// Whether a device can be what is said of it; one whose `%util` cannot be is
/// kept without it.
fn of_disk(disk: &mut DiskMoment, told: &mut Told) -> bool {
    let known = [
        disk.reads,
        disk.writes,
        disk.discards,
        disk.flushes,
        disk.undivided,
        disk.read_bytes,
        disk.write_bytes,
        disk.undivided_bytes,
    ];
    let told_of = [
        disk.read_wait_ms,
        disk.write_wait_ms,
        disk.wait_ms,
        disk.flush_wait_ms,
        disk.discard_wait_ms,
        disk.queue,
    ];
    let mut values = known.into_iter().chain(told_of.into_iter().flatten());
    if let Some(value) = values.find(|value| !is_rate(*value)) {
        told.of(&format!("the value of {}", disk.name), value);
        return false;
    }
    let what = format!("%util of {}", disk.name);
    if let Some(util) = disk.util.filter(|util| !(0.0..=UTIL_MAX).contains(util)) {
        told.of(&what, util * 100.0);
        disk.util = None;
    }
    true
}

fn only_if(value: &mut Option<f64>, can_be: impl Fn(f64) -> bool, what: &str, told: &mut Told) {
    if let Some(found) = value.filter(|found| !can_be(*found)) {
        told.of(what, found);
        *value = None;
    }
}

/// The largest value of a counter.
const LARGEST: f64 = u64::MAX as f64;

fn is_rate(value: f64) -> bool {
    (0.0..LARGEST).contains(&value)
}

#[cfg(test)]
mod tests {
    use super::super::read;

    #[test]
    fn what_cannot_be_is_left_out_and_named_whichever_tool_says_it() {
        let iostat = "Linux 6.1.0 (h)  11/21/26  _x86_64_  (2 CPU)\n\n\
            avg-cpu:  %user   %nice %system %iowait  %steal   %idle\n\
            1.00 0.00 1.00 0.00 0.00 98.00\n\n\
            Device r/s rkB/s w/s wkB/s %util\nsda 1.00 4.00 0.00 0.00 1.00\n\n\
            avg-cpu:  %user   %nice %system %iowait  %steal   %idle\n\
            1.00 0.00 1.00 250.00 0.00 98.00\n\n\
            Device r/s rkB/s w/s wkB/s %util\nsda -1.00 4.00 0.00 0.00 1.00\n\
            sdb 1.00 4.00 0.00 0.00 900.00\n";
        let recording = read(iostat).unwrap();
        let last = recording.moments.last().unwrap();
        assert_eq!(last.cpu, None);
        assert_eq!(last.disks.len(), 1, "{:?}", last.disks);
        assert_eq!(last.disks[0].util, None);
        let words = recording.remarks.join("\n");
        assert!(
            words.contains("CPU percentage 250.00 in sample 1"),
            "{words}"
        );
        assert!(words.contains("and 2 more"), "{words}");

        let vmstat = "r b swpd free buff cache si so bi bo in cs us sy id wa st\n\
            1 0 0 1 1 1 0 0 0 0 1 1 1 1 98 0 0\n\
            1 0 0 1 1 1 0 0 0 0 1 1 nan 1 98 0 0\n\
            1 0 0 1 1 1 0 0 0 0 1 1 35 34 31 1 1\n";
        let recording = read(vmstat).unwrap();
        let known: Vec<bool> = recording.moments.iter().map(|m| m.cpu.is_some()).collect();
        assert_eq!(known, [false, true], "rounding alone is not a fault");
        assert!(recording.remarks.join("\n").contains("CPU percentage NaN"));

        let top = "top - 10:00:00 up 1 day, load average: -3.10, 0.20, 0.30\n\
            %Cpu(s):  1.0 us,  0.5 sy,  0.0 ni, 198.0 id,  0.5 wa,  0.0 hi,  0.0 si,  0.0 st\n";
        let recording = read(top).unwrap();
        assert_eq!(
            (recording.moments[0].cpu, recording.moments[0].load),
            (None, None)
        );

        let sar = "Linux 6.1.0 (h)  2026-11-21  _x86_64_  (2 CPU)\n\n\
            10:00:01  CPU  %user  %nice  %system  %iowait  %steal  %idle\n\
            10:00:02  all  1.00  0.00  1.00  0.00  0.00  -98.00\n\
            10:00:03  all  1.00  0.00  1.00  0.00  0.00  98.00\n";
        let recording = read(sar).unwrap();
        assert_eq!(recording.moments[0].cpu, None);
        assert!(recording.moments[1].cpu.is_some());
    }

    #[test]
    fn a_rate_beyond_any_counter_is_left_out() {
        let iostat = "Linux 6.1.0 (h)  11/21/26  _x86_64_  (2 CPU)\n\n\
            Device r/s rkB/s w/s wkB/s %util\nsda 1.00 4.00 0.00 0.00 1.00\n\n\
            Device r/s rkB/s w/s wkB/s %util\nsda 1e300 1e300 0.00 0.00 1.00\n";
        let recording = read(iostat).unwrap();
        assert!(recording.moments.last().unwrap().disks.is_empty());
        let words = recording.remarks.join("\n");
        assert!(
            words.contains("the value of sda 1e300 in sample"),
            "{words}"
        );
    }
}
