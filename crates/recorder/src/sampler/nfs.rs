//! NFS mounts: `/proc/self/mountstats`. Times are sums in milliseconds: from
//! the call to the first transmission (queue), from there to the reply (round
//! trip), and all together (execute).

use std::collections::HashMap;
use std::sync::Arc;

use fathom_observe::KeptFile;

use super::{Reading, numbers};
use crate::frame::Row;
use crate::kind::{Kind, nfs};

const MOST_MOUNTS: usize = 256;

#[derive(Debug, Default)]
pub(super) struct NfsMounts {
    file: Option<KeptFile>,
    names: HashMap<String, Arc<str>>,
}

impl NfsMounts {
    pub(super) fn read(&mut self, reading: &mut Reading<'_>) {
        if reading.slow() {
            let mounts = reading.sys.text("/proc/self/mountinfo").unwrap_or_default();
            let any = mounts.contains(" - nfs");
            self.file = any.then(|| KeptFile::open(reading.sys, "/proc/self/mountstats"));
        }
        let Some(file) = &mut self.file else { return };
        let Some(text) = file.read(reading.buffer) else {
            return;
        };
        for (name, mut row) in parse(text) {
            let name = self
                .names
                .entry(name.clone())
                .or_insert_with(|| name.as_str().into());
            row.name = Arc::clone(name);
            reading.rows.push(row);
        }
    }
}

/// Each NFS mount's name, `server:/export on /mnt`, and its sums.
fn parse(text: &str) -> Vec<(String, Row)> {
    let mut found: Vec<(String, Row)> = Vec::new();
    let mut inside = false;
    let mut counting = false;
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("device ") {
            inside = false;
            counting = false;
            if let Some(name) = mount_name(rest).filter(|_| found.len() < MOST_MOUNTS) {
                let mut row = Row::absent(Kind::Nfs, "".into());
                row.values.fill(0);
                found.push((name, row));
                inside = true;
            }
            continue;
        }
        let line = line.trim();
        counting |= inside && line == "per-op statistics";
        if let Some((_, row)) = found.last_mut().filter(|_| counting)
            && let Some((operation, sums)) = line.split_once(':')
        {
            add(row, operation, sums);
        }
    }
    found
}

/// `server:/export mounted on /mnt with fstype nfs4 statvers=1.1`.
fn mount_name(rest: &str) -> Option<String> {
    let (source, rest) = rest.split_once(" mounted on ")?;
    let (folder, rest) = rest.split_once(" with fstype ")?;
    let kind = rest.split(' ').next()?;
    matches!(kind, "nfs" | "nfs4").then(|| format!("{source} on {folder}"))
}

/// Operations, transmissions, major timeouts, bytes sent, bytes received, and
/// three times.
fn add(row: &mut Row, operation: &str, sums: &str) {
    for (place, number) in numbers(sums).enumerate().take(8) {
        let Some(number) = number else { return };
        row.values[place] = row.values[place].saturating_add(number);
        if place == nfs::OPERATIONS {
            match operation {
                "READ" => row.values[nfs::READS] = number,
                "WRITE" => row.values[nfs::WRITES] = number,
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "device proc mounted on /proc with fstype proc
device nas:/data mounted on /mnt/data with fstype nfs4 statvers=1.1
\topts:\trw,vers=4.2
\tRPC iostats version: 1.1  p/v: 100003/4 (nfs)
\txprt:\ttcp 843 1 1 0 0 10 10 0 10 0
\tper-op statistics
\t        NULL: 1 1 0 44 24 0 0 0 0
\t        READ: 10 12 1 1000 40960 5 200 210 0
\t       WRITE: 4 4 0 16384 500 1 80 82 0

device nas:/b mounted on /mnt/b with fstype nfs statvers=1.1
\tper-op statistics
\t        READ: 1 1 0 10 20 0 3 3
";

    #[test]
    fn operations_of_a_mount_are_summed() {
        let found = parse(TEXT);
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].0, "nas:/data on /mnt/data");
        let row = &found[0].1;
        assert_eq!(row.value(nfs::OPERATIONS), Some(15));
        assert_eq!(row.value(nfs::TRANSMISSIONS), Some(17));
        assert_eq!(row.value(nfs::TIMEOUTS), Some(1));
        assert_eq!(row.value(nfs::ROUND_TRIP_MS), Some(280));
        assert_eq!(row.value(nfs::EXECUTE_MS), Some(292));
        assert_eq!(
            (row.value(nfs::READS), row.value(nfs::WRITES)),
            (Some(10), Some(4))
        );
        assert_eq!(found[1].1.value(nfs::EXECUTE_MS), Some(3));
    }
}
