//! Software RAID: `/proc/mdstat`.

use fathom_observe::{KeptFile, Sysroot};

use super::Reading;
use super::system::thousandths;
use crate::frame::Row;
use crate::kind::{ABSENT, Kind, raid};

const MOST_ARRAYS: usize = 256;

#[derive(Debug)]
pub(super) struct Raids {
    file: KeptFile,
}

impl Raids {
    pub(super) fn open(sys: &Sysroot) -> Raids {
        Raids {
            file: KeptFile::open(sys, "/proc/mdstat"),
        }
    }

    pub(super) fn read(&mut self, reading: &mut Reading<'_>) {
        if reading.slow()
            && let Some(text) = self.file.read(reading.buffer)
        {
            let mut rows = parse(text);
            reading.rows.append(&mut rows);
        }
    }
}

fn parse(text: &str) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for line in text.lines() {
        if let Some((name, rest)) = line.split_once(" : ")
            && !name.starts_with(' ')
            && (rest.starts_with("active") || rest.starts_with("inactive"))
        {
            if rows.len() == MOST_ARRAYS {
                break;
            }
            let mut row = Row::absent(Kind::Raid, name.trim().into());
            row.values[raid::ACTION] = 0;
            rows.push(row);
            continue;
        }
        if let Some(row) = rows.last_mut() {
            members(line, row);
            progress(line, row);
        }
    }
    rows
}

/// `1953382464 blocks super 1.2 [2/1] [U_]`.
fn members(line: &str, row: &mut Row) {
    for word in line.split_ascii_whitespace() {
        let inside = word.strip_prefix('[').and_then(|w| w.strip_suffix(']'));
        if let Some((all, working)) = inside.and_then(|inside| inside.split_once('/'))
            && let (Ok(all), Ok(working)) = (all.parse(), working.parse())
        {
            row.values[raid::MEMBERS] = all;
            row.values[raid::WORKING] = working;
        }
    }
}

/// `[==>....]  recovery = 12.6% (37043392/292945152) finish=127.5min speed=33440K/sec`.
fn progress(line: &str, row: &mut Row) {
    let Some((action, rest)) = line.split_once(" = ") else {
        return;
    };
    let action = action.rsplit(' ').next().unwrap_or_default();
    row.values[raid::ACTION] = match action {
        "resync" => 1,
        "recovery" => 2,
        "check" => 3,
        "reshape" => 4,
        _ => 5,
    };
    let share = rest.split('%').next().and_then(thousandths);
    row.values[raid::PROGRESS] = share.map_or(ABSENT, |percent| percent / 100);
    let speed = rest.split("speed=").nth(1);
    let speed = speed.and_then(|text| text.split('K').next()?.parse::<u64>().ok());
    row.values[raid::SPEED] = speed.map_or(ABSENT, |kib| kib.saturating_mul(1024));
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "Personalities : [raid1] [raid6]
md1 : active raid1 sdb1[2] sda1[0]
      292945152 blocks super 1.2 [2/1] [U_]
      [==>..................]  recovery = 12.6% (37043392/292945152) finish=127.5min speed=33440K/sec

md0 : active raid1 sdd1[1] sdc1[0]
      1000 blocks [2/2] [UU]

unused devices: <none>
";

    #[test]
    fn a_missing_member_and_its_recovery_are_told() {
        let rows = parse(TEXT);
        assert_eq!(rows.len(), 2);
        assert_eq!(&*rows[0].name, "md1");
        assert_eq!(rows[0].values, [2, 1, 2, 126, 33440 * 1024]);
        assert_eq!(rows[1].values, [2, 2, 0, ABSENT, ABSENT]);
    }
}
