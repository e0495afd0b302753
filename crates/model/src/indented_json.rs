//! Documents as JSON that people can read.
//!
//! `serde_json` has a writer of its own for that, for which the compiler makes a second copy
//! of all code that writes a document. Here the compact text is broken into lines afterwards.

use serde::Serialize;

/// Spaces of a level.
const INDENT: usize = 2;

/// A document as JSON in lines, without one at the end that is empty: byte for byte what
/// `serde_json::to_string_pretty` gives.
///
/// # Errors
/// The document cannot be written as JSON, for example because the keys of a map are not text.
pub fn indented_json(document: &(impl Serialize + ?Sized)) -> Result<String, serde_json::Error> {
    Ok(indented(&serde_json::to_string(document)?))
}

fn indented(compact: &str) -> String {
    let mut text = String::with_capacity(compact.len() * 2);
    let mut depth: usize = 0;
    let mut letters = compact.chars().peekable();
    let new_line = |text: &mut String, depth: usize| {
        text.push('\n');
        text.extend(std::iter::repeat_n(' ', INDENT * depth));
    };
    while let Some(letter) = letters.next() {
        match letter {
            '"' => {
                text.push('"');
                push_rest_of_string(&mut text, &mut letters);
            }
            '{' | '[' => {
                text.push(letter);
                if let Some(close @ ('}' | ']')) = letters.peek().copied() {
                    letters.next();
                    text.push(close);
                } else {
                    depth += 1;
                    new_line(&mut text, depth);
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                new_line(&mut text, depth);
                text.push(letter);
            }
            ',' => {
                text.push(',');
                new_line(&mut text, depth);
            }
            ':' => text.push_str(": "),
            other => text.push(other),
        }
    }
    text
}

/// Up to the quote that ends it.
fn push_rest_of_string(text: &mut String, letters: &mut impl Iterator<Item = char>) {
    while let Some(letter) = letters.next() {
        text.push(letter);
        match letter {
            '"' => return,
            '\\' => text.extend(letters.next()),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn it_is_what_the_library_writes() {
        let documents = [
            json!(null),
            json!([]),
            json!({}),
            json!(1.5e-9),
            json!({"a": [], "b": {}, "c": [[], [1, 2.0, -3]], "d": {"e": null}}),
            json!(["a \"quoted\" word", "a\\", "{[,:]}", "ä\n\t\u{1}", {"a:b,c": true}]),
        ];
        for document in documents {
            let expected = serde_json::to_string_pretty(&document).unwrap();
            assert_eq!(indented_json(&document).unwrap(), expected);
        }
    }
}
