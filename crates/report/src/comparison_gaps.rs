//! What a comparison has no figures or intervals for, and why.

use fathom_model::comparison::Comparison;
use fathom_model::unit;

use crate::comparison::{change, common_reason, metric_name};

/// Why changes or their intervals are missing: a sentence for each reason that the
/// headline does not give.
pub(crate) fn missing(comparison: &Comparison) -> Vec<String> {
    let metrics = || comparison.rows.iter().flat_map(|row| &row.metrics);
    let mut notes = Vec::new();
    // Each reason, whether a change is shown, whose it is, and how often it is given.
    let mut reasons: Vec<(&str, bool, Vec<String>, usize)> = Vec::new();
    for metric in metrics() {
        let name = metric_name(metric);
        let (have, planned) = (metric.pairs.len(), comparison.planned_pairs);
        if let Some(planned) = planned.filter(|p| have > 0 && have < *p as usize) {
            notes.push(format!(
                "{name}: from {have} of {}; the others cannot support it",
                unit::counted(planned.into(), "pair")
            ));
        }
        let reason = metric.ratio.reason.as_deref();
        let Some(reason) = reason.filter(|_| metric.ratio.value.is_none()) else {
            continue;
        };
        let shown = change(metric).value.is_some();
        let mut known = reasons.iter_mut();
        match known.find(|known| known.0 == reason && known.1 == shown) {
            Some((_, _, names, count)) => {
                *count += 1;
                if !names.contains(&name) {
                    names.push(name);
                }
            }
            None => reasons.push((reason, shown, vec![name], 1)),
        }
    }
    let said = common_reason(&comparison.rows);
    let all = metrics().count();
    let with_name = |names: &[String]| {
        metrics()
            .filter(|m| names.contains(&metric_name(m)))
            .count()
    };
    let untold = reasons.iter().filter(|(reason, ..)| said != Some(*reason));
    let (bounded, absent): (Vec<_>, Vec<_>) = untold.partition(|(_, shown, ..)| *shown);
    // A reason for each row would be a list of counts of operations.
    let together = (absent.len() > 1).then(|| {
        let mut names: Vec<&String> = absent.iter().flat_map(|(_, _, names, _)| names).collect();
        names.sort();
        names.dedup();
        let names: Vec<&str> = names.into_iter().map(String::as_str).collect();
        format!("{} n/a: too few data; measure longer", names.join(", "))
    });
    let absent = absent.into_iter().filter(|_| together.is_none());
    let each = bounded.into_iter().chain(absent);
    let each = each.map(|(reason, shown, names, count)| match shown {
        true if *count == all => format!("No change has an interval: {reason}"),
        true => {
            let names_text = names.join(", ");
            match with_name(names) {
                of if of > *count => {
                    format!("No interval for {count} of {of} figures ({names_text}): {reason}")
                }
                _ => format!("No interval for {names_text}: {reason}"),
            }
        }
        false => format!("{} n/a: {reason}", names.join(", ")),
    });
    notes.extend(each);
    notes.extend(together);
    notes
}
