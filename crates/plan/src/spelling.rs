//! How keys are spelled in messages: as in a plan file or as flags.

/// Where the user wrote the keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spelling {
    /// In a plan file: `queue_depth: 4`.
    Plan,
    /// On the command line: `--queue-depth 4`.
    Flags,
}

impl Spelling {
    /// A key by its name in a plan file.
    pub(crate) fn key(self, name: &str) -> String {
        match self {
            Spelling::Plan => format!("`{name}`"),
            Spelling::Flags => format!("--{}", name.replace('_', "-")),
        }
    }

    /// A key with a value.
    pub(crate) fn pair(self, name: &str, value: &str) -> String {
        match self {
            Spelling::Plan => format!("`{name}: {value}`"),
            Spelling::Flags => format!("--{} {value}", name.replace('_', "-")),
        }
    }
}
