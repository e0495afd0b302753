use fathom_model::verdict::FindingStatus::{Caveat, Info, NotMeasured, Pass};

use crate::test_records::RecordBuilder;

fn drive(before: &[(&str, &str)], after: &[(&str, &str)]) -> RecordBuilder {
    RecordBuilder::reads().drive_facts(before, after)
}

const FULL: [(&str, &str); 6] = [
    ("pcie_link_speed", "16.0 GT/s PCIe"),
    ("pcie_link_speed_max", "16.0 GT/s PCIe"),
    ("pcie_link_width", "4"),
    ("pcie_link_width_max", "4"),
    ("pcie_port_link_speed_max", "16.0 GT/s PCIe"),
    ("pcie_port_link_width_max", "16"),
];

#[test]
fn a_full_link_passes_and_a_trained_down_one_does_not() {
    assert_eq!(drive(&FULL, &[]).status("V35"), Some(Pass));
    let narrow = drive(&FULL, &[("pcie_link_width", "1")]);
    assert_eq!(narrow.status("V35"), Some(Caveat));
    let slow = drive(&FULL, &[("pcie_link_speed", "2.5 GT/s PCIe")]);
    let finding = slow.finding("V35").unwrap();
    assert_eq!(finding.status, Caveat);
    assert!(finding.evidence.contains("2.5 GT/s"), "{finding:?}");
}

#[test]
fn a_slot_that_is_slower_than_the_drive_is_no_fault() {
    let old_slot = [
        ("pcie_link_speed", "8.0 GT/s PCIe"),
        ("pcie_link_speed_max", "16.0 GT/s PCIe"),
        ("pcie_port_link_speed_max", "8.0 GT/s PCIe"),
    ];
    assert_eq!(drive(&old_slot, &[]).status("V35"), Some(Info));
    assert_eq!(
        drive(&old_slot[..2], &[]).status("V35"),
        Some(Info),
        "port unknown"
    );
}

#[test]
fn new_errors_on_the_link_count_and_old_ones_do_not() {
    let with = |name: &'static str, before: &'static str| {
        let mut facts = FULL.to_vec();
        facts.push((name, before));
        facts
    };
    let old = drive(&with("pcie_errors_nonfatal", "3"), &[]);
    assert_eq!(old.status("V35"), Some(Pass));
    let new = drive(
        &with("pcie_errors_nonfatal", "3"),
        &[("pcie_errors_nonfatal", "4")],
    );
    assert_eq!(new.status("V35"), Some(Caveat));
    let corrected = drive(
        &with("pcie_errors_corrected", "0"),
        &[("pcie_errors_corrected", "9")],
    );
    assert_eq!(corrected.status("V35"), Some(Info));
}

#[test]
fn sata_and_network_links_are_looked_at() {
    let sata = [("sata_link", "6.0 Gbps"), ("sata_link_slowdowns", "0")];
    assert_eq!(drive(&sata, &[]).status("V35"), Some(Pass));
    let slowed = drive(&sata, &[("sata_link_slowdowns", "1")]);
    assert_eq!(slowed.status("V35"), Some(Caveat));
    let nfs = |duplex| {
        let facts = [
            ("nic", "eth0"),
            ("nic_speed_mbit", "1000"),
            ("nic_duplex", duplex),
        ];
        RecordBuilder::reads()
            .on("nfs4", true)
            .filesystem_facts(&facts)
    };
    assert_eq!(nfs("full").status("V35"), Some(Pass));
    assert_eq!(nfs("half").status("V35"), Some(Caveat));
    assert_eq!(RecordBuilder::reads().status("V35"), Some(NotMeasured));
}
