//! Plain facts of a run that several outputs show: what was measured, where,
//! how it ended, what failed.

use fathom_model::fingerprint::{DeviceFacts, FilesystemFacts, TargetFingerprint};
use fathom_model::judged::ResultRow;
use fathom_model::op::ErrorClass;
use fathom_model::schedule::{Purpose, TrialRole};
use fathom_model::view::{StandardReport, View};
use fathom_model::{JudgedRun, JudgedTrial, OpKind, RunState, unit};

/// The targets of the run, each once, in order of appearance.
pub(crate) fn targets(run: &JudgedRun) -> Vec<String> {
    let mut names = Vec::new();
    // A control has no target of the user's.
    let controls = run.trials.iter().filter(|t| t.role == TrialRole::Control);
    let are_all = controls.count() == run.trials.len();
    for trial in &run.trials {
        if trial.role == TrialRole::Control && !are_all {
            continue;
        }
        let name = trial.target.to_string();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// ` on sim:ssd`, for a title behind the name of the run; nothing where the name holds
/// every target.
pub(crate) fn on_targets(run: &JudgedRun) -> String {
    let targets = targets(run);
    let words: Vec<&str> = run.run.name.split_whitespace().collect();
    match targets
        .iter()
        .all(|target| words.contains(&target.as_str()))
    {
        true => String::new(),
        false => format!(" on {}", targets.join(", ")),
    }
}

/// The fingerprints of the targets before their first trial, each target once.
pub(crate) fn fingerprints(run: &JudgedRun) -> Vec<&TargetFingerprint> {
    let mut found: Vec<&TargetFingerprint> = Vec::new();
    for before in run.trials.iter().filter_map(|t| t.target_before.as_ref()) {
        if found.iter().all(|f| f.target != before.target) {
            found.push(before);
        }
    }
    found
}

/// The devices with nothing below them.
pub(crate) fn leaves(target: &TargetFingerprint) -> impl Iterator<Item = &DeviceFacts> {
    target.devices.iter().filter(|d| d.below.is_empty())
}

/// `Samsung SSD 980 PRO (nvme0n1, 931 GiB, firmware 5B2QGXA7)`.
pub(crate) fn device_line(device: &DeviceFacts) -> String {
    let mut details = vec![device.name.clone()];
    if device.size_bytes > 0 {
        details.push(unit::bytes(device.size_bytes).to_string());
    }
    if let Some(firmware) = device.firmware.as_deref().filter(|f| !f.trim().is_empty()) {
        details.push(format!("firmware {}", firmware.trim()));
    }
    let model = device.model.as_deref().map_or("", str::trim);
    let name = if model.is_empty() {
        "unknown model"
    } else {
        model
    };
    format!("{name} ({})", details.join(", "))
}

/// `ext4 on /dev/nvme0n1p2, mounted at /data`.
pub(crate) fn filesystem_line(fs: &FilesystemFacts) -> String {
    let marked = if fs.virtual_kind { " (virtual)" } else { "" };
    format!(
        "{}{marked} on {}, mounted at {}",
        fs.kind, fs.source, fs.mount_point
    )
}

/// `bench01, Linux 6.12.41, 16 CPUs, 62.6 GiB memory, kvm`.
pub(crate) fn host_line(run: &JudgedRun) -> String {
    let host = &run.host;
    let mut parts = Vec::new();
    if let Some(fleet) = &run.fleet {
        let there = fleet.hosts.iter().filter(|host| host.lost.is_none());
        parts.push(format!(
            "{}, driven from {}",
            unit::counted(there.count() as u64, "host"),
            host.hostname
        ));
    } else if !host.hostname.is_empty() {
        parts.push(host.hostname.clone());
    }
    if !host.kernel.is_empty() {
        parts.push(format!("kernel {}", host.kernel));
    }
    parts.extend(host.cpu_model.clone());
    if host.cpus > 0 {
        parts.push(unit::counted(host.cpus.into(), "CPU"));
    }
    if host.memory_bytes > 0 {
        parts.push(format!("{} memory", unit::bytes(host.memory_bytes)));
    }
    parts.extend(host.virtualization.clone());
    parts.join(", ")
}

/// The range of a quantity over trials in words: `5 s`, `3 s to 10 s`.
fn range(values: impl Iterator<Item = u64>, word: impl Fn(u64) -> String) -> Option<String> {
    let values: Vec<u64> = values.filter(|v| *v > 0).collect();
    let (low, high) = (values.iter().min()?, values.iter().max()?);
    let (low, high) = (word(*low), word(*high));
    Some(if low == high {
        low
    } else {
        format!("{low} to {high}")
    })
}

/// What the user calls the run.
pub(crate) fn user_label(run: &JudgedRun) -> Option<&str> {
    run.run
        .label
        .as_deref()
        .filter(|label| !matches!(*label, "burst" | "sustained"))
}

/// The user's label and how long it was measured, in one line.
pub(crate) fn label_line(run: &JudgedRun) -> Option<String> {
    let label = user_label(run).map(str::to_owned);
    let parts: Vec<String> = label.into_iter().chain(measurement_line(run)).collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// Whether writes had time to settle, in one sentence: of runs of `quick`, and of
/// curves that write.
pub(crate) fn measurement_line(run: &JudgedRun) -> Option<String> {
    let kind = measurement_kind(run)?;
    let mut details = Vec::new();
    let form = run.view.as_ref().and_then(|view| view.form.as_ref());
    let cell = form.map_or("trial", |form| form.trial_word);
    let cells = || run.trials.iter().filter(|trial| !trial.role.is_probe());
    let times = cells().map(|t| {
        let measured = t.summary.duration_ns;
        t.workload.bounds.time_ns.unwrap_or(measured)
    });
    if let Some(time) = range(times, unit::span) {
        details.push(format!("{time} per {cell}"));
    }
    details.extend(extent(run));
    let warning = if kind == "burst" {
        "; sustained speed can be lower"
    } else {
        ""
    };
    let details = if details.is_empty() {
        String::new()
    } else {
        format!(": {}", details.join(", "))
    };
    let cached = if kind == "burst" && ends_in_volatile_cache(run) {
        "; writes may be in the drive's volatile cache only"
    } else {
        ""
    };
    Some(format!("{kind} measurement{details}{warning}{cached}"))
}

/// Whether rows that write are done when a drive has the data in its cache, which a loss
/// of power empties.
fn ends_in_volatile_cache(run: &JudgedRun) -> bool {
    let unflushed = |trial: &JudgedTrial| {
        let sync = &trial.workload.sync;
        trial.workload.mix.modifies() && sync.every_writes == 0 && !sync.final_flush
    };
    let is_volatile = |drive: &DeviceFacts| drive.write_cache.as_deref() == Some("write back");
    run.trials.iter().any(unflushed)
        && fingerprints(run)
            .iter()
            .flat_map(|target| leaves(target))
            .any(is_volatile)
}

/// `burst` or `sustained`, which a label of the user's own does not change.
fn measurement_kind(run: &JudgedRun) -> Option<&'static str> {
    let of_bytes = |trial: &JudgedTrial| trial.workload.bounds.bytes.is_some();
    let is_quick = run.view.as_ref().is_some_and(|view| view.form.is_some());
    let is_curve = matches!(run.run.purpose, Purpose::Curve { .. });
    let writes = || run.trials.iter().any(|t| t.workload.mix.modifies());
    match run.run.label.as_deref() {
        Some("burst") => Some("burst"),
        Some("sustained") => Some("sustained"),
        // Sustained writes end after a number of bytes, not after a time.
        _ if is_quick && run.trials.iter().any(of_bytes) => Some("sustained"),
        _ if is_quick || (is_curve && writes()) => Some("burst"),
        _ => None,
    }
}

/// How much of the target was measured: `1 GiB file`.
fn extent(run: &JudgedRun) -> Option<String> {
    let of = |is_write: bool| {
        let trials = run.trials.iter();
        let trials = trials.filter(|trial| trial.workload.mix.modifies() == is_write);
        range(trials.map(data_set_bytes), unit::bytes_exact)
    };
    let is_named = |trial: &JudgedTrial| trial.workload.data_set.size_bytes.is_some();
    let what = match run.trials.iter().any(is_named) {
        true => "file",
        false => "data set",
    };
    Some(match (of(false), of(true)) {
        (Some(read), Some(written)) if read != written => {
            format!("reads over {read}, writes within {written}")
        }
        (read, written) => format!("{} {what}", read.or(written)?),
    })
}

fn data_set_bytes(trial: &JudgedTrial) -> u64 {
    match trial.workload.data_set.size_bytes {
        Some(size) => size,
        None => trial.summary.active_bytes,
    }
}

/// The answer of the run's study, which stands beside its results.
pub(crate) fn answer(run: &JudgedRun) -> Option<&View> {
    let beside = |view: &&View| view.form.is_none() && view.standard.is_none();
    run.view.as_ref().filter(beside)
}

/// The results of the run in the form of a standard.
pub(crate) fn standard(run: &JudgedRun) -> Option<(&View, &StandardReport)> {
    let view = run.view.as_ref()?;
    Some((view, view.standard.as_ref()?))
}

/// The results of the run in the form that its study gives them.
pub(crate) fn result_form(run: &JudgedRun) -> Option<&View> {
    run.view.as_ref().filter(|view| view.form.is_some())
}

/// The rows that are printed as those of any run.
pub(crate) fn plain_rows(run: &JudgedRun) -> Vec<&ResultRow> {
    match run.view.as_ref().and_then(|view| view.form.as_ref()) {
        Some(form) => {
            let others = form.other_rows.iter();
            others.filter_map(|at| run.rows.get(*at)).collect()
        }
        None => run.rows.iter().collect(),
    }
}

/// Whether the figures of a row are a result: of a workload, or of a side of a
/// comparison.
pub(crate) fn is_result(row: &ResultRow) -> bool {
    matches!(row.role, TrialRole::Measure | TrialRole::A | TrialRole::B)
}

/// The first trial of a row, which has the row's workload.
pub(crate) fn first_trial<'a>(run: &'a JudgedRun, row: &ResultRow) -> Option<&'a JudgedTrial> {
    row.trials.iter().find_map(|i| run.trials.get(*i))
}

