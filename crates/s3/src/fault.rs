//! Why a request did not succeed.

use std::fmt;
use std::io;

/// What kind of failure it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// Its time was over.
    Timeout,
    /// The connection could not be made, or ended before the answer.
    Reset,
    /// The store asked to slow down (503, 429).
    SlowDown,
    /// The store failed (500 to 599, except where it asks to slow down).
    Failed,
    /// The request was refused (any other status).
    Refused,
    /// The caller did not want to wait.
    GivenUp,
    /// The answer cannot be read.
    Malformed,
}

/// What would help.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hint {
    /// The bucket is in this region; requests have to be signed for it.
    Region(String),
    /// What listens there may not speak TLS.
    NoTls,
}

/// A request that could not be carried out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Its kind.
    pub kind: FaultKind,
    /// The status of the answer; 0 where none came.
    pub status: u16,
    /// What happened, in words.
    pub text: String,
    /// What would help, where that is known.
    pub hint: Option<Hint>,
}

impl Fault {
    fn new(kind: FaultKind, text: String) -> Fault {
        Fault {
            kind,
            status: 0,
            text,
            hint: None,
        }
    }

    pub(crate) fn of_io(error: &io::Error, doing: &str) -> Fault {
        let kind = match error.kind() {
            io::ErrorKind::TimedOut => FaultKind::Timeout,
            _ => FaultKind::Reset,
        };
        let text = match error.kind() {
            io::ErrorKind::UnexpectedEof => "the connection ended".to_owned(),
            _ => error.to_string(),
        };
        Fault::new(kind, format!("{doing}: {text}"))
    }

    /// The caller did not want to wait.
    pub(crate) fn given_up() -> Fault {
        Fault::new(FaultKind::GivenUp, "interrupted".to_owned())
    }

    /// What listens there does not answer in TLS.
    pub(crate) fn no_tls(after_ns: u64) -> Fault {
        let seconds = after_ns / 1_000_000_000;
        let text = format!("setting up TLS did not end within {seconds} s");
        Fault {
            hint: Some(Hint::NoTls),
            ..Fault::new(FaultKind::Timeout, text)
        }
    }

    pub(crate) fn timeout(doing: &str) -> Fault {
        Fault::new(FaultKind::Timeout, format!("no end in time, while {doing}"))
    }

    /// An answer that nobody can use.
    pub(crate) fn malformed(text: String) -> Fault {
        Fault::new(FaultKind::Malformed, text)
    }

    /// An answer that is a refusal or a failure.
    pub(crate) fn of_status(status: u16, text: String, region: Option<String>) -> Fault {
        let kind = match status {
            429 | 503 => FaultKind::SlowDown,
            500..=599 => FaultKind::Failed,
            _ => FaultKind::Refused,
        };
        Fault {
            status,
            hint: region.map(Hint::Region),
            ..Fault::new(kind, text)
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
