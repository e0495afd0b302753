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
    number.filter(|n| n.is_finite() && *n >= 0.0)
}

/// Whether it is a number below zero.
pub(crate) fn is_negative(value: &Value) -> bool {
    let number = match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().trim_end_matches('%').parse().ok(),
        _ => None,
    };
    number.is_some_and(|n| n < 0.0)
}

/// The same from plain text.
pub(crate) fn from_text(text: &str) -> Option<f64> {
    let text = text.trim().trim_end_matches('%');
    let number: f64 = text.parse().ok()?;
    (number.is_finite() && number >= 0.0).then_some(number)
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
