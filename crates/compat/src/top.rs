//! The first lines of `top -b`, and `uptime`: load averages and CPU shares.

use crate::recordings::RecordingError;
use fathom_diagnose::recording::{CpuShares, Moment, Recording};

const MARK: &str = "load average:";

pub(crate) fn is_one(text: &str) -> bool {
    text.lines().take(10_000).any(|line| line.contains(MARK))
}

pub(crate) fn read(text: &str) -> Result<Recording, RecordingError> {
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
        } else if let (Some(rest), Some(moment)) = (
            line.trim_start_matches('%').strip_prefix("Cpu(s):"),
            moments.last_mut(),
        ) {
            moment.cpu = shares(rest);
        }
    }
    moments.retain(|m| m.load.is_some());
    if moments.is_empty() {
        return Err(RecordingError::Empty("top"));
    }
    Ok(Recording {
        source: "top or uptime".to_owned(),
        moments,
        ..Recording::default()
    })
}

/// ` 83.3 us,  0.0 sy, 16.7 ni,  0.0 id,  0.0 wa, …`, and before procps 3.3
/// ` 83.3%us,  0.0%sy, 16.7%ni,  0.0%id,  0.0%wa, …`.
fn shares(text: &str) -> Option<CpuShares> {
    let mut cpu = CpuShares::default();
    let mut known = 0;
    let text = text.replace('%', " ");
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_and_new_versions_and_decimal_commas_say_the_same() {
        for line in [
            "%Cpu(s):  1.0 us,  0.5 sy,  0.0 ni, 98.0 id,  0.5 wa,  0.0 hi,  0.0 si,  0.0 st",
            "Cpu(s):  1.0%us,  0.5%sy,  0.0%ni, 98.0%id,  0.5%wa,  0.0%hi,  0.0%si,  0.0%st",
            "Cpu(s):  1,0%us,  0,5%sy,  0,0%ni, 98,0%id,  0,5%wa,  0,0%hi,  0,0%si,  0,0%st",
        ] {
            let text = format!("top - 10:00:00 up 1 day, load average: 0.10, 0.20, 0.30\n{line}\n");
            let cpu = read(&text).unwrap().moments[0].cpu.expect(line);
            assert!((cpu.busy() - 0.015).abs() < 1e-9, "{line}: {cpu:?}");
            assert_eq!(cpu.iowait, 0.005, "{line}");
        }
    }
}
