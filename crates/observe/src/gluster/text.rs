//! The text of `gluster volume profile VOLUME info`.

use super::{
    BRICKS_MAX, GlusterBrick, GlusterOperation, GlusterProfile, GlusterProfileError, GlusterStats,
    GlusterUnit, PROFILE_BYTES_MAX, latency_ns,
};

/// Which counts of a brick lines belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scope {
    Cumulative,
    Interval,
}

/// Reads the text.
///
/// # Errors
/// It is no such text, or says that the profile is not started.
pub fn parse_gluster_profile_text(text: &str) -> Result<GlusterProfile, GlusterProfileError> {
    if text.len() > PROFILE_BYTES_MAX {
        return Err(GlusterProfileError::TooLong);
    }
    let mut reading = ProfileText::default();
    for line in text.lines() {
        reading.line(line.trim_end());
    }
    if reading.profile.bricks.is_empty() {
        let said = text.lines().map(str::trim).find(|line| !line.is_empty());
        return Err(match said {
            Some(said) if said.len() <= 300 => GlusterProfileError::Other(said.to_owned()),
            _ => GlusterProfileError::None,
        });
    }
    Ok(reading.profile)
}

#[derive(Default)]
struct ProfileText {
    profile: GlusterProfile,
    scope: Option<Scope>,
    /// Lengths of the blocks of the columns at hand.
    columns: Vec<u64>,
}

impl ProfileText {
    fn line(&mut self, line: &str) {
        let trimmed = line.trim();
        let brick = trimmed
            .strip_prefix("Brick: ")
            .or_else(|| trimmed.strip_prefix("NFS Server : "));
        if let Some(name) = brick {
            if self.profile.bricks.len() < BRICKS_MAX {
                self.profile.bricks.push(GlusterBrick {
                    name: name.to_owned(),
                    ..GlusterBrick::default()
                });
            }
            self.scope = None;
            return;
        }
        if trimmed == "Cumulative Stats:" {
            self.begin(Scope::Cumulative);
        } else if trimmed.starts_with("Interval ") && trimmed.ends_with(" Stats:") {
            self.begin(Scope::Interval);
        } else if let Some((key, value)) = trimmed.split_once(':') {
            self.field(key.trim(), value.trim());
        } else if let Some((name, operation)) = operation(trimmed)
            && let Some(stats) = self.stats()
        {
            // An upcall bears the name of no operation here.
            stats.operations.insert(name, operation);
        }
    }

    fn begin(&mut self, scope: Scope) {
        self.scope = Some(scope);
        self.columns.clear();
        if let Some(brick) = self.profile.bricks.last_mut() {
            match scope {
                Scope::Cumulative => brick.cumulative = Some(GlusterStats::default()),
                Scope::Interval => brick.interval = Some(GlusterStats::default()),
            }
        }
    }

    fn stats(&mut self) -> Option<&mut GlusterStats> {
        let brick = self.profile.bricks.last_mut()?;
        match self.scope? {
            Scope::Cumulative => brick.cumulative.as_mut(),
            Scope::Interval => brick.interval.as_mut(),
        }
    }

    fn field(&mut self, key: &str, value: &str) {
        let first = || value.split_whitespace().next()?.parse::<u64>().ok();
        match key {
            "Block Size" => {
                let sizes = value.split_whitespace();
                self.columns = sizes
                    .filter_map(|size| size.strip_suffix("b+")?.parse().ok())
                    .collect();
            }
            "No. of Reads" | "No. of Writes" => {
                let columns = self.columns.clone();
                let Some(stats) = self.stats() else {
                    return;
                };
                for (size, count) in columns.into_iter().zip(value.split_whitespace()) {
                    let count = count.parse().unwrap_or(0);
                    let blocks = stats.blocks.entry(size).or_default();
                    match key {
                        "No. of Reads" => blocks.reads = count,
                        _ => blocks.writes = count,
                    }
                }
            }
            "Duration" | "Data Read" | "Data Written" => {
                let (Some(number), Some(stats)) = (first(), self.stats()) else {
                    return;
                };
                match key {
                    "Duration" => stats.duration_s = number,
                    "Data Read" => stats.read_bytes = number,
                    _ => stats.written_bytes = number,
                }
            }
            _ => {}
        }
    }
}

/// `%-latency avg unit min unit max unit calls NAME`.
fn operation(line: &str) -> Option<(String, GlusterOperation)> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let &[share, mean, unit, min, _, max, _, calls, name] = words.as_slice() else {
        return None;
    };
    share.parse::<f64>().ok()?;
    let unit = match unit {
        "us" => GlusterUnit::Microseconds,
        "ns" => GlusterUnit::Nanoseconds,
        _ => return None,
    };
    let operation = GlusterOperation {
        calls: calls.parse().ok()?,
        mean_ns: latency_ns(mean, unit)?,
        min_ns: latency_ns(min, unit)?,
        max_ns: latency_ns(max, unit)?,
    };
    Some((name.to_owned(), operation))
}
