//! Lists of hosts as users write them: `h1,h2:7118,node[01-84]`, or a file
//! with one to a line.

use std::fmt;

/// Hosts that a run may have.
pub const MAX_HOSTS: usize = 4096;

/// What is wrong with a list of hosts.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HostListError {
    /// No host at all.
    #[error("the list of hosts is empty")]
    Empty,
    /// A host would carry the load twice.
    #[error("the host {0} is listed twice")]
    Twice(HostName),
    /// More than a run can have.
    #[error("more than {MAX_HOSTS} hosts")]
    TooMany,
    /// A range that is closed before it is opened.
    #[error("a ']' without its '['")]
    Unopened,
    /// A range that is never closed.
    #[error("a '[' without its ']'")]
    Unclosed,
    /// A range that is never closed, in one of the items.
    #[error("'{item}': a '[' without its ']'")]
    UnclosedItem {
        /// The item.
        item: String,
    },
    /// What stands in brackets.
    #[error("'{item}': {cause}")]
    Range {
        /// The item.
        item: String,
        /// What is wrong with its range.
        cause: RangeError,
    },
    /// One item alone is more than a run can have.
    #[error("'{item}' stands for more than {MAX_HOSTS} hosts")]
    TooManyInItem {
        /// The item.
        item: String,
    },
    /// A colon, and no port behind it.
    #[error("'{text}': expected a port from 1 to 65535 behind the colon")]
    Port {
        /// The host.
        text: String,
    },
    /// A name that no host can have.
    #[error("'{}' is not a host name", text.escape_default())]
    Name {
        /// The name.
        text: String,
    },
}

/// What is wrong with a range of hosts.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RangeError {
    /// One of its ends.
    #[error("'{text}' is not a number of a range such as [01-84]")]
    Number {
        /// What stands there.
        text: String,
    },
    /// It ends before it begins, or long after.
    #[error("the range {range} is empty or too long")]
    Bounds {
        /// The range.
        range: String,
    },
}

/// One host as the user named it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostName {
    /// Name, address, alias of the user's ssh configuration or `user@host`.
    pub name: String,
    /// Port, where one was given.
    pub port: Option<u16>,
}

impl fmt::Display for HostName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.port, self.name.contains(':')) {
            (Some(port), true) => write!(f, "[{}]:{port}", self.name),
            (Some(port), false) => write!(f, "{}:{port}", self.name),
            (None, _) => f.write_str(&self.name),
        }
    }
}

/// The hosts of a list, in its order.
///
/// `[01-84]` counts with leading zeros, `[1,3,7-9]` lists. An IPv6 address with
/// a port stands in brackets: `[fe80::1]:7117`.
///
/// # Errors
/// What is wrong with the list, in words: an empty or impossible name, a
/// malformed range, the same host twice, more than [`MAX_HOSTS`].
pub fn parse_hosts(text: &str) -> Result<Vec<HostName>, HostListError> {
    let mut hosts = Vec::new();
    for item in split(text)? {
        for name in expand(item)? {
            let host = host(&name)?;
            if hosts.contains(&host) {
                return Err(HostListError::Twice(host));
            }
            hosts.push(host);
            if hosts.len() > MAX_HOSTS {
                return Err(HostListError::TooMany);
            }
        }
    }
    if hosts.is_empty() {
        return Err(HostListError::Empty);
    }
    Ok(hosts)
}

/// The hosts of a file: one item of a list to a line, `#` begins a comment.
///
/// # Errors
/// As [`parse_hosts`].
pub fn parse_hosts_file(text: &str) -> Result<Vec<HostName>, HostListError> {
    let lines = text.lines().map(|line| {
        let line = line.split('#').next().unwrap_or_default();
        // What follows the name on a line is for other tools: `h1 slots=4`.
        line.split_whitespace().next().unwrap_or_default()
    });
    let items: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
    parse_hosts(&items.join(","))
}

/// Items between commas that stand outside of brackets.
fn split(text: &str) -> Result<Vec<&str>, HostListError> {
    let (mut items, mut depth, mut from) = (Vec::new(), 0u32, 0);
    for (at, c) in text.char_indices() {
        match c {
            '[' => depth += 1,
            ']' => depth = depth.checked_sub(1).ok_or(HostListError::Unopened)?,
            ',' if depth == 0 => {
                items.push(text[from..at].trim());
                from = at + 1;
            }
            _ => {}
        }
    }
    if depth > 0 {
        return Err(HostListError::Unclosed);
    }
    items.push(text[from..].trim());
    items.retain(|item| !item.is_empty());
    Ok(items)
}

