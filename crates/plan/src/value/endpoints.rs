//! Where a store is: addresses, and whose keys sign at each.

use fathom_model::limits::MAX_ENDPOINTS as MOST_ENDPOINTS;
use fathom_model::secret::{remember, remember_user, without_user};
use fathom_model::workload::KeySource;
use schemars::{Schema, json_schema};

use super::Value;
use crate::diagnostic::{Problems, error};
use crate::node::{Node, NodeKind, Out};

/// Characters of an address, or of what says whose keys sign there, at most.
const MOST_CHARS: usize = 1024;

/// Addresses in their order, each with keys of its own or with those of the
/// workload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointsValue(pub Vec<(String, Option<KeySource>)>);

/// Reads whose keys sign. What is wrong is not repeated, neither here nor where the
/// whole value or the line of a plan is shown: it may be a key.
fn keys(text: &str) -> Result<KeySource, String> {
    keys_named(text).inspect_err(|_| {
        remember(text.trim());
        for part in text.trim().split(':') {
            remember(part);
        }
    })
}

fn keys_named(text: &str) -> Result<KeySource, String> {
    let usual = |file: Option<&str>, profile: Option<&str>| KeySource::Usual {
        file: file.map(str::to_owned),
        profile: profile.map(str::to_owned),
    };
    let wrong = || {
        "keys are named by where they are found: profile:NAME, profile:NAME@FILE, file:FILE, \
         env:PREFIX (PREFIX_ACCESS_KEY_ID and so on) or anonymous"
            .to_owned()
    };
    let given = |text: &str| !text.is_empty() && !text.chars().any(char::is_control);
    match text.trim().split_once(':') {
        None if text.trim() == "anonymous" => Ok(KeySource::Anonymous),
        Some(("profile", name)) => match name.split_once('@') {
            Some((name, file)) if given(name) && given(file) => Ok(usual(Some(file), Some(name))),
            None if given(name) => Ok(usual(None, Some(name))),
            _ => Err(wrong()),
        },
        Some(("file", file)) if given(file) => Ok(usual(Some(file), None)),
        Some(("env", prefix)) if is_variable(prefix) => Ok(KeySource::Variables {
            prefix: prefix.to_owned(),
        }),
        _ => Err(wrong()),
    }
}

fn is_variable(name: &str) -> bool {
    let letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    !name.is_empty() && name.chars().all(letter) && !name.starts_with(|c: char| c.is_ascii_digit())
}

fn written(keys: &KeySource) -> String {
    match keys {
        KeySource::Usual { file, profile } => match (file, profile) {
            (None, None) => "profile:default".to_owned(),
            (None, Some(name)) => format!("profile:{name}"),
            (Some(file), None) => format!("file:{file}"),
            (Some(file), Some(name)) => format!("profile:{name}@{file}"),
        },
        KeySource::Variables { prefix } => format!("env:{prefix}"),
        KeySource::Anonymous | KeySource::Given(_) => "anonymous".to_owned(),
    }
}

fn endpoint(address: &str, whose: Option<&str>) -> Result<(String, Option<KeySource>), String> {
    let address = address.trim();
    let scheme = address.split_once("://").map(|(scheme, _)| scheme);
    let bad = address.chars().any(|c| c.is_control() || c.is_whitespace())
        || address.chars().all(|c| c.is_ascii_digit())
        || scheme.is_some_and(|scheme| !matches!(scheme, "http" | "https"));
    let long = address.len().max(whose.map_or(0, str::len)) > MOST_CHARS;
    if without_user(address).is_some() {
        // What repeats the value must not repeat this.
        remember_user(address);
        return Err(
            "an endpoint holds no user and no keys; name these behind an equals sign \
             (http://host:9000=profile:NAME), or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
                .to_owned(),
        );
    }
    if bad || long {
        return Err("an endpoint is an address, for example http://127.0.0.1:9000".to_owned());
    }
    Ok((address.to_owned(), whose.map(keys).transpose()?))
}

impl EndpointsValue {
    /// Addresses without keys of their own.
    pub fn of<'a>(addresses: impl Iterator<Item = &'a str>) -> EndpointsValue {
        EndpointsValue(
            addresses
                .map(|address| (address.to_owned(), None))
                .collect(),
        )
    }

    /// Whether an address has keys of its own.
    pub(crate) fn names_keys(&self) -> bool {
        self.0.iter().any(|(_, keys)| keys.is_some())
    }

    fn bounded(self) -> Result<EndpointsValue, String> {
        match self.0.len() {
            0 => Err("no address is named; write for example http://127.0.0.1:9000".to_owned()),
            1..=MOST_ENDPOINTS => Ok(self),
            _ => Err(format!("more than {MOST_ENDPOINTS} addresses")),
        }
    }
}

impl Value for EndpointsValue {
    const KIND: &'static str = "endpoint";

    fn from_text(text: &str) -> Result<Self, String> {
        let parts = text.split(',').filter(|part| !part.trim().is_empty());
        let all = parts.map(|part| match part.split_once('=') {
            // What stands behind the question mark may be a key.
            Some((address, _)) if address.contains('?') => Err(
                "an endpoint is an address without a query: remove what stands behind the \
                     question mark"
                    .to_owned(),
            ),
            Some((address, whose)) => endpoint(address, Some(whose)),
            None => endpoint(part, None),
        });
        EndpointsValue(all.collect::<Result<_, String>>()?).bounded()
    }

