//! What a reader of text chooses.

/// How text is laid out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextOptions {
    /// Columns to use; at least 40 are assumed.
    pub width: usize,
    /// Colour the verdict with ANSI escapes. Words say the same.
    pub color: bool,
    /// Throughput in MB/s (10^6) instead of MiB/s (2^20).
    pub decimal_units: bool,
    /// Also every interval, every trial and every check.
    pub verbose: bool,
    /// Where the HTML report of the run was written; otherwise the command
    /// that writes it is named.
    pub report: Option<String>,
}

impl Default for TextOptions {
    fn default() -> Self {
        TextOptions {
            width: 80,
            color: false,
            decimal_units: false,
            verbose: false,
            report: None,
        }
    }
}
