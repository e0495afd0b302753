//! Numbers out of JSON that may be missing, null, text or nonsense.

use serde_json::Value;

/// A finite number of zero or more, also when written as text (`"12"`,
/// `"1.5%"`).
pub(crate) fn of(value: Option<&Value>) -> Option<f64> {
    let number = match value? {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => from_text(text),
        _ => None,
    };
    number.filter(|n| can_be(*n))
}

/// Why it is a number that no counter can have, in words.
pub(crate) fn impossible(value: &Value) -> Option<&'static str> {
    let number: f64 = match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().trim_end_matches('%').parse().ok(),
        _ => None,
    }?;
    match number {
        n if n < 0.0 => Some("is negative"),
        // Some versions print the largest counter where nothing was recorded.
        n if n > LARGEST => Some("is larger than any counter"),
        _ => None,
    }
}

/// The largest value of a counter.
const LARGEST: f64 = u64::MAX as f64;

fn can_be(number: f64) -> bool {
    (0.0..LARGEST).contains(&number)
}

/// The same from plain text.
pub(crate) fn from_text(text: &str) -> Option<f64> {
    let text = text.trim().trim_end_matches('%');
    let number: f64 = text.parse().ok()?;
    can_be(number).then_some(number)
}

/// A number above zero.
pub(crate) fn positive(value: Option<&Value>) -> Option<f64> {
    of(value).filter(|n| *n > 0.0)
}

/// Text of at most 4,096 characters; numbers and flags as their text.
pub(crate) fn text(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::String(text) => Some(text.chars().take(4096).collect()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(u8::from(*flag).to_string()),
        _ => None,
    }
}
