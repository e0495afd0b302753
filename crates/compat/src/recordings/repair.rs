//! Makes JSON of what almost is JSON.
//!
//! sysstat's tools end without their closing brackets when they are ended by
//! Ctrl-C before 12.1, print one comma too many or too few with `-y` in some
//! versions, and write decimal commas under some locales.

/// The text with its faults mended, and what they were, in words.
pub(super) fn repair(text: &str) -> (String, Vec<&'static str>) {
    let mut mender = Mender::default();
    for byte in text.bytes() {
        mender.take(byte);
    }
    mender.finish()
}

/// Deeper nesting is not what these tools write.
const MOST_DEPTH: usize = 64;

#[derive(Default)]
struct Mender {
    out: Vec<u8>,
    /// The closing brackets that are due, outermost first.
    due: Vec<u8>,
    in_string: bool,
    escaped: bool,
    /// The last byte outside of strings that is no space.
    last: u8,
    /// Behind the last whole object: how long the text was, what was due.
    whole: Option<(usize, Vec<u8>)>,
    remarks: Vec<&'static str>,
    /// Nesting that nothing sensible has: the rest is left out.
    over: bool,
}

impl Mender {
    fn remark(&mut self, words: &'static str) {
        if !self.remarks.contains(&words) {
            self.remarks.push(words);
        }
    }

    fn take(&mut self, byte: u8) {
        if self.over {
            return;
        }
        if self.in_string {
            self.out.push(byte);
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.in_string = false,
                _ => {}
            }
            return;
        }
        if byte.is_ascii_whitespace() {
            self.out.push(byte);
            return;
        }
        // What ended a value, before what begins one.
        if matches!(byte, b'"' | b'{' | b'[') && matches!(self.last, b'}' | b']') {
            self.remark("a comma was missing");
            self.out.push(b',');
        }
        match byte {
            b'"' => self.in_string = true,
            b'{' => self.due.push(b'}'),
            b'[' => self.due.push(b']'),
            b'}' | b']' => {
                self.drop_comma();
                if self.due.pop() != Some(byte) {
                    self.over = true;
                    return;
                }
            }
            b',' if matches!(self.last, b',' | b'[' | b'{') => {
                self.remark("there was a comma too many");
                return;
            }
            _ => {}
        }
        self.over = self.due.len() > MOST_DEPTH;
        self.decimal(byte);
        self.last = byte;
        if byte == b'}' {
            self.whole = Some((self.out.len(), self.due.clone()));
        }
    }

    /// `1,5` between brackets is one number.
    fn decimal(&mut self, byte: u8) {
        let before = self
            .out
            .len()
            .checked_sub(2)
            .map(|at| (self.out[at], self.out[at + 1]));
        if let Some((digit, b',')) = before
            && digit.is_ascii_digit()
            && byte.is_ascii_digit()
        {
            self.remark("decimal commas");
            let comma = self.out.len() - 1;
            self.out[comma] = b'.';
        }
        self.out.push(byte);
    }

    /// A comma before a closing bracket.
    fn drop_comma(&mut self) {
        if self.last == b','
            && let Some(comma) = self.out.iter().rposition(|b| *b == b',')
        {
            self.remark("there was a comma too many");
            self.out.remove(comma);
        }
    }

    fn finish(mut self) -> (String, Vec<&'static str>) {
        if self.over || self.in_string || !self.due.is_empty() {
            self.remark("the end was missing; what was whole is used");
            if let Some((length, due)) = self.whole.take() {
                self.out.truncate(length);
                self.out.extend(due.iter().rev());
            }
        }
        (
            String::from_utf8_lossy(&self.out).into_owned(),
            self.remarks,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    fn mended(text: &str) -> Value {
        serde_json::from_str(&repair(text).0).expect("it is JSON")
    }

    #[test]
    fn sound_text_stays() {
        let text = r#"{"a": [1, 2.5, {"b": "x,y [1,2] \" {"}], "c": {}}"#;
        assert_eq!(repair(text), (text.to_owned(), vec![]));
    }

    #[test]
    fn faults_are_mended() {
        let whole = json!({"a": [{"b": 1.5, "c": 2}, {"b": 3}]});
        for text in [
            r#"{"a": [{"b": 1,5, "c": 2}, {"b": 3}]}"#,
            r#"{"a": [{"b": 1.5, "c": 2} {"b": 3}]}"#,
            r#"{"a": [, {"b": 1.5, "c": 2,}, {"b": 3},]}"#,
            r#"{"a": [{"b": 1.5, "c": 2}, {"b": 3}"#,
            r#"{"a": [{"b": 1.5, "c": 2}, {"b": 3}, {"b": 4, "c"#,
            r#"{"a": [{"b": 1.5, "c": 2}, {"b": 3},
"#,
        ] {
            assert_eq!(mended(text), whole, "{text}");
            assert!(!repair(text).1.is_empty(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_ends(text in "[\\[\\]{},:\"0-9a-z \\\\]{0,200}") {
            let (out, _) = repair(&text);
            prop_assert!(out.len() <= 2 * text.len() + MOST_DEPTH + 1);
        }

        #[test]
        fn cut_anywhere_behind_its_first_object_it_is_json(cut in 20usize..76) {
            let text = r#"{"s": [{"t": "1", "d": [{"n": "a", "r": 1.25}, {"n": "b", "r": 2.5}]}, {"t": "2"}]}"#;
            let first = text.find('}').expect("an object") + 1;
            let cut = cut.clamp(first, text.len());
            prop_assert!(serde_json::from_str::<Value>(&repair(&text[..cut]).0).is_ok());
        }
    }
}
