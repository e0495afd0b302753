//! Speed that changes, around any model.
//!
//! A model lives in a time of its own, which runs `speed` times as fast as the
//! clock: twice the speed halves every latency and doubles every rate, speed 0 is
//! a stall. The speed is constant in pieces: whole seconds for drift and noise,
//! with further cuts where stalls, hiccups and the step begin and end. All times
//! count from the first operation.
//!
//! Noise is a log-normal factor per second whose logarithm is a first-order
//! autoregression, x' = φ x + √(1 − φ²) ε; its mean is 1, so the mean rate of a
//! saturated drive is that without noise.

use std::collections::VecDeque;

use fathom_model::elementary::{exp, ln, standard_normal};
use fathom_model::rng::{Rng, derive_seed};

use super::parameter::{Parameter, Parameters};

#[rustfmt::skip]
pub(super) const PARAMETERS: &[Parameter] = &[
    Parameter::number("stall_at_s", 0.0, 0.0, 1e9, "from this second on nothing moves"),
    Parameter::number("stall_s", 0.0, 0.0, 1e9, "for so many seconds"),
    Parameter::number("hiccup_every_s", 0.0, 0.0, 1e9, "nothing moves for a moment, once in so many seconds (at least 1 ms); 0 is never"),
    Parameter::number("hiccup_ms", 20.0, 0.0, 1e9, "length of such a hiccup"),
    Parameter::switch("hiccup_random", "1: hiccups come at random (exponential gaps), 0: like a clock"),
    Parameter::number("drift_percent", 0.0, -100.0, 1000.0, "speed gained per minute, of the speed at the start"),
    Parameter::number("step_at_s", 0.0, 0.0, 1e9, "from this second on the speed is another"),
    Parameter::number("step_factor", 1.0, 0.001, 1000.0, "by this factor"),
    Parameter::number("noise_cv", 0.0, 0.0, 2.0, "coefficient of variation of the speed of each second"),
    Parameter::number("noise_phi", 0.0, 0.0, 0.999, "autocorrelation of that speed from second to second"),
];

/// Speeds below this are taken as this; only stalls stand still.
const LEAST_SPEED: f64 = 0.01;
/// Pieces that are looked ahead; what ends later ends at the last known speed.
const PIECES_AHEAD: usize = 100_000;
const SECOND_NS: u64 = 1_000_000_000;
/// Work between two hiccups.
const LEAST_GAP_NS: u64 = 100_000;
/// A time that never comes.
const NEVER_NS: u64 = 1 << 61;

/// A piece of time with one speed.
#[derive(Debug, Clone, Copy)]
struct SpeedPiece {
    start_ns: u64,
    end_ns: u64,
    /// The model's time at the start.
    model_ns: f64,
    speed: f64,
}

impl SpeedPiece {
    fn model_end_ns(&self) -> f64 {
        self.model_ns + (self.end_ns - self.start_ns) as f64 * self.speed
    }
}

/// Translates between the clock and the model's time.
pub(super) struct ModelClock {
    pieces: VecDeque<SpeedPiece>,
    speeds: Speeds,
}

impl ModelClock {
    /// `None` when the speed is always 1.
    pub(super) fn new(parameters: &Parameters, seed: u64) -> Option<ModelClock> {
        let mut speeds = Speeds::new(parameters, seed);
        if speeds.never_change() {
            return None;
        }
        let first = speeds.piece(0, 0.0);
        Some(ModelClock {
            pieces: VecDeque::from([first]),
            speeds,
        })
    }

    /// The model's time at a time of the clock, which never decreases.
    pub(super) fn model_ns(&mut self, clock_ns: u64) -> u64 {
        while self.pieces[0].end_ns <= clock_ns {
            if self.pieces.len() < 2 {
                self.extend();
            }
            self.pieces.pop_front();
        }
        let piece = &self.pieces[0];
        debug_assert!(
            piece.start_ns <= clock_ns,
            "asked for {clock_ns}, which went by with the piece before {}",
            piece.start_ns
        );
        // Rounded up here and on the way back: an operation never ends before the model
        // says, only up to a nanosecond later.
        (piece.model_ns + (clock_ns - piece.start_ns) as f64 * piece.speed).ceil() as u64
    }

    /// The first time of the clock at which the model's time is `model_ns`.
    pub(super) fn clock_ns(&mut self, model_ns: u64) -> u64 {
        if model_ns >= NEVER_NS {
            return u64::MAX;
        }
        let wanted = model_ns as f64;
        while self.last().model_end_ns() < wanted
            && self.last().end_ns < NEVER_NS
            && self.pieces.len() < PIECES_AHEAD
        {
            self.extend();
        }
        let after = self.pieces.partition_point(|p| p.model_ns < wanted);
        let piece = &self.pieces[after.saturating_sub(1)];
        let ahead = (wanted - piece.model_ns).max(0.0) / piece.speed.max(LEAST_SPEED);
        piece.start_ns.saturating_add(ahead.ceil() as u64)
    }

    fn last(&self) -> SpeedPiece {
        self.pieces[self.pieces.len() - 1]
    }

    fn extend(&mut self) {
        let last = self.last();
        let next = self.speeds.piece(last.end_ns, last.model_end_ns());
        self.pieces.push_back(next);
    }
}

