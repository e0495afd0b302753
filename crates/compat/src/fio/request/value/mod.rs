//! Values of options: from text to numbers, times, lists and words.
//!
//! What is wrong comes back with the character at which it is, so that the
//! message can name file, line and column.

pub(crate) mod distribution;
pub(crate) mod lists;
pub(crate) mod number;
pub(crate) mod pattern;
pub(crate) mod words;

use super::lines::short;
use super::table::{FioKind, FioOption};
use fathom_plan::value::RangeSyncValue;

/// What is wrong with a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wrong {
    /// The character at which it is, from 0.
    pub(crate) at: usize,
    pub(crate) message: String,
}

impl Wrong {
    pub(crate) fn new(at: usize, message: impl Into<String>) -> Wrong {
        Wrong {
            at,
            message: message.into(),
        }
    }

    /// The same further right.
    pub(crate) fn right(mut self, by: usize) -> Wrong {
        self.at = self.at.saturating_add(by);
        self
    }
}

/// What sizes mean within a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Units {
    /// 1024, or 1000 where the job says so.
    pub(crate) kb_base: u64,
}

/// Checks a value by the kind of its option.
pub(crate) fn check(option: &FioOption, text: Option<&str>, units: Units) -> Result<(), Wrong> {
    let Some(text) = text else {
        return match option.kind.may_be_bare() {
            true => Ok(()),
            false => Err(Wrong::new(0, "it needs a value")),
        };
    };
    match &option.kind {
        FioKind::Text | FioKind::Name | FioKind::Gone => Ok(()),
        FioKind::List => lists::names(text).map(drop),
        FioKind::Choice(words) => words::choice(text, words).map(drop),
        FioKind::Bool | FioKind::Flag => words::switch(text).map(drop),
        FioKind::Int => number::integer(text, units).map(drop),
        FioKind::Int3 => lists::three(text, |t| number::integer(t, units)).map(drop),
        FioKind::Size => number::bytes(text, units).map(drop),
        FioKind::Size3 => lists::three(text, |t| number::bytes(t, units)).map(drop),
        FioKind::SizeZone => number::amount(text, units).map(drop),
        FioKind::Range => lists::range(text, units).map(drop),
        FioKind::Range3 => lists::three(text, |t| lists::range(t, units)).map(drop),
        FioKind::Split3 => lists::three(text, |t| lists::split(t, units)).map(drop),
        FioKind::Floats => lists::floats(text).map(drop),
        FioKind::Time => number::time_ns(text, number::SECOND_NS).map(drop),
        FioKind::TimeRange => lists::time_range(text).map(drop),
        FioKind::TimeMicro => number::time_ns(text, number::MICROSECOND_NS).map(drop),
        FioKind::TimeMicro3 => {
            lists::three(text, |t| number::time_ns(t, number::MICROSECOND_NS)).map(drop)
        }
        FioKind::Rw => words::rw(text, units).map(drop),
        FioKind::Engine => match text.is_empty() {
            true => Err(Wrong::new(0, "it names no engine")),
            false => Ok(()),
        },
        FioKind::Service => words::service(text).map(drop),
        FioKind::Distribution => distribution::read(text).map(drop),
        FioKind::Verify => words::verify(text).map(drop),
        FioKind::Pattern => pattern::read(text).map(drop),
        FioKind::Steady => words::steady(text).map(drop),
        FioKind::RangeSync => match RangeSyncValue::read(text) {
            Ok(_) => Ok(()),
            Err(_) => Err(not(
                text,
                "modes and a number of writes, for example write:8 or wait_before,write:8",
            )),
        },
        FioKind::Cpus => lists::cpus(text).map(drop),
    }
}

/// `'text' is not …`.
pub(crate) fn not(text: &str, what: &str) -> Wrong {
    Wrong::new(0, format!("'{}' is not {what}", short(text)))
}
