//! SMART of SATA and SAS disks: smartctl, every ten minutes. It takes up to
//! seconds, so it runs beside the frames and its answers come with a later one.

use std::sync::mpsc::{Receiver, TryRecvError, channel};

use fathom_observe::smart::{SmartAnswer, SmartHealth, smart_answers};

use super::Reading;
use crate::frame::Row;
use crate::kind::{ABSENT, Kind, smart};

/// Distance between two rounds of questions.
const EVERY_NS: u64 = 600_000_000_000;

#[derive(Debug, Default)]
pub(super) struct SmartDisks {
    next_ns: u64,
    /// Where the answers of the round under way come from.
    answers: Option<Receiver<SmartAnswer>>,
}

impl SmartDisks {
    pub(super) fn read(&mut self, reading: &mut Reading<'_>) {
        if !reading.sys.is_host() {
            return;
        }
        if self.answers.is_none() && reading.now_ns >= self.next_ns {
            self.next_ns = reading.now_ns.saturating_add(EVERY_NS);
            self.answers = begin();
        }
        let Some(answers) = &self.answers else {
            return;
        };
        loop {
            match answers.try_recv() {
                Ok(answer) => reading.rows.extend(row(&answer)),
                Err(TryRecvError::Empty) => return,
                Err(TryRecvError::Disconnected) => break,
            }
        }
        self.answers = None;
    }
}

/// A host without smartctl, or one whose threads are used up, records none.
fn begin() -> Option<Receiver<SmartAnswer>> {
    let (sender, receiver) = channel();
    let asked = std::thread::Builder::new()
        .name("smart".to_owned())
        .spawn(move || {
            for answer in smart_answers().unwrap_or_default() {
                if sender.send(answer).is_err() {
                    return;
                }
            }
        });
    asked.ok().map(|_| receiver)
}

fn row(answer: &SmartAnswer) -> Option<Row> {
    let health = answer.health.as_ref().ok()?;
    let mut row = Row::absent(Kind::Smart, answer.name.as_str().into());
    let state = |value: Option<bool>| value.map(u64::from);
    for (place, value) in [
        (smart::FAILING, state(health.failing)),
        (smart::ROTATING, state(health.rotating)),
        (smart::TEMPERATURE, health.temperature_celsius),
        (smart::HOURS, health.power_on_hours),
        (smart::USED, health.percentage_used),
        (smart::SPARE, health.available_spare_percent),
        (smart::REALLOCATED, health.reallocated_sectors),
        (smart::PENDING, health.pending_sectors),
        (smart::OFFLINE, health.offline_uncorrectable_sectors),
        (smart::UNCORRECTED, health.uncorrected_errors),
        (smart::CRC, health.interface_crc_errors),
    ] {
        row.values[place] = value.unwrap_or(ABSENT);
    }
    Some(row)
}

/// What a row holds.
pub(crate) fn health_of(row: &Row) -> SmartHealth {
    let state = |place| row.value(place).map(|value| value != 0);
    SmartHealth {
        failing: state(smart::FAILING),
        rotating: state(smart::ROTATING),
        temperature_celsius: row.value(smart::TEMPERATURE),
        power_on_hours: row.value(smart::HOURS),
        percentage_used: row.value(smart::USED),
        available_spare_percent: row.value(smart::SPARE),
        reallocated_sectors: row.value(smart::REALLOCATED),
        pending_sectors: row.value(smart::PENDING),
        offline_uncorrectable_sectors: row.value(smart::OFFLINE),
        uncorrected_errors: row.value(smart::UNCORRECTED),
        interface_crc_errors: row.value(smart::CRC),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_gives_back_what_a_disk_told() {
        let told = SmartHealth {
            failing: Some(true),
            rotating: Some(false),
            percentage_used: Some(104),
            uncorrected_errors: Some(0),
            ..SmartHealth::default()
        };
        let answer = SmartAnswer {
            name: "sda".to_owned(),
            health: Ok(told.clone()),
        };
        assert_eq!(health_of(&row(&answer).unwrap()), told);
        let asleep = SmartAnswer {
            health: Err("asleep".to_owned()),
            ..answer
        };
        assert_eq!(row(&asleep), None);
    }
}
