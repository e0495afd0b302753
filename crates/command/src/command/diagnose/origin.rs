//! Where the page of a diagnosis is from: when it was made, of what time, by which
//! command.

use fathom_diagnose::recording::Recording;
use fathom_observe::unix_now_ns;
use fathom_report::diagnosis::PageOrigin;

use crate::typed_command::typed_command;

/// The origin of a page about this recording. Files may be named after their host:
/// `anonymise` leaves out what was typed behind the command.
pub(super) fn of(load: &Recording, anonymise: bool) -> PageOrigin {
    let command = match anonymise {
        true => "fathom diagnose --anonymise".to_owned(),
        false => typed_command(),
    };
    let mut times = load.moments.iter().filter_map(|moment| moment.at);
    let first = times.next();
    let last = times.next_back().or(first);
    PageOrigin {
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
