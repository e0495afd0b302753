//! V21: would more operations in flight have given more?
//!
//! Two sources answer. A sibling is a trial of the same run with the same
//! workload on the same target at another depth. A probe is a short trial at
//! twice the depth right after a row; it is compared with the last seconds of
//! the row, so that what changes slowly (a filling cache, garbage collection)
//! touches both alike.
//!
//! Throughput is concave in depth (asymptotic bounds, Denning & Buzen 1978), so
//! a rise from a lower depth also bounds the rise to twice the own one.

use fathom_model::schedule::TrialRole;
use fathom_model::unit;
use fathom_model::verdict::{Finding, FindingStatus, Limiter};
use fathom_model::workload::{DataSet, SyncOpen, SyncPolicy, Workload};
use fathom_rules::check::v21::{
    AUTOCORRELATED, LEAST_BEFORE, LEAST_KEPT, MOST_CROWDED, MOST_GAIN, OTHER_STATE, TIMES_WAITING,
};
use fathom_rules::{Rule, check};
use fathom_stats::moments::mean;
use fathom_stats::student::student_975;

use crate::checks::{busy_worker, depth_kept, share_of_ceiling, short_of_cpus};
use crate::named_limiter::Named;
use crate::outcome::Outcome;
use crate::plateau::{a_line_would_show, may_be_capped};
use crate::rate_range::RateRange;
use crate::telling_command::line_command;
use crate::trial::Trial;

const RULE: &Rule = check::V21;

/// One trial of a run for comparison with others.
pub(crate) struct Member<'a> {
    pub(crate) trial: &'a Trial<'a>,
    pub(crate) rate: Option<RateRange>,
    pub(crate) limiter: Limiter,
    /// Evidence for its row, no result of its own.
    pub(crate) evidence: bool,
    /// Whether its number may serve as evidence.
    pub(crate) usable: bool,
}

impl Member<'_> {
    fn is_probe_of(&self, row: u32) -> bool {
        let spec = &self.trial.record.spec;
        let deeper = self.trial.workload.rate.is_none();
        self.evidence && deeper && spec.role == TrialRole::Probe && spec.row == row
    }
}

/// What another depth proves about a trial.
pub(crate) struct Knee {
    limiter: Limiter,
    /// Growth of the throughput towards more depth, as far as it is sure.
    growth: f64,
    text: String,
}

impl Knee {
    /// Saturation that is proved without another depth, of the device or of a cap.
    pub(crate) fn saturated(text: String, may_be_cap: bool) -> Knee {
        Knee {
            limiter: match may_be_cap {
                true => Limiter::DeviceOrCap,
                false => Limiter::Device,
            },
            growth: 0.0,
            text,
        }
    }

    /// The limiter with its evidence. Where caps exist and the rate is as
    /// steady as a cap makes it, saturation alone does not tell which it was.
    pub(crate) fn named(&self, trial: &Trial<'_>) -> Named {
        if self.limiter == Limiter::Device
            && let Some(why) = may_be_capped(trial)
        {
            return (Limiter::DeviceOrCap, self.not_told_apart(why, trial));
        }
        if self.limiter == Limiter::DeviceOrCap {
            let why = "a queue fills before a device as before a cap";
            return (Limiter::DeviceOrCap, self.not_told_apart(why, trial));
        }
        let text = match self.limiter {
            Limiter::Device => format!(
                "{}: the device or the path to it is saturated, the generator is not",
                self.text
            ),
            _ => self.text.clone(),
        };
        (self.limiter, text)
    }

    /// That device and cap are not told apart, and the command that does it.
    fn not_told_apart(&self, why: &str, trial: &Trial<'_>) -> String {
        // Only accesses at random show a line: of those in order no more can be told.
        let can_tell = trial.workload.pattern.is_random() && !a_line_would_show(trial);
        let tells = if can_tell {
            format!(": `{}` tells", line_command(trial))
        } else {
            String::new()
        };
        format!("{}; {why}{tells}", self.text)
    }

