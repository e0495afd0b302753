//! Secrets in command lines: those of this program, and those of others that
//! the user gave as one word, such as a command that runs before each trial.

use super::{MASK, is_address_name, is_secret_name, masked, without_each_user};

/// What the next word of a command line is.
#[derive(Debug, Default, PartialEq)]
enum Next {
    #[default]
    Any,
    Secret,
    Address,
    /// `user:password`, if there is a colon.
    Login,
}

/// Programs with short options for secrets.
struct ShortSecrets {
    programs: &'static [&'static str],
    options: &'static [&'static str],
    /// The secret may stand behind the option in the same word.
    joined: bool,
    /// It may be the next word.
    separate: bool,
}

const SHORT_SECRETS: [ShortSecrets; 5] = [
    // Alone, -p asks for the password.
    ShortSecrets {
        programs: &[
            "7z",
            "7za",
            "mariadb",
            "mariadb-admin",
            "mariadb-check",
            "mariadb-dump",
            "mariadb-import",
            "mariadb-show",
            "mariadb-slap",
            "mysql",
            "mysqladmin",
            "mysqlbinlog",
            "mysqlcheck",
            "mysqldump",
            "mysqlimport",
            "mysqlshow",
            "mysqlslap",
        ],
        options: &["-p"],
        joined: true,
        separate: false,
    },
    ShortSecrets {
        programs: &[
            "mongo",
            "mongodump",
            "mongoexport",
            "mongoimport",
            "mongorestore",
            "mongosh",
            "mongostat",
            "rabbitmqadmin",
            "sshpass",
        ],
        options: &["-p"],
        joined: true,
        separate: true,
    },
    ShortSecrets {
        programs: &[
            "redis-benchmark",
            "redis-cli",
            "valkey-benchmark",
            "valkey-cli",
        ],
        options: &["-a", "--pass"],
        joined: false,
        separate: true,
    },
    ShortSecrets {
        programs: &[
            "ldapadd",
            "ldapdelete",
            "ldapmodify",
            "ldapsearch",
            "ldapwhoami",
        ],
        options: &["-w"],
        joined: true,
        separate: true,
    },
    ShortSecrets {
        programs: &[
            "ipmitool",
            "mosquitto_pub",
            "mosquitto_sub",
            "sqlcmd",
            "unzip",
            "zip",
        ],
        options: &["-P"],
        joined: true,
        separate: true,
    },
];

/// Programs that take `-p SECRET` behind the word `login`, and use `-p` for other
/// things elsewhere.
const LOGINS: [&str; 9] = [
    "az", "buildah", "docker", "helm", "nerdctl", "oc", "oras", "podman", "skopeo",
];
const LOGIN_SECRETS: ShortSecrets = ShortSecrets {
    programs: &LOGINS,
    options: &["-p"],
    joined: true,
    separate: true,
};

/// Where in a command a word stands.
#[derive(Default)]
struct WordPosition {
    next: Next,
    /// Short options of the program whose arguments these are.
    short: Option<&'static ShortSecrets>,
    /// The program takes a secret behind the word `login`.
    logs_in: bool,
    /// The program is curl, whose options without values may stand in one word.
    is_curl: bool,
}

impl WordPosition {
    /// Takes note of a program.
    fn enter(&mut self, word: &str) {
        let name = word.rsplit(['/', '=']).next().unwrap_or(word);
        if let Some(short) = SHORT_SECRETS.iter().find(|s| s.programs.contains(&name)) {
            self.short = Some(short);
        }
        if self.logs_in && word == "login" {
            self.short = Some(&LOGIN_SECRETS);
        }
        self.logs_in |= LOGINS.contains(&name);
        self.is_curl |= name == "curl";
    }

    /// The word without its secret, where it is a short option for one.
    fn short_option(&mut self, word: &str) -> Option<String> {
        let short = self.short?;
        let option = short
            .options
            .iter()
            .find(|option| word.starts_with(**option))?;
        let is_alone = word == *option;
        let takes = match is_alone {
            true => short.separate,
            false => short.joined,
        };
        if !takes {
            return None;
        }
        // What follows may be the command of another program.
        self.short = None;
        if is_alone {
            self.next = Next::Secret;
            return Some(word.to_owned());
        }
        Some(format!("{option}{MASK}"))
    }

    /// Whether a word is a short option with its secret.
    fn is_joined(&self, word: &str) -> bool {
        let starts = |option: &&str| word.starts_with(*option);
        self.short
            .is_some_and(|short| short.joined && short.options.iter().any(starts))
    }

    /// Options of other programs that take `user:password`.
    fn is_login_option(&self, word: &str) -> bool {
        let is_cluster = || {
            let letters = word.strip_prefix('-').unwrap_or_default();
            let ends = letters.ends_with(['u', 'U']);
            ends && letters.chars().all(|c| c.is_ascii_alphabetic())
        };
        let alone = matches!(word, "-u" | "-U" | "--user" | "--proxy-user");
        alone || (self.is_curl && is_cluster())
    }
}

