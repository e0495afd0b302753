//! Mounts that do not answer: whatever touches them waits.

use std::collections::BTreeMap;

use crate::load::seconds;
use crate::recording::Recording;

/// One remark for each, with how long it was seen to be silent.
pub(crate) fn remarks(recording: &Recording) -> Vec<String> {
    let mut silent: BTreeMap<&str, f64> = BTreeMap::new();
    for moment in &recording.moments {
        for name in &moment.silent {
            *silent.entry(name).or_default() += seconds(moment);
        }
    }
    let still = recording.moments.last().map(|moment| &moment.silent);
    let remark = |(name, seconds): (&str, f64)| {
        let verb = match still.is_some_and(|still| still.iter().any(|one| one == name)) {
            true => "is not responding",
            false => "did not respond",
        };
        format!(
            "{name} {verb} (seen for {seconds:.0} s): whatever touches it waits, and no device \
             of this host shows it"
        )
    };
    silent.into_iter().map(remark).collect()
}

/// Mounts that did not answer for this share of the recording, or at its end, in
/// one line.
pub(crate) fn lasting(recording: &Recording, least_share: f64) -> Option<String> {
    let all: f64 = recording.moments.iter().map(seconds).sum();
    let last = recording.moments.last()?;
    let mut names: Vec<&str> = recording
        .moments
        .iter()
        .flat_map(|moment| moment.silent.iter().map(String::as_str))
        .filter(|name| {
            let silent = recording
                .moments
                .iter()
                .filter(|moment| moment.silent.iter().any(|one| one == name));
            let share = silent.map(seconds).sum::<f64>() / all;
            last.silent.iter().any(|one| one == name) || share >= least_share
        })
        .collect();
    names.sort_unstable();
    names.dedup();
    let verb = if names.len() > 1 { "do" } else { "does" };
    (!names.is_empty()).then(|| {
        format!(
            "{} {verb} not respond: whatever touches it waits, and no device of this host shows it",
            names.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::Moment;

    #[test]
    fn a_silent_mount_is_named_whether_or_not_it_came_back() {
        let moment = |silent: &[&str]| Moment {
            seconds: Some(2.0),
            silent: silent.iter().map(|name| (*name).to_owned()).collect(),
            ..Moment::default()
        };
        let recording = Recording {
            moments: vec![moment(&["/a", "/b"]), moment(&["/b"])],
            ..Recording::default()
        };
        let remarks = remarks(&recording);
        assert_eq!(remarks.len(), 2);
        assert!(remarks[0].starts_with("/a did not respond (seen for 2 s)"));
        assert!(remarks[1].starts_with("/b is not responding (seen for 4 s)"));
        assert!(super::remarks(&Recording::default()).is_empty());
        let line = lasting(&recording, 0.1).expect("two mounts");
        assert!(line.starts_with("/a, /b do not respond"), "{line}");
        let line = lasting(&recording, 0.6).expect("the one that is still silent");
        assert!(line.starts_with("/b does not respond"), "{line}");
        assert_eq!(lasting(&Recording::default(), 0.1), None);
    }
}
