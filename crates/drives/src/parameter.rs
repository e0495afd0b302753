//! The parameters of a model: `read_us=80,size=1TiB`.

use fathom_model::unit::parse_bytes;

/// What the value of a parameter is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// A plain number in the unit that the name ends with.
    Number,
    /// A size: bytes, with or without a unit.
    Bytes,
}

/// A parameter that a model knows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parameter {
    /// Its name; it ends with the unit where it has one.
    pub name: &'static str,
    /// Value when it is not given.
    pub default: f64,
    /// Smallest value that is taken.
    pub least: f64,
    /// Largest value that is taken.
    pub most: f64,
    /// How the value is written.
    pub quantity: Quantity,
    /// What it sets, in one line.
    pub help: &'static str,
}

impl Parameter {
    pub(super) const fn number(
        name: &'static str,
        default: f64,
        least: f64,
        most: f64,
        help: &'static str,
    ) -> Parameter {
        Parameter {
            name,
            default,
            least,
            most,
            quantity: Quantity::Number,
            help,
        }
    }

    pub(super) const fn bytes(
        name: &'static str,
        default: f64,
        least: f64,
        help: &'static str,
    ) -> Parameter {
        Parameter {
            name,
            default,
            least,
            most: 1e18,
            quantity: Quantity::Bytes,
            help,
        }
    }

    /// A switch, 0 or 1.
    pub(super) const fn switch(name: &'static str, help: &'static str) -> Parameter {
        Parameter::number(name, 0.0, 0.0, 1.0, help)
    }

    /// The size of a drive, which every model has.
    pub(super) const fn size(default: f64) -> Parameter {
        Parameter::bytes("size", default, 1_048_576.0, "capacity of the drive")
    }

    pub(super) fn parse(&self, text: &str) -> Option<f64> {
        let value = match self.quantity {
            Quantity::Bytes => parse_bytes(text).ok().map(|bytes| bytes as f64),
            Quantity::Number => text.parse::<f64>().ok(),
        };
        value.filter(|v| (self.least..=self.most).contains(v))
    }
}

/// The values of a model's parameters.
#[derive(Debug, Clone)]
pub(super) struct Parameters {
    values: Vec<(&'static str, f64)>,
}

impl Parameters {
    /// The default of each; of two with the same name the first counts.
    pub(super) fn defaults(all: impl Iterator<Item = &'static Parameter>) -> Parameters {
        let mut values: Vec<(&'static str, f64)> = Vec::new();
        for parameter in all {
            if !values.iter().any(|(name, _)| *name == parameter.name) {
                values.push((parameter.name, parameter.default));
            }
        }
        Parameters { values }
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

    /// A parameter in seconds as nanoseconds.
    pub(super) fn s(&self, name: &str) -> u64 {
        (self.get(name) * 1e9) as u64
    }

    /// A whole number.
    pub(super) fn whole(&self, name: &str) -> u64 {
        self.get(name) as u64
    }

    /// A switch.
    pub(super) fn on(&self, name: &str) -> bool {
        self.get(name) >= 0.5
    }

    /// Gives a parameter another value; one that the model does not have stays
    /// unknown.
    pub(super) fn set(&mut self, name: &str, value: f64) {
        if let Some(entry) = self.values.iter_mut().find(|entry| entry.0 == name) {
            entry.1 = value;
        }
    }

    /// Every parameter with its value.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&'static str, f64)> + '_ {
        self.values.iter().copied()
    }
}