/// The speed as a function of time, asked for in order.
struct Speeds {
    stall: (u64, u64),
    hiccups: Option<Hiccups>,
    drift_per_second: f64,
    step_at_ns: u64,
    step_factor: f64,
    noise: Option<Noise>,
}

struct Hiccups {
    every_ns: f64,
    length_ns: u64,
    random: bool,
    rng: Rng,
    start_ns: u64,
}

struct Noise {
    phi: f64,
    sigma: f64,
    x: f64,
    second: u64,
    rng: Rng,
}

impl Speeds {
    fn new(parameters: &Parameters, seed: u64) -> Speeds {
        let stall_at_ns = parameters.s("stall_at_s");
        let cv = parameters.get("noise_cv");
        let step_factor = parameters.get("step_factor");
        let every_ns = parameters.get("hiccup_every_s") * 1e9;
        let length_ns = (parameters.get("hiccup_ms") * 1e6) as u64;
        let hiccups = (every_ns > 0.0 && length_ns > 0).then(|| {
            let mut hiccups = Hiccups {
                every_ns: every_ns.max(1e6),
                length_ns,
                random: parameters.on("hiccup_random"),
                rng: Rng::new(derive_seed(seed, 0x41CC)),
                start_ns: 0,
            };
            hiccups.start_ns = hiccups.gap_ns();
            hiccups
        });
        let noise = (cv > 0.0).then(|| {
            let mut rng = Rng::new(derive_seed(seed, 0x2015E));
            Noise {
                phi: parameters.get("noise_phi"),
                sigma: ln(1.0 + cv * cv).sqrt(),
                x: standard_normal(&mut rng),
                second: 0,
                rng,
            }
        });
        Speeds {
            stall: (
                stall_at_ns,
                stall_at_ns.saturating_add(parameters.s("stall_s")),
            ),
            hiccups,
            drift_per_second: parameters.get("drift_percent") / 6000.0,
            step_at_ns: if step_factor == 1.0 {
                NEVER_NS
            } else {
                parameters.s("step_at_s")
            },
            step_factor,
            noise,
        }
    }

    fn never_change(&self) -> bool {
        self.stall.0 == self.stall.1
            && self.hiccups.is_none()
            && self.drift_per_second == 0.0
            && self.step_at_ns == NEVER_NS
            && self.noise.is_none()
    }

    /// The piece that starts at `start_ns`.
    fn piece(&mut self, start_ns: u64, model_ns: f64) -> SpeedPiece {
        let second = start_ns / SECOND_NS;
        let mut speed = 1.0;
        let mut end_ns = start_ns.saturating_add(NEVER_NS);
        let mut cut = |at_ns: u64| {
            if at_ns > start_ns {
                end_ns = end_ns.min(at_ns);
            }
        };
        if self.drift_per_second != 0.0 {
            speed = (1.0 + self.drift_per_second * second as f64).max(LEAST_SPEED);
            cut((second + 1).saturating_mul(SECOND_NS));
        }
        if let Some(noise) = &mut self.noise {
            speed *= noise.at(second);
            cut((second + 1).saturating_mul(SECOND_NS));
        }
        if start_ns >= self.step_at_ns {
            speed *= self.step_factor;
        }
        cut(self.step_at_ns);
        speed = speed.max(LEAST_SPEED);
        cut(self.stall.0);
        cut(self.stall.1);
        if (self.stall.0..self.stall.1).contains(&start_ns) {
            speed = 0.0;
        }
        if let Some(hiccups) = &mut self.hiccups {
            let (from_ns, to_ns) = hiccups.at(start_ns);
            cut(from_ns);
            cut(to_ns);
            if (from_ns..to_ns).contains(&start_ns) {
                speed = 0.0;
            }
        }
        debug_assert!(
            end_ns > start_ns && speed >= 0.0,
            "a piece from {start_ns} to {end_ns} at speed {speed}"
        );
        SpeedPiece {
            start_ns,
            end_ns,
            model_ns,
            speed,
        }
    }
}

impl Hiccups {
    /// The hiccup under way or next.
    fn at(&mut self, now_ns: u64) -> (u64, u64) {
        let mut end_ns = self.start_ns.saturating_add(self.length_ns);
        while end_ns <= now_ns.min(NEVER_NS) {
            // A moment of work lies between any two.
            let gap_ns = self
                .gap_ns()
                .max(self.length_ns.saturating_add(LEAST_GAP_NS));
            self.start_ns = self.start_ns.saturating_add(gap_ns);
            end_ns = self.start_ns.saturating_add(self.length_ns);
        }
        (self.start_ns, end_ns)
    }

    fn gap_ns(&mut self) -> u64 {
        if self.random {
            (-ln(1.0 - self.rng.unit()) * self.every_ns) as u64
        } else {
            self.every_ns as u64
        }
    }
}

impl Noise {
    fn at(&mut self, second: u64) -> f64 {
        while self.second < second {
            let fresh = (1.0 - self.phi * self.phi).sqrt() * standard_normal(&mut self.rng);
            self.x = self.phi * self.x + fresh;
            self.second += 1;
        }
        exp(self.sigma * self.x - 0.5 * self.sigma * self.sigma)
    }
}
