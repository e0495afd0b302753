//! Whether an answer is one that a case expects.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use toml::Value as Wanted;

/// The whole of standard output, as text.
const TEXT: &str = "text";
/// The exit status.
const STATUS: &str = "status";

/// What fathom said.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Said {
    /// Standard output.
    pub text: String,
    /// The same as JSON, where it is.
    pub json: Option<Value>,
    /// The exit status; nothing where a signal ended it.
    pub status: Option<i32>,
}

/// The members of an answer in JSON that hold what fathom judges.
const JUDGEMENT: [&str; 6] = [
    "answer", "limiter", "evidence", "settle", "verdict", "error",
];

impl Said {
    /// What it judges, and then the whole: an answer in JSON begins with what was
    /// asked and counted, and who keeps only its beginning keeps no judgement.
    pub(super) fn judgement_first(&self) -> String {
        let text = self.text.trim();
        let member = |name: &&str| {
            let value = self.json.as_ref()?.get(*name)?;
            let value = serde_json::to_string_pretty(value).ok()?;
            Some(format!("\"{name}\": {value}\n"))
        };
        let mut kept: String = JUDGEMENT.iter().filter_map(member).collect();
        if !kept.is_empty() {
            kept.push_str("the whole answer:\n");
        }
        kept + text
    }

    /// What is found at a place, in the order of the answer.
    pub(super) fn at(&self, place: &str) -> Vec<Value> {
        match place {
            TEXT => vec![Value::from(self.text.as_str())],
            STATUS => self.status.map(Value::from).into_iter().collect(),
            pointer => {
                let segments: Vec<String> = pointer.split('/').skip(1).map(unescaped).collect();
                let mut found = Vec::new();
                if let Some(json) = &self.json {
                    collect(json, &segments, &mut found);
                }
                found
            }
        }
    }
}

/// Conditions that all hold for an answer. Each is named by the place that it looks
/// at: a JSON pointer (RFC 6901), where `*` stands for any member or element;
/// `text`, all of standard output; or `status`. What it wants is a value, a list of
/// which any will do, or a table with `contains` (text, any case), `lacks`, `above`,
/// `below`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(transparent)]
pub struct Expectation(BTreeMap<String, Wanted>);

// Of the values of TOML only numbers that are none do not equal themselves, and
// those are rejected.
impl Eq for Expectation {}

/// Why an expectation cannot be understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExpectationError {
    /// Everything meets it.
    #[error("an expectation without conditions holds for every answer")]
    Empty,
    /// It looks nowhere.
    #[error(
        "'{0}' is not a place: write a JSON pointer such as \"/answer\", \"text\" or \"status\""
    )]
    Place(String),
    /// It wants nothing that can be compared.
    #[error(
        "what '{0}' wants is not understood: a value, a list of values, or a table with contains, \
         lacks, above or below"
    )]
    Wanted(String),
}

impl Expectation {
    pub(super) fn check(&self) -> Result<(), ExpectationError> {
        if self.0.is_empty() {
            return Err(ExpectationError::Empty);
        }
        for (place, wanted) in &self.0 {
            if !(place.starts_with('/') || place == TEXT || place == STATUS) {
                return Err(ExpectationError::Place(place.clone()));
            }
            if !is_understood(wanted) {
                return Err(ExpectationError::Wanted(place.clone()));
            }
        }
        Ok(())
    }

    /// Whether all conditions hold.
    pub(super) fn holds(&self, said: &Said) -> bool {
        let mut conditions = self.0.iter();
        conditions.all(|(place, wanted)| is_met(wanted, &said.at(place)))
    }

    /// The JSON pointers that it looks at.
    pub(super) fn pointers(&self) -> impl Iterator<Item = &str> {
        let places = self.0.keys().map(String::as_str);
        places.filter(|place| place.starts_with('/'))
    }
}

fn unescaped(segment: &str) -> String {
    segment.replace("~1", "/").replace("~0", "~")
}

fn collect(at: &Value, segments: &[String], found: &mut Vec<Value>) {
    let Some((first, rest)) = segments.split_first() else {
        found.push(at.clone());
        return;
    };
    match at {
        Value::Array(elements) if first == "*" => {
            elements.iter().for_each(|one| collect(one, rest, found));
        }
        Value::Object(members) if first == "*" => {
            members.values().for_each(|one| collect(one, rest, found));
        }
        Value::Array(elements) => {
            let element = first.parse::<usize>().ok().and_then(|at| elements.get(at));
            element
                .into_iter()
                .for_each(|one| collect(one, rest, found));
        }
        Value::Object(members) => {
            let member = members.get(first).into_iter();
            member.for_each(|one| collect(one, rest, found));
        }
        _ => {}
    }
}

fn is_understood(wanted: &Wanted) -> bool {
    match wanted {
        Wanted::String(_) | Wanted::Integer(_) | Wanted::Boolean(_) => true,
        Wanted::Float(number) => number.is_finite(),
        Wanted::Datetime(_) => false,
        Wanted::Array(any) => {
            let values = |one: &Wanted| !one.is_array() && !one.is_table() && is_understood(one);
            !any.is_empty() && any.iter().all(values)
        }
        Wanted::Table(table) => {
            !table.is_empty()
                && table.iter().all(|(how, wanted)| match how.as_str() {
                    "contains" | "lacks" => !texts(wanted).is_empty(),
                    "above" | "below" => number(wanted).is_some_and(f64::is_finite),
                    _ => false,
                })
        }
    }
}

