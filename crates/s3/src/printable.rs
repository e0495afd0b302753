//! Texts of others as people may see them.

/// Characters of a text that are shown.
const SHOWN: usize = 120;

/// A key, or another text of a store, as it is shown: short, and without
/// characters that a terminal obeys.
pub fn shown(key: &str) -> String {
    let mut text: String = key
        .chars()
        .take(SHOWN)
        .flat_map(char::escape_debug)
        .collect();
    if key.chars().nth(SHOWN).is_some() {
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_shown_without_its_tricks() {
        assert_eq!(shown("a\u{1b}[2Jb\0"), "a\\u{1b}[2Jb\\0");
        let long = shown(&"x".repeat(5000));
        assert!(long.ends_with('…') && long.chars().count() == 121);
    }
}
