//! What a rule is.

/// A table of rules.
#[derive(Debug)]
pub struct Table {
    /// What its rules are for: `check`, `alarm`, …
    pub name: &'static str,
    /// A heading for its rules.
    pub title: &'static str,
    /// Grows when a rule, threshold or method changes.
    pub version: u32,
    /// The rules, in the order of the table.
    pub rules: &'static [&'static Rule],
    /// What is not looked at, and why.
    pub missing: &'static [Missing],
}

/// One rule: a check, an alarm, or a decision of a diagnosis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rule {
    /// Name of its table.
    pub table: &'static str,
    /// Stable and never used for another: `V01`, `disk-space`.
    pub id: &'static str,
    /// Stable name in words (`APP_VS_DEVICE_BYTES`); the id where that is words.
    pub name: &'static str,
    /// In a few plain words.
    pub title: &'static str,
    /// Of checks: which question it helps to answer.
    pub axis: Option<Axis>,
    /// Of others: how grave it is.
    pub severity: Option<Severity>,
    /// What it finds and why that matters.
    pub detects: &'static str,
    /// How the measured value comes about, and from what.
    pub method: &'static str,
    /// Unit of the measured value and the thresholds; empty where a state decides.
    pub unit: &'static str,
    /// Values under the thresholds are bad, not those over them.
    pub below: bool,
    /// From here on worth knowing, without influence on validity.
    pub info: Option<f64>,
    /// From here on a caveat.
    pub caveat: Option<f64>,
    /// From here on invalid.
    pub invalid: Option<f64>,
    /// The other end of a range: values over it are a caveat as well.
    pub upper: Option<f64>,
    /// From here on it speaks, where it has a severity; `None` where a state and not
    /// a number decides.
    pub threshold: Option<f64>,
    /// For how long it must hold, in seconds.
    pub for_seconds: u64,
    /// Further numbers that decide. Code takes them from the module of the rule.
    pub parameters: &'static [Parameter],
    /// Kinds of target on which a verdict of "trusted" rests on this check: where it
    /// applies to the workload and could not run, V90 says so.
    pub required: &'static [TargetKind],
    /// What a required check needs in order to run.
    pub needs: Option<&'static str>,
    /// Public source of the method or the threshold.
    pub source: &'static str,
    /// What the user can do.
    pub remedy: &'static str,
    /// What the user of another tool can do, where that differs.
    pub other_tools: Option<&'static str>,
    /// Version of fathom that brought it.
    pub since: Option<&'static str>,
    /// What is read for it, where a reader gives numbers by name.
    pub quantity: Option<&'static str>,
    /// Which readers give it: `host`, `recording`, …
    pub read_from: &'static [&'static str],
    /// The rule in terms of Prometheus.
    pub prometheus: Option<PrometheusRule>,
}

/// A number beside the thresholds of a rule.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parameter {
    /// Name within the rule: `busy_thread`.
    pub name: &'static str,
    /// The number.
    pub value: f64,
    /// Its unit; `share` is shown as a percentage.
    pub unit: &'static str,
    /// The outcome that it decides, where it decides one by itself.
    pub grade: Option<Grade>,
    /// What it is, in a few words.
    pub means: &'static str,
    /// Where it is from.
    pub source: &'static str,
}

/// A rule in terms of an exporter's metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PrometheusRule {
    /// Who exports the metrics: `node_exporter`, `ceph-mgr`, …
    pub exporter: &'static str,
    /// The expression; `{threshold}` stands for the number.
    pub expr: &'static str,
}

/// Something that the method asks for and that is not looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Missing {
    /// What would be looked at.
    pub what: &'static str,
    /// Why it is not.
    pub reason: &'static str,
}

/// The question that a check helps to answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Axis {
    /// Is the number true?
    Validity,
    /// What set it?
    Limiter,
}

impl Axis {
    /// The lower-case name.
    pub fn name(self) -> &'static str {
        match self {
            Axis::Validity => "validity",
            Axis::Limiter => "limiter",
        }
    }
}

/// How grave it is that a rule speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Data or service are lost, or about to be.
    Critical,
    /// It costs.
    Warning,
    /// Worth knowing.
    Info,
}

impl Severity {
    /// The lower-case name.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Critical => "critical",
            Severity::Warning => "warning",
            Severity::Info => "info",
        }
    }
}

/// What a number of a check leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grade {
    /// Worth knowing.
    Info,
    /// True within limits.
    Caveat,
    /// Not what it says it is.
    Invalid,
}

impl Grade {
    /// The lower-case name.
    pub fn name(self) -> &'static str {
        match self {
            Grade::Info => "info",
            Grade::Caveat => "caveat",
            Grade::Invalid => "invalid",
        }
    }
}

/// What lies under a target, as far as checks differ by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TargetKind {
    /// A block device.
    Device,
    /// A file on a file system on local block devices.
    File,
    /// A file on a network file system.
    Network,
    /// A file in memory.
    Memory,
    /// A file on a file system that lies on another one (FUSE, overlay).
    Stacked,
    /// A bucket of an object store.
    ObjectStore,
    /// The null target.
    Null,
    /// A simulated drive.
    Sim,
    /// A path about which nothing is known.
    Unknown,
}

impl TargetKind {
    /// In words, of several.
    pub fn words(self) -> &'static str {
        match self {
            TargetKind::Device => "devices",
            TargetKind::File => "files on local devices",
            TargetKind::Network => "files on network file systems",
            TargetKind::Memory => "files in memory",
            TargetKind::Stacked => "files on stacked file systems",
            TargetKind::ObjectStore => "object stores",
            TargetKind::Null => "the null target",
            TargetKind::Sim => "simulated drives",
            TargetKind::Unknown => "unknown targets",
        }
    }
}

impl Rule {
    /// The threshold of a rule with a severity; infinite where a state decides.
    pub fn limit(&self) -> f64 {
        self.threshold.unwrap_or(f64::INFINITY)
    }

    /// The severity; checks have none and count as worth knowing.
    pub fn gravity(&self) -> Severity {
        self.severity.unwrap_or(Severity::Info)
    }
}

impl Table {
    /// The rule of this id.
    pub fn find(&self, id: &str) -> Option<&'static Rule> {
        self.rules.iter().copied().find(|rule| rule.id == id)
    }
}
