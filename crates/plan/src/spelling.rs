//! How keys are spelled in messages: as in a plan file, as flags, or as the
//! options of another tool.

/// Where the user wrote the keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spelling {
    /// In a plan file: `queue_depth: 4`.
    Plan,
    /// On the command line: `--queue-depth 4`.
    Flags,
    /// In the options of another tool. A key that the tool lacks is named
    /// without a hint at how to type it.
    Tool(&'static ToolOptions),
}

/// How another tool spells what a plan says.
#[derive(Debug, PartialEq, Eq)]
pub struct ToolOptions {
    /// Key of a plan, and the tool's option for it.
    pub keys: &'static [(&'static str, &'static str)],
    /// Key and value of a plan, and the tool's option for both together.
    pub pairs: &'static [(&'static str, &'static str, &'static str)],
}

impl Spelling {
    /// A key by its name in a plan file.
    pub(crate) fn key(self, name: &str) -> String {
        match self {
            Spelling::Plan => format!("`{name}`"),
            Spelling::Flags => format!("--{}", name.replace('_', "-")),
            Spelling::Tool(tool) => match tool.option(name) {
                Some(option) => option.to_owned(),
                None => format!("the {}", name.replace('_', " ")),
            },
        }
    }

    /// A key with a value.
    pub(crate) fn pair(self, name: &str, value: &str) -> String {
        match self {
            Spelling::Plan => format!("`{name}: {value}`"),
            Spelling::Flags => format!("--{} {value}", name.replace('_', "-")),
            Spelling::Tool(tool) => match (tool.pair(name, value), tool.option(name)) {
                (Some(option), _) => option.to_owned(),
                (None, Some(option)) => format!("{option} {value}"),
                (None, None) => format!("{} {value}", name.replace('_', " ")),
            },
        }
    }
}

impl ToolOptions {
    fn option(&self, name: &str) -> Option<&'static str> {
        let found = self.keys.iter().find(|(key, _)| *key == name);
        found.map(|(_, option)| *option)
    }

    fn pair(&self, name: &str, value: &str) -> Option<&'static str> {
        let found = self
            .pairs
            .iter()
            .find(|(key, of, _)| (*key, *of) == (name, value));
        found.map(|(_, _, option)| *option)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_place_has_its_own_spelling() {
        const TOOL: ToolOptions = ToolOptions {
            keys: &[("size", "-u")],
            pairs: &[("direct", "false", "--cached")],
        };
        let spelled = |spelling: Spelling| {
            [
                spelling.key("size"),
                spelling.pair("size", "1G"),
                spelling.pair("direct", "false"),
                spelling.key("io_size"),
            ]
        };
        assert_eq!(
            spelled(Spelling::Plan),
            ["`size`", "`size: 1G`", "`direct: false`", "`io_size`"]
        );
        assert_eq!(
            spelled(Spelling::Flags),
            ["--size", "--size 1G", "--direct false", "--io-size"]
        );
        assert_eq!(
            spelled(Spelling::Tool(&TOOL)),
            ["-u", "-u 1G", "--cached", "the io size"]
        );
    }
}
