//! Queues: of network interfaces (`/sys/class/net/X/queues`), of block devices
//! (`/sys/block/X/mq`), and those between interfaces and protocols, one for each
//! CPU (`/proc/net/softnet_stat`).
//!
//! The kernel counts little by queue. Interrupts tell which of them work
//! (`/proc/interrupts`); byte queue limits how full a queue for sending is
//! (lib/dynamic_queue_limits.c); drivers count packets and drops by queue, which
//! `ethtool -S` shows where it is installed; the requests under way in a hardware
//! queue of a disk stand in debugfs, where that is mounted and may be read.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::interfaces::interfaces;
use super::{MachineCounters, Readings};
use crate::Sysroot;
use fathom_deadline::{find_program, output_of};

/// Queues of one device that are looked at.
const QUEUES_MAX: usize = 256;
/// Disks whose queues are looked at.
const DISKS_MAX: usize = 256;
const PATIENCE: Duration = Duration::from_secs(2);

/// The queues of a host.
#[derive(Debug, Default)]
pub(super) struct Queues {
    cards: Vec<Card>,
    disks: Vec<DiskQueues>,
    ethtool: Option<PathBuf>,
}

/// An interface of hardware, with the words by which its interrupts are named.
#[derive(Debug)]
struct Card {
    name: String,
    words: Vec<String>,
    queues: Vec<String>,
}

/// A block device with queues of hardware.
#[derive(Debug)]
struct DiskQueues {
    name: String,
    words: Vec<String>,
    numbers: Vec<u32>,
}

impl Queues {
    pub(super) fn find(sys: &Sysroot) -> Queues {
        let cards = interfaces(sys)
            .into_iter()
            .filter_map(|name| card(sys, &name));
        let disks = sys.names("/sys/block").into_iter();
        let disks = disks.filter_map(|name| disk_queues(sys, &name));
        let mut found = Queues {
            cards: cards.collect(),
            disks: disks.take(DISKS_MAX).collect(),
            ethtool: None,
        };
        if sys.is_host() && !found.cards.is_empty() {
            found.ethtool = find_program("ethtool");
        }
        found
    }

    /// What cannot be read here.
    pub(super) fn notes(&self, sys: &Sysroot) -> Vec<String> {
        let mut notes = Vec::new();
        if !self.cards.is_empty() && self.ethtool.is_none() {
            notes.push(
                "packets and drops of each queue of an interface: its driver counts them, and \
                 ethtool, which is not installed, shows them"
                    .to_owned(),
            );
        }
        if !self.disks.is_empty() && sys.names("/sys/kernel/debug/block").is_empty() {
            notes.push(
                "requests under way in each hardware queue of a disk: they stand in debugfs \
                 (/sys/kernel/debug), which is not mounted or may not be read"
                    .to_owned(),
            );
        }
        notes
    }

    /// What only grows.
    pub(super) fn counters(&self, sys: &Sysroot, now: &mut MachineCounters) {
        let interrupts = sys.text("/proc/interrupts").unwrap_or_default();
        for (action, count) in each_interrupt(&interrupts) {
            let sum = |now: &mut MachineCounters, instance: String| {
                *now.entry(("queue_interrupts", instance)).or_default() += count;
            };
            for card in &self.cards {
                if let Some(queue) = card_queue(action, &card.words) {
                    sum(now, format!("{} {queue}", card.name));
                }
            }
            for disk in &self.disks {
                if let Some(number) = disk_queue(action, &disk.words) {
                    sum(now, format!("{} queue {number}", disk.name));
                }
            }
        }
        for card in &self.cards {
            self.of_driver(&card.name, now);
            for queue in &card.queues {
                let folder = format!("/sys/class/net/{}/queues/{queue}", card.name);
                for (quantity, file) in [
                    ("queue_timeouts", "tx_timeout"),
                    ("queue_stalls", "byte_queue_limits/stall_cnt"),
                ] {
                    if let Some(count) = sys.number(format!("{folder}/{file}")) {
                        now.insert((quantity, format!("{} {queue}", card.name)), count as f64);
                    }
                }
            }
        }
        let softnet = sys.text("/proc/net/softnet_stat").unwrap_or_default();
        for (cpu, line) in softnet.lines().enumerate() {
            let words: Vec<&str> = line.split_ascii_whitespace().collect();
            // Since Linux 5.10 the CPU stands there; offline ones have no line.
            let told = words
                .get(12)
                .and_then(|word| u32::from_str_radix(word, 16).ok());
            let cpu = told.map_or(cpu, |cpu| cpu as usize);
            for (quantity, place) in [
                ("queue_packets", 0),
                ("queue_dropped", 1),
                ("queue_squeezed", 2),
            ] {
                let count = words.get(place);
                if let Some(count) = count.and_then(|w| u32::from_str_radix(w, 16).ok()) {
                    now.insert((quantity, format!("backlog of cpu{cpu}")), f64::from(count));
                }
            }
        }
    }

