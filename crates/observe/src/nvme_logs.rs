//! Two further log pages of NVMe controllers: the device self-test that may be
//! running (log page 6, NVM Express Base Specification 2.0, 5.16.1.7), and the
//! statistics of Amazon's block store (vendor page D0h), whose counters of
//! time at the volume's and the instance's limit prove a cap. The layout of
//! the latter is that of the public tool `ebsnvme` of amazon-ec2-utils.

use std::collections::BTreeMap;
use std::fs::File;

use crate::kernel_calls::nvme_log_page;

const SELF_TEST: u8 = 6;
const CLOUD: u8 = 0xD0;
/// First bytes of the cloud page.
const CLOUD_MAGIC: u32 = 0x3C23_B510;
/// What is read of it: up to the queue length.
const CLOUD_BYTES: usize = 96;

/// Adds `self_test` while one runs. Controllers without the command refuse the
/// page; then nothing is known and nothing is said.
pub(crate) fn add_self_test_facts(file: &File, facts: &mut BTreeMap<String, String>) {
    let Ok(page) = nvme_log_page::<4>(file, SELF_TEST, u32::MAX) else {
        return;
    };
    facts.insert("self_test".to_owned(), self_test(page));
}

/// Byte 0 holds the operation in its low four bits, byte 1 the percentage.
fn self_test(page: [u8; 4]) -> String {
    let percent = page[1] & 0x7F;
    match page[0] & 0x0F {
        0 => "none".to_owned(),
        1 => format!("short, {percent} % done"),
        2 => format!("extended, {percent} % done"),
        other => format!("kind {other}, {percent} % done"),
    }
}

/// Adds the microseconds at each limit, `cloud_*_exceeded_us`.
pub(crate) fn add_cloud_facts(file: &File, facts: &mut BTreeMap<String, String>) {
    if let Ok(page) = nvme_log_page::<CLOUD_BYTES>(file, CLOUD, 1) {
        facts.extend(cloud_facts(&page));
    }
}

fn cloud_facts(page: &[u8; CLOUD_BYTES]) -> BTreeMap<String, String> {
    let number = |at: usize, length: usize| {
        let bytes = page[at..at + length].iter().rev();
        bytes.fold(0_u64, |sum, &byte| sum << 8 | u64::from(byte))
    };
    if number(0, 4) != u64::from(CLOUD_MAGIC) {
        return BTreeMap::new();
    }
    [
        ("cloud_volume_iops_exceeded_us", 56),
        ("cloud_volume_throughput_exceeded_us", 64),
        ("cloud_instance_iops_exceeded_us", 72),
        ("cloud_instance_throughput_exceeded_us", 80),
    ]
    .into_iter()
    .map(|(name, at)| (name.to_owned(), number(at, 8).to_string()))
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_running_self_test_is_named() {
        assert_eq!(self_test([0, 0, 0, 0]), "none");
        assert_eq!(self_test([0x01, 0x85, 0, 0]), "short, 5 % done");
        assert_eq!(self_test([0x12, 42, 0, 0]), "extended, 42 % done");
        assert_eq!(self_test([0x0E, 0, 0, 0]), "kind 14, 0 % done");
    }

    #[test]
    fn cloud_counters_are_read_only_behind_their_magic() {
        let mut page = [0_u8; CLOUD_BYTES];
        page[56..64].copy_from_slice(&1_500_000_u64.to_le_bytes());
        page[80..88].copy_from_slice(&7_u64.to_le_bytes());
        assert!(cloud_facts(&page).is_empty());
        page[..4].copy_from_slice(&CLOUD_MAGIC.to_le_bytes());
        let facts = cloud_facts(&page);
        assert_eq!(facts["cloud_volume_iops_exceeded_us"], "1500000");
        assert_eq!(facts["cloud_volume_throughput_exceeded_us"], "0");
        assert_eq!(facts["cloud_instance_throughput_exceeded_us"], "7");
    }
}
