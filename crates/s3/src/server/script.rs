//! What a scripted store does to some of its requests.

use std::sync::Mutex;
use std::time::Duration;

use super::listing_fault::ListingFault;
use super::lock;

/// What is done to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// The answer comes this much later.
    Delay(Duration),
    /// The answer is this status and nothing is done.
    Status(u16),
    /// The connection is closed instead of an answer.
    Close,
    /// The connection is closed in the middle of the body of the answer.
    Truncate,
    /// One byte of the body of the answer is changed.
    Corrupt,
    /// No answer comes for so long, and then the connection is closed.
    Hang(Duration),
    /// The answer comes byte by byte, one every so often.
    Drip(Duration),
    /// What is to be removed stays, and the answer says that it is gone.
    Pretend,
    /// What is put is confirmed and not kept.
    Forget,
    /// Of what is put only the first half is kept.
    Shorten,
    /// The answer holds another part of the object than was asked for, and says so.
    OtherRange,
    /// The answer holds the whole object where a part was asked for.
    WholeObject,
    /// The answer has no entity tag.
    NoTag,
    /// The answer sends the client to another host.
    Redirect,
    /// The answer says that the signature is for another region.
    WrongRegion,
    /// The answer says that a bucket cannot have this name.
    BadBucket,
    /// A listing is answered, and the answer is wrong.
    List(ListingFault),
}

/// Every how manieth request something is done to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// Only requests with this method; all when empty. `LIST` are listings; of
    /// them `WALK` those of objects that are not folded at `/`, `VERSIONS` and
    /// `UPLOADS`. `COPY` are copies.
    pub method: String,
    /// Requests `first`, `first + every`, `first + 2 × every`, …; at least 1.
    pub every: u64,
    /// The first of them, from 0, counted per rule.
    pub first: u64,
    /// What is done.
    pub action: Action,
}

/// A text that is no rule of a script.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{rule}' is not a rule; write METHOD:ACTION@EVERY, where ACTION is delay=20ms, a status, close, \
     truncate, corrupt, hang=5s, drip=100ms, pretend, forget, shorten, other-range, whole-object, \
     no-tag, redirect, wrong-region, bad-bucket, or what is wrong with listings ({})",
    names_of_listing_faults()
)]
pub struct NoRule {
    rule: String,
}

fn names_of_listing_faults() -> String {
    let names: Vec<&str> = ListingFault::all().map(|(name, _)| name).collect();
    names.join(", ")
}

/// All that a scripted store does. The first rule that fits counts, except
/// that delays add up with what follows.
#[derive(Debug, Default)]
pub struct Script {
    rules: Vec<Rule>,
    /// Requests that each rule has seen. They are counted together: a request has
    /// its place in the row of all requests, whichever rule asks for it.
    seen: Mutex<Vec<u64>>,
}

impl Script {
    /// A script of rules.
    pub fn new(rules: Vec<Rule>) -> Script {
        Script {
            seen: Mutex::new(vec![0; rules.len()]),
            rules,
        }
    }

    /// From text: rules joined by commas, each `METHOD:ACTION@EVERY`, for
    /// example `GET:delay=20ms@100,PUT:503@10,close@1000`.
    ///
    /// # Errors
    /// A part is no rule.
    pub fn parse(text: &str) -> Result<Script, NoRule> {
        let mut rules = Vec::new();
        for part in text
            .split(',')
            .map(str::trim)
            .filter(|part| !part.is_empty())
        {
            rules.push(parse_rule(part).ok_or_else(|| NoRule {
                rule: part.to_owned(),
            })?);
        }
        Ok(Script::new(rules))
    }

    /// What is done to the next request with this method: how long it is
    /// delayed, and what else.
    /// `kind` is the other name of a listing.
    pub(super) fn next(&self, method: &str, kind: &str) -> (Duration, Option<Action>) {
        let (mut delay, mut action) = (Duration::ZERO, None);
        if self.rules.is_empty() {
            return (delay, action);
        }
        let mut seen = lock(&self.seen);
        for (rule, count) in self.rules.iter().zip(seen.iter_mut()) {
            let name = rule.method.as_str();
            if !name.is_empty() && name != method && name != kind {
                continue;
            }
            let number = *count;
            *count += 1;
            let every = rule.every.max(1);
            if number < rule.first || !(number - rule.first).is_multiple_of(every) {
                continue;
            }
            match rule.action {
                Action::Delay(more) => delay += more,
                other if action.is_none() => action = Some(other),
                _ => {}
            }
        }
        (delay, action)
    }
}

