//! JSON as fio lays it out: keys in the order in which they were added, two
//! blanks a level, ` : ` after a key, six decimals of every float.

use std::fmt::Write;

/// A JSON value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Json {
    Integer(u64),
    Float(f64),
    Text(String),
    Object(Object),
    Array(Vec<Json>),
}

/// An object whose keys keep their order.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Object(Vec<(String, Json)>);

impl Object {
    pub(super) fn new() -> Object {
        Object::default()
    }

    pub(super) fn integer(&mut self, key: &str, value: u64) {
        self.put(key, Json::Integer(value));
    }

    pub(super) fn float(&mut self, key: &str, value: f64) {
        self.put(key, Json::Float(value));
    }

    pub(super) fn text(&mut self, key: &str, value: &str) {
        self.put(key, Json::Text(value.to_owned()));
    }

    pub(super) fn object(&mut self, key: &str, value: Object) {
        self.put(key, Json::Object(value));
    }

    pub(super) fn put(&mut self, key: &str, value: Json) {
        self.0.push((key.to_owned(), value));
    }

    /// The document, ended by a line feed.
    pub(super) fn render(&self) -> String {
        let mut out = String::new();
        self.write(&mut out, 0);
        out.push('\n');
        out
    }

    fn write(&self, out: &mut String, level: usize) {
        out.push_str("{\n");
        for (i, (key, value)) in self.0.iter().enumerate() {
            if i > 0 {
                out.push_str(",\n");
            }
            indent(out, level + 1);
            write_text(out, key);
            out.push_str(" : ");
            value.write(out, level + 1);
        }
        out.push('\n');
        indent(out, level);
        out.push('}');
    }
}

impl Json {
    fn write(&self, out: &mut String, level: usize) {
        match self {
            // Writing to a string cannot fail.
            Json::Integer(value) => _ = write!(out, "{value}"),
            Json::Float(value) if value.is_finite() => _ = write!(out, "{value:.6}"),
            Json::Float(_) => out.push_str("0.000000"),
            Json::Text(value) => write_text(out, value),
            Json::Object(object) => object.write(out, level),
            Json::Array(items) => {
                out.push_str("[\n");
                for (i, item) in items.iter().enumerate() {
                    if i > 0 {
                        out.push_str(",\n");
                    }
                    indent(out, level + 1);
                    item.write(out, level + 1);
                }
                out.push('\n');
                indent(out, level);
                out.push(']');
            }
        }
    }
}

fn indent(out: &mut String, level: usize) {
    for _ in 0..level {
        out.push_str("  ");
    }
}

/// Unlike fio, which escapes quotes and backslashes only, control characters
/// are escaped too: JSON allows none.
fn write_text(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if (c as u32) < 0x20 => _ = write!(out, "\\u{:04x}", c as u32),
            c => out.push(c),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layout_is_that_of_fio() {
        let mut inner = Object::new();
        inner.float("f", 0.5);
        inner.put(
            "list",
            Json::Array(vec![Json::Integer(1), Json::Integer(2)]),
        );
        let mut document = Object::new();
        document.text("a\"b\n", "c\\");
        document.object("o", inner);
        assert_eq!(
            document.render(),
            "{\n  \"a\\\"b\\u000a\" : \"c\\\\\",\n  \"o\" : {\n    \"f\" : 0.500000,\n    \
             \"list\" : [\n      1,\n      2\n    ]\n  }\n}\n"
        );
        let read: serde_json::Value = serde_json::from_str(&document.render()).unwrap();
        assert_eq!(read["o"]["list"][1], 2);
    }

    #[test]
    fn what_is_no_number_becomes_zero() {
        let mut document = Object::new();
        document.float("x", f64::NAN);
        assert!(document.render().contains("\"x\" : 0.000000"));
    }
}
