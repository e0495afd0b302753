//! Secrets taken out of texts before these are stored, printed or sent: values
//! of options that hold keys, user parts of addresses, join tokens, and every
//! secret that this process was given, wherever it turns up.
//!
//! It is the one place that decides what is a secret. Command lines, plans,
//! errors and notes pass through it at their entrance.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// What stands where a secret was.
pub const MASK: &str = "***";
/// Shorter secrets are not looked for in other texts: they would be found in
/// every word.
const LEAST_CHARS: usize = 8;
/// A join token: this, a number, and the secret.
const TOKEN: &str = "fathom-join-";

/// Options and keys whose values are secrets.
const NAMES: [&str; 28] = [
    "access_key",
    "access_token",
    "api_key",
    "api_token",
    "auth_token",
    "authorization",
    "aws_secret_access_key",
    "aws_session_token",
    "client_secret",
    "http_pass",
    "http_s3_key",
    "http_s3_security_token",
    "http_s3_sse_customer_key",
    "http_swift_auth_token",
    "mysql_pwd",
    "passphrase",
    "passwd",
    "password",
    "pgpassword",
    "private_key",
    "secret",
    "secret_access_key",
    "secret_key",
    "security_token",
    "session_token",
    "sse_customer_key",
    "token",
    "x_auth_token",
];
/// What longer names of such options end with.
const ENDINGS: [&str; 6] = [
    "_passphrase",
    "_password",
    "_private_key",
    "_secret",
    "_secret_access_key",
    "_secret_key",
];
/// Words before the secret in the value of a header.
const SCHEMES: [&str; 4] = ["Basic ", "Bearer ", "Digest ", "Token "];
/// Options whose values are addresses, also without a scheme.
const ADDRESSES: [&str; 6] = [
    "endpoint",
    "http_host",
    "http_proxy",
    "https_proxy",
    "metrics_push",
    "proxy",
];

/// Secrets that this process was given.
static KNOWN: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// Remembers a secret, so that [`masked`] finds it wherever it turns up. One of
/// fewer than eight characters is found by the name of its option only.
pub fn remember(secret: &str) {
    if secret.chars().count() >= LEAST_CHARS {
        known().insert(secret.to_owned());
    }
}

fn known() -> std::sync::MutexGuard<'static, BTreeSet<String>> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether an option or key of this name holds a secret.
pub fn is_secret_name(name: &str) -> bool {
    let name = plain(name);
    NAMES.contains(&name.as_str()) || ENDINGS.iter().any(|end| name.ends_with(end))
}

fn is_address_name(name: &str) -> bool {
    ADDRESSES.contains(&plain(name).as_str())
}

/// `--HTTP-S3-Key` is `http_s3_key`.
fn plain(name: &str) -> String {
    name.trim_matches(['-', ' ', '"', '\''])
        .to_ascii_lowercase()
        .replace('-', "_")
}

/// An address without the user part before its host, if it has one.
pub fn without_user(address: &str) -> Option<String> {
    let (scheme, rest) = match address.split_once("://") {
        Some((scheme, rest)) => (format!("{scheme}://"), rest),
        None => (String::new(), address),
    };
    let end = end_of_user(rest)?;
    Some(format!("{scheme}{MASK}{}", &rest[end..]))
}

/// Remembers the user part of an address, if it has one.
pub fn remember_user(address: &str) {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    if let Some(end) = end_of_user(rest) {
        let user = &rest[..end];
        remember(user);
        remember(user.split_once(':').map_or(user, |(_, password)| password));
    }
}

/// Addresses with commas between them, without their user parts.
fn without_each_user(addresses: &str) -> String {
    let addresses = masked(addresses);
    let each = addresses
        .split(',')
        .map(|one| without_user(one).unwrap_or_else(|| one.to_owned()));
    each.collect::<Vec<String>>().join(",")
}

/// Where the user part of `rest`, which begins behind a scheme, ends: at the
/// last `@` before the path. A password may hold a slash: then what stands
/// before it is no host with a port.
fn end_of_user(rest: &str) -> Option<usize> {
    let word = rest
        .find(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '<' | '>' | '`'))
        .unwrap_or(rest.len());
    let word = &rest[..word];
    let host = word.find(['/', '?', '#', ',']).unwrap_or(word.len());
    // Behind an equals sign stands whose keys sign there.
    let whose = ["=profile:", "=file:", "=env:", "=anonymous"].iter();
    let host = whose
        .filter_map(|mark| word.find(mark))
        .fold(host, usize::min);
    if let Some(at) = word[..host].rfind('@') {
        return Some(at);
    }
    let (_, port) = word[..host].rsplit_once(':')?;
    let is_port = port.bytes().all(|byte| byte.is_ascii_digit());
    match is_port || word[..host].starts_with('[') {
        true => None,
        false => word.rfind('@'),
    }
}

