//! How a drive is described: `MODEL?parameter=value,…`.

use fathom_model::nearest::did_you_mean;

use super::model::{Model, model_named};
use super::parameter::{Parameter, Parameters, Quantity};
use super::{neighbour, script, warp};
use crate::Error;

/// The parameters that every model takes.
pub fn common_parameters() -> impl Iterator<Item = &'static Parameter> {
    script::PARAMETERS
        .iter()
        .chain(warp::PARAMETERS)
        .chain(neighbour::PARAMETERS)
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
            // A model may have a default of its own for a common parameter.
            parameters: Parameters::defaults(model.parameters.iter().chain(common_parameters())),
            seed: None,
        })
    }

    /// Reads `MODEL?name=value,…`; what is not mentioned keeps its default.
    pub(super) fn parse(text: &str) -> Result<Described, Error> {
        let (name, settings) = text.split_once('?').unwrap_or((text, ""));
        let mut described = Described::new(name).map_err(Error::Description)?;
        for setting in settings.split(',').filter(|setting| !setting.is_empty()) {
            let (name, value) = setting.split_once('=').unwrap_or((setting, ""));
            described.set(name, value).map_err(Error::Description)?;
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
        self.parameters.set(name, value);
        Ok(())
    }
}
