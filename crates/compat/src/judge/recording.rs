//! V26, V60, V61, V65, V66, V68, V69, V70: what was recorded, and what of it
//! hides something?

use fathom_model::op::OpKind;
use fathom_model::unit;
use fathom_model::verdict::FindingStatus;
use fathom_rules::{Rule, check};

use super::Entry;
use super::said::Counted;
use fathom_analysis::judgement::Outcome;

/// A finding whose status is decided here and not by its value.
fn decided(
    check: &'static Rule,
    status: FindingStatus,
    measured: f64,
    evidence: String,
) -> Outcome {
    let threshold = check.caveat.or(check.info).or(check.invalid);
    Outcome::decided(check, status, measured, threshold, evidence)
}

/// V26: failed operations, also those that were passed over.
pub(super) fn errors(entry: &Entry<'_>) -> Option<Outcome> {
    const RULE: &Rule = check::V26;
    let job = entry.job;
    let ended = job.error.unwrap_or(0);
    let passed_over = job.failures_ignored.unwrap_or(0);
    let mut parts = Vec::new();
    if ended != 0 {
        parts.push(format!("the job ended with error {ended}"));
    }
    if passed_over > 0 {
        parts.push(format!(
            "{} failures were passed over",
            unit::group(passed_over)
        ));
    }
    let said: Vec<&String> = entry
        .result
        .messages
        .iter()
        .filter(|m| m.contains("io_u error") || m.contains("verify:") || m.contains("err="))
        .collect();
    if let (Some(message), true) = (said.first(), entry.result.jobs.len() == 1) {
        parts.push(format!("it says: {message}"));
    }
    let dropped: f64 = job.directions.iter().filter_map(|d| d.dropped_ops).sum();
    if dropped > 0.0 {
        parts.push(format!("{} operations were dropped", unit::count(dropped)));
    }
    if parts.is_empty() {
        if let Some(ignored) = job.options.get("ignore_error") {
            let text = format!("no failure is stated, but ignore_error={ignored} would hide some");
            return Some(decided(RULE, FindingStatus::Info, 0.0, text));
        }
        return Some(match job.error.or(job.failures_ignored.map(|_| 0)) {
            Some(_) => Outcome::graded(RULE, 0.0, "no failed operations are stated".to_owned()),
            None => Outcome::not_measured(RULE, "whether operations failed is not stated"),
        });
    }
    let count = (passed_over as f64 + dropped).max(1.0);
    Some(Outcome::graded(RULE, count, parts.join("; ")))
}

/// V60: what of the file could not be read.
pub(super) fn file(entry: &Entry<'_>) -> Option<Outcome> {
    let damage = &entry.result.damage;
    let evidence = damage.first()?.clone();
    Some(Outcome::graded(check::V60, damage.len() as f64, evidence))
}

/// V61: directions without any latency.
pub(super) fn latency_recorded(entry: &Entry<'_>) -> Option<Outcome> {
    const RULE: &Rule = check::V61;
    let worked: Vec<_> = entry
        .job
        .directions
        .iter()
        .filter(|d| d.ops() > 0.0)
        .collect();
    if worked.is_empty() {
        return None;
    }
    let without: Vec<&str> = worked
        .iter()
        .filter(|d| d.whole_latency_ns().is_none())
        .map(|d| d.name())
        .collect();
    let why = ["gtod_reduce", "disable_lat", "disable_clat"]
        .iter()
        .find(|key| entry.job.options.get(**key).is_some_and(|v| v != "0"));
    let evidence = match (without.is_empty(), why) {
        (true, _) => "latencies were recorded".to_owned(),
        (false, Some(key)) => format!("{key} switched latencies off: {}", without.join(", ")),
        (false, None) => format!("no latency was recorded: {}", without.join(", ")),
    };
    Some(Outcome::graded(RULE, without.len() as f64, evidence))
}

/// V65: several jobs in one line.
pub(super) fn jobs_as_one(entry: &Entry<'_>) -> Option<Outcome> {
    const RULE: &Rule = check::V65;
    if entry.job.sum_of_others {
        let text = "the sum of all clients, over the longest time of any of them";
        return Some(decided(
            RULE,
            FindingStatus::Info,
            f64::NAN,
            text.to_owned(),
        ));
    }
    if !entry.said.merged {
        return None;
    }
    let jobs = entry.said.jobs;
    let whole = entry.said.duration_ns.map(|ns| ns * jobs);
    let kept = entry
        .job
        .job_time_ns
        .zip(whole)
        .map(|(all, whole)| all / whole);
    Some(match kept {
        Some(kept) if kept < check::v65::CAVEAT => Outcome::graded(
            RULE,
            kept,
            format!(
                "{jobs:.0} jobs as one, on average at work for {:.0} % of the time of the slowest: \
                 the rate is their bytes over that time",
                100.0 * kept
            ),
        ),
        _ => decided(
            RULE,
            FindingStatus::Info,
            kept.unwrap_or(f64::NAN),
            format!("{jobs:.0} jobs as one: how they differ cannot be seen"),
        ),
    })
}

