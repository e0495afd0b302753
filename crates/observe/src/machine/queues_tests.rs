use std::fs;

use super::*;

#[test]
fn interrupts_belong_to_queues_whatever_drivers_call_them() {
    let words = |words: &[&str]| words.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>();
    let card = words(&["eth0", "0000:01:00.0"]);
    for (action, queue) in [
        ("eth0-rx-0", Some("rx-0")),
        ("eth0-tx-12", Some("tx-12")),
        ("eth0-TxRx-3", Some("queue 3")),
        ("i40e-eth0-TxRx-7", Some("queue 7")),
        ("eth0-Tx-Rx-1", Some("queue 1")),
        ("mlx5_comp3@pci:0000:01:00.0", Some("queue 3")),
        ("mlx5_comp3@pci:0000:02:00.0", None),
        ("eth01-rx-0", None),
        ("eth0", None),
        ("eth0-mgmnt", None),
    ] {
        assert_eq!(card_queue(action, &card).as_deref(), queue, "{action}");
    }
    let virtio = words(&["eth0", "virtio2"]);
    assert_eq!(
        card_queue("virtio2-input.0", &virtio).as_deref(),
        Some("rx-0")
    );
    assert_eq!(
        card_queue("virtio2-output.1", &virtio).as_deref(),
        Some("tx-1")
    );
    assert_eq!(card_queue("virtio2-config", &virtio), None);
    assert_eq!(card_queue("virtio21-input.0", &virtio), None);
    assert_eq!(disk_queue("nvme0q3", &words(&["nvme0"])), Some(2));
    assert_eq!(disk_queue("nvme0q0", &words(&["nvme0"])), None);
    assert_eq!(disk_queue("nvme01q3", &words(&["nvme0"])), None);
    assert_eq!(disk_queue("virtio1-req.0", &words(&["virtio1"])), Some(0));
}

#[test]
fn counters_of_drivers_are_understood_in_each_ones_spelling() {
    for (name, expected) in [
        ("     rx_queue_0_drops", Some(("rx-0", "queue_dropped"))),
        ("rx0_packets", Some(("rx-0", "queue_packets"))),
        ("tx12_dropped", Some(("tx-12", "queue_dropped"))),
        ("queue_3_tx_cnt", Some(("tx-3", "queue_packets"))),
        ("rx-0.packets", Some(("rx-0", "queue_packets"))),
        ("[1]: rx_discards", Some(("rx-1", "queue_dropped"))),
        ("rx_packets", None),
        ("rx0_csum_complete", None),
        ("rx_queue_0_xdp_drops", None),
        ("tx_queue_0_bytes", None),
    ] {
        let found = driver_counter(name);
        let found = found.as_ref().map(|(queue, what)| (queue.as_str(), *what));
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn tags_under_way_are_read_from_debugfs() {
    let text = "nr_tags=1023\nnr_reserved_tags=1\nactive_queues=0\n\nbitmap_tags:\ndepth=1022\n\
                busy=511\ncleared=3\n\nbreserved_tags:\ndepth=1\nbusy=0\n";
    assert_eq!(busy_tags(text), Some((511, 1022)));
    assert_eq!(busy_tags("nr_tags=1\n"), None);
}

#[test]
fn a_recorded_host_has_a_row_for_each_queue() {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("sys/devices/virtio2/x", "");
    write("sys/class/net/eth0/operstate", "up");
    for queue in ["rx-0", "rx-1", "tx-0"] {
        write(&format!("sys/class/net/eth0/queues/{queue}/xps_cpus"), "3");
    }
    write("sys/class/net/eth0/queues/tx-0/tx_timeout", "2");
    write(
        "sys/class/net/eth0/queues/tx-0/byte_queue_limits/inflight",
        "300",
    );
    write(
        "sys/class/net/eth0/queues/tx-0/byte_queue_limits/limit",
        "400",
    );
    write(
        "proc/interrupts",
        "           CPU0       CPU1\n 38:   10   20  PCI-MSIX-0000:00:03.0   1-edge      \
         virtio2-input.0\n 39:   10   0  PCI-MSIX-0000:00:03.0   1-edge      virtio2-input.1\n\
         NMI:    1   1   Non-maskable interrupts\n",
    );
    write("proc/net/softnet_stat", "0000000a 00000001 00000002\n");
    std::os::unix::fs::symlink(
        "../../../devices/virtio2",
        folder.path().join("sys/class/net/eth0/device"),
    )
    .unwrap();
    let sys = Sysroot::at(folder.path());
    let queues = Queues::find(&sys);
    let mut now = MachineCounters::new();
    queues.counters(&sys, &mut now);
    let of = |quantity: &'static str, name: &str| now.get(&(quantity, name.to_owned())).copied();
    assert_eq!(of("queue_interrupts", "eth0 rx-0"), Some(30.0));
    assert_eq!(of("queue_timeouts", "eth0 tx-0"), Some(2.0));
    assert_eq!(of("queue_dropped", "backlog of cpu0"), Some(1.0));
    let mut out = Readings {
        readings: Vec::new(),
        at_seconds: 1.0,
        seconds: 1.0,
    };
    out.add("queue_interrupts", "eth0 rx-0", 30.0);
    out.add("queue_interrupts", "eth0 rx-1", 10.0);
    queues.states(&sys, &mut out);
    assert_eq!(out.of("queue_fill", "eth0 tx-0"), Some(0.75));
    assert_eq!(out.of("queue_share", "eth0 rx-0"), Some(0.75));
}
