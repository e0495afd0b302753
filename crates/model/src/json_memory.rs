//! How much memory a JSON document takes once it is read: a guess from above
//! that looks at the text alone, so that a small file cannot fill the memory of
//! whoever reads it.

/// Of a value in a list; lists grow by doubling.
const VALUE_BYTES: u64 = 48;
/// Of a text or a key, beside its characters.
const TEXT_BYTES: u64 = 40;
/// Of a node of an object's tree, and how many entries it holds at least once
/// there is more than one.
const NODE_BYTES: u64 = 656;
const NODE_ENTRIES: u64 = 5;
const FIRST_NODE_ENTRIES: u64 = 11;

/// Bytes that the values of a document take at most, its text not included. It
/// need not be well-formed.
pub fn json_memory_bytes(text: &[u8]) -> u64 {
    let mut total = VALUE_BYTES;
    // Entries of the objects that are open.
    let mut open: Vec<u64> = Vec::new();
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => {
                let end = end_of_text(text, at + 1);
                total += TEXT_BYTES + (end - at) as u64;
                at = end;
            }
            b'{' | b'[' => {
                total += VALUE_BYTES;
                open.push(0);
            }
            b'}' | b']' => total += open.pop().map_or(0, nodes_bytes),
            b',' => total += VALUE_BYTES,
            b':' => {
                if let Some(entries) = open.last_mut() {
                    *entries += 1;
                }
            }
            _ => {}
        }
        at += 1;
    }
    open.into_iter()
        .map(nodes_bytes)
        .fold(total, u64::saturating_add)
}

/// The place of the quote that ends a text.
fn end_of_text(text: &[u8], from: usize) -> usize {
    let mut at = from;
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => return at,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    text.len()
}

fn nodes_bytes(entries: u64) -> u64 {
    match entries {
        0 => 0,
        1..=FIRST_NODE_ENTRIES => NODE_BYTES,
        more => more.div_ceil(NODE_ENTRIES) * NODE_BYTES,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guess_grows_with_what_is_kept() {
        let of = |text: &str| json_memory_bytes(text.as_bytes());
        assert!(of("[0,0,0]") >= 3 * 32);
        assert!(of("{\"a\":1}") >= NODE_BYTES, "an object has a node");
        let bins: Vec<String> = (0..1000).map(|n| format!("\"{n}\":1")).collect();
        assert!(of(&format!("{{{}}}", bins.join(","))) >= 1000 * (NODE_BYTES / 11 + TEXT_BYTES));
        let quoted = of("\"{\\\"a\\\":[1,2,3]}\"");
        assert!(
            quoted < 200,
            "what is within a text is not a structure: {quoted}"
        );
        // What breaks off counts as far as it goes.
        assert!(of("{\"a\":{\"b") >= NODE_BYTES && of("\"\\") < 200 && of("") < 200);
    }
}