    /// What it proves of workers that had to wait for a CPU: operations that end late
    /// because nobody collects them look the same at every depth. Where a CPU was short
    /// for a small part of the time, the rest belongs to what was measured (Amdahl 1967).
    pub(crate) fn beside_a_crowd(&self, trial: &Trial<'_>, crowd: &Finding) -> Named {
        if let Some(share) = short_of_cpus(trial).filter(|share| *share < MOST_CROWDED) {
            let (limiter, text) = self.named(trial);
            let little = format!(
                "{text}; CPUs were short for at most {:.0} % of the time ({}), too little to set the rate",
                100.0 * share,
                crowd.id
            );
            return (limiter, little);
        }
        let text = format!(
            "{}; the workers also waited for a CPU ({}: {}), which may have set the rate",
            self.text, crowd.id, crowd.evidence
        );
        (Limiter::Unknown, text)
    }

    /// Whether more operations in flight give more.
    pub(crate) fn wants_depth(&self) -> bool {
        self.limiter == Limiter::QueueDepth
    }

    pub(crate) fn outcome(&self) -> Outcome {
        let status = match self.limiter {
            Limiter::QueueDepth => FindingStatus::Info,
            _ => FindingStatus::Pass,
        };
        Outcome::decided(RULE, status, self.growth, Some(knee()), self.text.clone())
    }
}

fn knee() -> f64 {
    check::v21::INFO
}

/// V21 where no other depth told; nothing where depth has no meaning.
pub(crate) fn not_measured(trial: &Trial<'_>, probed: bool) -> Option<Outcome> {
    let meaningful = depth_matters(trial) && trial.data_ops() > 0;
    meaningful.then(|| {
        let reason = match probed {
            true => UNDECIDED,
            false => {
                "no trial at another depth tells: run it at twice the depth, or allow the probe"
            }
        };
        Outcome::not_measured(RULE, reason)
    })
}

/// What is said of a row whose probe did not tell.
pub(crate) const UNDECIDED: &str = "a probe at twice the depth did not tell: its difference is \
                                    within its error, the depth was not kept, or the generator \
                                    was at its own limit";

