//! An agent of this process that says nothing once the run is to end: a system
//! call on its target does not return, and nobody can make it.

use std::time::{Duration, Instant};

use crate::interrupt::Urgency;

/// When the user is told why nothing happens.
const TOLD_AFTER: Duration = Duration::from_secs(5);
/// A last flush of much data may take its time.
const SOON_AFTER: Duration = Duration::from_secs(30);
/// Asked twice, it is not waited for any longer than this.
const NOW_AFTER: Duration = Duration::from_secs(3);

/// For how long an agent has said nothing since the run was to end.
#[derive(Debug, Default)]
pub(crate) struct Silence {
    since: Option<Instant>,
    told: bool,
}

/// What there is to do about it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Remedy {
    Wait,
    Tell,
    LeaveBehind,
}

impl Silence {
    /// It said something.
    pub(crate) fn broken(&mut self) {
        self.since = None;
    }

    /// It still says nothing at `now`.
    pub(crate) fn goes_on(&mut self, urgency: Urgency, now: Instant) -> Remedy {
        if urgency == Urgency::None {
            self.since = None;
            return Remedy::Wait;
        }
        let since = *self.since.get_or_insert(now);
        let silent = now.saturating_duration_since(since);
        let patience = match urgency {
            Urgency::Now => NOW_AFTER,
            Urgency::Soon | Urgency::None => SOON_AFTER,
        };
        if silent >= patience {
            return Remedy::LeaveBehind;
        }
        if silent >= TOLD_AFTER && !std::mem::replace(&mut self.told, true) {
            return Remedy::Tell;
        }
        Remedy::Wait
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_told_once_and_left_behind_sooner_when_asked_twice() {
        let begun = Instant::now();
        let at = |seconds: u64| begun + Duration::from_secs(seconds);
        let mut silence = Silence::default();
        assert_eq!(silence.goes_on(Urgency::None, at(0)), Remedy::Wait);
        assert_eq!(silence.goes_on(Urgency::None, at(90)), Remedy::Wait);
        assert_eq!(silence.goes_on(Urgency::Soon, at(100)), Remedy::Wait);
        assert_eq!(silence.goes_on(Urgency::Soon, at(105)), Remedy::Tell);
        assert_eq!(silence.goes_on(Urgency::Soon, at(129)), Remedy::Wait);
        assert_eq!(silence.goes_on(Urgency::Soon, at(130)), Remedy::LeaveBehind);
        silence.broken();
        assert_eq!(silence.goes_on(Urgency::Now, at(131)), Remedy::Wait);
        assert_eq!(silence.goes_on(Urgency::Now, at(134)), Remedy::LeaveBehind);
    }
}
