//! Which drive to simulate: `hdd?rpm=5400,size=1GiB`, or a small file.
//!
//! ```toml
//! model = "hdd"
//! size = "1GiB"     # as on the command line; optional
//! seed = 7          # optional
//! [parameters]
//! rpm = 5400
//! inner_mibs = 60
//! ```

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use crate::Error;

/// A drive to simulate: a model with its parameters, and the seed of its chances.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Description {
    /// `MODEL` or `MODEL?parameter=value,…`, as after `sim:`.
    pub model: String,
    /// The seed from which everything random in the drive follows.
    pub seed: u64,
}

/// The file as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    model: String,
    #[serde(default)]
    seed: Option<u64>,
    #[serde(default)]
    size: Option<toml::Value>,
    #[serde(default)]
    parameters: BTreeMap<String, toml::Value>,
}

impl Description {
    /// Takes a model as it stands on the command line; `sim:` before it is
    /// allowed.
    pub fn new(model: &str, seed: u64) -> Description {
        let model = model.strip_prefix("sim:").unwrap_or(model).to_owned();
        Description { model, seed }
    }

    /// Reads a description file. `seed` counts when the file names none.
    ///
    /// # Errors
    /// [`Error::Io`] when it cannot be read, [`Error::Description`] when it is
    /// no description; whether the model has the parameters is seen when the
    /// drive is made.
    pub fn read(path: &Path, seed: u64) -> Result<Description, Error> {
        let text = std::fs::read_to_string(path).map_err(Error::io("read", path))?;
        Description::parse(&text, seed)
            .map_err(|error| Error::Description(format!("{}: {error}", path.display())))
    }

    fn parse(text: &str, seed: u64) -> Result<Description, String> {
        let written: Written = toml::from_str(text).map_err(|error| error.to_string())?;
        if written.model.contains('?') {
            return Err("write parameters below [parameters], not after the model".to_owned());
        }
        let mut settings: Vec<String> = Vec::new();
        if let Some(size) = &written.size {
            settings.push(format!("size={}", plain(size)?));
        }
        for (name, value) in &written.parameters {
            settings.push(format!("{name}={}", plain(value)?));
        }
        let mut description = Description::new(&written.model, written.seed.unwrap_or(seed));
        description.add(&settings.join(","));
        Ok(description)
    }

    /// Sets the size of the drive, which must not be set yet.
    ///
    /// # Errors
    /// [`Error::Description`] when the parameters set one already.
    pub fn set_size(&mut self, bytes: u64) -> Result<(), Error> {
        let settings = self
            .model
            .split_once('?')
            .map_or("", |(_, settings)| settings);
        if settings.split(',').any(|s| s.starts_with("size=")) {
            return Err(Error::Description(format!(
                "{} sets the size already; set it once",
                self.model
            )));
        }
        self.add(&format!("size={bytes}"));
        Ok(())
    }

    fn add(&mut self, settings: &str) {
        if settings.is_empty() {
            return;
        }
        self.model
            .push(if self.model.contains('?') { ',' } else { '?' });
        self.model.push_str(settings);
    }
}

/// A value as it stands on the command line.
fn plain(value: &toml::Value) -> Result<String, String> {
    match value {
        toml::Value::String(text) if !text.contains([',', '=', '?']) => Ok(text.clone()),
        toml::Value::Integer(number) => Ok(number.to_string()),
        toml::Value::Float(number) => Ok(number.to_string()),
        toml::Value::Boolean(flag) => Ok(u8::from(*flag).to_string()),
        other => Err(format!("a {} is no value of a parameter", other.type_str())),
    }
}

#[cfg(test)]
mod tests {
    use super::Description;

    #[test]
    fn a_file_says_the_same_as_the_command_line() {
        let text = "model = \"hdd\"\nseed = 7\nsize = \"1GiB\"\n[parameters]\nrpm = 5400\ninner_mibs = 60.5\n";
        let read = Description::parse(text, 1).expect("it is valid");
        assert_eq!(read.model, "hdd?size=1GiB,inner_mibs=60.5,rpm=5400");
        assert_eq!(read.seed, 7);
    }

    #[test]
    fn what_a_file_does_not_know_is_named() {
        let error = Description::parse("model = \"hdd\"\nsede = 1\n", 1).unwrap_err();
        assert!(error.contains("sede"), "{error}");
        assert!(Description::parse("model = \"hdd?rpm=1\"\n", 1).is_err());
        assert!(Description::parse("model = \"hdd\"\n[parameters]\nrpm = [1]\n", 1).is_err());
    }

    #[test]
    fn the_size_is_set_once() {
        let mut description = Description::new("sim:hdd?rpm=5400", 1);
        description.set_size(4096).expect("there is none yet");
        assert_eq!(description.model, "hdd?rpm=5400,size=4096");
        assert!(description.set_size(1).is_err());
    }
}
