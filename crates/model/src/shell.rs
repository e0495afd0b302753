//! Words of a command that a user can copy into a shell.

/// The word as a shell takes it: as it is where it is plain, else between quotes.
pub fn word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._:=,@%+-".contains(c);
    // Some shells replace a word that begins with one of these.
    let is_plain = !word.starts_with(['=', '%']) && word.chars().all(plain);
    match !word.is_empty() && is_plain {
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
        assert_eq!(word("=ls"), "'=ls'");
        assert_eq!(word("--rw=read"), "--rw=read");
    }

    #[test]
    fn a_word_gets_through_two_shells() {
        for text in ["/data", "it's", "a b$(reboot)`x`\\", "'", ""] {
            let inner = format!("printf %s {}", word(text));
            let outer = format!("sh -c {}", word(&inner));
            let output = std::process::Command::new("sh")
                .args(["-c", &outer])
                .output();
            assert_eq!(String::from_utf8(output.unwrap().stdout).unwrap(), text);
        }
    }
}