fn parse_rule(text: &str) -> Option<Rule> {
    let (what, every) = text.rsplit_once('@').unwrap_or((text, "1"));
    let (method, action) = match what.split_once(':') {
        Some((method, action)) => (method.to_ascii_uppercase(), action),
        None => (String::new(), what),
    };
    let action = match action.split_once('=') {
        Some(("delay", time)) => Action::Delay(duration(time)?),
        Some(("hang", time)) => Action::Hang(duration(time)?),
        Some(("drip", time)) => Action::Drip(duration(time)?),
        Some(_) => return None,
        None => match action {
            "close" => Action::Close,
            "truncate" => Action::Truncate,
            "corrupt" => Action::Corrupt,
            "pretend" => Action::Pretend,
            "forget" => Action::Forget,
            "shorten" => Action::Shorten,
            "other-range" => Action::OtherRange,
            "whole-object" => Action::WholeObject,
            "no-tag" => Action::NoTag,
            "redirect" => Action::Redirect,
            "wrong-region" => Action::WrongRegion,
            "bad-bucket" => Action::BadBucket,
            other => match ListingFault::parse(other) {
                Some(listing) => Action::List(listing),
                None => Action::Status(other.parse().ok().filter(|s| (200..=599).contains(s))?),
            },
        },
    };
    let every: u64 = every.parse().ok().filter(|every| *every > 0)?;
    Some(Rule {
        method,
        every,
        first: every - 1,
        action,
    })
}

fn duration(text: &str) -> Option<Duration> {
    let split = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = text.split_at(split);
    let number: u64 = number.parse().ok().filter(|n| *n <= 3_600_000_000)?;
    Some(match unit {
        "us" => Duration::from_micros(number),
        "ms" => Duration::from_millis(number),
        "s" => Duration::from_secs(number.min(3600)),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_count_the_requests_that_they_are_about() {
        let script = Script::parse("GET:delay=20ms@2, GET:503@3, close@4").unwrap();
        let get = |_| script.next("GET", "");
        let all: Vec<_> = (0..6).map(get).collect();
        let delayed: Vec<bool> = all.iter().map(|(delay, _)| !delay.is_zero()).collect();
        assert_eq!(delayed, [false, true, false, true, false, true]);
        assert_eq!(all[2].1, Some(Action::Status(503)));
        assert_eq!(all[3].1, Some(Action::Close));
        assert_eq!(script.next("PUT", "").1, None);
        assert_eq!(script.next("PUT", "").1, Some(Action::Close));
    }

    #[test]
    fn requests_at_the_same_time_have_one_place_in_the_row_of_all() {
        // Had each rule a row of its own, a request could be the 34th to one and
        // the 35th to the other, and one of the two would not happen.
        let script = Script::parse("503@2,404@3,500@5,close@7").unwrap();
        let counts = Mutex::new(std::collections::BTreeMap::<String, u64>::new());
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..21_000 {
                        let (_, action) = script.next("GET", "");
                        *lock(&counts).entry(format!("{action:?}")).or_default() += 1;
                    }
                });
            }
        });
        let fits = |every: u64, sooner: &[u64]| {
            let one =
                |n: &u64| n.is_multiple_of(every) && !sooner.iter().any(|s| n.is_multiple_of(*s));
            (1..=84_000_u64).filter(one).count() as u64
        };
        let counts = lock(&counts);
        for (action, expected) in [
            (Action::Status(503), fits(2, &[])),
            (Action::Status(404), fits(3, &[2])),
            (Action::Status(500), fits(5, &[2, 3])),
            (Action::Close, fits(7, &[2, 3, 5])),
        ] {
            assert_eq!(
                counts[&format!("{:?}", Some(action))],
                expected,
                "{action:?}"
            );
        }
    }

    #[test]
    fn what_is_no_rule_is_told() {
        for bad in ["x", "GET:delay=5", "700", "close@0", "hang=1h"] {
            assert!(Script::parse(bad).is_err(), "{bad}");
        }
        assert!(Script::parse("").is_ok());
    }
}
