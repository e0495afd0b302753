//! The parameters of a model: `read_us=80,size=1TiB`.

use fathom_model::nearest::did_you_mean;
use fathom_model::unit::parse_bytes;

use super::model::{Model, model_named};
use super::{neighbour, script, warp};
use crate::Error;

/// What the value of a parameter is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// A plain number in the unit that the name ends with.
    Number,
    /// A size: bytes, with or without a unit.
    Bytes,
}

/// A parameter that a model knows.
#[derive(Debug, Clone, Copy)]
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

    fn parse(&self, text: &str) -> Option<f64> {
        let value = match self.quantity {
            Quantity::Bytes => parse_bytes(text).ok().map(|bytes| bytes as f64),
            Quantity::Number => text.parse::<f64>().ok(),
        };
        value.filter(|v| (self.least..=self.most).contains(v))
    }
}

/// The parameters that every model takes.
pub fn common_parameters() -> impl Iterator<Item = &'static Parameter> {
    script::PARAMETERS
        .iter()
        .chain(warp::PARAMETERS)
        .chain(neighbour::PARAMETERS)
}

/// The values of a model's parameters.
#[derive(Debug, Clone)]
pub(super) struct Parameters {
    values: Vec<(&'static str, f64)>,
}

impl Parameters {
    /// The default of everything.
    fn of(model: &Model) -> Parameters {
        let own = model.parameters.iter();
        let mut values: Vec<(&'static str, f64)> = own.map(|p| (p.name, p.default)).collect();
        for common in common_parameters() {
            // A model may have a default of its own for a common parameter.
            if !values.iter().any(|(name, _)| *name == common.name) {
                values.push((common.name, common.default));
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

    /// Every parameter with its value.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&'static str, f64)> + '_ {
        self.values.iter().copied()
    }
}

/// A drive as somebody described it.
pub(super) struct Described {
    pub(super) model: &'static Model,
    pub(super) parameters: Parameters,
    pub(super) seed: Option<u64>,
}

impl Described {
    /// A model with its defaults.
    pub(super) fn new(name: &str) -> Result<Described, String> {
        let model = model_named(name)?;
        Ok(Described {
            model,
            parameters: Parameters::of(model),
            seed: None,
        })
    }

    /// Reads `MODEL?name=value,…`; what is not mentioned keeps its default.
    pub(super) fn parse(text: &str) -> Result<Described, Error> {
        let (name, settings) = text.split_once('?').unwrap_or((text, ""));
        let mut described = Described::new(name).map_err(Error::Sim)?;
        for setting in settings.split(',').filter(|setting| !setting.is_empty()) {
            let (name, value) = setting.split_once('=').unwrap_or((setting, ""));
            described.set(name, value).map_err(Error::Sim)?;
        }
        Ok(described)
    }

    /// Whether a parameter of this name exists.
    pub(super) fn knows(&self, name: &str) -> bool {
        name == "seed" || self.parameters.iter().any(|(known, _)| known == name)
    }

    /// Sets one parameter from its text.
    pub(super) fn set(&mut self, name: &str, text: &str) -> Result<(), String> {
        let model = self.model;
        if name == "seed" {
            let seed = text.parse().map_err(|_| {
                format!(
                    "sim:{} cannot take '{text}' for seed: it is a whole number from 0 to {}",
                    model.name,
                    u64::MAX
                )
            })?;
            self.seed = Some(seed);
            return Ok(());
        }
        let all = || model.parameters.iter().chain(common_parameters());
        let parameter = all().find(|known| known.name == name).ok_or_else(|| {
            let names: Vec<&str> = all().map(|known| known.name).collect();
            format!(
                "sim:{} has no parameter '{name}'; it has {}, seed{}",
                model.name,
                names.join(", "),
                did_you_mean(name, names.iter().copied())
            )
        })?;
        let value = parameter.parse(text).ok_or_else(|| {
            format!(
                "sim:{} cannot take '{text}' for {name}: it is a {} from {} to {}",
                model.name,
                match parameter.quantity {
                    Quantity::Bytes => "size in bytes",
                    Quantity::Number => "number",
                },
                parameter.least,
                parameter.most
            )
        })?;
        if let Some(entry) = self.parameters.values.iter_mut().find(|e| e.0 == name) {
            entry.1 = value;
        }
        Ok(())
    }
}
