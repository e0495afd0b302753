//! Memory of the host: `/proc/meminfo` (proc(5)).

use fathom_model::observation::MemoryState;

/// Reads `/proc/meminfo`. `None` when the total or the dirty bytes are missing.
/// `MemAvailable` came with Linux 3.14; before, it is estimated as free plus
/// buffers plus cached, as free(1) did.
pub fn parse_meminfo(text: &str) -> Option<MemoryState> {
    let bytes = |name: &str| meminfo_bytes(text, name);
    let cached_bytes = bytes("Cached")?;
    let buffers_bytes = bytes("Buffers").unwrap_or(0);
    let available_bytes = bytes("MemAvailable").or_else(|| {
        Some(
            bytes("MemFree")?
                .saturating_add(buffers_bytes)
                .saturating_add(cached_bytes),
        )
    });
    Some(MemoryState {
        total_bytes: bytes("MemTotal")?,
        available_bytes: available_bytes?,
        // The page cache of block devices is shown apart, as buffers.
        cached_bytes: cached_bytes.saturating_add(buffers_bytes),
        dirty_bytes: bytes("Dirty")?,
        writeback_bytes: bytes("Writeback")?,
    })
}

/// Memory that this host can give without swapping; `None` where it cannot be read.
pub fn available_memory_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    Some(parse_meminfo(&text)?.available_bytes)
}

/// One value of `/proc/meminfo`, in bytes (a count where the line has no unit).
pub(crate) fn meminfo_bytes(text: &str, name: &str) -> Option<u64> {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    let mut fields = line.split_ascii_whitespace();
    let value: u64 = fields.next()?.parse().ok()?;
    match fields.next() {
        Some("kB") => value.checked_mul(1024),
        _ => Some(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_bytes() {
        let text = "MemTotal: 24682416 kB\nMemFree: 100 kB\nMemAvailable:   300 kB\nBuffers: 10 kB\nCached: 20 kB\nSwapCached: 9 kB\nDirty: 4 kB\nWriteback: 0 kB\nHugePages_Total:   7\n";
        let memory = parse_meminfo(text).unwrap();
        assert_eq!(memory.total_bytes, 24_682_416 << 10);
        assert_eq!(memory.available_bytes, 300 << 10);
        assert_eq!(memory.cached_bytes, 30 << 10);
        assert_eq!((memory.dirty_bytes, memory.writeback_bytes), (4096, 0));
        assert_eq!(meminfo_bytes(text, "HugePages_Total"), Some(7));
    }

    #[test]
    fn old_kernels_estimate_what_is_available() {
        let text = "MemTotal: 1000 kB\nMemFree: 100 kB\nBuffers: 10 kB\nCached: 20 kB\nDirty: 4 kB\nWriteback: 0 kB\n";
        assert_eq!(parse_meminfo(text).unwrap().available_bytes, 130 << 10);
        assert_eq!(parse_meminfo("MemTotal: 1000 kB\n"), None);
    }
}
