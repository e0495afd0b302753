//! The fathom process itself: `/proc/self/{io,limits,status}` (proc(5)).

/// What this process caused storage to do since it started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StorageBytes {
    /// Bytes fetched from storage.
    pub read: u64,
    /// Bytes sent to storage, counted when a page is dirtied.
    pub written: u64,
}

/// Reads `/proc/self/io`.
pub fn parse_process_io(text: &str) -> Option<StorageBytes> {
    let value = |name: &str| -> Option<u64> {
        text.lines()
            .find_map(|line| line.strip_prefix(name))?
            .trim()
            .parse()
            .ok()
    };
    Some(StorageBytes {
        read: value("read_bytes:")?,
        written: value("write_bytes:")?,
    })
}

/// Soft limits of this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessLimits {
    /// Memory that may be locked; `None` is unlimited.
    pub memlock_bytes: Option<u64>,
    /// Files that may be open; `u64::MAX` is unlimited.
    pub open_files: u64,
}

/// Reads `/proc/self/limits`.
pub fn parse_limits(text: &str) -> Option<ProcessLimits> {
    let soft = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        let value = line.split_ascii_whitespace().next()?;
        if value == "unlimited" {
            Some(u64::MAX)
        } else {
            value.parse().ok()
        }
    };
    Some(ProcessLimits {
        memlock_bytes: soft("Max locked memory")
            .map(|bytes| (bytes != u64::MAX).then_some(bytes))?,
        open_files: soft("Max open files")?,
    })
}

/// The effective user id in `/proc/self/status`.
pub(crate) fn effective_uid(status: &str) -> Option<u32> {
    let line = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
    line.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// How many CPUs `/proc/self/status` allows.
pub(crate) fn allowed_cpus(status: &str) -> Option<u32> {
    let list = status
        .lines()
        .find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
    list.trim().split(',').try_fold(0_u32, |count, range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        count.checked_add(last.checked_sub(first)?.checked_add(1)?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn storage_bytes_are_not_the_characters_of_read_and_write() {
        let text = "rchar: 6976\nwchar: 5\nsyscr: 10\nsyscw: 0\nread_bytes: 4096\nwrite_bytes: 8192\ncancelled_write_bytes: 1\n";
        let io = parse_process_io(text).unwrap();
        assert_eq!((io.read, io.written), (4096, 8192));
        assert_eq!(parse_process_io("rchar: 1"), None);
    }

    #[test]
    fn soft_limits_are_read() {
        let text = "Limit                     Soft Limit           Hard Limit           Units     \nMax locked memory         8388608              8388608              bytes     \nMax open files            1024                 524288               files     \n";
        let limits = parse_limits(text).unwrap();
        assert_eq!(
            (limits.memlock_bytes, limits.open_files),
            (Some(8 << 20), 1024)
        );
        let limits = parse_limits(&text.replace("8388608 ", "unlimited")).unwrap();
        assert_eq!(limits.memlock_bytes, None);
        assert_eq!(parse_limits(""), None);
    }

    #[test]
    fn status_tells_user_and_cpus() {
        let status = "Name:\tx\nUid:\t1000\t0\t1000\t1000\nCpus_allowed_list:\t0-3,8,10-11\n";
        assert_eq!(effective_uid(status), Some(0));
        assert_eq!(allowed_cpus(status), Some(7));
        assert_eq!(allowed_cpus("Cpus_allowed_list:\t4-1\n"), None);
    }
}