/// Any of the values that were found will do; for `lacks` all have to.
fn is_met(wanted: &Wanted, found: &[Value]) -> bool {
    match wanted {
        Wanted::Array(any) => any.iter().any(|one| is_met(one, found)),
        Wanted::Table(table) => {
            let lacks = |text: &String| found.iter().all(|one| !contains(one, text));
            let absent = table.get("lacks").map(texts).unwrap_or_default();
            let has_others = table.keys().any(|how| how != "lacks");
            absent.iter().all(lacks) && (!has_others || found.iter().any(|one| fits(table, one)))
        }
        value => found.iter().any(|one| equals(value, one)),
    }
}

/// Whether one value meets all that a table wants of a value.
fn fits(table: &toml::Table, found: &Value) -> bool {
    table.iter().all(|(how, wanted)| match how.as_str() {
        "contains" => texts(wanted).iter().any(|text| contains(found, text)),
        "above" => found
            .as_f64()
            .zip(number(wanted))
            .is_some_and(|(is, than)| is > than),
        "below" => found
            .as_f64()
            .zip(number(wanted))
            .is_some_and(|(is, than)| is < than),
        _ => true,
    })
}

fn equals(wanted: &Wanted, found: &Value) -> bool {
    match wanted {
        Wanted::String(text) => found.as_str() == Some(text),
        Wanted::Boolean(truth) => found.as_bool() == Some(*truth),
        Wanted::Integer(_) | Wanted::Float(_) => found.as_f64() == number(wanted),
        _ => false,
    }
}

fn number(wanted: &Wanted) -> Option<f64> {
    wanted.as_float().or(wanted.as_integer().map(|n| n as f64))
}

/// A text, or each of a list.
fn texts(wanted: &Wanted) -> Vec<String> {
    match wanted {
        Wanted::String(text) if !text.is_empty() => vec![text.clone()],
        Wanted::Array(all) => all.iter().flat_map(texts).collect(),
        _ => Vec::new(),
    }
}

fn contains(found: &Value, text: &str) -> bool {
    let whole = match found {
        Value::String(whole) => whole.clone(),
        other => other.to_string(),
    };
    whole.to_lowercase().contains(&text.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expectation(text: &str) -> Expectation {
        toml::from_str(text).unwrap()
    }

    fn said() -> Said {
        let text = r#"{"answer": "yes", "rate": 290.5, "a/b": true, "disks": [{"name": "vda"},
            {"name": "loop3"}], "evidence": ["PostgreSQL waits", "the device is full"]}"#;
        Said {
            text: text.to_owned(),
            json: serde_json::from_str(text).ok(),
            status: Some(1),
        }
    }

    #[test]
    fn conditions_hold_for_what_was_said_and_for_nothing_else() {
        for holds in [
            "'/answer' = 'yes'",
            "'/answer' = ['no', 'yes']",
            "'/rate' = { above = 290, below = 291.0 }",
            "'/a~1b' = true",
            "'/disks/*/name' = 'loop3'",
            "'/disks/1/name' = 'loop3'",
            "'/evidence/*' = { contains = 'postgresql' }",
            "'/evidence/*' = { contains = ['mariadb', 'waits'], lacks = 'fathom' }",
            "'/disks' = { contains = 'vda' }",
            "text = { contains = '290.5' }\nstatus = 1",
            "text = { lacks = 'not proven' }",
        ] {
            assert!(expectation(holds).check().is_ok(), "{holds}");
            assert!(expectation(holds).holds(&said()), "{holds}");
        }
        for fails in [
            "'/answer' = 'no'",
            "'/answer' = true",
            "'/nothing' = 'yes'",
            "'/rate' = { above = 291 }",
            "'/rate' = { above = 290, below = 290.2 }",
            "'/disks/2/name' = 'loop3'",
            "'/disks/name' = 'loop3'",
            "'/evidence/*' = { lacks = 'waits' }",
            "'/evidence/*' = { contains = ['mariadb', 'sqlite'], lacks = 'fathom' }",
            "'/answer' = 'yes'\nstatus = 0",
        ] {
            assert!(expectation(fails).check().is_ok(), "{fails}");
            assert!(!expectation(fails).holds(&said()), "{fails}");
        }
        let silent = Said::default();
        assert!(!expectation("'/answer' = { contains = 'y' }").holds(&silent));
        assert!(!expectation("status = 0").holds(&silent));
    }

    #[test]
    fn a_kept_answer_begins_with_what_it_judges() {
        let text = r#"{ "run": "long", "verdict": { "limiter": "cap" } }"#;
        let json = serde_json::from_str(text).ok();
        let said = Said {
            text: text.to_owned(),
            json,
            status: Some(0),
        };
        let kept = said.judgement_first();
        assert!(
            kept.starts_with("\"verdict\": {\n  \"limiter\": \"cap\""),
            "{kept}"
        );
        assert!(kept.ends_with(text), "{kept}");
        let plain = Said {
            text: " no JSON \n".to_owned(),
            ..Said::default()
        };
        assert_eq!(plain.judgement_first(), "no JSON");
    }

    #[test]
    fn what_holds_for_everything_or_nothing_is_rejected() {
        for wrong in [
            "",
            "answer = 'yes'",
            "'/answer' = []",
            "'/answer' = {}",
            "'/answer' = { has = 'x' }",
            "'/answer' = { contains = '' }",
            "'/answer' = { above = 'x' }",
            "'/answer' = nan",
            "'/answer' = 2026-01-01",
            "'/answer' = [['yes']]",
        ] {
            assert!(expectation(wrong).check().is_err(), "{wrong}");
        }
    }
}
