//! Words of a command that a user can copy into a shell.

/// The word as a shell takes it: as it is where it is plain, else between quotes.
pub fn word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._:=,@%+-".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::word;

    #[test]
    fn only_what_a_shell_would_change_is_quoted() {
        assert_eq!(word("dumps/ticket-1.json"), "dumps/ticket-1.json");
        assert_eq!(word("my ticket.json"), "'my ticket.json'");
        assert_eq!(word("it's"), "'it'\\''s'");
        assert_eq!(word(""), "''");
    }
}