/// The names that an item stands for.
fn expand(item: &str) -> Result<Vec<String>, HostListError> {
    let Some((before, rest)) = item.split_once('[') else {
        return Ok(vec![item.to_owned()]);
    };
    let Some((inside, after)) = rest.split_once(']') else {
        return Err(HostListError::UnclosedItem {
            item: item.to_owned(),
        });
    };
    if inside.contains(':') {
        // An IPv6 address.
        return Ok(vec![item.to_owned()]);
    }
    let tails = expand(after)?;
    let mut names = Vec::new();
    for part in inside.split(',') {
        let numbers = numbers(part.trim()).map_err(|cause| HostListError::Range {
            item: item.to_owned(),
            cause,
        })?;
        for number in numbers {
            names.extend(tails.iter().map(|tail| format!("{before}{number}{tail}")));
            if names.len() > MAX_HOSTS {
                return Err(HostListError::TooManyInItem {
                    item: item.to_owned(),
                });
            }
        }
    }
    Ok(names)
}

fn numbers(part: &str) -> Result<Vec<String>, RangeError> {
    let read = |text: &str| -> Result<u32, RangeError> {
        let digits =
            !text.is_empty() && text.len() <= 8 && text.bytes().all(|b| b.is_ascii_digit());
        match text.parse() {
            Ok(number) if digits => Ok(number),
            _ => Err(RangeError::Number {
                text: text.to_owned(),
            }),
        }
    };
    let Some((from, to)) = part.split_once('-') else {
        read(part)?;
        return Ok(vec![part.to_owned()]);
    };
    let (first, last) = (read(from)?, read(to)?);
    if first > last || (last - first) as usize >= MAX_HOSTS {
        return Err(RangeError::Bounds {
            range: part.to_owned(),
        });
    }
    let width = from.len();
    Ok((first..=last).map(|n| format!("{n:0width$}")).collect())
}

fn host(text: &str) -> Result<HostName, HostListError> {
    let (name, port) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, rest)) => (address, rest.strip_prefix(':')),
        // More than one colon is an address without a port.
        None if text.matches(':').count() == 1 => match text.split_once(':') {
            Some((name, port)) => (name, Some(port)),
            None => (text, None),
        },
        None => (text, None),
    };
    let port = port.map(|port| match port.parse() {
        Ok(port) if port > 0 => Ok(port),
        _ => Err(HostListError::Port {
            text: text.to_owned(),
        }),
    });
    let fits = |c: char| c.is_ascii_alphanumeric() || ".-_:@%".contains(c);
    // What begins with a dash would be an option of ssh.
    if name.is_empty() || name.len() > 255 || name.starts_with('-') || !name.chars().all(fits) {
        return Err(HostListError::Name {
            text: text.to_owned(),
        });
    }
    Ok(HostName {
        name: name.to_owned(),
        port: port.transpose()?,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn names(text: &str) -> Vec<String> {
        let hosts = parse_hosts(text).unwrap();
        hosts.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn lists_and_ranges() {
        assert_eq!(names("h1, h2:7118"), ["h1", "h2:7118"]);
        assert_eq!(
            names("node[08-11]"),
            ["node08", "node09", "node10", "node11"]
        );
        assert_eq!(
            names("r[1-2]n[1,3]:80")[..3],
            ["r1n1:80", "r1n3:80", "r2n1:80"]
        );
        assert_eq!(names("[fe80::1]:7117,::1"), ["[fe80::1]:7117", "::1"]);
        assert_eq!(names("me@h1"), ["me@h1"]);
        assert_eq!(names("node[001-100]").len(), 100);
        let file = "# all\nh1 slots=4\n\nh[2-3]  # two\n";
        assert_eq!(parse_hosts_file(file).unwrap().len(), 3);
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, why) in [
            ("", "empty"),
            (" , ,", "empty"),
            ("h1,h1", "twice"),
            ("n[1-2],n1", "twice"),
            ("-oProxyCommand=x", "not a host name"),
            ("h1;reboot", "not a host name"),
            ("n[3-1]", "empty or too long"),
            ("n[1-99999]", "empty or too long"),
            ("n[a]", "not a number"),
            ("n[1", "without"),
            ("n1]", "without"),
            ("h:0", "expected a port"),
            ("h:x", "expected a port"),
        ] {
            let error = parse_hosts(text).unwrap_err().to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn never_panics_and_stays_within_bounds(text in "[a-c0-9,\\[\\]:@. -]{0,40}") {
            if let Ok(hosts) = parse_hosts(&text) {
                prop_assert!(!hosts.is_empty() && hosts.len() <= MAX_HOSTS);
            }
        }
    }
}