/// Failures of all trials by class, and the operations that succeeded.
pub(crate) fn failures(run: &JudgedRun) -> (Vec<(ErrorClass, u64)>, u64) {
    let mut classes: Vec<(ErrorClass, u64)> = Vec::new();
    let mut succeeded = 0;
    for op in run.trials.iter().flat_map(|t| &t.summary.ops) {
        // A commit is derived from its write and sync, and the times within a
        // request from the request; those are counted.
        if op.kind != OpKind::Commit && !op.kind.is_part_of_request() {
            succeeded += op.ops;
        }
        for error in &op.errors {
            match classes.iter_mut().find(|(class, _)| *class == error.class) {
                Some((_, count)) => *count += error.count,
                None => classes.push((error.class, error.count)),
            }
        }
    }
    classes.sort_by_key(|(class, _)| *class);
    (classes, succeeded)
}

/// `17 of 120,017 operations failed (0.014 %): io 12, verify 5`; nothing when
/// none failed.
pub(crate) fn failures_line(run: &JudgedRun) -> Option<String> {
    let (classes, succeeded) = failures(run);
    let failed: u64 = classes.iter().map(|(_, n)| n).sum();
    if failed == 0 {
        return None;
    }
    let tried = failed.saturating_add(succeeded);
    let by_class: Vec<String> = classes
        .iter()
        .map(|(class, n)| format!("{} {}", class.name(), unit::group(*n)))
        .collect();
    Some(format!(
        "{} of {} failed ({}): {}",
        unit::group(failed),
        unit::counted(tried, "operation"),
        fathom_model::figure::percent(failed as f64 / tried as f64),
        by_class.join(", ")
    ))
}

