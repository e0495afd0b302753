//! What a wire does to a frame: when it arrives, if it does.

use fathom_model::rng::Rng;

/// Frames that wait for a wire of a set rate for longer than this are dropped,
/// as by the buffer of a switch port.
pub(super) const BUFFER_NS: u64 = 20_000_000;

/// How a wire is. The same in both directions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Wire {
    /// Time from one end to the other, nanoseconds.
    pub delay_ns: u64,
    /// Share of the frames that is lost, 0 to 1, at random.
    pub loss: f64,
    /// Bits a second that pass, the frames' own headers included; `None` is
    /// without a limit.
    pub rate_bits: Option<u64>,
}

/// Fate of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FrameFate {
    /// It arrives at this moment, nanoseconds.
    Arrives(u64),
    Lost,
    /// The buffer before the wire was full.
    Dropped,
}

/// One direction of a wire.
#[derive(Debug)]
pub(super) struct WireDirection {
    wire: Wire,
    rng: Rng,
    /// When the wire has taken all frames before.
    free_ns: u64,
}

impl WireDirection {
    pub(super) fn new(wire: Wire, seed: u64) -> WireDirection {
        WireDirection {
            wire,
            rng: Rng::new(seed),
            free_ns: 0,
        }
    }

    /// What becomes of a frame of `bytes` that is sent at `now_ns`.
    pub(super) fn fate(&mut self, now_ns: u64, bytes: u64) -> FrameFate {
        let begin_ns = self.free_ns.max(now_ns);
        if let Some(bits) = self.wire.rate_bits {
            if begin_ns - now_ns > BUFFER_NS {
                return FrameFate::Dropped;
            }
            let takes_ns = u128::from(bytes) * 8 * 1_000_000_000 / u128::from(bits.max(1));
            self.free_ns = begin_ns.saturating_add(takes_ns as u64);
        } else {
            self.free_ns = now_ns;
        }
        // A lost frame has taken its time of the wire.
        if self.wire.loss > 0.0 && self.rng.unit() < self.wire.loss {
            return FrameFate::Lost;
        }
        FrameFate::Arrives(self.free_ns.saturating_add(self.wire.delay_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Wire = Wire {
        delay_ns: 2_000_000,
        loss: 0.0,
        rate_bits: None,
    };

    #[test]
    fn a_wire_without_a_limit_delays_alone() {
        let mut way = WireDirection::new(PLAIN, 1);
        for now_ns in [0, 10, 10, 5_000] {
            assert_eq!(
                way.fate(now_ns, 1500),
                FrameFate::Arrives(now_ns + 2_000_000)
            );
        }
    }

    #[test]
    fn frames_take_their_time_one_after_the_other_and_the_buffer_has_an_end() {
        let rate_bits = Some(1_000_000_000);
        let mut way = WireDirection::new(Wire { rate_bits, ..PLAIN }, 1);
        // 1,250 bytes are ten microseconds at a gigabit.
        assert_eq!(way.fate(0, 1250), FrameFate::Arrives(2_010_000));
        assert_eq!(way.fate(0, 1250), FrameFate::Arrives(2_020_000));
        assert_eq!(way.fate(1_000_000, 1250), FrameFate::Arrives(3_010_000));
        let passed = (0..5_000)
            .take_while(|_| way.fate(1_000_000, 1250) != FrameFate::Dropped)
            .count();
        // Twenty milliseconds hold 2,000 of them; one was on the wire.
        assert_eq!(passed, 2_000);
    }

    #[test]
    fn the_share_that_is_lost_is_that_of_the_wire() {
        let wire = Wire {
            loss: 0.005,
            ..PLAIN
        };
        let mut way = WireDirection::new(wire, 7);
        let frames = 200_000;
        let lost = (0..frames)
            .filter(|n| way.fate(*n, 64) == FrameFate::Lost)
            .count();
        // Four standard deviations of the binomial.
        assert!((874..=1126).contains(&lost), "{lost}");
    }
}
