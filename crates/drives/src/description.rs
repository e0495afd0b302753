//! How a drive is described: `MODEL?parameter=value,…`.

use super::error::DescriptionError;
use super::model::{Model, model_named};
use super::parameter::{Parameter, Parameters};
use super::{fault_injection, neighbour, speed};

/// The parameters that every model takes.
pub fn common_parameters() -> impl Iterator<Item = &'static Parameter> {
    fault_injection::PARAMETERS
        .iter()
        .chain(speed::PARAMETERS)
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
    pub(super) fn new(name: &str) -> Result<Described, DescriptionError> {
        let model = model_named(name)?;
        Ok(Described {
            model,
            // A model may have a default of its own for a common parameter.
            parameters: Parameters::defaults(model.parameters.iter().chain(common_parameters())),
            seed: None,
        })
    }

    /// Reads `MODEL?name=value,…`; what is not mentioned keeps its default.
    pub(super) fn parse(text: &str) -> Result<Described, DescriptionError> {
        let (name, settings) = text.split_once('?').unwrap_or((text, ""));
        let mut described = Described::new(name)?;
        for setting in settings.split(',').filter(|setting| !setting.is_empty()) {
            let (name, value) = setting.split_once('=').unwrap_or((setting, ""));
            described.set(name, value)?;
        }
        Ok(described)
    }

    /// Whether a parameter of this name exists.
    pub(super) fn knows(&self, name: &str) -> bool {
        name == "seed" || self.parameters.iter().any(|(known, _)| known == name)
    }

    /// Sets one parameter from its text.
    pub(super) fn set(&mut self, name: &str, text: &str) -> Result<(), DescriptionError> {
        let model = self.model;
        if name == "seed" {
            let seed = text.parse().map_err(|_| DescriptionError::Seed {
                model: model.name,
                text: text.to_owned(),
            })?;
            self.seed = Some(seed);
            return Ok(());
        }
        let all = || model.parameters.iter().chain(common_parameters());
        let parameter = all().find(|known| known.name == name).ok_or_else(|| {
            DescriptionError::UnknownParameter {
                model: model.name,
                name: name.to_owned(),
                parameters: all().map(|known| known.name).collect(),
            }
        })?;
        let value = parameter
            .parse(text)
            .ok_or_else(|| DescriptionError::Value {
                model: model.name,
                parameter,
                text: text.to_owned(),
            })?;
        self.parameters.set(name, value);
        Ok(())
    }
}
