//! What is known about one unit of the target, in 32 bits.
//!
//! Two writes of the same bytes that are in flight at once may land in either
//! order or as a mixture, and a read that overlaps a write may see any part of
//! it. So a unit does not have *the* right generation but a set of generations
//! that it may hold: the latest issued one and some number before it.
//!
//! ```text
//! bits  0..20  latest generation that was issued; 0: none yet
//! bits 20..25  how many generations before it may be there instead
//! bit  25      nothing is known: trimmed, or a write failed
//! bits 26..32  operations in flight
//! ```

const GENERATION_BITS: u32 = 20;
const SLACK_BITS: u32 = 5;
/// Largest generation; the next one is 1.
pub(crate) const GENERATION_MAX: u32 = (1 << GENERATION_BITS) - 1;
const SLACK_MAX: u32 = (1 << SLACK_BITS) - 1;
const IN_FLIGHT_MAX: u32 = 63;

/// The state of one unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct UnitState {
    pub(crate) generation: u32,
    /// Generations before `generation` that may be there instead.
    pub(crate) slack: u32,
    pub(crate) unknown: bool,
    pub(crate) in_flight: u32,
}

/// What a write has to remember until it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ticket {
    pub(crate) generation: u32,
    /// Nothing else was in flight when it began.
    pub(crate) alone: bool,
}

impl UnitState {
    #[inline]
    pub(crate) fn unpack(word: u32) -> UnitState {
        UnitState {
            generation: word & GENERATION_MAX,
            slack: (word >> GENERATION_BITS) & SLACK_MAX,
            unknown: word >> 25 & 1 == 1,
            in_flight: word >> 26,
        }
    }

    #[inline]
    pub(crate) fn pack(self) -> u32 {
        debug_assert!(
            self.generation <= GENERATION_MAX
                && self.slack <= SLACK_MAX
                && self.in_flight <= IN_FLIGHT_MAX,
            "a part runs into the bits of the next: {self:?}"
        );
        self.generation
            | self.slack << GENERATION_BITS
            | u32::from(self.unknown) << 25
            | self.in_flight << 26
    }

    /// A write (or trim) is about to be submitted.
    #[inline]
    pub(crate) fn begin(self, trim: bool) -> (UnitState, Ticket) {
        let generation = self.generation % GENERATION_MAX + 1;
        let ticket = Ticket {
            generation,
            alone: self.in_flight == 0,
        };
        let state = UnitState {
            generation,
            slack: (self.slack + 1).min(SLACK_MAX),
            unknown: self.unknown || trim || self.slack == SLACK_MAX,
            // A full counter stays full: the unit is not checked any more.
            in_flight: (self.in_flight + 1).min(IN_FLIGHT_MAX),
        };
        (state, ticket)
    }

    /// The write (or trim) with this ticket has come back.
    #[inline]
    pub(crate) fn end(self, ticket: Ticket, trim: bool, done: bool) -> UnitState {
        let mut state = self;
        if self.in_flight == IN_FLIGHT_MAX {
            state.unknown = true;
            return state;
        }
        state.in_flight = self.in_flight.saturating_sub(1);
        if trim || !done {
            state.unknown = true;
        } else if state.in_flight == 0 && ticket.alone && ticket.generation == self.generation {
            // Nothing overlapped this write: it decides what is there.
            state.slack = 0;
            state.unknown = false;
        } else if state.in_flight == 0 {
            // Several writes overlapped. Each of them may be there, but not
            // what was there before the first.
            state.slack = self.slack.saturating_sub(1);
        }
        state
    }

    /// The write with this ticket was never submitted.
    #[inline]
    pub(crate) fn cancel(self) -> UnitState {
        UnitState {
            in_flight: match self.in_flight {
                IN_FLIGHT_MAX => IN_FLIGHT_MAX,
                n => n.saturating_sub(1),
            },
            ..self
        }
    }

    /// Whether `found` is one of the generations that may be there, with
    /// `extra` more generations back than the slack says.
    #[inline]
    pub(crate) fn allows(self, found: u32, extra: u32) -> bool {
        self.behind(found) <= self.slack + extra
    }

    /// How many generations `found` lies behind the latest.
    #[inline]
    pub(crate) fn behind(self, found: u32) -> u32 {
        if found <= self.generation {
            self.generation - found
        } else {
            // From before the counter turned over (or from nowhere).
            self.generation + GENERATION_MAX - found.min(GENERATION_MAX)
        }
    }
}

