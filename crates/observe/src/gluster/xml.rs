//! The XML of `gluster volume profile VOLUME info --xml`.

use quick_xml::Reader;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesRef, Event};

use super::{
    BRICKS_MAX, GlusterBrick, GlusterOperation, GlusterProfile, GlusterProfileError, GlusterStats,
    GlusterUnit, PROFILE_BYTES_MAX, latency_ns,
};

/// Elements lie within one another this deep at most.
const DEPTH_MAX: usize = 32;

/// Reads the XML, whose latencies are in `unit`.
///
/// # Errors
/// It is no such XML, or says that something went wrong.
pub fn parse_gluster_profile_xml(
    text: &str,
    unit: GlusterUnit,
) -> Result<GlusterProfile, GlusterProfileError> {
    if text.len() > PROFILE_BYTES_MAX {
        return Err(GlusterProfileError::TooLong);
    }
    let mut reading = ProfileXml {
        unit,
        profile: GlusterProfile::default(),
        operation: None,
        block: (0, 0, 0),
        failed: None,
    };
    let mut open: Vec<String> = Vec::new();
    // What stands behind the tag before.
    let mut value = String::new();
    let mut reader = Reader::from_str(text);
    let config = reader.config_mut();
    config.check_end_names = false;
    config.allow_unmatched_ends = true;
    config.allow_dangling_amp = true;
    // What cannot be read ends the profile: what came before it counts.
    while let Ok(event) = reader.read_event() {
        match event {
            Event::Text(text) => value.push_str(&text),
            Event::GeneralRef(name) => value.push_str(&entity(&name)),
            Event::Start(tag) => {
                value.clear();
                let name = tag.name().as_ref().to_owned();
                reading.open(&name);
                if open.len() >= DEPTH_MAX {
                    return Err(GlusterProfileError::TooDeep);
                }
                open.push(name);
            }
            Event::End(_) => {
                reading.value(&open, value.trim());
                value.clear();
                open.pop();
            }
            Event::Eof => break,
            _ => value.clear(),
        }
    }
    match (reading.failed, reading.profile) {
        (Some(said), _) => Err(GlusterProfileError::Refused(said)),
        (None, profile) if profile.bricks.is_empty() => Err(GlusterProfileError::None),
        (None, profile) => Ok(profile),
    }
}

struct ProfileXml {
    unit: GlusterUnit,
    profile: GlusterProfile,
    operation: Option<(String, GlusterOperation)>,
    /// Length, reads, writes.
    block: (u64, u64, u64),
    failed: Option<String>,
}

impl ProfileXml {
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
                    let upcall = operation.mean_ns == 0.0 && stats.operations.contains_key(&name);
                    if !name.is_empty() && !upcall {
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

/// What a reference stands for; one that nobody knows stays.
fn entity(name: &BytesRef<'_>) -> String {
    match (name.resolve_char_ref(), resolve_predefined_entity(name)) {
        (Ok(Some(char)), _) => char.to_string(),
        (_, Some(text)) => text.to_owned(),
        (_, None) => format!("&{};", &**name),
    }
}
