//! Who signs: keys from the usual places. They are never stored, logged or
//! printed.

use std::path::PathBuf;

use fathom_deadline::paths::{read_text_soon, silent};

use crate::Error;

/// More than any file of keys has.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// A key and what goes with it.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Credentials {
    /// Access key ID.
    pub key_id: String,
    /// Secret access key.
    pub secret: String,
    /// Session token of temporary keys.
    pub session_token: Option<String>,
    /// Key of a server-side encryption that the customer provides.
    pub sse_customer_key: Option<String>,
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Credentials(…)")
    }
}

/// Where keys are found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeySource {
    /// The environment, then the files of the AWS tools.
    Usual {
        /// This file and nothing else.
        file: Option<String>,
        /// This profile of the files.
        profile: Option<String>,
    },
    /// Variables of the environment: this prefix before `_ACCESS_KEY_ID`,
    /// `_SECRET_ACCESS_KEY` and `_SESSION_TOKEN`.
    Variables {
        /// Prefix, without the underscore behind it.
        prefix: String,
    },
    /// Nothing is signed.
    Anonymous,
}

/// Keys that were found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FoundKeys {
    /// `None`: nothing is signed.
    pub credentials: Option<Credentials>,
    /// Where they were found, for people: a profile, the environment, …
    pub place: String,
}

impl KeySource {
    /// Finds the keys.
    ///
    /// # Errors
    /// When there are none, with the places that were looked at.
    pub fn find(&self) -> Result<FoundKeys, Error> {
        let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        find_with(self, &variable)
    }
}

