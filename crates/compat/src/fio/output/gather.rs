//! What was measured, added up as fio does it: one [`Stats`] for each entry of
//! a report, from the samples of the trials of its jobs.

use fathom_model::recording::DepthCounts;
use fathom_model::run::TrialEnd;
use fathom_model::{
    ErrorClass, ErrorCounts, Histogram, OpKind, OpSample, Phase, RunRecord, RunState, Sample,
    TrialRecord,
};

use super::series::RateSeries;
use super::steady::Settling;
use super::view::{FioJob, FioView};

/// fio's directions in its order.
pub(super) const DIRECTIONS: [OpKind; 3] = [OpKind::Read, OpKind::Write, OpKind::Trim];

/// What one direction did.
#[derive(Debug, Clone, Default)]
pub(super) struct Direction {
    pub(super) bytes: u64,
    pub(super) ops: u64,
    pub(super) short_ops: u64,
    pub(super) runtime_ms: u64,
    pub(super) slat: Histogram,
    pub(super) clat: Histogram,
    pub(super) lat: Histogram,
    /// KiB/s of each interval.
    pub(super) bandwidth: RateSeries,
    /// Operations per second of each interval.
    pub(super) iops: RateSeries,
}

impl Direction {
    /// Bytes per second.
    pub(super) fn bytes_per_second(&self) -> u64 {
        per_second(self.bytes, self.runtime_ms)
    }

    /// Operations per second.
    pub(super) fn ops_per_second(&self) -> f64 {
        match self.runtime_ms {
            0 => 0.0,
            ms => self.ops as f64 * 1000.0 / ms as f64,
        }
    }

    /// Adds another job's, or another direction's. Rates add up, times do not.
    pub(super) fn add(&mut self, other: &Direction) {
        self.bytes += other.bytes;
        self.ops += other.ops;
        self.short_ops += other.short_ops;
        self.runtime_ms = self.runtime_ms.max(other.runtime_ms);
        self.slat.merge(&other.slat);
        self.clat.merge(&other.clat);
        self.lat.merge(&other.lat);
        self.bandwidth.add(&other.bandwidth);
        self.iops.add(&other.iops);
    }
}

/// `amount` in `ms`, for one second.
pub(super) fn per_second(amount: u64, ms: u64) -> u64 {
    match ms {
        0 => 0,
        ms => (u128::from(amount) * 1000 / u128::from(ms)).min(u128::from(u64::MAX)) as u64,
    }
}

/// One entry of a report: a job, or the jobs of a group.
#[derive(Debug, Clone)]
pub(super) struct Stats<'v> {
    /// The first job: its name and settings are those of the entry.
    pub(super) job: &'v FioJob,
    /// Jobs that were added up.
    pub(super) members: u32,
    /// When the load began, since 1970.
    pub(super) started_unix_ns: u64,
    /// errno of what ended it, or 0.
    pub(super) error: u32,
    /// Failures.
    pub(super) errors: u64,
    pub(super) directions: [Direction; 3],
    pub(super) sync: Histogram,
    /// Time of all members together.
    pub(super) job_runtime_ms: u64,
    pub(super) cpu_user_ns: u64,
    pub(super) cpu_system_ns: u64,
    pub(super) switches: u64,
    pub(super) major_faults: u64,
    pub(super) minor_faults: u64,
    pub(super) depths: DepthCounts,
    /// What had to settle, of the first member.
    pub(super) settling: Option<Settling>,
    /// The depth that the search for a latency ended at.
    pub(super) depth_found: Option<u32>,
}

