//! Taints of nodes that a pod may be placed in spite of, spelled as `kubectl taint`
//! spells them.

use std::str::FromStr;

use serde_json::{Value, json};

/// Longest part of a key behind its prefix, and longest value.
const PART_CHARS_MAX: usize = 63;
/// Longest prefix of a key, a domain.
const PREFIX_CHARS_MAX: usize = 253;

/// A text that names no taint.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{}' is not a taint: expected KEY, KEY=VALUE, KEY:EFFECT or KEY=VALUE:EFFECT, where the effect \
     is NoSchedule, PreferNoSchedule or NoExecute",
    .0.escape_default()
)]
pub struct TaintError(String);

/// What a taint has in common with those that are tolerated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToleratedTaint {
    key: String,
    /// Any value without one.
    value: Option<String>,
    /// Any effect without one.
    effect: Option<String>,
}

impl ToleratedTaint {
    /// As it stands in a pod.
    pub(super) fn toleration(&self) -> Value {
        let mut toleration = match &self.value {
            Some(value) => json!({"key": self.key, "operator": "Equal", "value": value}),
            None => json!({"key": self.key, "operator": "Exists"}),
        };
        if let Some(effect) = &self.effect {
            toleration["effect"] = json!(effect);
        }
        toleration
    }
}

impl FromStr for ToleratedTaint {
    type Err = TaintError;

    fn from_str(text: &str) -> Result<ToleratedTaint, TaintError> {
        let (named, effect) = match text.split_once(':') {
            Some((named, effect)) => (named, Some(effect)),
            None => (text, None),
        };
        let (key, value) = match named.split_once('=') {
            Some((key, value)) => (key, Some(value)),
            None => (named, None),
        };
        let is_effect = |effect| matches!(effect, "NoSchedule" | "PreferNoSchedule" | "NoExecute");
        let fits = is_key(key)
            && value.is_none_or(|value| value.is_empty() || is_part(value))
            && effect.is_none_or(is_effect);
        fits.then(|| ToleratedTaint {
            key: key.to_owned(),
            value: value.map(str::to_owned),
            effect: effect.map(str::to_owned),
        })
        .ok_or_else(|| TaintError(text.to_owned()))
    }
}

/// `node-role.kubernetes.io/storage`, or without a prefix.
fn is_key(key: &str) -> bool {
    match key.split_once('/') {
        Some((prefix, name)) => {
            prefix.len() <= PREFIX_CHARS_MAX && prefix.split('.').all(is_part) && is_part(name)
        }
        None => is_part(key),
    }
}

fn is_part(part: &str) -> bool {
    let ends = part.bytes().next().zip(part.bytes().last());
    ends.is_some_and(|(first, last)| first.is_ascii_alphanumeric() && last.is_ascii_alphanumeric())
        && part.len() <= PART_CHARS_MAX
        && part
            .bytes()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, b'-' | b'_' | b'.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taints_are_spelled_as_kubectl_spells_them() {
        let toleration = |text: &str| text.parse::<ToleratedTaint>().unwrap().toleration();
        assert_eq!(
            toleration("dedicated=storage:NoSchedule"),
            json!({
                "key": "dedicated", "operator": "Equal", "value": "storage",
                "effect": "NoSchedule"})
        );
        assert_eq!(
            toleration("node-role.kubernetes.io/control-plane:NoSchedule"),
            json!({
                "key": "node-role.kubernetes.io/control-plane", "operator": "Exists",
                "effect": "NoSchedule"})
        );
        assert_eq!(
            toleration("storage"),
            json!({"key": "storage", "operator": "Exists"})
        );
        assert_eq!(toleration("empty=")["value"], "");
    }

    #[test]
    fn what_is_no_taint_is_refused() {
        let long = "a".repeat(64);
        let bad = [
            "",
            "=",
            "a:",
            "a:noschedule",
            "a b",
            "a/b/c",
            "/a",
            "-a",
            "a=b=c",
            &long,
        ];
        for bad in bad {
            let error = bad.parse::<ToleratedTaint>().unwrap_err().to_string();
            assert!(error.contains("KEY=VALUE:EFFECT"), "{error}");
        }
    }
}
