//! What a host cannot carry out of a schedule, and why.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// What a line begins with that says what to type instead.
const HELP: &str = "\nhelp: ";

/// Why a schedule cannot be carried out on this host.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
pub struct ScheduleRefusal {
    /// Labels of the impossible trials, in the order of the schedule.
    pub labels: Vec<String>,
    /// Number of trials in the schedule.
    pub trials: usize,
    /// Why the first of them is impossible, and what to do about it.
    pub reason: String,
    /// The target of the first of them is not there.
    pub no_such_target: bool,
}

impl ScheduleRefusal {
    /// Whether other trials of the schedule could run.
    pub fn is_partial(&self) -> bool {
        self.labels.len() < self.trials
    }
}

impl fmt::Display for ScheduleRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // What to type instead stands on a line of its own, the last one.
        let what = self.reason.find(HELP).unwrap_or(self.reason.len());
        let (what, help) = self.reason.split_at(what);
        f.write_str(what)?;
        match self.labels.split_first() {
            Some((first, [])) if self.is_partial() => {
                write!(f, " (1 of {} trials: {first})", self.trials)?;
            }
            Some((first, _)) if self.is_partial() => {
                let (refused, all) = (self.labels.len(), self.trials);
                write!(f, " ({refused} of {all} trials, {first} first)")?;
            }
            _ => {}
        }
        f.write_str(help)
    }
}

/// What hosts refuse, each reason once with the hosts that give it.
pub(crate) fn in_words(refused: &[(String, ScheduleRefusal)]) -> String {
    let mut hosts: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (host, refused) in refused {
        // The trials of a host are named after it.
        let own = format!(" on {host}");
        let mut refused = refused.clone();
        for label in &mut refused.labels {
            label.truncate(label.strip_suffix(&own).unwrap_or(label).len());
        }
        let in_one_line = refused.to_string().replace(HELP, "; ");
        hosts.entry(in_one_line).or_default().push(host);
    }
    let reasons = hosts.iter().map(|(reason, hosts)| match hosts[..] {
        [first, second, third, _, ..] => format!(
            "{first}, {second}, {third} and {} more: {reason}",
            hosts.len() - 3
        ),
        _ => format!("{}: {reason}", hosts.join(", ")),
    });
    reasons.collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_given_once_for_all_hosts_that_give_it() {
        let refused = |reason: &str| ScheduleRefusal {
            labels: vec!["one".to_owned()],
            trials: 1,
            reason: reason.to_owned(),
            no_such_target: false,
        };
        let of = |host: &str, reason: &str| {
            let mut refused = refused(reason);
            refused.trials = 2;
            refused.labels = vec![format!("one on {host}")];
            (host.to_owned(), refused)
        };
        let two = [of("h1", "a"), of("h2", "b"), of("h3", "a")];
        let expected = "h1, h3: a (1 of 2 trials: one); h2: b (1 of 2 trials: one)";
        assert_eq!(in_words(&two), expected);
        let help = of("h1", "no 'x'\nhelp: choose y");
        assert_eq!(
            help.1.to_string(),
            "no 'x' (1 of 2 trials: one on h1)\nhelp: choose y"
        );
        let expected = "h1: no 'x' (1 of 2 trials: one); choose y";
        assert_eq!(in_words(&[help]), expected);
        let many: Vec<_> = (1..=5).map(|n| of(&format!("h{n}"), "a")).collect();
        assert!(in_words(&many).starts_with("h1, h2, h3 and 2 more: a ("));
    }
}
