//! What an entry says that it did: its options, with fio's defaults where the
//! document lists options at all.

use crate::results::{ResultDirection, ResultDocument, ResultJob};
use fathom_model::op::OpKind;
use fathom_model::unit;

use super::fio_number;

/// Engines that carry out one operation at a time whatever `iodepth` says.
const ONE_AT_A_TIME: [&str; 11] = [
    "sync",
    "psync",
    "vsync",
    "pvsync",
    "pvsync2",
    "mmap",
    "splice",
    "http",
    "libiscsi",
    "ime_psync",
    "libpmem",
];
/// Engines whose submission returns before the operation is done.
const IN_FLIGHT: [&str; 7] = [
    "libaio",
    "io_uring",
    "io_uring_cmd",
    "posixaio",
    "windowsaio",
    "solarisaio",
    "libblkio",
];

/// How an engine works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EngineWay {
    OneAtATime,
    InFlight,
    /// Moves no data.
    Nothing,
    Unknown,
}

/// The options of an entry, understood.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Said {
    /// Whether the document lists options.
    pub(super) options_known: bool,
    pub(super) pattern: Option<String>,
    pub(super) engine: Option<String>,
    pub(super) way: EngineWay,
    /// Depth of one job.
    pub(super) depth: Option<f64>,
    /// Jobs that the entry adds up.
    pub(super) jobs: f64,
    /// Whether it adds up several.
    pub(super) merged: bool,
    /// `None` when not known.
    pub(super) direct: Option<bool>,
    /// Longest measurement of a direction.
    pub(super) duration_ns: Option<f64>,
    /// Paths, as written.
    pub(super) target: Option<String>,
}

impl Said {
    pub(super) fn of(result: &ResultDocument, job: &ResultJob) -> Said {
        let options_known = !job.options.is_empty();
        let get = |key: &str| job.options.get(key).map(|text| text.trim());
        let default = |value: &str| options_known.then(|| value.to_owned());
        let engine = get("ioengine").map(str::to_owned).or(default("psync"));
        let way = match engine.as_deref() {
            Some(e) if ONE_AT_A_TIME.contains(&e) => EngineWay::OneAtATime,
            Some(e) if IN_FLIGHT.contains(&e) => EngineWay::InFlight,
            Some("null" | "cpp_null" | "cpuio") => EngineWay::Nothing,
            _ => EngineWay::Unknown,
        };
        let flag = |key: &str| get(key).map(|v| v != "0");
        let direct = flag("direct")
            .or(flag("buffered").map(|b| !b))
            .or(flag("sync").and(None))
            .or(options_known.then_some(false));
        let durations = job.directions.iter().filter_map(|d| d.duration_ns);
        let duration_ns = durations.reduce(f64::max);
        let jobs = jobs_in(result, job, duration_ns);
        let depth = match get("iodepth") {
            Some(text) => fio_number::size(text, 1000),
            None => options_known.then_some(1.0),
        };
        Said {
            options_known,
            pattern: get("rw").or(get("readwrite")).map(str::to_owned),
            engine,
            way,
            depth: depth.filter(|d| *d >= 1.0),
            jobs,
            merged: jobs > 1.0,
            direct,
            duration_ns,
            target: get("filename").or(get("directory")).map(str::to_owned),
        }
    }

    pub(super) fn seconds(&self) -> Option<f64> {
        self.duration_ns.map(|ns| ns / 1e9)
    }

    /// Operations that all jobs of the entry were to keep in flight.
    pub(super) fn asked_depth(&self) -> Option<f64> {
        Some(self.depth? * self.jobs)
    }

    pub(super) fn random(&self) -> Option<bool> {
        let pattern = self.pattern.as_deref()?;
        Some(pattern.starts_with("rand"))
    }

    /// One line for people.
    pub(super) fn in_words(&self, job: &ResultJob) -> String {
        let mut parts: Vec<String> = Vec::new();
        parts.extend(self.pattern.clone());
        let blocks = job
            .directions
            .iter()
            .filter_map(|d| Some(d.bytes? / d.ops.filter(|n| *n > 0.0)?));
        if let Some(block) = blocks.reduce(f64::max).filter(|b| *b >= 1.0) {
            parts.push(format!(
                "{} blocks",
                unit::bytes_exact(block.round() as u64)
            ));
        }
        parts.extend(self.engine.clone());
        if let Some(depth) = self.depth {
            parts.push(format!("depth {depth:.0}"));
        }
        if self.merged {
            parts.push(format!("{:.0} jobs as one", self.jobs));
        }
        match self.direct {
            Some(true) => parts.push("direct".to_owned()),
            Some(false) => parts.push("buffered".to_owned()),
            None => {}
        }
        parts.extend(self.target.iter().map(|t| format!("on {t}")));
        if !self.options_known {
            parts.push("options not stated".to_owned());
        }
        parts.join(", ")
    }
}

/// Jobs that an entry adds up: its clones when it stands for all of them, or
/// what the running times of the jobs add up to.
fn jobs_in(result: &ResultDocument, job: &ResultJob, duration_ns: Option<f64>) -> f64 {
    let alike = result
        .jobs
        .iter()
        .filter(|o| o.name == job.name && o.group == job.group && o.host == job.host)
        .count();
    let clones = job
        .options
        .get("numjobs")
        .and_then(|n| n.parse::<f64>().ok())
        .filter(|n| (1.0..=1e6).contains(n));
    let clones = match alike {
        1 => clones.unwrap_or(1.0),
        _ => 1.0,
    };
    let times = job
        .job_time_ns
        .zip(duration_ns)
        .map_or(1.0, |(all, one)| (all / one.max(1e6)).round());
    clones.max(times).clamp(1.0, 1e6)
}

/// Shorthands that several checks need.
pub(super) trait Counted {
    /// Operations; from the rate where no count is stated.
    fn ops(&self) -> f64;
    /// Operations per second.
    fn rate(&self) -> Option<f64>;
    /// Mean time of an operation from preparation to completion.
    fn whole_latency_ns(&self) -> Option<f64>;
    /// Position in lists `read,write,trim`.
    fn position(&self) -> usize;
}

impl Counted for ResultDirection {
    fn ops(&self) -> f64 {
        let from_rate = self.ops_per_second.zip(self.duration_ns);
        self.ops
            .or(from_rate.map(|(rate, ns)| rate * ns / 1e9))
            .unwrap_or(0.0)
    }

    fn rate(&self) -> Option<f64> {
        let counted = self.ops.zip(self.duration_ns.filter(|ns| *ns > 0.0));
        self.ops_per_second
            .or(counted.map(|(ops, ns)| ops / ns * 1e9))
    }

    fn whole_latency_ns(&self) -> Option<f64> {
        let mean = |latency: &Option<_>| {
            let latency: &crate::results::ResultLatency = latency.as_ref()?;
            latency.mean_ns
        };
        mean(&self.total).or_else(|| {
            let submission = mean(&self.submission).unwrap_or(0.0);
            mean(&self.completion).map(|completion| completion + submission)
        })
    }

    fn position(&self) -> usize {
        match self.kind {
            Some(OpKind::Write) => 1,
            Some(OpKind::Trim) => 2,
            _ => 0,
        }
    }
}

/// Whether an entry was held to a rate.
pub(super) fn has_rate(job: &ResultJob) -> bool {
    ["rate", "rate_iops"].iter().any(|key| {
        job.options
            .get(*key)
            .is_some_and(|text| text.chars().any(|c| ('1'..='9').contains(&c)))
    })
}
