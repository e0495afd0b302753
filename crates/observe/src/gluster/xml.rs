//! The XML of `gluster volume profile VOLUME info --xml`.

use super::{
    BRICKS_MAX, GlusterBrick, GlusterOperation, GlusterProfile, GlusterStats, GlusterUnit,
    PROFILE_BYTES_MAX, latency_ns,
};

/// Elements lie within one another this deep at most.
const DEPTH_MAX: usize = 32;

/// Reads the XML, whose latencies are in `unit`.
///
/// # Errors
/// It is no such XML, or says that something went wrong.
pub fn parse_gluster_profile_xml(text: &str, unit: GlusterUnit) -> Result<GlusterProfile, String> {
    if text.len() > PROFILE_BYTES_MAX {
        return Err("this profile is too long".to_owned());
    }
    let mut reading = Reading {
        unit,
        profile: GlusterProfile::default(),
        operation: None,
        block: (0, 0, 0),
        failed: None,
    };
    let mut open: Vec<String> = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        let value = unescaped(rest[..at].trim());
        rest = &rest[at + 1..];
        let Some(end) = rest.find('>') else {
            break;
        };
        let tag = &rest[..end];
        rest = &rest[end + 1..];
        if tag.starts_with(['?', '!']) {
            continue;
        }
        if tag.starts_with('/') {
            reading.value(&open, &value);
            open.pop();
        } else if !tag.ends_with('/') {
            let name = tag.split_whitespace().next().unwrap_or_default();
            reading.open(name);
            if open.len() >= DEPTH_MAX {
                return Err("this is no profile: it is nested too deep".to_owned());
            }
            open.push(name.to_owned());
        }
    }
    match (reading.failed, reading.profile) {
        (Some(said), _) => Err(said),
        (None, profile) if profile.bricks.is_empty() => Err("this is no profile".to_owned()),
        (None, profile) => Ok(profile),
    }
}

struct Reading {
    unit: GlusterUnit,
    profile: GlusterProfile,
    operation: Option<(String, GlusterOperation)>,
    /// Length, reads, writes.
    block: (u64, u64, u64),
    failed: Option<String>,
}

impl Reading {
    fn open(&mut self, name: &str) {
        match name {
            "brick" if self.profile.bricks.len() < BRICKS_MAX => {
                self.profile.bricks.push(GlusterBrick::default());
            }
            "cumulativeStats" => {
                if let Some(brick) = self.profile.bricks.last_mut() {
                    brick.cumulative = Some(GlusterStats::default());
                }
            }
            "intervalStats" => {
                if let Some(brick) = self.profile.bricks.last_mut() {
                    brick.interval = Some(GlusterStats::default());
                }
            }
            "fop" => self.operation = Some(Default::default()),
            "block" => self.block = (0, 0, 0),
            _ => {}
        }
    }

    /// What the innermost open element holds.
    fn value(&mut self, open: &[String], text: &str) {
        let Some(name) = open.last() else {
            return;
        };
        let number = || text.parse::<u64>().unwrap_or(0);
        let latency = || latency_ns(text, self.unit).unwrap_or(0.0);
        match name.as_str() {
            "opErrstr" if !text.is_empty() => self.failed = Some(text.to_owned()),
            "brickName" => {
                if let Some(brick) = self.profile.bricks.last_mut() {
                    text.clone_into(&mut brick.name);
                }
            }
            "size" => self.block.0 = number(),
            "reads" => self.block.1 = number(),
            "writes" => self.block.2 = number(),
            "name" => {
                if let Some((name, _)) = &mut self.operation {
                    text.clone_into(name);
                }
            }
            "hits" | "avgLatency" | "minLatency" | "maxLatency" => {
                let (calls, ns) = (number(), latency());
                if let Some((_, operation)) = &mut self.operation {
                    match name.as_str() {
                        "hits" => operation.calls = calls,
                        "avgLatency" => operation.mean_ns = ns,
                        "minLatency" => operation.min_ns = ns,
                        _ => operation.max_ns = ns,
                    }
                }
            }
            "duration" | "totalRead" | "totalWrite" => {
                let number = number();
                if let Some(stats) = self.stats(open) {
                    match name.as_str() {
                        "duration" => stats.duration_s = number,
                        "totalRead" => stats.read_bytes = number,
                        _ => stats.written_bytes = number,
                    }
                }
            }
            "fop" => {
                let done = self.operation.take();
                if let (Some((name, operation)), Some(stats)) = (done, self.stats(open)) {
                    // An upcall comes again under the name of another, without
                    // a time.
                    let again = stats.operations.contains_key(&name);
                    if !name.is_empty() && !(again && operation.mean_ns == 0.0) {
                        stats.operations.insert(name, operation);
                    }
                }
            }
            "block" => {
                let (size, reads, writes) = self.block;
                if let Some(stats) = self.stats(open).filter(|_| reads + writes > 0) {
                    let blocks = stats.blocks.entry(size).or_default();
                    (blocks.reads, blocks.writes) = (reads, writes);
                }
            }
            _ => {}
        }
    }

    fn stats(&mut self, open: &[String]) -> Option<&mut GlusterStats> {
        let brick = self.profile.bricks.last_mut()?;
        let within = |name: &str| open.iter().any(|open| open == name);
        match within("intervalStats") {
            true => brick.interval.as_mut(),
            false if within("cumulativeStats") => brick.cumulative.as_mut(),
            false => None,
        }
    }
}

fn unescaped(text: &str) -> String {
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&apos;", "'")
        .replace("&amp;", "&")
}
