//! The steady state of a job as fio shows it (`steadystate`).

use fathom_model::settled::{Figure, Settled, SettledWindow};
use fathom_model::workload::Until;
use fathom_model::{TrialRecord, seconds};

use super::number::{Unit, short};
use super::tree::{Json, Object};

/// What a job had to settle to, and the last window that was looked at.
#[derive(Debug, Clone)]
pub(super) struct Settling {
    rule: Settled,
    window: SettledWindow,
}

impl Settling {
    /// Of a trial that was to end once a figure has settled.
    pub(super) fn of(trial: &TrialRecord) -> Option<Settling> {
        let Some(Until::Settled(rule)) = trial.spec.workload.until else {
            return None;
        };
        let window = rule.window(seconds::seconds(&trial.samples).iter());
        Some(Settling { rule, window })
    }

    fn name(&self) -> String {
        let figure = match self.rule.figure {
            Figure::Iops => "iops",
            Figure::Throughput => "bw",
            Figure::Latency => "lat",
        };
        let slope = if self.rule.slope { "_slope" } else { "" };
        format!("{figure}{slope}")
    }

    fn unit(&self) -> &'static str {
        if self.rule.percent { "%" } else { "" }
    }

    /// Values of a whole window: fio has zeros where nothing was measured yet.
    fn padded(&self, values: &[u64]) -> Vec<u64> {
        let mut padded = values.to_vec();
        padded.resize(self.rule.intervals().max(values.len()), 0);
        padded
    }

    fn mean(&self, values: &[u64]) -> u64 {
        values.iter().sum::<u64>() / self.rule.intervals().max(1) as u64
    }

    /// The object `steadystate`.
    pub(super) fn json(&self) -> Object {
        let (rule, window) = (&self.rule, &self.window);
        let unit = self.unit();
        let mut object = Object::new();
        object.text("ss", &format!("{}:{:.6}{unit}", self.name(), rule.limit));
        object.integer("duration", rule.window_ns / 1_000_000_000);
        object.integer("attained", u64::from(window.attained));
        object.text("criterion", &format!("{:.6}{unit}", window.criterion));
        object.float("max_deviation", window.deviation);
        object.float("slope", window.slope);
        let list = |values: &[u64]| {
            let values = self.padded(values).into_iter();
            Json::Array(values.map(Json::Integer).collect())
        };
        let mut data = Object::new();
        data.integer("bw_mean", self.mean(&window.bytes_per_second));
        data.integer("iops_mean", self.mean(&window.iops));
        if rule.figure == Figure::Latency {
            data.integer("lat_mean", self.mean(&window.latency_ns));
            data.put("lat_ns", list(&window.latency_ns));
        }
        data.put("iops", list(&window.iops));
        data.put("bw", list(&window.bytes_per_second));
        object.object("data", data);
        object
    }

    /// The line of the normal output.
    pub(super) fn line(&self, digits: usize) -> String {
        let window = &self.window;
        let attained = if window.attained { "yes" } else { "no" };
        let bytes = self.mean(&window.bytes_per_second);
        let name = match self.rule.figure {
            Figure::Iops => "iops",
            Figure::Throughput => "bw",
            Figure::Latency => "lat",
        };
        let measure = if self.rule.slope {
            " slope"
        } else {
            " mean dev"
        };
        format!(
            "  steadystate  : attained={attained}, bw={} ({}), iops={}, {name}{measure}={:.3}{}",
            short(bytes, digits, true, Unit::ByteRate),
            short(bytes, digits, false, Unit::ByteRate),
            short(self.mean(&window.iops), digits, false, Unit::Plain),
            window.criterion,
            self.unit()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_record;
    use super::*;

    #[test]
    fn a_window_is_shown_with_zeros_for_what_is_not_there_yet() {
        let mut trial = test_record::trial(0, false);
        assert!(Settling::of(&trial).is_none());
        trial.spec.workload.until = Some(Until::Settled(Settled {
            figure: Figure::Iops,
            slope: true,
            limit: 0.5,
            percent: true,
            window_ns: 60_000_000_000,
            ramp_ns: 0,
            interval_ns: 1_000_000_000,
        }));
        let settling = Settling::of(&trial).unwrap();
        let text = settling.json().render();
        assert!(text.contains("\"ss\" : \"iops_slope:0.500000%\""), "{text}");
        assert!(text.contains("\"attained\" : 0"), "{text}");
        assert_eq!(settling.padded(&settling.window.iops).len(), 60);
        let line = settling.line(4);
        assert!(
            line.starts_with("  steadystate  : attained=no, bw="),
            "{line}"
        );
        assert!(line.ends_with("iops slope=0.000%"), "{line}");
    }
}
