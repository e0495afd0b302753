//! A temperature: each byte warms the drive, the air cools it (Newton's law),
//! and above the limit it works slower until it has cooled.

use fathom_model::elementary::{exp, ln};

use super::super::parameter::{Parameter, Parameters};

#[rustfmt::skip]
pub(super) const AMBIENT_C: Parameter = Parameter::number("ambient_c", 35.0, -50.0, 100.0, "temperature of the air, °C");
#[rustfmt::skip]
pub(super) const HEAT: Parameter = Parameter::number("heat_c_per_gib", 0.21, 0.0, 1000.0, "warming by each GiB moved, °C");
#[rustfmt::skip]
pub(super) const COOL_S: Parameter = Parameter::number("cool_s", 120.0, 0.001, 1e6, "time constant of cooling");
#[rustfmt::skip]
pub(super) const LIMIT_C: Parameter = Parameter::number("limit_c", 75.0, -50.0, 1000.0, "temperature at which it begins to throttle");
#[rustfmt::skip]
pub(super) const RESUME_C: Parameter = Parameter::number("resume_c", 65.0, -50.0, 1000.0, "temperature at which it stops");
#[rustfmt::skip]
pub(super) const THROTTLE: Parameter = Parameter::number("throttle_percent", 30.0, 0.1, 100.0, "speed while it throttles, of the full speed");

const GIB: f64 = 1_073_741_824.0;

pub(super) struct Heat {
    ambient_c: f64,
    c_per_byte: f64,
    cool_ns: f64,
    limit_c: f64,
    resume_c: f64,
    slow_speed: f64,
    celsius: f64,
    at_ns: u64,
    throttling: bool,
    throttled_ns: u64,
    events: u64,
}

impl Heat {
    /// `None` for a model that does not get warm.
    pub(super) fn new(parameters: &Parameters) -> Option<Heat> {
        let cool_s = parameters.get("cool_s");
        let (ambient_c, limit_c) = (parameters.get("ambient_c"), parameters.get("limit_c"));
        (cool_s > 0.0).then(|| Heat {
            ambient_c,
            c_per_byte: parameters.get("heat_c_per_gib") / GIB,
            cool_ns: cool_s * 1e9,
            limit_c,
            resume_c: parameters.get("resume_c").min(limit_c),
            slow_speed: parameters.get("throttle_percent") / 100.0,
            celsius: ambient_c,
            at_ns: 0,
            throttling: false,
            throttled_ns: 0,
            events: 0,
        })
    }

    /// Time passes, so many bytes are moved; says at which speed.
    pub(super) fn speed(&mut self, now_ns: u64, bytes: u32) -> f64 {
        let past_ns = now_ns.saturating_sub(self.at_ns);
        if self.throttling {
            let hot_ns = past_ns.min(self.cool_down_ns());
            self.throttled_ns += hot_ns;
            self.throttling = hot_ns == past_ns;
        }
        self.celsius = self.celsius_at(now_ns) + f64::from(bytes) * self.c_per_byte;
        self.at_ns = self.at_ns.max(now_ns);
        if !self.throttling && self.celsius >= self.limit_c && self.limit_c > self.ambient_c {
            self.throttling = true;
            self.events += 1;
        }
        if self.throttling {
            self.slow_speed
        } else {
            1.0
        }
    }

    pub(super) fn celsius_at(&self, now_ns: u64) -> f64 {
        let past_ns = now_ns.saturating_sub(self.at_ns) as f64;
        self.ambient_c + (self.celsius - self.ambient_c) * exp(-past_ns / self.cool_ns)
    }

    /// Idle time until it works at full speed again.
    fn cool_down_ns(&self) -> u64 {
        let (now, then) = (
            self.celsius - self.ambient_c,
            self.resume_c - self.ambient_c,
        );
        if now <= then {
            0
        } else if then <= 0.0 {
            u64::MAX
        } else {
            (self.cool_ns * ln(now / then)) as u64
        }
    }

    /// Time spent throttling up to `now_ns`, and how often it began.
    pub(super) fn throttled(&self, now_ns: u64) -> (u64, u64) {
        let open_ns = if self.throttling {
            now_ns.saturating_sub(self.at_ns).min(self.cool_down_ns())
        } else {
            0
        };
        (self.throttled_ns + open_ns, self.events)
    }

    pub(super) fn slow_speed(&self) -> f64 {
        self.slow_speed
    }
}