impl<'v> Stats<'v> {
    fn empty(job: &'v FioJob) -> Stats<'v> {
        Stats {
            job,
            members: 0,
            started_unix_ns: 0,
            error: 0,
            errors: 0,
            directions: Default::default(),
            sync: Histogram::new(),
            job_runtime_ms: 0,
            cpu_user_ns: 0,
            cpu_system_ns: 0,
            switches: 0,
            major_faults: 0,
            minor_faults: 0,
            depths: DepthCounts::default(),
            settling: None,
            depth_found: None,
        }
    }

    /// What one job did, or nothing when its trial never ran.
    pub(super) fn of_job(job: &'v FioJob, record: &RunRecord) -> Stats<'v> {
        let mut stats = Stats::empty(job);
        stats.members = job.clones.max(1);
        if let Some(trial) = trial_of(job, record) {
            stats.take(trial);
        }
        stats
    }

    /// Under the name and settings of `job`, without what only a single job
    /// has.
    pub(super) fn named<'j>(self, job: &'j FioJob) -> Stats<'j>
    where
        'v: 'j,
    {
        Stats {
            job,
            settling: None,
            depth_found: None,
            ..self
        }
    }

    fn take(&mut self, trial: &TrialRecord) {
        let measured: Vec<&Sample> = measured(trial).collect();
        let duration_ns: u64 = measured.iter().map(|s| s.duration_ns).sum();
        let runtime_ms = (duration_ns / 1_000_000).max(u64::from(duration_ns > 0));
        self.started_unix_ns = load_started_unix_ns(trial);
        self.settling = Settling::of(trial);
        let members = u64::from(self.members.max(trial.spec.workload.workers));
        self.job_runtime_ms = runtime_ms * members;
        let mut errors = ErrorCounts::default();
        for sample in &measured {
            self.cpu_user_ns += sample.cpu_user_ns;
            self.cpu_system_ns += sample.cpu_system_ns;
            errors.merge(&sample.errors());
            if let Some(sync) = sample.op(OpKind::Sync) {
                self.sync.merge(&sync.service);
            }
        }
        for (direction, kind) in self.directions.iter_mut().zip(DIRECTIONS) {
            *direction = of_direction(trial, &measured, kind);
            if direction.ops > 0 {
                direction.runtime_ms = runtime_ms;
            }
        }
        self.errors = errors.total();
        self.error = errno(trial, &errors, self.job.continue_on_error);
        if let Some(end) = &trial.end {
            self.take_end(end);
        }
        if self.depths == DepthCounts::default() {
            self.depths = mean_depth(&measured, trial.spec.workload.workers);
        }
    }

    fn take_end(&mut self, end: &TrialEnd) {
        if let Some(threads) = &end.engine.threads {
            self.switches = threads.voluntary_switches + threads.involuntary_switches;
            self.major_faults = threads.major_faults;
            self.minor_faults = threads.minor_faults;
        }
        self.depths = end.engine.depths.unwrap_or_default();
        self.depth_found = end.engine.depth_found;
    }

    /// Adds another job of the group.
    pub(super) fn add(&mut self, other: &Stats<'_>) {
        self.members += other.members;
        self.errors += other.errors;
        if self.error == 0 {
            self.error = other.error;
        }
        for (mine, theirs) in self.directions.iter_mut().zip(&other.directions) {
            mine.add(theirs);
        }
        self.sync.merge(&other.sync);
        self.job_runtime_ms += other.job_runtime_ms;
        self.cpu_user_ns += other.cpu_user_ns;
        self.cpu_system_ns += other.cpu_system_ns;
        self.switches += other.switches;
        self.major_faults += other.major_faults;
        self.minor_faults += other.minor_faults;
        self.depths.merge(&other.depths);
    }

    /// All directions together.
    pub(super) fn mixed(&self) -> Direction {
        let mut all = Direction::default();
        for direction in &self.directions {
            all.add(direction);
        }
        all
    }

    /// Operations of all directions.
    pub(super) fn ops(&self) -> u64 {
        self.directions.iter().map(|d| d.ops).sum()
    }

    /// Percent of the run time that the threads spent in user and in kernel
    /// mode.
    pub(super) fn cpu_percent(&self) -> (f64, f64) {
        let percent = |ns: u64| match self.job_runtime_ms {
            0 => 0.0,
            ms => ns as f64 / 1e6 * 100.0 / ms as f64,
        };
        (percent(self.cpu_user_ns), percent(self.cpu_system_ns))
    }
}

/// The trial of a job: the last time that it ran.
pub(super) fn trial_of<'r>(job: &FioJob, record: &'r RunRecord) -> Option<&'r TrialRecord> {
    let trials = record.trials.iter().rev();
    trials.into_iter().find(|t| t.spec.index == job.trial)
}

/// When the load of a trial began, since 1970: the start of the trial itself
/// in records of older versions.
pub(super) fn load_started_unix_ns(trial: &TrialRecord) -> u64 {
    let load = trial.end.as_ref().and_then(|end| end.load_started_unix_ns);
    load.unwrap_or(trial.started_unix_ns)
}

/// Samples of the measure phase.
pub(super) fn measured(trial: &TrialRecord) -> impl Iterator<Item = &Sample> {
    trial.samples.iter().filter(|s| s.phase == Phase::Measure)
}

fn of_direction(trial: &TrialRecord, measured: &[&Sample], kind: OpKind) -> Direction {
    let mut direction = Direction::default();
    let nominal_ns = trial.spec.workload.recording.interval_ns();
    for sample in measured {
        let Some(op) = of_kind(sample, kind) else {
            continue;
        };
        direction.bytes += op.bytes;
        direction.ops += op.ops;
        direction.short_ops += op.errors.get(ErrorClass::Short);
        direction.lat.merge(&op.service);
        match &op.halves {
            Some(halves) => {
                direction.slat.merge(&halves.submission);
                direction.clat.merge(&halves.completion);
            }
            // An engine that returns when all is done has no submission of
            // its own.
            None => direction.clat.merge(&op.service),
        }
        // A rest of an interval says little about rates.
        let whole = sample.duration_ns >= nominal_ns / 2 || measured.len() == 1;
        if op.ops > 0 && whole && sample.duration_ns > 0 {
            let seconds = sample.duration_ns as f64 / 1e9;
            let kib = op.bytes as f64 / 1024.0;
            direction.bandwidth.push((kib / seconds) as u64);
            direction.iops.push((op.ops as f64 / seconds) as u64);
        }
    }
    direction
}

