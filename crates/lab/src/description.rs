//! Which drive to simulate: `hdd?rpm=5400,size=1GiB`, or a small file with the
//! same in TOML, as `fathom_drives` reads them.

use std::path::Path;

use fathom_drives::{Drive, open_drive};

use crate::Error;

/// A drive to simulate: a model with its parameters, and the seed of its chances.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Description {
    /// `MODEL`, `MODEL?parameter=value,…` or `@FILE`.
    pub model: String,
    /// The seed from which everything random in the drive follows, unless the
    /// description sets one itself.
    pub seed: u64,
}

impl Description {
    /// Takes a drive as it stands on the command line; `sim:` before it is
    /// allowed.
    pub fn new(model: &str, seed: u64) -> Description {
        let model = model.strip_prefix("sim:").unwrap_or(model).to_owned();
        Description { model, seed }
    }

    /// Takes a drive that a file describes.
    pub fn in_file(path: &Path, seed: u64) -> Description {
        Description {
            model: format!("@{}", path.display()),
            seed,
        }
    }

    /// Sets the size of the drive, which must not be set yet.
    ///
    /// # Errors
    /// [`Error::Description`] when the parameters set one already, or a file does.
    pub fn set_size(&mut self, bytes: u64) -> Result<(), Error> {
        if self.model.starts_with('@') {
            return Err(Error::Description(format!(
                "set the size in {}, or with a model on the command line",
                &self.model[1..]
            )));
        }
        let settings = self.model.split_once('?').map(|(_, settings)| settings);
        let mut known = settings.unwrap_or("").split(',');
        if known.any(|setting| setting.starts_with("size=")) {
            return Err(Error::Description(format!(
                "{} sets the size already; set it once",
                self.model
            )));
        }
        let joint = if settings.is_some() { ',' } else { '?' };
        self.model.push_str(&format!("{joint}size={bytes}"));
        Ok(())
    }

    /// Makes the drive.
    ///
    /// # Errors
    /// [`Error::Description`] with the models or parameters that exist.
    pub(crate) fn build(&self) -> Result<Box<dyn Drive>, Error> {
        open_drive(&self.model, self.seed).map_err(|error| Error::Description(error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::Description;

    #[test]
    fn the_size_is_set_once() {
        let mut description = Description::new("sim:hdd?rpm=5400", 1);
        description.set_size(4096).expect("there is none yet");
        assert_eq!(description.model, "hdd?rpm=5400,size=4096");
        assert!(description.set_size(1).is_err());
        let mut plain = Description::new("hdd", 1);
        plain.set_size(4096).expect("there is none yet");
        assert_eq!(plain.model, "hdd?size=4096");
        assert!(Description::new("@drive.toml", 1).set_size(1).is_err());
    }

    #[test]
    fn a_file_that_is_missing_or_wrong_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("drive.toml");
        let failed = |path| match Description::in_file(path, 1).build() {
            Ok(_) => panic!("it was built"),
            Err(error) => error.to_string(),
        };
        assert!(failed(&path).contains("drive.toml"));
        std::fs::write(&path, "model = \"hdd\"\nrpn = 1\n").expect("written");
        let error = failed(&path);
        assert!(
            error.contains("drive.toml:2:1") && error.contains("rpn"),
            "{error}"
        );
        std::fs::write(&path, "model = \"hdd\"\nsize = \"1GiB\"\n").expect("written");
        let drive = Description::in_file(&path, 1).build().expect("it is right");
        assert_eq!(drive.capacity_bytes(), 1 << 30);
    }
}
