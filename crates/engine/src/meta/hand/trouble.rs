//! Why an operation on a file did not succeed.

use fathom_model::ErrorClass;
use rustix::io::Errno;

use crate::error::remedy;
use crate::worker::class_of;

/// Why an operation did not succeed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// The system said so.
    Errno(Errno),
    /// Fewer bytes than there should be.
    Short(u64),
    /// Something else is there than should be.
    Wrong(String),
}

impl From<Errno> for Trouble {
    fn from(errno: Errno) -> Trouble {
        Trouble::Errno(errno)
    }
}

impl Trouble {
    /// The class in which it counts.
    pub(crate) fn class(&self) -> ErrorClass {
        match self {
            Trouble::Errno(errno) => class_of(errno.raw_os_error()),
            Trouble::Short(_) => ErrorClass::Short,
            Trouble::Wrong(_) => ErrorClass::Verify,
        }
    }

    /// Whether something is not there yet that somebody else makes.
    pub(crate) fn is_not_yet(&self) -> bool {
        matches!(
            self,
            Trouble::Errno(Errno::NOENT | Errno::STALE) | Trouble::Short(_)
        )
    }

    /// In words.
    pub(crate) fn text(&self) -> String {
        match self {
            Trouble::Errno(errno) => {
                let error = std::io::Error::from(*errno);
                format!("{error}{}", remedy(&error))
            }
            Trouble::Short(bytes) => format!("only {bytes} bytes were moved"),
            Trouble::Wrong(text) => text.clone(),
        }
    }
}
