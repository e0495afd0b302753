//! What was seen that may explain why two tools differ.
//!
//! Nothing here changes an outcome; it says where to look first.

use fathom_model::crosscheck::ComparedFigure;
use fathom_model::unit;
use fathom_model::workload::{CacheMode, Workload};
use fathom_rules::method::crosscheck::{BUSY, COSTLIER, SUBMISSION};
use fathom_stats::moments::mean;

use super::figures::CrossSide;
use super::row::{CrossRow, WholePair};

/// In words, the most likely first.
pub(super) fn causes(
    row: &CrossRow<'_>,
    pairs: &[WholePair],
    figures: &[ComparedFigure],
) -> Vec<String> {
    let mut causes = Vec::new();
    let Some(first) = row.pairs.iter().find_map(|pair| pair.fathom) else {
        return causes;
    };
    let workload = &first.spec.workload;
    causes.extend(busy(pairs));
    causes.extend(submission(pairs, figures));
    causes.extend(failures(pairs));
    causes.extend(fallbacks(row));
    causes.extend(settings(workload));
    causes
}

/// The mean over the pairs that have the value.
fn mean_over(pairs: &[WholePair], value: impl Fn(&WholePair) -> Option<f64>) -> Option<f64> {
    let values: Vec<f64> = pairs.iter().filter_map(value).collect();
    mean(&values)
}

/// A tool that uses all of its CPU time measures itself.
fn busy(pairs: &[WholePair]) -> Option<String> {
    let fathom = mean_over(pairs, |p| p.fathom.cpu_share)?;
    let fio = mean_over(pairs, |p| p.peer.cpu_share)?;
    let cost = |side: fn(&WholePair) -> &CrossSide| mean_over(pairs, |p| side(p).cpu_ns_per_op);
    let (ours, theirs) = (cost(|p| &p.fathom)?, cost(|p| &p.peer)?);
    let words = format!(
        "fathom's workers used {:.0} % of their CPU time ({} per operation), fio's jobs {:.0} % \
         ({})",
        fathom * 100.0,
        unit::latency(ours),
        fio * 100.0,
        unit::latency(theirs)
    );
    if fathom.max(fio) >= BUSY {
        return Some(format!(
            "the tools are the limit, not the target: {words}; the one that needs less CPU shows \
             the higher rate"
        ));
    }
    let ratio = ours / theirs;
    (!(1.0 / COSTLIER..=COSTLIER).contains(&ratio)).then_some(words)
}

/// What fio spends between preparing an operation and handing it over.
fn submission(pairs: &[WholePair], figures: &[ComparedFigure]) -> Option<String> {
    use fathom_model::crosscheck::CrossFigure::LatencyMean;
    let spent = mean_over(pairs, |p| p.peer.submission_ns)?;
    let means = figures.iter().filter(|f| f.figure == LatencyMean);
    let whole = means.filter_map(|f| f.peer.value).fold(0.0, f64::max);
    (whole > 0.0 && spent / whole >= SUBMISSION).then(|| {
        format!(
            "fio spends {} of each operation's {} in its own submission",
            unit::latency(spent),
            unit::latency(whole)
        )
    })
}

fn failures(pairs: &[WholePair]) -> Option<String> {
    let sum =
        |side: fn(&WholePair) -> &CrossSide| pairs.iter().map(|p| side(p).failures).sum::<f64>();
    let (ours, theirs) = (sum(|p| &p.fathom), sum(|p| &p.peer));
    (ours + theirs > 0.0)
        .then(|| format!("operations failed: {ours:.0} of fathom's, {theirs:.0} of fio's"))
}

/// What fathom's engine could not have as asked.
fn fallbacks(row: &CrossRow<'_>) -> Vec<String> {
    let ends = row.pairs.iter().filter_map(|p| p.fathom?.end.as_ref());
    let mut all: Vec<String> = ends.flat_map(|end| end.engine.fallbacks.clone()).collect();
    all.sort();
    all.dedup();
    all.into_iter()
        .map(|text| format!("fathom: {text}"))
        .collect()
}

/// What of the workload is apt to be done differently.
fn settings(workload: &Workload) -> Vec<String> {
    let mut causes = Vec::new();
    if workload.poll {
        causes.push(
            "completions are polled: check that the device has poll queues for both tools"
                .to_owned(),
        );
    }
    if workload.cache == CacheMode::Buffered {
        causes.push(
            "the page cache is used: what one trial leaves in it the next one finds, and \
             write-back goes on after a trial"
                .to_owned(),
        );
    }
    if workload.mix.write_percent > 0 {
        causes.push(
            "written contents differ: a drive that compresses or recognises repeated blocks \
             treats them differently"
                .to_owned(),
        );
    }
    causes
}