    /// What the driver counts, as `ethtool -S` shows it.
    fn of_driver(&self, card: &str, now: &mut MachineCounters) {
        let Some(ethtool) = &self.ethtool else {
            return;
        };
        let text = output_of(ethtool, &["-S", card], PATIENCE).unwrap_or_default();
        for line in text.lines() {
            let Some((name, value)) = line.rsplit_once(':') else {
                continue;
            };
            let count = value.trim().parse::<f64>().ok();
            if let Some(((queue, quantity), count)) = driver_counter(name).zip(count) {
                *now.entry((quantity, format!("{card} {queue}")))
                    .or_default() += count;
            }
        }
    }

    /// How full queues are now, and which part of a device's interrupts each has.
    pub(super) fn states(&self, sys: &Sysroot, out: &mut Readings) {
        for card in &self.cards {
            for queue in &card.queues {
                let folder = format!(
                    "/sys/class/net/{}/queues/{queue}/byte_queue_limits",
                    card.name
                );
                let of = |file: &str| sys.number(format!("{folder}/{file}"));
                if let Some((inside, limit)) = of("inflight").zip(of("limit")) {
                    // A queue that was never full has no limit yet.
                    let share = if limit > 0 {
                        inside as f64 / limit as f64
                    } else {
                        0.0
                    };
                    out.add("queue_fill", &format!("{} {queue}", card.name), share);
                }
            }
            shares(&card.name, out);
        }
        for disk in &self.disks {
            for number in &disk.numbers {
                let name = format!("{} queue {number}", disk.name);
                let holds = sys.number(format!("/sys/block/{}/mq/{number}/nr_tags", disk.name));
                if let Some(holds) = holds.filter(|holds| *holds > 0) {
                    out.add("queue_holds", &name, holds as f64);
                }
                let folder = format!("/sys/kernel/debug/block/{}/hctx{number}", disk.name);
                let tags = sys.text(format!("{folder}/tags")).unwrap_or_default();
                if let Some((busy, depth)) = busy_tags(&tags) {
                    out.add("queue_fill", &name, busy as f64 / depth as f64);
                }
            }
            shares(&disk.name, out);
        }
    }
}

/// Shares of the interrupts of a device.
fn shares(device: &str, out: &mut Readings) {
    let lead = format!("{device} ");
    let of = |quantity: &str| -> BTreeMap<String, f64> {
        let found = out.readings.iter().filter(|r| r.quantity == quantity);
        let of_device = found.filter(|r| r.instance.starts_with(&lead));
        of_device.map(|r| (r.instance.clone(), r.value)).collect()
    };
    let rates = of("queue_interrupts");
    let all: f64 = rates.values().sum();
    if all > 0.0 {
        for (name, rate) in rates {
            out.add("queue_share", &name, rate / all);
        }
    }
}

fn card(sys: &Sysroot, name: &str) -> Option<Card> {
    let folder = Path::new("/sys/class/net").join(name);
    let mut queues = sys.names(folder.join("queues"));
    queues.truncate(QUEUES_MAX);
    let real = sys.resolve(folder.join("device"))?;
    let device = real.file_name()?.to_str()?.to_owned();
    (!queues.is_empty()).then(|| Card {
        name: name.to_owned(),
        words: vec![name.to_owned(), device],
        queues,
    })
}

fn disk_queues(sys: &Sysroot, name: &str) -> Option<DiskQueues> {
    let names = sys.names(format!("/sys/block/{name}/mq")).into_iter();
    let mut numbers: Vec<u32> = names.filter_map(|name| name.parse().ok()).collect();
    numbers.sort_unstable();
    numbers.truncate(QUEUES_MAX);
    let real = sys.resolve(format!("/sys/block/{name}/device"))?;
    let device = real.file_name()?.to_str()?.to_owned();
    (!numbers.is_empty()).then(|| DiskQueues {
        name: name.to_owned(),
        words: vec![device],
        numbers,
    })
}

