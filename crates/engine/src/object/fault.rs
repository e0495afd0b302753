//! Why an operation on an object failed.

use fathom_model::ErrorClass;
use fathom_s3::FaultKind;

use super::advice;

/// A request that failed, or whose answer is not what it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) class: ErrorClass,
    pub(crate) text: String,
}

impl From<fathom_s3::Fault> for Fault {
    fn from(fault: fathom_s3::Fault) -> Fault {
        Fault {
            class: class_of(fault.kind),
            text: advice::told(&fault),
        }
    }
}

fn class_of(kind: FaultKind) -> ErrorClass {
    match kind {
        FaultKind::Timeout => ErrorClass::Timeout,
        FaultKind::Reset => ErrorClass::Reset,
        FaultKind::SlowDown => ErrorClass::SlowDown,
        FaultKind::Failed => ErrorClass::Failed,
        FaultKind::Refused => ErrorClass::Refused,
        FaultKind::GivenUp | FaultKind::Malformed => ErrorClass::Other,
    }
}