/// V66: percentiles of completion where submission took long.
pub(super) fn completion_only(entry: &Entry<'_>) -> Option<Outcome> {
    const RULE: &Rule = check::V66;
    let each = entry.job.directions.iter().filter_map(|d| {
        let completion = d
            .completion
            .as_ref()
            .filter(|c| !c.percentiles.is_empty())?;
        d.submission.as_ref()?;
        let own = d.total.as_ref().is_none_or(|t| t.percentiles.is_empty());
        let share = d.whole_latency_ns()? / completion.mean_ns.filter(|m| *m > 0.0)? - 1.0;
        own.then_some((d.name(), share))
    });
    let (name, share) = each.max_by(|a, b| a.1.total_cmp(&b.1))?;
    let evidence = format!(
        "{name}: the percentiles are of completion; the mean of the whole latency is {:.1} % longer",
        100.0 * share.max(0.0)
    );
    Some(Outcome::graded(RULE, share, evidence))
}

/// V68: data that a device can shrink.
pub(super) fn payload(entry: &Entry<'_>) -> Option<Outcome> {
    const RULE: &Rule = check::V68;
    let options = &entry.job.options;
    let on = |key: &str| options.get(key).is_some_and(|v| v != "0");
    let percent = |key: &str| {
        let value: f64 = options.get(key)?.trim_end_matches('%').parse().ok()?;
        (value > 0.0).then_some(value / 100.0)
    };
    let (share, text) = if on("zero_buffers") {
        (1.0, "all blocks hold zeros (zero_buffers)".to_owned())
    } else if let Some(pattern) = options.get("buffer_pattern") {
        (1.0, format!("all blocks hold the same pattern ({pattern})"))
    } else if options.get("scramble_buffers").is_some_and(|v| v == "0") && !on("refill_buffers") {
        (1.0, "all blocks are equal (scramble_buffers=0)".to_owned())
    } else if let Some(share) = percent("dedupe_percentage") {
        (
            share,
            format!("{:.0} % of the blocks are copies", 100.0 * share),
        )
    } else {
        let share = percent("buffer_compress_percentage")?;
        (share, format!("the data shrink by {:.0} %", 100.0 * share))
    };
    let writes = entry
        .job
        .directions
        .iter()
        .any(|d| d.kind == Some(OpKind::Write));
    let outcome = Outcome::graded(RULE, share, text);
    Some(if writes {
        outcome
    } else {
        outcome.at_most(FindingStatus::Info)
    })
}

/// V69: random blocks that come twice or never.
pub(super) fn repeated_blocks(entry: &Entry<'_>) -> Option<Outcome> {
    let options = &entry.job.options;
    if entry.said.random() != Some(true) {
        return None;
    }
    let uneven = options
        .get("random_distribution")
        .filter(|d| *d != "random");
    let text = match (uneven, options.get("norandommap")) {
        (Some(distribution), _) => format!("blocks were drawn unevenly ({distribution})"),
        (None, Some(value)) if value != "0" => {
            "blocks were drawn with repetition (norandommap): in one pass 37 % are never touched"
                .to_owned()
        }
        _ => return None,
    };
    Some(decided(check::V69, FindingStatus::Info, 1.0, text))
}

/// V70: what the tool itself says about steady state.
pub(super) fn own_steady_state(entry: &Entry<'_>) -> Option<Outcome> {
    const RULE: &Rule = check::V70;
    let steady = entry.job.steady.as_ref()?;
    let reached = steady
        .reached
        .as_deref()
        .map(|r| format!(", last value {r}"));
    let rule = format!("{}{}", steady.rule, reached.unwrap_or_default());
    Some(match steady.attained {
        Some(true) => Outcome::graded(RULE, 0.0, format!("its own rule was met: {rule}")),
        Some(false) => Outcome::graded(RULE, 1.0, format!("its own rule was never met: {rule}")),
        None => Outcome::not_measured(RULE, "whether its own rule was met is not stated"),
    })
}
