//! Network interfaces and TCP: `/proc/net/dev`, `/proc/net/snmp`,
//! `/proc/net/netstat`, `/proc/net/softnet_stat` of this network namespace.

use std::collections::HashMap;
use std::sync::Arc;

use fathom_observe::network::link_facts;
use fathom_observe::{KeptFile, Sysroot};

use super::{Reading, numbers};
use crate::frame::Row;
use crate::kind::{ABSENT, Kind, link, tcp};

/// More interfaces are not recorded: hosts of containers have thousands.
const MOST_LINKS: usize = 128;

#[derive(Debug)]
pub(super) struct Links {
    devices: KeptFile,
    snmp: KeptFile,
    netstat: KeptFile,
    backlog: KeptFile,
    /// Name and rated speed of each that was seen.
    known: HashMap<String, (Arc<str>, u64)>,
    none: Arc<str>,
}

impl Links {
    pub(super) fn open(sys: &Sysroot) -> Links {
        Links {
            devices: KeptFile::open(sys, "/proc/net/dev"),
            snmp: KeptFile::open(sys, "/proc/net/snmp"),
            netstat: KeptFile::open(sys, "/proc/net/netstat"),
            backlog: KeptFile::open(sys, "/proc/net/softnet_stat"),
            known: HashMap::new(),
            none: "".into(),
        }
    }

    pub(super) fn read(&mut self, reading: &mut Reading<'_>) {
        if reading.very_slow() {
            self.known.clear();
        }
        if let Some(text) = self.devices.read(reading.buffer) {
            for line in text.lines() {
                let Some((name, counters)) = line.split_once(':') else {
                    continue;
                };
                let name = name.trim();
                if name == "lo" || self.known.len() >= MOST_LINKS && !self.known.contains_key(name)
                {
                    continue;
                }
                if let Some(mut row) = link_row(counters) {
                    if !self.known.contains_key(name) {
                        let speed = speed_bits(reading.sys, name);
                        self.known.insert(name.to_owned(), (name.into(), speed));
                    }
                    if let Some((name, speed)) = self.known.get(name) {
                        row.name = Arc::clone(name);
                        row.values[link::SPEED] = *speed;
                        reading.rows.push(row);
                    }
                }
            }
        }
        let mut row = Row::absent(Kind::Tcp, Arc::clone(&self.none));
        if let Some(text) = self.snmp.read(reading.buffer) {
            fill_tcp(text, "Tcp:", &mut row);
        }
        if let Some(text) = self.netstat.read(reading.buffer) {
            fill_tcp(text, "TcpExt:", &mut row);
        }
        if let Some(text) = self.backlog.read(reading.buffer) {
            let (drops, squeezes) = backlog(text);
            row.values[tcp::BACKLOG_DROPS] = drops;
            row.values[tcp::BACKLOG_SQUEEZES] = squeezes;
        }
        if row.values.iter().any(|value| *value != ABSENT) {
            reading.rows.push(row);
        }
    }
}

/// What a link without hardware claims is no speed.
fn speed_bits(sys: &Sysroot, name: &str) -> u64 {
    let facts = link_facts(sys, name);
    let speed = facts.speed_bits.filter(|_| !facts.is_virtual);
    speed.unwrap_or(ABSENT)
}

/// Sixteen numbers: eight received, eight sent.
fn link_row(counters: &str) -> Option<Row> {
    let mut n = [0_u64; 16];
    let mut found = 0;
    for (place, number) in n.iter_mut().zip(numbers(counters)) {
        *place = number?;
        found += 1;
    }
    let used = n[1] + n[9] > 0;
    (found == 16 && used).then(|| Row {
        kind: Kind::Link,
        name: "".into(),
        values: vec![
            n[0],
            n[1],
            n[2],
            // Dropped for want of buffers, by the interface or before it.
            n[3].saturating_add(n[4]),
            n[8],
            n[9],
            n[10],
            n[11].saturating_add(n[12]),
            ABSENT,
        ],
    })
}

/// Names in one line, values in the next.
fn fill_tcp(snmp: &str, of: &str, row: &mut Row) {
    let mut lines = snmp.lines().filter_map(|line| line.strip_prefix(of));
    let (Some(names), Some(values)) = (lines.next(), lines.next()) else {
        return;
    };
    for (name, value) in names.split_ascii_whitespace().zip(numbers(values)) {
        let place = match name {
            "InSegs" => tcp::RECEIVED_SEGMENTS,
            "OutSegs" => tcp::SENT_SEGMENTS,
            "RetransSegs" => tcp::RETRANSMITS,
            "InErrs" => tcp::RECEIVE_ERRORS,
            "TCPOFOQueue" => tcp::OUT_OF_ORDER,
            _ => continue,
        };
        row.values[place] = value.unwrap_or(ABSENT);
    }
}

/// One line per CPU, in hexadecimal: processed, dropped, squeezed.
fn backlog(text: &str) -> (u64, u64) {
    let mut sums = (0_u64, 0_u64);
    for line in text.lines() {
        let mut fields = line
            .split_ascii_whitespace()
            .map(|f| u64::from_str_radix(f, 16).unwrap_or(0));
        sums.0 = sums.0.saturating_add(fields.nth(1).unwrap_or(0));
        sums.1 = sums.1.saturating_add(fields.next().unwrap_or(0));
    }
    sums
}
