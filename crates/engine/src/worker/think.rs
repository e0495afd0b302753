//! The pause of a whole worker after so many operations.

use fathom_model::Workload;

/// When a worker pauses, and until when.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Think {
    /// Operations between two pauses; 0 is no pause.
    every_ops: u32,
    pause_ns: u64,
    spin_ns: u64,
    /// Operations that may be handed over before the next pause.
    left: u32,
    /// Start of the pause that is being made.
    since_ns: Option<u64>,
}

impl Think {
    /// The rule of a workload. Intended starts leave no room for pauses.
    pub(crate) fn new(workload: &Workload) -> Think {
        let pauses = workload.think_ns > 0 && workload.rate.is_none();
        let every_ops = if pauses { workload.think_every_ops } else { 0 };
        Think {
            every_ops,
            pause_ns: workload.think_ns,
            spin_ns: workload.think_spin_ns.min(workload.think_ns),
            left: every_ops,
            since_ns: None,
        }
    }

    /// Whether there are pauses at all.
    pub(crate) fn is_on(&self) -> bool {
        self.every_ops > 0
    }

    /// An operation was handed over.
    #[inline]
    pub(crate) fn started(&mut self) {
        self.left = self.left.saturating_sub(1);
    }

    /// Whether nothing may be handed over at `now_ns`. A pause begins when
    /// nothing is in flight any more.
    #[inline]
    pub(crate) fn holds(&mut self, now_ns: u64, in_flight: bool) -> bool {
        if self.every_ops == 0 || self.left > 0 {
            return false;
        }
        if in_flight {
            return true;
        }
        let since_ns = *self.since_ns.get_or_insert(now_ns);
        if now_ns < since_ns.saturating_add(self.pause_ns) {
            return true;
        }
        self.left = self.every_ops;
        self.since_ns = None;
        false
    }

    /// When the pause that is being made ends; nothing when there is none.
    #[inline]
    pub(crate) fn ends_ns(&self) -> Option<u64> {
        self.since_ns
            .map(|since_ns| since_ns.saturating_add(self.pause_ns))
    }

    /// Until when the pause that is being made is spent computing.
    pub(crate) fn spins_until_ns(&self) -> u64 {
        self.since_ns
            .map_or(0, |since_ns| since_ns.saturating_add(self.spin_ns))
    }

    /// Whether operations in flight must end before anything else.
    #[inline]
    pub(crate) fn awaits(&self) -> bool {
        self.every_ops > 0 && self.left == 0 && self.since_ns.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn think(every_ops: u32) -> Think {
        Think::new(&Workload {
            think_ns: 100,
            think_every_ops: every_ops,
            think_spin_ns: 30,
            ..Workload::example("think")
        })
    }

    #[test]
    fn a_pause_begins_when_the_last_operation_has_ended() {
        let mut think = think(2);
        assert!(!think.holds(0, false));
        think.started();
        assert!(!think.holds(5, true));
        think.started();
        assert!(think.holds(10, true) && think.awaits());
        assert_eq!(think.ends_ns(), None);
        assert!(think.holds(50, false));
        assert_eq!((think.ends_ns(), think.spins_until_ns()), (Some(150), 80));
        assert!(think.holds(149, false));
        assert!(!think.holds(150, false));
        assert_eq!((think.ends_ns(), think.awaits()), (None, false));
    }

    #[test]
    fn without_a_number_of_operations_the_worker_never_pauses_as_a_whole() {
        let mut think = think(0);
        assert!(!think.is_on());
        for _ in 0..10 {
            think.started();
        }
        assert!(!think.holds(0, false) && !think.awaits());
    }
}
