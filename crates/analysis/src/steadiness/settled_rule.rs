//! The end of a trial once a figure has settled: the rule of
//! [`fathom_model::settled`], asked after each interval.

use fathom_model::sample::Sample;
use fathom_model::settled::{Figure, Settled, SettledTrack};
use fathom_model::stop::{Decision, StopRule};
use fathom_model::unit;

/// Follows a trial and ends it once its figure has settled.
pub(super) struct SettledRule {
    rule: Settled,
    track: SettledTrack,
}

impl SettledRule {
    pub(super) fn new(rule: Settled) -> SettledRule {
        SettledRule {
            rule,
            track: SettledTrack::new(rule),
        }
    }
}

impl StopRule for SettledRule {
    fn observe(&mut self, sample: &Sample) -> Decision {
        if !self.track.observe(sample) {
            return Decision::Continue;
        }
        let window = self.track.window();
        if !window.attained {
            return Decision::Continue;
        }
        let unit = if self.rule.percent { " %" } else { "" };
        Decision::Stop(format!(
            "{}: {:.3}{unit} over {}",
            words(&self.rule),
            window.criterion,
            unit::span(self.rule.window_ns)
        ))
    }
}

/// What has to settle, in words.
pub(crate) fn words(rule: &Settled) -> String {
    let figure = match rule.figure {
        Figure::Iops => "iops",
        Figure::Throughput => "throughput",
        Figure::Latency => "latency",
    };
    let measure = if rule.slope { "slope" } else { "deviation" };
    let unit = if rule.percent { " %" } else { "" };
    format!("{measure} of {figure} below {}{unit}", rule.limit)
}

#[cfg(test)]
mod tests {
    use fathom_model::op::OpKind;
    use fathom_model::sample::{OpSample, Phase};

    use super::*;

    #[test]
    fn a_trial_ends_with_the_first_window_that_has_settled() {
        let mut rule = SettledRule::new(Settled {
            figure: Figure::Iops,
            slope: false,
            limit: 5.0,
            percent: true,
            window_ns: 3_000_000_000,
            ramp_ns: 0,
            interval_ns: 1_000_000_000,
        });
        let second = |n: u32, ops: u64| {
            let mut sample = Sample::new(Phase::Measure, n, u64::from(n) * 1_000_000_000);
            sample.duration_ns = 1_000_000_000;
            let mut op = OpSample::new(OpKind::Read, false);
            op.ops = ops;
            sample.ops.push(op);
            sample
        };
        for (n, ops) in (0..).zip([500, 100, 101]) {
            assert_eq!(rule.observe(&second(n, ops)), Decision::Continue, "{n}");
        }
        let Decision::Stop(why) = rule.observe(&second(3, 99)) else {
            panic!("it has settled");
        };
        assert!(why.contains("deviation of iops below 5 %"), "{why}");
    }
}