/// Why a trial is not complete.
pub(crate) fn reason_of(trial: &JudgedTrial) -> &str {
    match (trial.reason.as_deref(), trial.state) {
        (Some(reason), _) => reason,
        (None, RunState::Running) => STILL_RUNNING,
        (None, _) => "no reason was recorded",
    }
}

/// What a run or trial without an end is.
const STILL_RUNNING: &str = "still running, or its process was killed";

/// How the run ended when it did not end as planned.
pub(crate) fn ended_line(run: &JudgedRun) -> Option<String> {
    let word = match run.run.state {
        RunState::Complete => return None,
        RunState::Running => STILL_RUNNING,
        RunState::Interrupted => "interrupted",
        RunState::Failed => "failed",
    };
    let complete = run
        .trials
        .iter()
        .filter(|t| t.state == RunState::Complete)
        .count();
    let reason = run.run.reason.as_deref().map_or(String::new(), |reason| {
        format!(": {}", reason.trim_end_matches('.'))
    });
    Some(format!(
        "{word} after {complete} of {}{reason}. Partial results were saved.",
        unit::counted(run.run.planned_trials.into(), "trial")
    ))
}

/// Stands for the reason of the run, which [`ended_line`] has given.
const REASON_ABOVE: &str = "the reason above";
/// A shorter reason is better repeated.
const LONG_REASON: usize = 40;

