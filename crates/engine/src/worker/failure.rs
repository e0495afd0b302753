//! Failures: their class, and the words for them.

use fathom_model::run::ErrorDetail;
use fathom_model::{ErrorClass, OpKind};

use crate::access::Layout;
use crate::engine::Broken;

/// What went wrong with one operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Cause {
    /// The kernel said so.
    Errno(i32),
    /// Fewer bytes than asked for.
    Short(u32),
    /// The contents were wrong.
    Mismatch(String),
    /// Something else, in words that name the operation and the file.
    Told(ErrorClass, String),
    /// The engine's interface broke in this call.
    Broken(&'static str, i32),
}

/// One failed operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) kind: OpKind,
    pub(crate) cause: Cause,
    /// Index within the layout.
    pub(crate) file: u32,
    pub(crate) offset: u64,
    pub(crate) len: u32,
    pub(crate) at_ns: u64,
}

impl Cause {
    /// The class in which it counts.
    pub(crate) fn class(&self) -> ErrorClass {
        match self {
            Cause::Errno(errno) | Cause::Broken(_, errno) => class_of(*errno),
            Cause::Short(_) => ErrorClass::Short,
            Cause::Mismatch(_) => ErrorClass::Verify,
            Cause::Told(class, _) => *class,
        }
    }
}

/// The class of an errno.
pub(crate) fn class_of(errno: i32) -> ErrorClass {
    match errno {
        libc::EIO | libc::EREMOTEIO | libc::ENXIO | libc::ENODEV | libc::ENODATA | libc::EILSEQ => {
            ErrorClass::Io
        }
        libc::ENOSPC | libc::EDQUOT | libc::EFBIG => ErrorClass::NoSpace,
        libc::EACCES | libc::EPERM | libc::EROFS => ErrorClass::Permission,
        libc::EINVAL | libc::EOPNOTSUPP | libc::ENOSYS | libc::ENOTTY => ErrorClass::Unsupported,
        libc::ETIMEDOUT | libc::ETIME => ErrorClass::Timeout,
        libc::ECONNRESET | libc::ECONNREFUSED | libc::EPIPE => ErrorClass::Reset,
        libc::EUSERS => ErrorClass::SlowDown,
        libc::EBADRQC => ErrorClass::Refused,
        libc::EPROTO => ErrorClass::Failed,
        _ => ErrorClass::Other,
    }
}

impl Failure {
    /// The failure of an engine as such.
    pub(crate) fn of_engine(kind: OpKind, broken: Broken) -> Failure {
        Failure {
            kind,
            cause: Cause::Broken(broken.call, broken.errno),
            file: 0,
            offset: 0,
            len: 0,
            at_ns: u64::MAX,
        }
    }

    /// The failure in words.
    pub(crate) fn detail(&self, layout: &Layout) -> ErrorDetail {
        let path = layout.files.get(self.file as usize).map_or_else(
            || format!("file {}", self.file),
            |file| file.path.display().to_string(),
        );
        let what = match self.kind {
            OpKind::Sync | OpKind::Commit => format!("{} of {path}", self.kind.name()),
            kind => format!(
                "{} of {} bytes at offset {} of {path}",
                kind.name(),
                self.len,
                self.offset
            ),
        };
        let message = match &self.cause {
            Cause::Errno(errno) => format!("{what}: {}", errno_text(*errno)),
            Cause::Short(bytes) => format!("{what}: only {bytes} bytes were moved"),
            Cause::Mismatch(text) => format!("{what}: {text}"),
            Cause::Told(_, text) => text.clone(),
            Cause::Broken(call, errno) => {
                format!("{call} failed: {}; the trial ends", errno_text(*errno))
            }
        };
        ErrorDetail {
            class: self.cause.class(),
            message,
            at_ns: self.at_ns,
        }
    }
}

fn errno_text(errno: i32) -> String {
    std::io::Error::from_raw_os_error(errno).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::{LayoutFile, TargetKind};

    #[test]
    fn errnos_fall_into_the_classes_of_the_model() {
        let cases = [
            (libc::EIO, ErrorClass::Io),
            (libc::ENOSPC, ErrorClass::NoSpace),
            (libc::EDQUOT, ErrorClass::NoSpace),
            (libc::EFBIG, ErrorClass::NoSpace),
            (libc::EROFS, ErrorClass::Permission),
            (libc::EINVAL, ErrorClass::Unsupported),
            (libc::EOPNOTSUPP, ErrorClass::Unsupported),
            (libc::ETIMEDOUT, ErrorClass::Timeout),
            (libc::ECANCELED, ErrorClass::Other),
        ];
        for (errno, class) in cases {
            assert_eq!(Cause::Errno(errno).class(), class, "{errno}");
        }
    }

    #[test]
    fn a_failure_names_operation_file_offset_length_and_errno() {
        let layout = Layout {
            kind: TargetKind::File,
            files: vec![LayoutFile {
                path: "/data/f".into(),
                file: None,
                size_bytes: 1 << 20,
                start_bytes: 0,
                span_bytes: 1 << 20,
            }],
            shared: true,
            files_per_worker: 1,
        };
        let failure = Failure {
            kind: OpKind::Write,
            cause: Cause::Errno(libc::ENOSPC),
            file: 0,
            offset: 8192,
            len: 4096,
            at_ns: 5,
        };
        let detail = failure.detail(&layout);
        assert_eq!(detail.class, ErrorClass::NoSpace);
        assert!(
            detail
                .message
                .starts_with("write of 4096 bytes at offset 8192 of /data/f: No space left"),
            "{}",
            detail.message
        );
    }
}
