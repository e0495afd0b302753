//! Operations that do not come back while a load runs or drains: shown at once
//! and again and again, so that a device that hangs is no silence.

use fathom_model::run::StuckOp;
use fathom_model::unit;

use crate::agent::member::Member;

/// Operations of this age are worth a line.
pub(crate) const NOTABLE_NS: u64 = 5_000_000_000;
/// Distance of two lines.
const AGAIN_NS: u64 = 10_000_000_000;

/// When a line was shown last.
#[derive(Debug, Default)]
pub(crate) struct OutstandingOperations {
    shown_ns: Option<u64>,
    most: usize,
}

impl OutstandingOperations {
    /// The line that is due, given the operations that are older than
    /// [`NOTABLE_NS`].
    pub(crate) fn line(&mut self, old: &[StuckOp], now_ns: u64, place: &str) -> Option<String> {
        let Some(age_ns) = old.iter().map(|op| op.age_ns).max() else {
            let all = std::mem::take(&mut self.most) as u64;
            self.shown_ns.take()?;
            let all = unit::counted(all, "operation");
            return Some(format!("none of {all} on {place} is outstanding any more"));
        };
        let due = |shown_ns: u64| now_ns >= shown_ns.saturating_add(AGAIN_NS);
        if !self.shown_ns.is_none_or(due) {
            return None;
        }
        self.shown_ns = Some(now_ns);
        self.most = self.most.max(old.len());
        let count = unit::counted(old.len() as u64, "operation");
        let seconds = age_ns / 1_000_000_000;
        Some(format!("{count} outstanding for {seconds} s on {place}"))
    }
}

/// The target of a trial, with the devices under it where its name is not
/// theirs.
pub(crate) fn place_of(member: &Member) -> String {
    let target = member.job.target.to_string();
    let others = member.devices.iter();
    let others = others.filter(|name| !target.ends_with(&format!("/{name}")));
    let others: Vec<&str> = others.map(String::as_str).collect();
    match others[..] {
        [] => target,
        _ => format!("{target} ({})", others.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn aged(seconds: &[u64]) -> Vec<StuckOp> {
        let aged = seconds.iter().map(|seconds| StuckOp {
            message: String::new(),
            age_ns: seconds * SECOND,
        });
        aged.collect()
    }

    #[test]
    fn what_hangs_is_shown_at_once_every_ten_seconds_and_when_it_is_over() {
        let mut outstanding = OutstandingOperations::default();
        let mut at = |second: u64, ages: &[u64]| {
            outstanding.line(&aged(ages), second * SECOND, "/dev/loop5")
        };
        assert_eq!(at(1, &[]), None);
        assert_eq!(
            at(6, &[5, 6]).as_deref(),
            Some("2 operations outstanding for 6 s on /dev/loop5")
        );
        assert_eq!(at(15, &[14, 15]), None);
        assert_eq!(
            at(16, &[16]).as_deref(),
            Some("1 operation outstanding for 16 s on /dev/loop5")
        );
        assert_eq!(
            at(18, &[]).as_deref(),
            Some("none of 2 operations on /dev/loop5 is outstanding any more")
        );
        assert_eq!(at(19, &[]), None);
        assert!(at(30, &[5]).is_some());
    }
}
