//! Readings of a made-up machine.

use super::*;
use fathom_model::fingerprint::DeviceFacts;
use std::path::PathBuf;

struct Machine(tempfile::TempDir);

impl Machine {
    fn new() -> Machine {
        Machine(tempfile::tempdir().unwrap())
    }

    fn write(&self, path: &str, text: &str) {
        let path: PathBuf = self.0.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn sys(&self) -> Sysroot {
        Sysroot::at(self.0.path())
    }
}

fn target(name: &str) -> TargetFingerprint {
    TargetFingerprint {
        devices: vec![DeviceFacts {
            name: name.to_owned(),
            ..DeviceFacts::default()
        }],
        ..TargetFingerprint::default()
    }
}

fn thread(name: &str, user: u64, system: u64, cpu: u32) -> String {
    let rest = "0 ".repeat(23);
    format!("77 ({name}) R 1 1 1 0 -1 64 0 0 0 0 {user} {system} {rest}{cpu} 0 0\n")
}

#[test]
fn growth_is_what_counts() {
    let machine = Machine::new();
    machine.write(
        "proc/self/mountinfo",
        "30 22 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
    );
    machine.write("proc/self/cgroup", "0::/a/b\n");
    machine.write("sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
    machine.write("sys/fs/cgroup/a/cpu.max", "50000 100000\n");
    let stat = |periods: u64, throttled: u64| {
        format!(
            "usage_usec 5\nnr_periods {periods}\nnr_throttled {throttled}\nthrottled_usec 700\n"
        )
    };
    machine.write("sys/fs/cgroup/a/cpu.stat", &stat(10, 1));
    machine.write("proc/vmstat", "pswpin 5\npswpout 7\npswpin_x 1\n");
    let throttle = "sys/devices/system/cpu/cpu0/thermal_throttle";
    machine.write(&format!("{throttle}/core_throttle_count"), "3\n");
    let interrupts = |a: u64, b: u64| {
        format!(
            "           CPU0       CPU2\n 24:  {a}  {b}  PCI-MSI 1-edge      nvme0q1\n 25: 9 9 PCI-MSI nvme10q1\nERR: 4\n"
        )
    };
    machine.write("proc/interrupts", &interrupts(100, 1000));
    machine.write("sys/devices/pci0/nvme/nvme0/nvme0n1/stat", "");
    std::fs::create_dir_all(machine.0.path().join("sys/class/block")).unwrap();
    std::os::unix::fs::symlink(
        "../../devices/pci0/nvme/nvme0/nvme0n1",
        machine.0.path().join("sys/class/block/nvme0n1"),
    )
    .unwrap();
    let watch = HostWatch::new(&machine.sys(), &target("nvme0n1"));
    machine.write("sys/fs/cgroup/a/cpu.stat", &stat(60, 31));
    machine.write("proc/vmstat", "pswpin 6\npswpout 7\n");
    machine.write(&format!("{throttle}/core_throttle_count"), "5\n");
    machine.write("proc/interrupts", &interrupts(110, 1990));
    let load = watch.finish();
    let quota = load.cpu_quota.unwrap();
    assert_eq!((quota.group.as_str(), quota.periods), ("/a", 50));
    assert_eq!((quota.throttled_periods, quota.throttled_ns), (30, 0));
    assert_eq!(load.swap_in_bytes, Some(rustix::param::page_size() as u64));
    assert_eq!(load.swap_out_bytes, Some(0));
    assert_eq!(load.core_throttles, Some(2));
    let expected = DeviceInterrupts {
        device: "nvme0n1".to_owned(),
        total: 1000,
        busiest_cpu: 2,
        on_busiest_cpu: 990,
    };
    assert_eq!(load.interrupts, [expected]);
    assert_eq!(load.busiest_thread, None);
}

#[test]
fn an_empty_machine_has_no_counters() {
    let machine = Machine::new();
    let load = HostWatch::new(&machine.sys(), &target("sda")).finish();
    let nothing = HostLoad {
        duration_ns: load.duration_ns,
        ..HostLoad::default()
    };
    assert_eq!(load, nothing);
}

#[test]
fn the_busiest_worker_is_named_with_its_cpu() {
    let machine = Machine::new();
    let write = |id: u32, text: String| machine.write(&format!("proc/self/task/{id}/stat"), &text);
    write(1, thread("fathom", 5000, 0, 0));
    write(9, thread("fathom-watch", 5000, 0, 0));
    write(2, thread("fathom-w0", 10, 20, 0));
    write(3, thread("fathom-w1 (x)", 10, 20, 1));
    let mut threads = Threads::default();
    threads.look(&machine.sys(), 1_000);
    assert_eq!(threads.busiest(), None, "one look has no difference");
    write(1, thread("fathom", 9000, 0, 0));
    write(9, thread("fathom-watch", 9000, 0, 0));
    write(2, thread("fathom-w0", 15, 20, 0));
    write(3, thread("fathom-w1 (x)", 40, 90, 7));
    threads.look(&machine.sys(), 2_000);
    let busiest = threads.busiest().unwrap();
    assert_eq!(
        (busiest.name.as_str(), busiest.cpu),
        ("fathom-w1 (x)", Some(7))
    );
    assert_eq!(
        (busiest.cpu_ns, busiest.duration_ns),
        (100 * tick_ns(), 1_000)
    );
}

#[test]
fn the_running_host_names_its_own_workers() {
    let (stop, stopped) = std::sync::mpsc::channel::<()>();
    let worker = std::thread::Builder::new()
        .name("fathom-w9".to_owned())
        .spawn(move || stopped.recv().is_err())
        .unwrap();
    let mut watch = HostWatch::new(&Sysroot::host(), &TargetFingerprint::default());
    watch.tick();
    watch.tick();
    let load = watch.finish();
    drop(stop);
    assert!(worker.join().unwrap());
    let thread = load.busiest_thread;
    assert!(thread.is_none_or(|t| t.name.starts_with(WORKER)));
}
