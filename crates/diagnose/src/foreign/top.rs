//! The first lines of `top -b`, and `uptime`: load averages and CPU shares.

use super::ForeignError;
use crate::recording::{CpuShares, Moment, Recording};

const MARK: &str = "load average:";

pub(super) fn is_one(text: &str) -> bool {
    text.lines().take(10_000).any(|line| line.contains(MARK))
}

pub(super) fn read(text: &str) -> Result<Recording, ForeignError> {
    let mut moments: Vec<Moment> = Vec::new();
    for line in text.lines() {
        if let Some((_, loads)) = line.split_once(MARK) {
            // A decimal comma and the comma between two look alike; a space
            // follows the latter.
            let first = loads.trim().split(", ").next().unwrap_or("");
            moments.push(Moment {
                load: first.trim_end_matches(',').replace(',', ".").parse().ok(),
                ..Moment::default()
            });
        } else if let (Some(rest), Some(moment)) =
            (line.strip_prefix("%Cpu(s):"), moments.last_mut())
        {
            moment.cpu = shares(rest);
        }
    }
    moments.retain(|m| m.load.is_some());
    if moments.is_empty() {
        return Err(ForeignError::Empty("top"));
    }
    Ok(Recording {
        source: "top or uptime".to_owned(),
        moments,
        ..Recording::default()
    })
}

/// ` 83.3 us,  0.0 sy, 16.7 ni,  0.0 id,  0.0 wa, …`.
fn shares(text: &str) -> Option<CpuShares> {
    let mut cpu = CpuShares::default();
    let mut known = 0;
    let words: Vec<&str> = text.split_whitespace().collect();
    for pair in words.windows(2) {
        let Ok(percent) = pair[0].replace(',', ".").parse::<f64>() else {
            continue;
        };
        let share = percent / 100.0;
        known += 1;
        match pair[1].trim_end_matches(',') {
            "us" => cpu.user += share,
            "ni" => {
                cpu.user += share;
                cpu.nice = Some(share);
            }
            "sy" | "hi" | "si" => cpu.system += share,
            "wa" => cpu.iowait = share,
            "st" => cpu.steal = share,
            "id" => cpu.idle = share,
            _ => known -= 1,
        }
    }
    (known >= 3).then_some(cpu)
}
