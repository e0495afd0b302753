//! Where the page of a diagnosis is from: when it was made, of what time, by which
//! command.

use std::path::PathBuf;

use fathom_diagnose::recording::Recording;
use fathom_model::shell;
use fathom_observe::unix_now_ns;
use fathom_report::diagnosis::{PageOrigin, Source};

use crate::typed_command::typed_command;

/// What stands for names that are left out, or that no second call can read.
const NAMELESS: &str = "FILE";

/// What was looked at: this host without files, else recordings as they were typed,
/// without the one of a test load.
pub(super) fn source(files: &[PathBuf], test: Option<&str>, anonymise: bool) -> Source {
    if files.is_empty() {
        return Source::ThisHost;
    }
    let names = files.iter().map(|file| file.display().to_string());
    let of_load: Vec<String> = names.filter(|name| Some(name.as_str()) != test).collect();
    let is_nameless = anonymise || of_load.iter().any(|name| name == "-");
    Source::Recording(match is_nameless {
        true => NAMELESS.to_owned(),
        false => {
            let words = of_load.iter().map(|name| shell::word(name));
            words.collect::<Vec<_>>().join(" ")
        }
    })
}

/// The origin of a page about this recording. Files may be named after their host:
/// `anonymise` leaves out what was typed behind the command.
pub(super) fn of(load: &Recording, anonymise: bool, source: Source) -> PageOrigin {
    let command = match anonymise {
        true => "fathom diagnose --anonymise".to_owned(),
        false => typed_command(),
    };
    let mut times = load.moments.iter().filter_map(|moment| moment.at);
    let first = times.next();
    let last = times.next_back().or(first);
    PageOrigin {
        source,
        made_unix_ns: unix_now_ns(),
        command,
        recorded: first.zip(last).map(|(first, last)| {
            let (day, time) = ("%Y-%m-%d %H:%M:%S", "%H:%M:%S");
            let end = if first.date() == last.date() {
                time
            } else {
                day
            };
            format!("{} to {}", first.strftime(day), last.strftime(end))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recordings_are_named_as_they_were_typed() {
        let of = |files: &[&str], test, anonymise| {
            let files: Vec<PathBuf> = files.iter().map(PathBuf::from).collect();
            source(&files, test, anonymise)
        };
        let named = |words: &str| Source::Recording(words.to_owned());
        assert_eq!(of(&[], None, true), Source::ThisHost);
        assert_eq!(
            of(&["my ticket.json"], None, false),
            named("'my ticket.json'")
        );
        let three = ["ticket.json", "test.json", "uptime.txt"];
        let load = named("ticket.json uptime.txt");
        assert_eq!(of(&three, Some("test.json"), false), load);
        assert_eq!(of(&three, None, true), named("FILE"));
        assert_eq!(of(&["-"], None, false), named("FILE"));
    }
}
