//! Figures beyond their thresholds: what they are, what that means, and whether the host
//! was watched for long enough to tell.

use fathom_model::machine::{MachineUse, UseFigure};
use fathom_model::unit;

use super::{figure, shown};
use crate::table::{clean, wrap};

/// A figure beyond its threshold.
pub(super) struct Beyond<'m> {
    /// `sda: queue 24, over 10`.
    pub(super) words: String,
    /// What that means: `more than ten requests wait at a disk`.
    meaning: Option<String>,
    /// Why it is not enough evidence: `44 s is too short to tell: …`.
    doubt: Option<String>,
    /// Where the threshold is from.
    source: &'m str,
}

impl Beyond<'_> {
    /// With what it means, and with `source` also where the threshold is from.
    pub(super) fn line(&self, with_source: bool) -> String {
        let source = (with_source || self.meaning.is_none()).then(|| self.source.to_owned());
        let reasons = [&self.meaning, &self.doubt, &source];
        let reasons: Vec<&str> = reasons.into_iter().flatten().map(String::as_str).collect();
        format!("{} ({})", self.words, reasons.join("; "))
    }
}

/// What tells who it is: figures of a resource do not.
const WHO: &str = "Who it is: `fathom watch` now, `fathom diagnose --for 1m` in a sentence.";

/// A line for each in the text.
pub(super) fn push(out: &mut String, found: &MachineUse, width: usize) {
    let is_any = beyond(found).next().is_some();
    for one in beyond(found) {
        for (index, part) in wrap(&clean(&format!("! {}", one.line(false))), width - 2)
            .iter()
            .enumerate()
        {
            let lead = if index == 0 { "\n" } else { "\n  " };
            out.push_str(&format!("{lead}{part}"));
        }
        out.push('\n');
    }
    if is_any {
        out.push_str(&format!("{}\n", wrap(WHO, width).join("\n")));
    }
}

/// What is beyond its threshold.
pub(super) fn beyond(found: &MachineUse) -> impl Iterator<Item = Beyond<'_>> {
    let figures = found.resources.iter().flat_map(|resource| {
        let all = [
            &resource.utilisation,
            &resource.saturation,
            &resource.errors,
        ];
        let figures = all.into_iter().flatten();
        figures.map(move |one| (resource, one))
    });
    let beyond = figures.filter(|(_, one)| one.beyond);
    beyond.map(|(resource, one)| Beyond {
        words: match one.unit.as_str() {
            "state" => format!("{}: {}", resource.name, one.title),
            _ => format!(
                "{}: {}, {}",
                resource.name,
                figure(one).trim_start_matches("! "),
                limit(one)
            ),
        },
        meaning: one.meaning.as_deref().map(within_a_sentence),
        doubt: too_short(found.seconds, one.for_seconds),
        source: one.source.as_deref().unwrap_or("the link's own rating"),
    })
}

/// `over 10`, `under 20 %`.
fn limit(one: &UseFigure) -> String {
    let Some(limit) = one.threshold else {
        return "over its limit".to_owned();
    };
    let side = match one.value.is_some_and(|value| value < limit) {
        true => "under",
        false => "over",
    };
    format!("{side} {}", shown(limit, &one.unit))
}

/// That a host was not watched for as long as an alarm asks for.
fn too_short(seconds: f64, for_seconds: u64) -> Option<String> {
    let span = |seconds: f64| unit::span((seconds * 1e9) as u64);
    let asked = for_seconds as f64;
    (seconds < asked).then(|| {
        format!(
            "{} is too short to tell: an alarm takes {} of it",
            span(seconds),
            span(asked)
        )
    })
}

/// A title without its capital, where that is the first letter of a word and not of `CPUs`.
fn within_a_sentence(title: &str) -> String {
    let mut letters = title.chars();
    let first = letters.next();
    let rest = letters.as_str();
    match first {
        Some(first) if !rest.starts_with(char::is_uppercase) => {
            first.to_lowercase().chain(rest.chars()).collect()
        }
        _ => title.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_goes_into_a_sentence() {
        assert_eq!(
            within_a_sentence("A disk reports errors"),
            "a disk reports errors"
        );
        assert_eq!(
            within_a_sentence("CPUs have no time left"),
            "CPUs have no time left"
        );
        assert_eq!(within_a_sentence(""), "");
    }

    #[test]
    fn a_short_look_says_that_it_is_short() {
        assert_eq!(
            too_short(44.0, 1800).as_deref(),
            Some("44 s is too short to tell: an alarm takes 30 min of it")
        );
        assert_eq!(too_short(1800.0, 1800), None);
        assert_eq!(too_short(0.0, 0), None);
    }
}