/// Each interrupt that a device has: what it is for, and how often it came.
fn each_interrupt(text: &str) -> impl Iterator<Item = (&str, f64)> {
    let cpus = text
        .lines()
        .next()
        .map_or(0, |head| head.split_whitespace().count());
    text.lines().skip(1).filter_map(move |line| {
        let (number, rest) = line.split_once(':')?;
        number.trim().parse::<u32>().ok()?;
        let counts = rest.split_ascii_whitespace().take(cpus);
        let sum: f64 = counts.filter_map(|count| count.parse::<f64>().ok()).sum();
        Some((rest.split_ascii_whitespace().last()?, sum))
    })
}

/// The queue of a card that an interrupt is for: `eth0-TxRx-3`, `ens5-rx-0`,
/// `virtio2-input.0`, `mlx5_comp3@pci:0000:01:00.0`.
fn card_queue(action: &str, words: &[String]) -> Option<String> {
    let (before, owner) = match action.split_once("@pci:") {
        Some((before, address)) => (before, address),
        None => (action, action),
    };
    let belongs = words.iter().any(|word| {
        let begins = owner.find(word.as_str());
        begins.is_some_and(|at| {
            let around = [
                owner[..at].chars().next_back(),
                owner[at + word.len()..].chars().next(),
            ];
            around
                .into_iter()
                .flatten()
                .all(|c| !c.is_ascii_alphanumeric())
        })
    });
    let digits = before.len() - before.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let (what, number) = before.split_at(before.len() - digits);
    let number: u32 = number.parse().ok().filter(|_| belongs)?;
    // The name of the card itself ends with a number as well.
    if words.iter().any(|word| word == before) {
        return None;
    }
    let what = what.to_ascii_lowercase();
    let receives = what.contains("rx") || what.contains("input");
    let sends = what.contains("tx") || what.contains("output");
    Some(match (receives, sends) {
        (true, false) => format!("rx-{number}"),
        (false, true) => format!("tx-{number}"),
        _ => format!("queue {number}"),
    })
}

/// The hardware queue of a disk: `nvme0q3` (0 is for commands to the drive
/// itself), `virtio1-req.0`.
fn disk_queue(action: &str, words: &[String]) -> Option<u32> {
    let rest = words
        .iter()
        .find_map(|word| action.strip_prefix(word.as_str()))?;
    if let Some(number) = rest.strip_prefix("-req.") {
        return number.parse().ok();
    }
    rest.strip_prefix('q')?.parse::<u32>().ok()?.checked_sub(1)
}

/// Queue and quantity of a counter of a driver: `rx_queue_0_drops`, `rx0_packets`,
/// `queue_3_tx_cnt`, `rx-0.packets`, `[1]: rx_discards`.
fn driver_counter(name: &str) -> Option<(String, &'static str)> {
    let mut words: Vec<&str> = Vec::new();
    for word in name.split(|c: char| !c.is_ascii_alphanumeric()) {
        let letters = word.trim_end_matches(|c: char| c.is_ascii_digit());
        words.extend([letters, &word[letters.len()..]]);
    }
    words.retain(|word| !word.is_empty() && !word.eq_ignore_ascii_case("queue"));
    let [_, _, _] = words[..] else {
        return None;
    };
    let find = |known: &[&str]| words.iter().copied().find(|word| known.contains(word));
    let direction = find(&["rx", "tx"])?;
    let number = words.iter().find_map(|word| word.parse::<u32>().ok())?;
    let quantity = if find(&["packets", "pkts", "cnt"]).is_some() {
        "queue_packets"
    } else if find(&["drop", "drops", "dropped", "discard", "discards"]).is_some() {
        "queue_dropped"
    } else {
        return None;
    };
    Some((format!("{direction}-{number}"), quantity))
}

/// Requests under way and places, of a hardware queue's tags in debugfs.
fn busy_tags(text: &str) -> Option<(u64, u64)> {
    let (_, tags) = text.split_once("bitmap_tags:")?;
    let of = |name: &str| -> Option<u64> {
        let line = tags.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().parse().ok()
    };
    Some((of("busy=")?, of("depth=").filter(|depth| *depth > 0)?))
}

#[cfg(test)]
#[path = "queues_tests.rs"]
mod tests;
