//! Sentences below tables: why figures are missing, what signs mean.

use fathom_model::Validity;
use fathom_model::figure::Figure;

use crate::names::{self, mark};

/// The figures' reason, or one of them as an example.
pub(crate) fn example<'a>(figures: impl Iterator<Item = &'a Figure>) -> Option<String> {
    let mut reasons = figures.filter_map(Figure::reason);
    let first = reasons.next()?;
    Some(if reasons.all(|r| r == first) {
        first.to_owned()
    } else {
        format!("for example: {first}")
    })
}

/// Why something is missing from figures: `brief` where measuring for longer gives it to
/// all of them (with `detailed`, also what was counted), or else the reason of one that
/// no length of a run helps.
pub(crate) fn why(figures: &[&Figure], brief: &str, detailed: bool) -> Option<String> {
    let helpless = figures.iter().filter(|figure| figure.longer_ns().is_none());
    if let Some(reason) = example(helpless.copied()) {
        return Some(reason);
    }
    let counted = example(figures.iter().copied())?;
    Some(match detailed {
        true => format!("{brief}: {counted}"),
        false => brief.to_owned(),
    })
}

/// What the signs in front of numbers mean, for those that occur.
pub(crate) fn mark_legend(validities: impl Iterator<Item = Validity>) -> Vec<String> {
    let validities: Vec<Validity> = validities.collect();
    [
        Validity::Caveats,
        Validity::NotDetermined,
        Validity::NotTrusted,
    ]
    .into_iter()
    .filter(|v| validities.contains(v))
    .map(|v| format!("{} {}.", mark(v), names::validity(v)))
    .collect()
}