fn find_with(
    source: &KeySource,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<FoundKeys, Error> {
    let (file, profile) = match source {
        KeySource::Anonymous => {
            return Ok(FoundKeys {
                credentials: None,
                place: "anonymous".to_owned(),
            });
        }
        KeySource::Variables { prefix } => {
            return of_variables(prefix, variable).ok_or_else(|| Error::NoVariables {
                prefix: prefix.clone(),
            });
        }
        KeySource::Usual { file, profile } => (file, profile),
    };
    if file.is_none()
        && profile.is_none()
        && let Some(found) = of_variables("AWS", variable)
    {
        return Ok(found);
    }
    let wanted = profile.clone().or_else(|| variable("AWS_PROFILE"));
    let profile = wanted.as_deref().unwrap_or("default");
    let files = match file {
        Some(file) => vec![PathBuf::from(file)],
        None => usual_files(variable),
    };
    for path in &files {
        let text = match read_text_soon(path, FILE_BYTES_MAX) {
            Ok(text) => text,
            Err(error) if file.is_none() && silent(&error).is_none() => continue,
            Err(error) => return Err(Error::file("read the credentials file", path)(error)),
        };
        if let Some(found) = in_profile(&text, profile) {
            return Ok(FoundKeys {
                credentials: Some(found),
                place: match file {
                    Some(file) => format!("profile {profile} of {file}"),
                    None => format!("profile {profile}"),
                },
            });
        }
    }
    Err(Error::NoKeys {
        profile: profile.to_owned(),
        files,
    })
}

/// Keys in variables of the environment that begin with `prefix`.
fn of_variables(prefix: &str, variable: &dyn Fn(&str) -> Option<String>) -> Option<FoundKeys> {
    let named = |end: &str| variable(&format!("{prefix}_{end}"));
    Some(FoundKeys {
        credentials: Some(Credentials {
            key_id: named("ACCESS_KEY_ID")?,
            secret: named("SECRET_ACCESS_KEY")?,
            session_token: named("SESSION_TOKEN"),
            sse_customer_key: None,
        }),
        place: format!("environment {prefix}_…"),
    })
}

fn usual_files(variable: &dyn Fn(&str) -> Option<String>) -> Vec<PathBuf> {
    let home = variable("HOME").map(PathBuf::from);
    let beside = |name: &str| home.as_ref().map(|home| home.join(".aws").join(name));
    let credentials = variable("AWS_SHARED_CREDENTIALS_FILE").map(PathBuf::from);
    let config = variable("AWS_CONFIG_FILE").map(PathBuf::from);
    let both = [
        credentials.or_else(|| beside("credentials")),
        config.or_else(|| beside("config")),
    ];
    both.into_iter().flatten().collect()
}

/// The keys of a profile in an INI file as the AWS tools write it.
fn in_profile(text: &str, profile: &str) -> Option<Credentials> {
    let mut inside = false;
    let mut found = Credentials::default();
    for line in text.lines().map(str::trim) {
        if line.starts_with(['#', ';']) {
            continue;
        }
        if let Some(name) = line.strip_prefix('[').and_then(|l| l.strip_suffix(']')) {
            let name = name.trim();
            inside = name.strip_prefix("profile ").map_or(name, str::trim) == profile;
            continue;
        }
        let Some((key, value)) = line.split_once('=').filter(|_| inside) else {
            continue;
        };
        let value = value.trim().to_owned();
        match key.trim().to_ascii_lowercase().as_str() {
            "aws_access_key_id" => found.key_id = value,
            "aws_secret_access_key" => found.secret = value,
            "aws_session_token" => found.session_token = Some(value),
            _ => {}
        }
    }
    (!found.key_id.is_empty() && !found.secret.is_empty()).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "# comment\n[default]\naws_access_key_id = A\naws_secret_access_key=S=1\n\
        [profile other]\naws_access_key_id=B\naws_secret_access_key=T\naws_session_token=U\n\
        [empty]\nregion=x\n";

    #[test]
    fn profiles_are_read() {
        let found = in_profile(FILE, "default").unwrap();
        assert_eq!((found.key_id.as_str(), found.secret.as_str()), ("A", "S=1"));
        let found = in_profile(FILE, "other").unwrap();
        assert_eq!(found.session_token.as_deref(), Some("U"));
        assert_eq!(in_profile(FILE, "empty"), None);
        assert_eq!(in_profile(FILE, "none"), None);
        assert_eq!(format!("{found:?}"), "Credentials(…)");
    }

    #[test]
    fn the_environment_comes_first_and_a_file_before_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("keys");
        std::fs::write(&path, FILE).unwrap();
        let environment = |name: &str| match name {
            "AWS_ACCESS_KEY_ID" => Some("E".to_owned()),
            "AWS_SECRET_ACCESS_KEY" => Some("F".to_owned()),
            _ => None,
        };
        let usual = KeySource::Usual {
            file: None,
            profile: None,
        };
        let key_id = |source: &KeySource, variable: &dyn Fn(&str) -> Option<String>| {
            let found = find_with(source, variable).unwrap();
            (found.credentials.unwrap().key_id, found.place)
        };
        let found = key_id(&usual, &environment);
        assert_eq!(found, ("E".to_owned(), "environment AWS_…".to_owned()));
        let named = KeySource::Usual {
            file: Some(path.display().to_string()),
            profile: None,
        };
        let (id, place) = key_id(&named, &environment);
        assert_eq!(id, "A");
        assert!(place.starts_with("profile default of /"), "{place}");
        let other = KeySource::Variables {
            prefix: "OTHER".to_owned(),
        };
        let others = |name: &str| name.starts_with("OTHER_").then(|| name.to_owned());
        let (id, place) = key_id(&other, &others);
        assert_eq!(
            (id.as_str(), place.as_str()),
            ("OTHER_ACCESS_KEY_ID", "environment OTHER_…")
        );
        let error = find_with(&other, &environment).unwrap_err().to_string();
        assert!(error.contains("OTHER_SECRET_ACCESS_KEY"), "{error}");
        let nothing = |_: &str| None;
        let error = find_with(&usual, &nothing).unwrap_err().to_string();
        assert!(error.contains("AWS_ACCESS_KEY_ID"), "{error}");
        let found = find_with(&KeySource::Anonymous, &nothing).unwrap();
        assert_eq!(
            (found.credentials, found.place.as_str()),
            (None, "anonymous")
        );
    }
}