/// The text without secrets.
pub fn masked(text: &str) -> String {
    let mut text = text.to_owned();
    // A secret may be part of a longer one.
    let mut secrets: Vec<String> = known().iter().cloned().collect();
    secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
    for secret in secrets.iter().filter(|secret| !secret.is_empty()) {
        if text.contains(secret.as_str()) {
            text = text.replace(secret.as_str(), MASK);
        }
    }
    if text.contains("://") {
        text = without_users(&text);
    }
    if text.contains('@') {
        text = without_logins(&text);
    }
    if text.contains(TOKEN) {
        text = without_tokens(&text);
    }
    match text.contains(['=', ':']) {
        true => without_values(&text),
        false => text,
    }
}

fn without_users(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        out += before;
        rest = after;
        if let Some(end) = end_of_user(rest) {
            out += MASK;
            rest = &rest[end..];
        }
        // What stands behind the question mark may be a key or a signature.
        let word = rest.find(ends_address).unwrap_or(rest.len());
        if let Some(query) = rest[..word].find('?') {
            out += &rest[..=query];
            out += MASK;
            rest = &rest[word..];
        }
    }
    out + rest
}

/// `me:password@host` without a scheme, or behind one that is misspelled.
fn without_logins(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split_inclusive(ends_address) {
        match login_of(word) {
            Some(login) => {
                out += &word[..login.start];
                out += MASK;
                out += &word[login.end..];
            }
            None => out += word,
        }
    }
    out
}

/// Where the user and password of a word stand. Behind the first `@` only: the
/// hosts of a Lustre mount (`a@tcp:b@tcp:/fs`) are not logins.
fn login_of(word: &str) -> Option<std::ops::Range<usize>> {
    let at = word.find('@')?;
    let host = word[at + 1..].chars().next()?;
    let start = word[..at].rfind(['/', '=']).map_or(0, |mark| mark + 1);
    let (user, password) = word[start..at].split_once(':')?;
    // The form of a value, as errors and help say it.
    if matches!((user, password), ("profile", "NAME")) && word[at..].starts_with("@FILE") {
        return None;
    }
    let is_login = !user.is_empty() && !password.is_empty() && password != MASK;
    (is_login && host.is_alphanumeric()).then_some(start..at)
}

/// Ends an address in a text.
fn ends_address(c: char) -> bool {
    c.is_whitespace() || matches!(c, '"' | '\'' | '<' | '>' | '`' | ',' | ';' | ')')
}

fn without_tokens(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(TOKEN) {
        let (before, after) = rest.split_at(at + TOKEN.len());
        out += before;
        let is_part = |c: char| c.is_ascii_alphanumeric();
        let number = after.find(|c| !is_part(c)).unwrap_or(after.len());
        out += &after[..number];
        rest = &after[number..];
        if let Some(secret) = rest.strip_prefix('-') {
            let end = secret.find(|c| !is_part(c)).unwrap_or(secret.len());
            if end > 0 {
                out += "-";
                out += MASK;
                rest = &secret[end..];
            }
        }
    }
    out + rest
}

/// `http_s3_key=VALUE` and `secret_key: VALUE`, in whatever text they stand.
fn without_values(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['=', ':']) {
        let (before, after) = rest.split_at(at + 1);
        out += before;
        rest = after;
        let name = before[..at].trim_end_matches(['"', '\'', ' ']);
        let start = name
            .rfind(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '-'))
            .map_or(0, |at| {
                at + name[at..].chars().next().map_or(1, char::len_utf8)
            });
        let is_path = is_file_before(before, start, rest);
        let name = &name[start..];
        if is_secret_name(name) && !is_path {
            let mut blank = rest.len() - rest.trim_start_matches([' ', '"', '\'']).len();
            let scheme = SCHEMES
                .iter()
                .find(|word| rest[blank..].starts_with(**word));
            blank += scheme.map_or(0, |word| word.len());
            let value = &rest[blank..];
            let end = value
                .find(|c: char| c.is_whitespace() || matches!(c, '"' | '\''))
                .unwrap_or(value.len());
            if end > 0 && !value.starts_with(MASK) {
                out += &rest[..blank];
                out += MASK;
                rest = &value[end..];
            }
        } else if is_address_name(name)
            && !rest.trim_start().starts_with("http")
            && let Some(end) = end_of_user(rest)
        {
            out += MASK;
            rest = &rest[end..];
        }
    }
    out + rest
}

/// Whether the name that begins at `start` is the end of the path of a file, with what is
/// said of it behind: `/etc/passwd: permission denied`. Only paths that begin as such count:
/// `login/password: ` may be of a form.
fn is_file_before(before: &str, start: usize, rest: &str) -> bool {
    let path = &before[..start];
    let begins = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '(' | '=');
    let word = path.rsplit(begins).next().unwrap_or(path);
    let roots = ["/", "./", "../", "~/"];
    let is_path = word.ends_with('/') && roots.iter().any(|root| word.starts_with(root));
    is_path && before.ends_with(':') && rest.starts_with(' ')
}

#[path = "secret_commands.rs"]
mod commands;
pub use commands::{masked_arguments, masked_command};

#[cfg(test)]
#[path = "secret_tests.rs"]
mod tests;
