//! Whose keys sign. A workload only says where they are found; they are never
//! part of it, and never stored or printed.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use fathom_model::secret;
use fathom_model::workload::KeySource;
use fathom_s3::{Credentials, FoundKeys};

use crate::Error;

/// Keys that a caller gave to this process, by a name of its choice.
static GIVEN: Mutex<BTreeMap<String, Credentials>> = Mutex::new(BTreeMap::new());

/// Makes credentials known to this process under a name that
/// [`KeySource::Given`] can refer to. They live in memory only.
pub fn give_credentials(name: &str, credentials: Credentials) {
    remember(&credentials);
    let mut given = GIVEN.lock().unwrap_or_else(PoisonError::into_inner);
    given.insert(name.to_owned(), credentials);
}

/// Lets no text that is stored or printed hold any of the secrets.
fn remember(credentials: &Credentials) {
    let Credentials {
        secret,
        session_token,
        sse_customer_key,
        ..
    } = credentials;
    let others = [session_token, sse_customer_key];
    for secret in others.into_iter().flatten().chain([secret]) {
        secret::remember(secret.trim_end_matches('\0'));
    }
}

/// The name of keys that no store knows, for one that checks none.
pub(super) fn nobody() -> String {
    let credentials = Credentials {
        key_id: "nobody".to_owned(),
        secret: "nothing".to_owned(),
        ..Credentials::default()
    };
    give_credentials("nobody", credentials);
    "nobody".to_owned()
}

/// Finds the keys that a workload asks for.
///
/// # Errors
/// When there are none, with the places that were looked at.
pub(super) fn find(source: &KeySource) -> Result<FoundKeys, Error> {
    let source = match source {
        KeySource::Given(name) => return given(name),
        KeySource::Anonymous => fathom_s3::KeySource::Anonymous,
        KeySource::Variables { prefix } => fathom_s3::KeySource::Variables {
            prefix: prefix.clone(),
        },
        KeySource::Usual { file, profile } => fathom_s3::KeySource::Usual {
            file: file.clone(),
            profile: profile.clone(),
        },
    };
    let found = source.find()?;
    if let Some(credentials) = &found.credentials {
        remember(credentials);
    }
    Ok(found)
}

/// What this process was given under a name.
fn given(name: &str) -> Result<FoundKeys, Error> {
    let given = GIVEN.lock().unwrap_or_else(PoisonError::into_inner);
    let credentials = given.get(name).cloned().ok_or_else(|| {
        Error::Workload(format!(
            "the keys '{name}' are not known to this process; they are not carried to other \
             hosts, use a credentials file there"
        ))
    })?;
    Ok(FoundKeys {
        credentials: Some(credentials),
        place: name.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn given_keys_are_found_by_name_and_only_here() {
        give_credentials("credentials test", Credentials::default());
        let known = KeySource::Given("credentials test".to_owned());
        assert!(find(&known).unwrap().credentials.is_some());
        let unknown = KeySource::Given("somebody".to_owned());
        assert!(
            find(&unknown)
                .unwrap_err()
                .to_string()
                .contains("other hosts")
        );
    }

    #[test]
    fn keys_that_are_missing_come_with_the_flags_that_name_them() {
        let none = KeySource::Usual {
            file: Some("/dev/null".to_owned()),
            profile: Some("nobody".to_owned()),
        };
        let told = find(&none).unwrap_err().to_string();
        for part in [
            "[nobody] to /dev/null, or",
            "--credentials-file",
            "--anonymous",
        ] {
            assert!(told.contains(part), "{told}");
        }
    }
}
