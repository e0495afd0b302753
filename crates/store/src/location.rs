//! Where the store lies when nobody says otherwise.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::Error;

/// The store of this user: `$FATHOM_STORE`, else
/// `$XDG_DATA_HOME/fathom/fathom.db`, else
/// `$HOME/.local/share/fathom/fathom.db`.
///
/// Variables that are set but empty count as not set, as does an
/// `XDG_DATA_HOME` that is not absolute (XDG Base Directory Specification).
pub fn default_path() -> Result<PathBuf, Error> {
    // A process reads its own environment here and nowhere else in this crate.
    resolve(|name| std::env::var_os(name))
}

fn resolve(variable: impl Fn(&str) -> Option<OsString>) -> Result<PathBuf, Error> {
    let path = |name: &str| {
        variable(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    if let Some(store) = path("FATHOM_STORE") {
        return Ok(store);
    }
    let data = match path("XDG_DATA_HOME").filter(|path| path.is_absolute()) {
        Some(data) => data,
        None => path("HOME").ok_or(Error::NoHome)?.join(".local/share"),
    };
    Ok(data.join("fathom").join("fathom.db"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(variables: &[(&str, &str)]) -> Result<PathBuf, Error> {
        resolve(|name| {
            let found = variables.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| OsString::from(value))
        })
    }

    #[test]
    fn the_most_specific_variable_wins() {
        let home = ("HOME", "/home/ada");
        let cases: [(&[(&str, &str)], &str); 4] = [
            (&[home], "/home/ada/.local/share/fathom/fathom.db"),
            (
                &[home, ("XDG_DATA_HOME", "/data")],
                "/data/fathom/fathom.db",
            ),
            (
                &[home, ("XDG_DATA_HOME", "relative"), ("FATHOM_STORE", "")],
                "/home/ada/.local/share/fathom/fathom.db",
            ),
            (&[home, ("FATHOM_STORE", "runs.db")], "runs.db"),
        ];
        for (variables, expected) in cases {
            assert_eq!(with(variables).unwrap(), PathBuf::from(expected));
        }
        assert!(matches!(with(&[]), Err(Error::NoHome)));
    }
}
