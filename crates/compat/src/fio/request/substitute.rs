//! `${VARIABLE}`, `$ncpus`, `$mb_memory` and `$pagesize` in a line of a job file.

use super::arithmetic;
use super::surroundings::FioSurroundings;

/// A longer line than this is no option of a job.
const MAX_LENGTH: usize = 64 * 1024;

/// A line after substitution.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Substituted {
    /// The line.
    pub(crate) text: String,
    /// Whether it differs from what was written.
    pub(crate) changed: bool,
    /// Variables that are not set; they count as empty.
    pub(crate) unset: Vec<String>,
}

/// Why a line cannot be read once its variables are put in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SubstituteError {
    /// Longer than any option.
    #[error("the value is too long once its variables are put in")]
    TooLong,
    /// The name of a variable does not end.
    #[error("'${{' has no '}}'")]
    Unclosed,
    /// A sum without a result.
    #[error("'{value}' cannot be worked out: {wrong}")]
    Sum {
        /// The sum.
        value: String,
        /// What is wrong with it.
        wrong: String,
    },
}

/// Puts in what variables and keywords stand for. A value in which a keyword
/// stood may be a sum: `size=8*1024*$pagesize`.
///
/// # Errors
/// The sum is wrong, or the line gets too long.
pub(crate) fn substitute(
    line: &str,
    surroundings: &dyn FioSurroundings,
) -> Result<Substituted, SubstituteError> {
    let mut unset = Vec::new();
    let variables = variables(line, surroundings, &mut unset)?;
    let (text, keyword) = keywords(&variables, surroundings);
    let text = match keyword {
        true => sum(&text)?,
        false => text,
    };
    if text.len() > MAX_LENGTH {
        return Err(SubstituteError::TooLong);
    }
    Ok(Substituted {
        changed: text != line,
        text,
        unset,
    })
}

fn variables(
    line: &str,
    surroundings: &dyn FioSurroundings,
    unset: &mut Vec<String>,
) -> Result<String, SubstituteError> {
    let mut text = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("${") {
        let Some((name, behind)) = after.split_once('}') else {
            return Err(SubstituteError::Unclosed);
        };
        text += before;
        // The system takes no name with a NUL or a '='.
        let value = match name.contains(['\0', '=']) || name.is_empty() {
            true => None,
            false => surroundings.variable(name),
        };
        match value {
            Some(value) => text += &value,
            None => unset.push(name.to_owned()),
        }
        if text.len() > MAX_LENGTH {
            return Err(SubstituteError::TooLong);
        }
        rest = behind;
    }
    Ok(text + rest)
}

fn keywords(line: &str, surroundings: &dyn FioSurroundings) -> (String, bool) {
    let mut text = line.to_owned();
    let mut found = false;
    for (word, value) in [
        ("$pagesize", surroundings.page_bytes()),
        ("$mb_memory", surroundings.memory_mib()),
        ("$ncpus", surroundings.cpus()),
    ] {
        if text.contains(word) {
            found = true;
            text = text.replace(word, &value.to_string());
        }
    }
    (text, found)
}

/// Works out the value of a line; whole numbers, as `bc` does it.
fn sum(line: &str) -> Result<String, SubstituteError> {
    let Some((name, value)) = line.split_once('=') else {
        return Ok(line.to_owned());
    };
    if !value.contains(['+', '-', '*', '/']) || value.contains('\'') {
        return Ok(line.to_owned());
    }
    match arithmetic::evaluate(value, &|_| None) {
        Ok(result) => Ok(format!("{name}={}", result.trunc())),
        Err((_, wrong)) => Err(SubstituteError::Sum {
            value: value.trim().to_owned(),
            wrong,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::super::surroundings::FixedSurroundings;
    use super::*;

    fn done(line: &str) -> Substituted {
        let mut machine = FixedSurroundings::default();
        machine.variables.insert("A".to_owned(), "4k".to_owned());
        substitute(line, &machine).unwrap()
    }

    #[test]
    fn variables_keywords_and_sums() {
        for (line, wanted) in [
            ("bs=${A}", "bs=4k"),
            ("bs=${A},${A}", "bs=4k,4k"),
            ("bs=${NONE}", "bs="),
            ("numjobs=$ncpus", "numjobs=4"),
            ("size=7*1024*1024*$mb_memory/8", "size=7516192768"),
            (
                "filename_format=$jobname.$jobnum",
                "filename_format=$jobname.$jobnum",
            ),
            ("cost=a-b", "cost=a-b"),
        ] {
            assert_eq!(done(line).text, wanted, "{line}");
        }
        assert_eq!(done("bs=${NONE}").unset, ["NONE"]);
        assert!(substitute("a=${A", &FixedSurroundings::default()).is_err());
        assert!(substitute("a=1/0+$ncpus", &FixedSurroundings::default()).is_err());
    }
}