/// What a sample has of a direction. Operations on names count as reads, as
/// those of fio's own engines do.
fn of_kind(sample: &Sample, kind: OpKind) -> Option<&OpSample> {
    let names = || sample.ops.iter().find(|op| op.kind.is_metadata());
    sample
        .op(kind)
        .or_else(|| (kind == OpKind::Read).then(names).flatten())
}

/// The errno that fio would report.
fn errno(trial: &TrialRecord, errors: &ErrorCounts, goes_on: bool) -> u32 {
    let ended_well = trial.state == RunState::Complete;
    if errors.total() == 0 || (ended_well && !goes_on) {
        return u32::from(trial.state == RunState::Failed) * 5;
    }
    let first = trial.end.as_ref().and_then(|end| end.engine.errors.first());
    let class = first
        .map(|error| error.class)
        .or_else(|| errors.iter().next().map(|(class, _)| class));
    class.map_or(5, errno_of)
}

/// Linux's number for a class of errors.
fn errno_of(class: ErrorClass) -> u32 {
    match class {
        ErrorClass::NoSpace => 28,
        ErrorClass::Permission => 13,
        ErrorClass::Unsupported => 22,
        ErrorClass::Timeout => 110,
        ErrorClass::Reset => 104,
        ErrorClass::SlowDown => 11,
        ErrorClass::Refused => 22,
        ErrorClass::Verify => 84,
        ErrorClass::Io | ErrorClass::Short | ErrorClass::Other | ErrorClass::Failed => 5,
    }
}

/// Where depths were not recorded, all operations count at the mean number in
/// flight; how large batches were is then not known.
fn mean_depth(measured: &[&Sample], workers: u32) -> DepthCounts {
    let mut depths = DepthCounts::default();
    let duration_ns: u128 = measured.iter().map(|s| u128::from(s.duration_ns)).sum();
    let in_flight_ns: u128 = measured.iter().map(|s| s.in_flight_ns).sum();
    let ops: u64 = measured.iter().map(|s| s.data_ops()).sum();
    let worker_ns = duration_ns * u128::from(workers.max(1));
    if worker_ns > 0 && ops > 0 {
        let mean = (in_flight_ns + worker_ns / 2) / worker_ns;
        let depth = u32::try_from(mean).unwrap_or(u32::MAX);
        depths.at_submission[DepthCounts::depth_class(depth)] = ops;
    }
    depths
}

/// The entries of a report in order.
pub(super) fn entries<'v>(record: &RunRecord, view: &'v FioView) -> Vec<Stats<'v>> {
    let mut entries: Vec<Stats<'v>> = Vec::new();
    for job in &view.jobs {
        let stats = Stats::of_job(job, record);
        match entries.last_mut() {
            Some(last) if belong_together(last.job, job) => last.add(&stats),
            _ => entries.push(stats),
        }
    }
    entries
}

fn belong_together(one: &FioJob, next: &FioJob) -> bool {
    one.group_reporting
        && next.group_reporting
        && one.group_id == next.group_id
        && one.host == next.host
}

/// What a reporting group did in one direction.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct GroupRates {
    pub(super) bytes: u64,
    pub(super) least_ms: u64,
    pub(super) most_ms: u64,
    pub(super) least_bytes_per_second: u64,
    pub(super) most_bytes_per_second: u64,
}

impl GroupRates {
    /// Of the entries of group `group_id`.
    pub(super) fn of(entries: &[Stats<'_>], group_id: u32, direction: usize) -> GroupRates {
        let members = entries.iter().filter(|e| e.job.group_id == group_id);
        GroupRates::sum(members.map(|entry| &entry.directions[direction]))
    }

    /// Of these.
    pub(super) fn sum<'a>(directions: impl Iterator<Item = &'a Direction>) -> GroupRates {
        let mut all = GroupRates::default();
        for one in directions.filter(|d| d.runtime_ms > 0) {
            let rate = one.bytes_per_second();
            let first = all.most_ms == 0;
            all.least_ms = if first {
                one.runtime_ms
            } else {
                all.least_ms.min(one.runtime_ms)
            };
            all.least_bytes_per_second = if first {
                rate
            } else {
                all.least_bytes_per_second.min(rate)
            };
            all.most_ms = all.most_ms.max(one.runtime_ms);
            all.most_bytes_per_second = all.most_bytes_per_second.max(rate);
            all.bytes += one.bytes;
        }
        all
    }

    /// All bytes over the longest time.
    pub(super) fn bytes_per_second(&self) -> u64 {
        per_second(self.bytes, self.most_ms)
    }

    /// `mean_kib` per second as a percentage of the group's, at most 100.
    pub(super) fn share_percent(&self, mean_kib: f64) -> f64 {
        let kib = self.bytes_per_second() as f64 / 1024.0;
        if kib > 1.0 {
            (mean_kib * 100.0 / kib).min(100.0)
        } else {
            100.0
        }
    }
}
