//! The parameters of a model: `read_us=80,size=1TiB`.

use fathom_model::unit::parse_bytes;

use super::script;
use crate::Error;

/// A parameter that a model knows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known {
    pub(super) name: &'static str,
    pub(super) default: f64,
    pub(super) least: f64,
    pub(super) most: f64,
}

impl Known {
    pub(super) const fn new(name: &'static str, default: f64, least: f64, most: f64) -> Known {
        Known {
            name,
            default,
            least,
            most,
        }
    }

    /// The size of a drive, which every model has.
    pub(super) const fn size(default: f64) -> Known {
        Known::new("size", default, 1_048_576.0, 1e18)
    }

    fn is_size(&self) -> bool {
        matches!(self.name, "size" | "cache")
    }
}

/// The values of a model's parameters.
#[derive(Debug, Clone)]
pub(super) struct Parameters {
    values: Vec<(&'static str, f64)>,
}

impl Parameters {
    /// Reads `settings`; what is not mentioned keeps its default.
    pub(super) fn parse(model: &str, known: &[Known], settings: &str) -> Result<Parameters, Error> {
        let all: Vec<Known> = known.iter().chain(script::PARAMETERS).copied().collect();
        let mut values: Vec<(&'static str, f64)> = Vec::new();
        for setting in settings.split(',').filter(|setting| !setting.is_empty()) {
            let (name, text) = setting.split_once('=').unwrap_or((setting, ""));
            let parameter = all.iter().find(|known| known.name == name).ok_or_else(|| {
                let names: Vec<&str> = all.iter().map(|known| known.name).collect();
                Error::Sim(format!(
                    "sim:{model} has no parameter '{name}'; it has {}",
                    names.join(", ")
                ))
            })?;
            let value = if parameter.is_size() {
                parse_bytes(text).ok().map(|bytes| bytes as f64)
            } else {
                text.parse::<f64>().ok()
            };
            let value = value.filter(|v| (parameter.least..=parameter.most).contains(v));
            let value = value.ok_or_else(|| {
                Error::Sim(format!(
                    "sim:{model} cannot take '{text}' for {name}: it is a {} from {} to {}",
                    if parameter.is_size() {
                        "size in bytes"
                    } else {
                        "number"
                    },
                    parameter.least,
                    parameter.most
                ))
            })?;
            values.push((parameter.name, value));
        }
        // Defaults come last: the first entry with a name counts.
        values.extend(all.iter().map(|known| (known.name, known.default)));
        Ok(Parameters { values })
    }

    /// The value of a parameter; 0 for one that the model does not have.
    pub(super) fn get(&self, name: &str) -> f64 {
        let found = self.values.iter().find(|(known, _)| *known == name);
        found.map_or(0.0, |(_, value)| *value)
    }

    /// A parameter in microseconds as nanoseconds.
    pub(super) fn us(&self, name: &str) -> u64 {
        (self.get(name) * 1e3) as u64
    }

    /// A whole number.
    pub(super) fn whole(&self, name: &str) -> u64 {
        self.get(name) as u64
    }
}