/// Whether the row of a trial was probed.
pub(crate) fn is_probed(members: &[Member<'_>], index: usize) -> bool {
    let row = members[index].trial.record.spec.row;
    members.iter().any(|other| other.is_probe_of(row))
}

/// Closed loops on real or simulated drives.
pub(crate) fn depth_matters(trial: &Trial<'_>) -> bool {
    let null = trial.kind == fathom_rules::TargetKind::Null;
    !null && !trial.open_loop() && trial.workload.think_ns == 0
}

/// What the other trials of a run prove about one of them.
pub(crate) fn of_member(members: &[Member<'_>], index: usize) -> Option<Knee> {
    let own = &members[index];
    if !own.usable || own.evidence || !depth_matters(own.trial) {
        return None;
    }
    let others = || {
        let all = members.iter().enumerate();
        all.filter(|(i, other)| {
            *i != index && other.usable && same_but_depth(own.trial, other.trial)
        })
        .map(|(_, other)| other)
    };
    let row = own.trial.record.spec.row;
    let probed = others()
        .filter(|o| o.is_probe_of(row))
        .find_map(|probe| compare_probe(own.trial, probe.trial));
    let rows = || others().filter(|o| !o.evidence);
    probed
        .or_else(|| rows().find_map(|other| compare_depths(own, other)))
        // What is not measured is inferred from waiting, but not against what is measured.
        .or_else(|| match rows().any(|other| rose_from(other, own)) {
            true => None,
            false => rows().find_map(|other| crowded(own, other)),
        })
        .or_else(|| {
            let rows = members
                .iter()
                .filter(|other| other.usable && !other.evidence);
            rows.into_iter()
                .find_map(|other| as_fast_as_unflushed(own, other))
        })
}

/// Whether the rate surely rose from half the depth or more: twice the own one may give
/// more as well.
fn rose_from(other: &Member<'_>, own: &Member<'_>) -> bool {
    let (mine, theirs) = (own.trial.total_depth(), other.trial.total_depth());
    let rise = || own.rate?.over(&other.rate?);
    let near = theirs < mine && mine <= theirs.saturating_mul(2);
    near && rise().is_some_and(|ratio| ratio.low - 1.0 > knee())
}

/// Whether two trials differ in nothing but the operations in flight, the
/// length and the seed.
pub(crate) fn same_but_depth(own: &Trial<'_>, other: &Trial<'_>) -> bool {
    own.record.spec.target == other.record.spec.target
        && own.engine() == other.engine()
        && same_shape(own.workload, other.workload)
}

/// The same of two workloads.
pub(crate) fn same_shape(own: &Workload, other: &Workload) -> bool {
    let shape = |workload: &Workload| Workload {
        name: String::new(),
        workers: 1,
        queue_depth: 1,
        batch: 0,
        warmup_ns: 0,
        bounds: fathom_model::workload::Bounds::default(),
        until: None,
        each_worker: fathom_model::workload::WorkerBounds::default(),
        fail_if: fathom_model::workload::FailIf::default(),
        data_set: DataSet {
            precondition: fathom_model::workload::Precondition::None,
            ..workload.data_set.clone()
        },
        ..workload.clone()
    };
    shape(own) == shape(other)
}

fn compare_depths(own: &Member<'_>, other: &Member<'_>) -> Option<Knee> {
    let (mine, theirs) = (
        own.trial.total_depth() as f64,
        other.trial.total_depth() as f64,
    );
    let (rate, their_rate) = (own.rate?, other.rate?);
    let ratio = their_rate.over(&rate)?;
    let found = |limiter, what: &str, growth: f64| Knee {
        limiter,
        growth,
        text: at_depths(what, theirs as u64, mine as u64, growth),
    };
    let (at_least, likely, at_most) = (ratio.low - 1.0, ratio.value - 1.0, ratio.high - 1.0);
    if theirs > mine && at_least > knee() {
        let what = "throughput was higher";
        return Some(found(Limiter::QueueDepth, what, at_least));
    }
    if theirs >= 2.0 * mine && is_flat(likely, at_most) {
        return Some(found(Limiter::Device, "throughput was no higher", likely));
    }
    if mine <= theirs {
        return None;
    }
    // Slope of the chord from the lower depth, continued to twice the own.
    let twice = |above: f64| above / (mine - theirs) * mine / rate.value;
    let bound = twice(rate.most_above(&their_rate));
    if is_flat(twice(rate.value - their_rate.value), bound) {
        let what = "throughput was hardly lower";
        return Some(found(Limiter::Device, what, likely));
    }
    None
}

/// Writes that each wait to be durable, beside the same with more in flight and without
/// such waits: if the latter are not faster, the flush does not set the rate.
fn as_fast_as_unflushed(own: &Member<'_>, other: &Member<'_>) -> Option<Knee> {
    let waits =
        |workload: &Workload| workload.sync.every_writes > 0 || workload.sync.open != SyncOpen::No;
    let without = |workload: &Workload| Workload {
        sync: SyncPolicy::default(),
        ..workload.clone()
    };
    let (mine, theirs) = (own.trial.workload, other.trial.workload);
    let alike = own.trial.record.spec.target == other.trial.record.spec.target
        && own.trial.engine() == other.trial.engine()
        && same_shape(&without(mine), &without(theirs));
    if !alike || !waits(mine) || waits(theirs) {
        return None;
    }
    let knee = compare_depths(own, other)?;
    let deeper = other.trial.total_depth() > own.trial.total_depth();
    (deeper && knee.limiter == Limiter::Device).then(|| Knee {
        text: format!("{}, and without waits for a flush", knee.text),
        ..knee
    })
}

/// Whether more depth brings nothing: so surely, or as far as was measured and with
/// little room for an error.
fn is_flat(likely: f64, at_most: f64) -> bool {
    at_most <= knee() || (likely <= knee() && at_most <= MOST_GAIN)
}

/// Operations that take several times as long as at a lower depth wait behind one
/// another most of the time.
fn crowded(own: &Member<'_>, other: &Member<'_>) -> Option<Knee> {
    if own.trial.total_depth() <= other.trial.total_depth() {
        return None;
    }
    let (rate, their_rate) = (own.rate?, other.rate?);
    let in_flight = own.trial.mean_in_flight()? / other.trial.mean_in_flight()?;
    let times = in_flight * their_rate.over(&rate)?.low;
    let own_limit = share_of_ceiling(own.trial).is_some_and(|s| s > check::v22::CAVEAT);
    (times.is_finite() && times >= TIMES_WAITING && !own_limit).then(|| {
        let text = format!(
            "at {} operations in flight each took at least {times:.1} times as long as at {}: they \
             waited for one another most of the time",
            unit::group(own.trial.total_depth()),
            unit::group(other.trial.total_depth()),
        );
        Knee {
            limiter: Limiter::Device,
            growth: their_rate.value / rate.value - 1.0,
            text,
        }
    })
}

fn at_depths(what: &str, theirs: u64, mine: u64, growth: f64) -> String {
    format!(
        "at {} operations in flight in place of {} {what} ({:+.1} %)",
        unit::group(theirs),
        unit::group(mine),
        100.0 * growth
    )
}

/// Mean rate of a few seconds and how they scatter around it.
struct Window {
    mean: f64,
    /// Sum of squared deviations, relative to the mean.
    squares: f64,
    seconds: usize,
}

impl Window {
    /// The last `most` seconds of the measure phase.
    fn last(trial: &Trial<'_>, most: usize) -> Option<Window> {
        let rates = trial.second_rates();
        let values = &rates[rates.len().saturating_sub(most)..];
        let mean = mean(values)?;
        let squares = values.iter().map(|v| (v / mean - 1.0).powi(2)).sum::<f64>();
        (values.len() >= 2 && mean > 0.0 && squares.is_finite()).then_some(Window {
            mean,
            squares,
            seconds: values.len(),
        })
    }

    /// Relative 95 % half width of the ratio of two means, from the pooled
    /// variance: a few seconds by themselves have too few degrees of freedom.
    fn error_with(&self, other: &Window) -> f64 {
        let (mine, theirs) = (self.seconds as f64, other.seconds as f64);
        let degrees = mine + theirs - 2.0;
        let deviation = ((self.squares + other.squares) / degrees).sqrt();
        let error = deviation * (1.0 / mine + 1.0 / theirs).sqrt();
        AUTOCORRELATED * student_975(degrees) * error
    }
}

fn compare_probe(own: &Trial<'_>, probe: &Trial<'_>) -> Option<Knee> {
    let (mine, theirs) = (own.total_depth(), probe.total_depth());
    // What was in flight counts, not what was asked for: some kernels submit slowly.
    let kept = depth_kept(probe)? / depth_kept(own)? >= LEAST_KEPT;
    let generator = share_of_ceiling(probe).is_some_and(|s| s > check::v22::INVALID)
        || busy_worker(probe).is_some_and(|b| b > check::v22::BUSY_THREAD);
    if theirs < mine.saturating_mul(2) || !kept {
        return None;
    }
    let after = Window::last(probe, usize::MAX)?;
    let before = Window::last(own, after.seconds.max(LEAST_BEFORE))?;
    let growth = after.mean / before.mean - 1.0;
    let spread = (1.0 + growth) * after.error_with(&before);
    let found = |limiter, what: &str| Knee {
        limiter,
        growth,
        text: format!(
            "a probe of {} s {what} at {} operations in flight in place of {} ({:+.1} ± {:.1} %)",
            after.seconds,
            unit::group(theirs),
            unit::group(mine),
            100.0 * growth,
            100.0 * spread,
        ),
    };
    if growth - spread > knee() {
        return Some(found(Limiter::QueueDepth, "was faster"));
    }
    // A generator at its own limit could not have shown a faster device.
    let same_state = growth > -OTHER_STATE;
    let saturated = is_flat(growth, growth + spread) && same_state && !generator;
    let hardly = growth - spread > 0.0;
    saturated.then(|| match hardly {
        true => found(Limiter::Device, "was hardly faster"),
        false => found(Limiter::Device, "was no faster"),
    })
}

#[cfg(test)]
#[path = "knee_tests.rs"]
mod tests;