/// A command line without secrets: also values that stand behind the name of
/// their option, and those in words that are themselves command lines.
pub fn masked_arguments(arguments: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut place = WordPosition::default();
    let arguments = arguments.into_iter();
    arguments
        .map(|argument| {
            let name = argument.split_once('=').map_or("", |(name, _)| name);
            // A variable that a shell sets stands before a command.
            let is_variable = !name.contains(|c: char| c == '-' || c.is_ascii_lowercase());
            let is_one_value = place.next == Next::Secret
                || place.is_joined(&argument)
                || (is_plain_secret_name(name) && !is_variable);
            match !is_one_value && argument.contains(char::is_whitespace) {
                true => {
                    place.next = Next::Any;
                    masked_command(&argument)
                }
                false => shown_word(&argument, &mut place),
            }
        })
        .collect()
}

/// A command of a shell, in one text, without secrets.
pub fn masked_command(text: &str) -> String {
    let mut place = WordPosition::default();
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let blank = rest.len() - rest.trim_start_matches(separates_words).len();
        if rest[..blank].contains(ends_command) {
            place = WordPosition::default();
        }
        out += &rest[..blank];
        rest = &rest[blank..];
        let (word, behind) = rest.split_at(end_of_word(rest));
        out += &shown_word(word, &mut place);
        rest = behind;
    }
    // Secrets that lie across words, such as those of headers.
    masked(&out)
}

/// One word of a command, which may be in quotes and a command itself.
fn shown_word(word: &str, place: &mut WordPosition) -> String {
    let quote = word.chars().next().filter(|c| matches!(c, '"' | '\''));
    let inner = quote.and_then(|quote| word.strip_prefix(quote)?.strip_suffix(quote));
    let before = match (quote, inner) {
        (Some(quote), Some(inner)) if place.next == Next::Any => {
            let shown = match inner.contains(char::is_whitespace) && !place.is_joined(inner) {
                true => masked_command(inner),
                false => word_without_secrets(inner, place),
            };
            return format!("{quote}{shown}{quote}");
        }
        _ => std::mem::take(&mut place.next),
    };
    let is_login = |word: &str| word.contains([':', '%']);
    match before {
        Next::Login if !is_login(word) => masked(word),
        Next::Login => MASK.to_owned(),
        Next::Any if place.is_login_option(word) => {
            place.next = Next::Login;
            word.to_owned()
        }
        // `-uadmin:PW` and `--user=admin:PW`.
        Next::Any if word.starts_with("-u") && word.contains(':') => format!("-u{MASK}"),
        Next::Any if word.starts_with("-U") && is_login(word) => format!("-U{MASK}"),
        Next::Any => match word.split_once('=') {
            Some((name, login)) if place.is_login_option(name) && login.contains(':') => {
                format!("{name}={MASK}")
            }
            _ => word_without_secrets(word, place),
        },
        other => {
            place.next = other;
            word_without_secrets(word, place)
        }
    }
}

/// One word, given where it stands.
fn word_without_secrets(word: &str, place: &mut WordPosition) -> String {
    match std::mem::take(&mut place.next) {
        Next::Secret => return MASK.to_owned(),
        Next::Address => return masked(&without_each_user(word)),
        Next::Any | Next::Login => {}
    }
    if let Some(shown) = place.short_option(word) {
        return shown;
    }
    place.enter(word);
    let option = word.starts_with('-');
    match word.split_once('=') {
        Some((name, _)) if is_plain_secret_name(name) => format!("{name}={MASK}"),
        Some((name, value)) if is_address_name(name) => {
            masked(&format!("{name}={}", without_each_user(value)))
        }
        None if option && is_secret_name(word) => {
            place.next = Next::Secret;
            word.to_owned()
        }
        None if option && is_address_name(word) => {
            place.next = Next::Address;
            word.to_owned()
        }
        _ => masked(word),
    }
}

/// Whether this is the name of a secret and nothing else that could be one.
fn is_plain_secret_name(name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    is_secret_name(name) && name.chars().all(is_part)
}

/// Where the first word ends: at a blank, or at a sign of the shell, that does
/// not stand in quotes.
fn end_of_word(text: &str) -> usize {
    let (mut quote, mut escaped) = (None, false);
    for (at, c) in text.char_indices() {
        match (quote, c) {
            _ if escaped => escaped = false,
            (None | Some('"'), '\\') => escaped = true,
            (Some(open), _) if open == c => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, c) if separates_words(c) => return at,
            _ => {}
        }
    }
    text.len()
}

fn separates_words(c: char) -> bool {
    c.is_whitespace() || ends_command(c)
}

fn ends_command(c: char) -> bool {
    matches!(c, '\n' | ';' | '|' | '&' | '(' | ')')
}
