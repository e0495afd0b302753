//! An answer as a sentence.

/// With a capital and a full stop; a name such as `node2` or `h5:/bricks` stays as it is.
pub(crate) fn sentence_of(text: &str) -> String {
    let first = text.split(' ').next().unwrap_or_default();
    let is_word = first
        .trim_end_matches([',', ':', ';'])
        .chars()
        .all(|letter| letter.is_alphabetic() || matches!(letter, '-' | '\''));
    let mut letters = text.chars();
    let first = letters.next().filter(|_| is_word);
    let text: String = match first {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => text.to_owned(),
    };
    match text.ends_with(['.', '!', '?']) {
        true => text,
        false => format!("{text}."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_becomes_a_sentence() {
        assert_eq!(sentence_of("the knee is at 8"), "The knee is at 8.");
        assert_eq!(sentence_of("B is faster."), "B is faster.");
        assert_eq!(sentence_of("h5:/b is slow"), "h5:/b is slow.");
        assert_eq!(sentence_of("inconclusive: none"), "Inconclusive: none.");
    }
}
