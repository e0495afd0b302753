//! How listing scales: time against entries, and its growth as an exponent.
//!
//! The exponent is the slope of a straight line through the logarithms (least
//! squares), its interval that of Student's distribution over the residuals.
//! A constant cost of each listing would bend the line where directories are
//! small, so those below [`LEAST_ENTRIES`] are shown and left out of the line.

use fathom_model::enumeration::{Enumeration, EnumerationGrowth, EnumerationPoint};
use fathom_model::estimate::Unit;
use fathom_model::judged::ResultRow;
use fathom_model::workload::ObjectWork;
use fathom_model::{Estimate, JudgedRun, OpKind, unit};
use fathom_rules::method::enumeration::LEAST_ENTRIES;
use fathom_stats::regression::Line;
use fathom_stats::student::student_975;

/// Draws what listings of a run say, where that is what it is for.
pub(crate) fn draw(run: &mut JudgedRun) {
    let mut points: Vec<EnumerationPoint> =
        run.rows.iter().filter_map(|row| point(run, row)).collect();
    points.sort_by_key(|point| (point.kind, point.entries));
    let mut growth = Vec::new();
    let mut answers = Vec::new();
    for kind in [OpKind::Readdir, OpKind::ReaddirStat, OpKind::List] {
        let own: Vec<&EnumerationPoint> = points.iter().filter(|p| p.kind == kind).collect();
        if own.is_empty() {
            continue;
        }
        let one = grows(kind, &own);
        answers.extend(said(&one, &own));
        growth.push(one);
    }
    run.enumeration = Some(Enumeration {
        points,
        growth,
        answers,
    });
}

fn point(run: &JudgedRun, row: &ResultRow) -> Option<EnumerationPoint> {
    let trial = run.trials.get(*row.trials.first()?)?;
    if let Some(object) = trial.workload.requests() {
        return of_keys(row, object);
    }
    let meta = trial.workload.files_work()?;
    let kind = meta.phase()?;
    let op = row.ops.iter().find(|op| op.kind == kind)?;
    Some(EnumerationPoint {
        row: row.row,
        kind,
        entries: meta.tree.files,
        listings: op.ops,
        listing_ns: op.service.mean_ns.clone(),
        fastest_ns: op.service.min_ns,
    })
}

/// A listing of keys is all of its pages, one after the other.
fn of_keys(row: &ResultRow, object: &ObjectWork) -> Option<EnumerationPoint> {
    let kind = object.phase().filter(|kind| *kind == OpKind::List)?;
    let op = row.ops.iter().find(|op| op.kind == kind)?;
    let pages = object.objects.div_ceil(u64::from(object.page_keys.max(1)));
    let all = |ns: Option<f64>| ns.map(|ns| ns * pages as f64);
    let page_ns = &op.service.mean_ns;
    Some(EnumerationPoint {
        row: row.row,
        kind,
        entries: object.objects,
        listings: op.ops / pages.max(1),
        listing_ns: Estimate {
            value: all(page_ns.value),
            low: all(page_ns.low),
            high: all(page_ns.high),
            ..page_ns.clone()
        },
        fastest_ns: op.service.min_ns.filter(|_| pages == 1),
    })
}

/// The slope of the logarithms.
fn grows(kind: OpKind, points: &[&EnumerationPoint]) -> EnumerationGrowth {
    let logs: Vec<(f64, f64)> = points
        .iter()
        .filter(|point| point.entries >= LEAST_ENTRIES)
        .filter_map(|point| {
            let ns = point.listing_ns.value.filter(|ns| *ns > 0.0)?;
            Some(((point.entries as f64).ln(), ns.ln()))
        })
        .collect();
    EnumerationGrowth {
        kind,
        exponent: exponent(&logs),
        points: u32::try_from(logs.len()).unwrap_or(u32::MAX),
    }
}

fn exponent(points: &[(f64, f64)]) -> Estimate {
    let count = points.len() as f64;
    if points.len() < 2 {
        let why = format!("needs two sizes of at least {LEAST_ENTRIES} entries");
        return Estimate::unknown(Unit::Ratio, why);
    }
    let Some(line) = Line::through(points.iter().copied()) else {
        return Estimate::unknown(Unit::Ratio, "all are of the same size");
    };
    let slope = line.slope;
    let Some(error) = line.slope_error() else {
        let why = "two sizes have a line through them whatever they are";
        return Estimate::point(Unit::Ratio, slope, why);
    };
    let half = student_975(count - 2.0) * error;
    Estimate::known(Unit::Ratio, slope, slope - half, slope + half, count)
}

fn words(kind: OpKind) -> &'static str {
    match kind {
        OpKind::Readdir => "Names alone",
        OpKind::List => "Keys, page by page",
        _ => "Names with the facts of each",
    }
}

fn said(growth: &EnumerationGrowth, points: &[&EnumerationPoint]) -> Vec<String> {
    let mut said = Vec::new();
    let name = words(growth.kind);
    let exponent = &growth.exponent;
    match (exponent.value, exponent.low, exponent.high) {
        (Some(value), Some(low), Some(high)) => {
            let verdict = if low > 1.0 {
                let factor = 2f64.powf(value);
                format!(
                    "worse than in proportion: twice the entries take {factor:.2} times as long"
                )
            } else if high < 1.0 {
                "better than in proportion: a part of the time is the same for all sizes".to_owned()
            } else {
                "in proportion, as far as this tells".to_owned()
            };
            said.push(format!(
                "{name}: time grows with entries to the power of {value:.2} ({low:.2} to \
                 {high:.2}), {verdict}."
            ));
        }
        _ => said.push(format!(
            "{name}: how time grows is not told: {}.",
            exponent.reason.as_deref().unwrap_or("there is too little")
        )),
    }
    if let Some(largest) = points.last()
        && let Some(ns) = largest.listing_ns.value
    {
        let each = ns / largest.entries.max(1) as f64;
        said.push(format!(
            "{name}: {} of {} entries takes {}, {} an entry.",
            match growth.kind {
                OpKind::List => "a prefix",
                _ => "a directory",
            },
            unit::group(largest.entries),
            unit::latency(ns),
            unit::latency(each)
        ));
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(of: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
        let sizes = [1e3f64, 1e4, 1e5, 1e6, 1e7];
        sizes.map(|n| (n.ln(), of(n).ln())).to_vec()
    }

    #[test]
    fn the_exponent_of_a_power_is_found() {
        for power in [0.5, 1.0, 1.3, 2.0] {
            let found = exponent(&line(|n| 70.0 * n.powf(power)));
            assert!((found.value.unwrap() - power).abs() < 1e-9);
            assert!(found.high.unwrap() - found.low.unwrap() < 1e-6);
        }
        let noisy = exponent(&line(|n| n * if n > 5e4 { 1.2 } else { 0.9 }));
        assert!(
            noisy.low.unwrap() < 1.0 && noisy.high.unwrap() > 1.0,
            "{noisy:?}"
        );
    }

    #[test]
    fn too_few_sizes_have_no_interval() {
        let two = exponent(&line(|n| n)[..2]);
        assert!((two.value.unwrap() - 1.0).abs() < 1e-9 && two.low.is_none());
        assert!(exponent(&line(|n| n)[..1]).value.is_none());
        let same = vec![(1.0, 2.0); 4];
        assert!(exponent(&same).value.is_none());
    }
}
