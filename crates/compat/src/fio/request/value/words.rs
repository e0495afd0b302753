//! Values of words: switches, choices, `rw`, `verify`, `steadystate`.

use super::number;
use super::{Units, Wrong, not};

/// 0 or 1.
pub(crate) fn switch(text: &str) -> Result<bool, Wrong> {
    match text.trim() {
        "0" | "false" => Ok(false),
        "1" | "true" => Ok(true),
        other => Err(not(other, "0 or 1")),
    }
}

/// One of some words.
pub(crate) fn choice(text: &str, words: &[&'static str]) -> Result<&'static str, Wrong> {
    let found = words.iter().copied().find(|word| *word == text.trim());
    found.ok_or_else(|| not(text, &format!("one of {}", words.join(", "))))
}

/// Kinds and order of operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rw {
    pub(crate) reads: bool,
    pub(crate) writes: bool,
    pub(crate) trims: bool,
    pub(crate) random: bool,
    /// What stands after the colon.
    pub(crate) modifier: Modifier,
}

/// What stands after the colon of `rw`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Modifier {
    None,
    /// A new offset only after so many operations.
    Every(u64),
    /// Bytes between the end of a block and the next one; may be negative.
    Gap(i64),
}

/// Reads `randread:8`, `write:64k`, `read:-8k`.
pub(crate) fn rw(text: &str, units: Units) -> Result<Rw, Wrong> {
    const NAMES: &str = "read, write, trim, randread, randwrite, randtrim, rw, readwrite, \
                         randrw, trimwrite, randtrimwrite";
    let (word, modifier) = match text.split_once(':') {
        Some((word, modifier)) => (word.trim(), Some(modifier.trim())),
        None => (text.trim(), None),
    };
    let (reads, writes, trims, random) = match word {
        "read" => (true, false, false, false),
        "write" => (false, true, false, false),
        "trim" => (false, false, true, false),
        "randread" => (true, false, false, true),
        "randwrite" => (false, true, false, true),
        "randtrim" => (false, false, true, true),
        "rw" | "readwrite" => (true, true, false, false),
        "randrw" => (true, true, false, true),
        "trimwrite" => (false, true, true, false),
        "randtrimwrite" => (false, true, true, true),
        _ => {
            let meant = fathom_model::nearest::nearest(word, NAMES.split(", "));
            let hint = meant.map_or(String::new(), |word| format!("; did you mean '{word}'?"));
            return Err(not(word, &format!("one of {NAMES}{hint}")));
        }
    };
    let modifier = match modifier.filter(|m| !m.is_empty()) {
        None => Modifier::None,
        Some(text) => {
            let value = number::integer(text, units).map_err(|w| w.right(word.len() + 1))?;
            match (random, value) {
                (_, 0) => Modifier::None,
                (true, 1..) => Modifier::Every(value.unsigned_abs()),
                (true, _) => {
                    return Err(not(text, "a number above 0").right(word.len() + 1));
                }
                (false, gap) => Modifier::Gap(gap),
            }
        }
    };
    Ok(Rw {
        reads,
        writes,
        trims,
        random,
        modifier,
    })
}

/// How the next file is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Service {
    RoundRobin,
    Sequential,
    Random,
}

/// Reads `roundrobin:8`, `zipf:1.2`.
pub(crate) fn service(text: &str) -> Result<Service, Wrong> {
    match text.split(':').next().unwrap_or("").trim() {
        "roundrobin" => Ok(Service::RoundRobin),
        "sequential" => Ok(Service::Sequential),
        "random" | "zipf" | "pareto" | "normal" | "gauss" => Ok(Service::Random),
        _ => Err(not(
            text,
            "one of roundrobin, sequential, random, zipf, pareto, normal",
        )),
    }
}

const METHODS: [&str; 24] = [
    "0",
    "md5",
    "crc64",
    "crc32",
    "crc32c-intel",
    "crc32c",
    "crc16",
    "crc7",
    "sha1",
    "sha256",
    "sha512",
    "sha3-224",
    "sha3-256",
    "sha3-384",
    "sha3-512",
    "xxhash",
    "meta",
    "pattern",
    "pattern_hdr",
    "null",
    "1",
    "none",
    "xxhash64",
    "crc",
];

/// Whether contents are verified.
pub(crate) fn verify(text: &str) -> Result<bool, Wrong> {
    // An offset of the header may follow after a colon.
    match text.split(':').next().unwrap_or("").trim() {
        "0" | "none" | "null" => Ok(false),
        word if METHODS.contains(&word) => Ok(true),
        word => Err(not(word, &format!("one of {}", METHODS[..20].join(", ")))),
    }
}

/// fio's criterion of a steady state.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Steady {
    /// Of operations, bytes or latency.
    pub(crate) of: &'static str,
    /// The slope, else the largest deviation from the mean.
    pub(crate) slope: bool,
    /// The limit, and whether it is in percent.
    pub(crate) limit: f64,
    pub(crate) percent: bool,
}

/// Reads `iops:10%`, `bw_slope:0.3%`.
pub(crate) fn steady(text: &str) -> Result<Steady, Wrong> {
    const WORDS: [&str; 6] = ["iops", "iops_slope", "bw", "bw_slope", "lat", "lat_slope"];
    let (word, limit) = text.split_once(':').unwrap_or((text, ""));
    let word = choice(word, &WORDS)?;
    let percent = limit.trim().ends_with('%');
    let limit = limit.trim().trim_end_matches('%');
    match limit.parse::<f64>() {
        Ok(value) if value.is_finite() && value >= 0.0 => Ok(Steady {
            of: word.trim_end_matches("_slope"),
            slope: word.ends_with("_slope"),
            limit: value,
            percent,
        }),
        _ => {
            let wrong = Wrong::new(0, "it needs a limit, for example iops:10%");
            Err(wrong.right(word.len() + 1))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNITS: Units = Units { kb_base: 1024 };

    #[test]
    fn kinds_of_operations_are_read() {
        let read = rw("randread:8", UNITS).unwrap();
        assert!(read.random && read.reads && !read.writes);
        assert_eq!(read.modifier, Modifier::Every(8));
        assert_eq!(
            rw("read:-8k", UNITS).unwrap().modifier,
            Modifier::Gap(-8192)
        );
        assert_eq!(
            rw("write:112k", UNITS).unwrap().modifier,
            Modifier::Gap(112 << 10)
        );
        let both = rw("randtrimwrite", UNITS).unwrap();
        assert!(both.trims && both.writes && both.random && !both.reads);
        let wrong = rw("randraed", UNITS).unwrap_err();
        assert!(
            wrong.message.contains("did you mean 'randread'"),
            "{wrong:?}"
        );
        assert!(rw("randread:-1", UNITS).is_err());
        assert!(rw("", UNITS).is_err());
    }

    #[test]
    fn methods_and_criteria_are_read() {
        assert_eq!(verify("crc32c"), Ok(true));
        assert_eq!(verify("0"), Ok(false));
        assert!(verify("crc99").is_err());
        let steady = steady("iops_slope:0.3%").unwrap();
        assert!(steady.slope && steady.percent && steady.of == "iops");
        assert!(super::steady("iops").is_err());
        assert!(super::steady("foo:1").is_err());
        assert_eq!(switch("1"), Ok(true));
        assert!(switch("2").is_err());
        assert_eq!(service("zipf:1.1"), Ok(Service::Random));
    }
}
