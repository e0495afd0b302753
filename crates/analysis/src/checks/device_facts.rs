//! The facts of the devices under a target before and after a trial.

use fathom_model::fingerprint::DeviceFacts;

use crate::trial::Trial;

/// One device before and, where it was there then, after the trial.
pub(super) struct Pair<'a> {
    pub(super) before: &'a DeviceFacts,
    pub(super) after: Option<&'a DeviceFacts>,
}

/// Every device under the target, as far as the fingerprint names them.
pub(super) fn pairs<'a>(trial: &Trial<'a>) -> Vec<Pair<'a>> {
    let before = trial.record.target_before.as_ref();
    let after = trial.end().and_then(|end| end.target_after.as_ref());
    before
        .iter()
        .flat_map(|target| &target.devices)
        .map(|device| Pair {
            before: device,
            after: after.and_then(|target| {
                let mut devices = target.devices.iter();
                devices.find(|other| other.name == device.name)
            }),
        })
        .collect()
}

impl<'a> Pair<'a> {
    pub(super) fn name(&self) -> &'a str {
        &self.before.name
    }

    /// A fact before the trial.
    pub(super) fn fact(&self, name: &str) -> Option<&'a str> {
        self.before.facts.get(name).map(String::as_str)
    }

    /// A fact before and after the trial, as far as it was known.
    pub(super) fn both(&self, name: &str) -> impl Iterator<Item = &'a str> {
        let after = self.after.and_then(|device| device.facts.get(name));
        let both = [self.before.facts.get(name), after];
        both.into_iter().flatten().map(String::as_str)
    }

    /// The larger of a number before and after.
    pub(super) fn largest(&self, name: &str) -> Option<u64> {
        self.both(name).filter_map(|text| text.parse().ok()).max()
    }

    /// The latest known number.
    pub(super) fn latest(&self, name: &str) -> Option<u64> {
        let numbers = self.both(name).filter_map(|text| text.parse().ok());
        numbers.last()
    }

    /// Growth of a counter over the trial; `None` when either is not known.
    pub(super) fn growth(&self, name: &str) -> Option<u64> {
        let before: u64 = self.before.facts.get(name)?.parse().ok()?;
        let after: u64 = self.after?.facts.get(name)?.parse().ok()?;
        Some(after.saturating_sub(before))
    }
}