/// A text that follows [`ended_line`], without the reason that stood there.
pub(crate) fn without_reason(run: &JudgedRun, text: &str) -> String {
    let reason = run.run.reason.as_deref().unwrap_or_default();
    let reason = reason.trim_end_matches('.');
    // What happened, and below it what the system or a server said of it.
    let cause = reason.split_once(": ").map_or(reason, |(_, cause)| cause);
    let mut text = text.to_owned();
    for part in [reason, cause] {
        if part.len() >= LONG_REASON {
            text = text.replace(part, REASON_ABOVE);
        }
    }
    text
}

/// Whether nothing of a text is left without the reason of the run.
pub(crate) fn is_reason(run: &JudgedRun, text: &str) -> bool {
    without_reason(run, text) == REASON_ABOVE
}

/// The trials that did not end as planned.
pub(crate) fn unfinished(run: &JudgedRun) -> impl Iterator<Item = &JudgedTrial> {
    run.trials.iter().filter(|t| t.state != RunState::Complete)
}

/// What a trial is called: by its study, or else its label.
pub(crate) fn trial_name(run: &JudgedRun, trial: &JudgedTrial) -> String {
    let form = run.view.as_ref().and_then(|view| view.form.as_ref());
    let name = form.and_then(|form| form.trial_names.get(&trial.index));
    name.unwrap_or(&trial.label).clone()
}

/// Files of each worker for a longer trial, where those that there are ended it.
pub(crate) fn more_files(trial: &JudgedTrial, longer_ns: u64) -> Option<u64> {
    /// At most this many times the files in one step: the next run shows better than
    /// these milliseconds how long they take.
    const MOST_TIMES: f64 = 100.0;
    let work = trial.workload.files_work()?;
    let duration_ns = trial.summary.duration_ns.max(1);
    let bound_ns = trial.workload.bounds.time_ns.unwrap_or(u64::MAX);
    // A trial that reached its bound is over by less than a tenth of it.
    if duration_ns >= bound_ns / 10 * 9 {
        return None;
    }
    /// Nobody makes more for an interval.
    const MOST_FILES: f64 = 1e6;
    let times = (1.0 + longer_ns as f64 / duration_ns as f64).min(MOST_TIMES);
    let wanted = work.tree.files as f64 * times;
    if wanted > MOST_FILES {
        return None;
    }
    // One digit, as somebody would type it.
    let digit = 10_f64.powf(wanted.log10().floor());
    Some(((wanted / digit).ceil() * digit) as u64)
}