    fn from_node(node: &Node, problems: &mut Problems) -> Option<Self> {
        let mut one = |node: &Node, read: Result<EndpointsValue, String>| {
            let read = read.map_err(|message| problems.error("bad_value", node.span, message));
            read.ok()
        };
        let mut all = Vec::new();
        match &node.kind {
            NodeKind::Scalar(text) => return one(node, EndpointsValue::from_text(text)),
            NodeKind::List(items) => {
                for item in items {
                    let text = item.text().unwrap_or_default();
                    all.append(&mut one(item, EndpointsValue::from_text(text))?.0);
                }
            }
            NodeKind::Map(entries) => {
                for (address, whose) in entries {
                    let read = endpoint(address.text().unwrap_or_default(), whose.text());
                    all.append(&mut one(whose, read.map(|pair| EndpointsValue(vec![pair])))?.0);
                }
            }
            NodeKind::Null => {
                let message = format!("expected an address, found {}", node.describe());
                let help = "write http://127.0.0.1:9000, or {ADDRESS: profile:NAME, …}";
                problems.push(error("wrong_type", node.span, message).help(help));
                return None;
            }
        }
        one(node, EndpointsValue(all).bounded())
    }

    fn to_out(&self) -> Out {
        Out::Text(self.to_text())
    }

    fn to_text(&self) -> String {
        let each = self.0.iter().map(|(address, keys)| match keys {
            Some(keys) => format!("{address}={}", written(keys)),
            None => address.clone(),
        });
        each.collect::<Vec<String>>().join(",")
    }

    fn example() -> &'static str {
        "http://127.0.0.1:9000"
    }

    fn schema() -> Schema {
        json_schema!({
            "description": "Addresses of a store: one, several joined by commas, a list, or a map \
                            from each to whose keys sign there: {'http://a:9000': 'profile:one'}. \
                            In text the keys follow an equals sign.",
            "type": ["string", "array", "object"],
            "items": { "type": "string" },
            "additionalProperties": { "type": ["string", "null"] }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_keys_of_their_own_or_none() {
        let text = "http://a:1=profile:one,https://b=profile:two@/k/f,c:3=file:/k/g,d=env:MY_2,e=anonymous,f";
        let read = EndpointsValue::from_text(text).unwrap();
        assert_eq!(read.to_text(), text);
        assert!(read.names_keys());
        let keys: Vec<_> = read.0.iter().map(|(_, keys)| keys.clone()).collect();
        assert_eq!(
            keys[3],
            Some(KeySource::Variables {
                prefix: "MY_2".to_owned()
            })
        );
        assert_eq!((&keys[4], &keys[5]), (&Some(KeySource::Anonymous), &None));
        assert!(
            !EndpointsValue::from_text("http://a:1, http://b:2")
                .unwrap()
                .names_keys()
        );
    }

    #[test]
    fn a_query_is_not_taken_for_keys() {
        let message = EndpointsValue::from_text("http://h/?sig=secret").unwrap_err();
        assert!(
            message.contains("query") && !message.contains("secret"),
            "{message}"
        );
        assert!(!message.contains("profile:"), "{message}");
    }

    #[test]
    fn what_may_be_a_key_is_not_repeated() {
        for bad in [
            "a=AKID:topsecret",
            "a=topsecret",
            "a=profile:",
            "a=env:2x",
            "a=profile:x@",
        ] {
            let message = EndpointsValue::from_text(bad).unwrap_err();
            assert!(
                message.contains("profile:NAME@FILE") && !message.contains("topsecret"),
                "{message}"
            );
        }
        for bad in ["", ",", "=anonymous", "a b"] {
            assert!(EndpointsValue::from_text(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_plan_writes_text_a_list_or_a_map() {
        let of = |endpoint: &str| {
            let text = format!(
                "plan: 1\ntargets: s3://b/p\nworkloads:\n- {{request: get, endpoint: {endpoint}}}\n"
            );
            crate::parse("x.yaml", &text)
        };
        let text = of("'http://a:1=profile:one,http://b:2=env:TWO'").unwrap();
        assert_eq!(
            of("['http://a:1=profile:one', 'http://b:2=env:TWO']").unwrap(),
            text
        );
        assert_eq!(
            of("{'http://a:1': profile:one, 'http://b:2': env:TWO}").unwrap(),
            text
        );
        assert_eq!(crate::parse("x.yaml", &text.to_yaml()).unwrap(), text);
        let schedule = text.schedule(&crate::ScheduleContext::default()).unwrap();
        let store = schedule.trials[0].workload.store().unwrap();
        assert_eq!(store.endpoints, ["http://a:1", "http://b:2"]);
        let profile = KeySource::Usual {
            file: None,
            profile: Some("one".to_owned()),
        };
        assert_eq!(store.keys_of(0), &profile);
        let told = of("{'http://a:1': AKID}").unwrap_err().render(false);
        assert!(
            told.contains("x.yaml:4:") && told.contains("profile:NAME"),
            "{told}"
        );
    }
}