impl Ticket {
    #[inline]
    pub(crate) fn pack(self) -> u32 {
        debug_assert!(self.generation <= GENERATION_MAX, "{self:?}");
        self.generation | u32::from(self.alone) << 31
    }

    #[inline]
    pub(crate) fn unpack(word: u32) -> Ticket {
        Ticket {
            generation: word & GENERATION_MAX,
            alone: word >> 31 == 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_lone_write_decides() {
        let (state, ticket) = UnitState::default().begin(false);
        assert!(state.allows(0, 0) && state.allows(1, 0));
        let state = state.end(ticket, false, true);
        assert!(!state.allows(0, 0) && state.allows(1, 0));
    }

    #[test]
    fn either_of_two_overlapping_writes_may_stay() {
        let (state, first) = UnitState::default().begin(false);
        let (state, second) = state.begin(false);
        let state = state.end(second, false, true).end(first, false, true);
        assert!(!state.allows(0, 0) && state.allows(1, 0) && state.allows(2, 0));
        let (state, third) = state.begin(false);
        let state = state.end(third, false, true);
        assert!(!state.allows(2, 0) && state.allows(3, 0));
    }

    #[test]
    fn a_failed_write_or_trim_leaves_nothing_known_until_the_next_write() {
        for (trim, done) in [(false, false), (true, true), (true, false)] {
            let (state, ticket) = UnitState::default().begin(trim);
            let state = state.end(ticket, trim, done);
            assert!(state.unknown);
            let (state, ticket) = state.begin(false);
            assert!(state.unknown);
            assert!(!state.end(ticket, false, true).unknown);
        }
    }

    #[test]
    fn a_cancelled_write_keeps_what_was_there() {
        let (state, _) = UnitState::default().begin(false);
        let state = state.cancel();
        assert!(state.allows(0, 0) && state.in_flight == 0 && !state.unknown);
    }

    #[test]
    fn a_full_counter_never_recovers_and_never_judges() {
        let mut state = UnitState::default();
        let mut tickets = Vec::new();
        for _ in 0..80 {
            let (next, ticket) = state.begin(false);
            state = next;
            tickets.push(ticket);
        }
        for ticket in tickets {
            state = state.end(ticket, false, true);
        }
        assert!(state.unknown && state.in_flight == IN_FLIGHT_MAX);
    }

    #[test]
    fn generations_turn_over() {
        let state = UnitState {
            generation: GENERATION_MAX,
            ..UnitState::default()
        };
        let (state, _) = state.begin(false);
        assert_eq!(state.generation, 1);
        assert!(state.allows(GENERATION_MAX, 0) && !state.allows(GENERATION_MAX - 1, 0));
    }

    proptest! {
        #[test]
        fn packing_is_lossless(word in any::<u32>()) {
            prop_assert_eq!(UnitState::unpack(word).pack(), word);
        }

        // A disk that applies overlapping writes in any order, each at any
        // instant while it is in flight: what is on it is always allowed.
        #[test]
        fn what_a_disk_may_hold_is_always_allowed(
            steps in prop::collection::vec((0u8..4, any::<u16>(), any::<bool>()), 1..300),
        ) {
            let mut state = UnitState::default();
            let mut on_disk = 0;
            let mut in_flight: Vec<(Ticket, bool)> = Vec::new();
            for (step, pick, done) in steps {
                let picked = (!in_flight.is_empty()).then(|| usize::from(pick) % in_flight.len());
                match (step, picked) {
                    (0, _) if in_flight.len() < 10 => {
                        let (next, ticket) = state.begin(false);
                        state = next;
                        in_flight.push((ticket, false));
                    }
                    (1 | 2, Some(picked)) => {
                        let (ticket, applied) = in_flight.remove(picked);
                        if !applied && done {
                            on_disk = ticket.generation;
                        }
                        state = state.end(ticket, false, applied || done);
                    }
                    (3, Some(picked)) if !in_flight[picked].1 => {
                        in_flight[picked].1 = true;
                        on_disk = in_flight[picked].0.generation;
                    }
                    _ => {}
                }
                prop_assert!(state.unknown || state.allows(on_disk, 0), "{:?} {}", state, on_disk);
            }
        }
    }
}
