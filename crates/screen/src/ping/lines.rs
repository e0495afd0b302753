//! A ping for people: a line per request, a summary, a histogram.

use std::fmt::Write as _;
use std::io::IsTerminal;
use std::time::Duration;

use fathom_console::{complain, rewrite_line, write_stdout};
use fathom_engine::{OneByOneFacts, Single};
use fathom_model::judged::LatencySummary;
use fathom_model::printable::one_line;
use fathom_model::{OpKind, unit};
use fathom_report::latency_steps::steps_of;

use super::described::Described;
use super::tally::{SLOW_TIMES, Tally, Told};

/// A request in flight for longer is worth a word.
const LONG: Duration = Duration::from_millis(1500);
/// The longest bar.
const BAR_COLUMNS: u64 = 40;
/// So many empty rows of the histogram are drawn as a gap.
const GAP_ROWS: usize = 3;
/// Share of the data in the page cache from which it is worth a word.
const CACHED_SHARE: f64 = 0.01;

const RED: &str = "\x1b[31m";
const YELLOW: &str = "\x1b[33m";
const PLAIN: &str = "\x1b[0m";

/// Prints lines.
pub(super) struct Lines {
    described: Described,
    quiet: bool,
    color: bool,
    /// A word about the request in flight stands on the terminal.
    waiting: bool,
    terminal: bool,
}

impl Lines {
    pub(super) fn new(described: &Described, quiet: bool, color: bool) -> Lines {
        Lines {
            described: Described {
                target: one_line(&described.target),
                what: one_line(&described.what),
                ..*described
            },
            quiet,
            color,
            waiting: false,
            terminal: std::io::stderr().is_terminal(),
        }
    }

    pub(super) fn simulated(&self) -> bool {
        self.described.simulated
    }

    /// Says what must be known before the first number.
    pub(super) fn opened(&mut self, facts: &OneByOneFacts) {
        for note in notes(facts) {
            complain(&note);
        }
    }

    pub(super) fn request(&mut self, single: &Single, told: &Told) -> anyhow::Result<()> {
        self.clear();
        if self.quiet && single.failed.is_none() {
            return Ok(());
        }
        let arrow = arrow(single.kind);
        let Described { target, what, .. } = &self.described;
        let size = match single.kind {
            OpKind::Connect => "connect".to_owned(),
            _ => unit::bytes_exact(u64::from(single.bytes)),
        };
        let time = unit::latency(single.latency_ns as f64);
        let mut line = format!("{size} {arrow} {target} ({what}): request={}", told.number);
        match single.failed {
            Some(errno) => {
                let text = format!(" failed after {time}: {}", failure(errno));
                line.push_str(&self.painted(RED, &text));
            }
            None if told.warmup => line.push_str(&format!(" time={time} (warm-up)")),
            None if told.slow => {
                let text = format!(" time={time} (slow)");
                line.push_str(&self.painted(YELLOW, &text));
            }
            None => line.push_str(&format!(" time={time}")),
        }
        line.push('\n');
        write_stdout(&line)
    }

    /// Says that a request takes long, in place.
    /// Whether a word can be shown and removed again.
    pub(super) fn on_terminal(&self) -> bool {
        self.terminal
    }

    pub(super) fn waiting(&mut self, number: u64, since: Duration) {
        if self.terminal && since >= LONG {
            let seconds = since.as_secs();
            rewrite_line(&format!(
                "request {number} has been in flight for {seconds} s"
            ));
            self.waiting = true;
        }
    }

    /// Removes that word.
    pub(super) fn clear(&mut self) {
        if std::mem::take(&mut self.waiting) {
            rewrite_line("");
        }
    }

    pub(super) fn summary(&mut self, tally: &Tally, facts: &OneByOneFacts) -> anyhow::Result<()> {
        self.clear();
        let Described { target, what, .. } = &self.described;
        let mut text = format!("\n--- {target} ({what}) ping statistics ---\n");
        text.push_str(&totals(tally));
        let latencies = tally.latencies();
        if !latencies.is_empty() {
            // A single request has no deviation.
            let ns = |value: Option<f64>| value.map_or("—".to_owned(), unit::latency);
            let _ = writeln!(
                text,
                "min/avg/max/mdev = {} / {} / {} / {}",
                ns(latencies.min().map(|ns| ns as f64)),
                ns(latencies.mean()),
                ns(latencies.max().map(|ns| ns as f64)),
                ns(latencies.standard_deviation()),
            );
            text.push_str(&percentiles(&tally.summary()));
        }
        text.push_str(&remarks(tally));
        if self.described.memory {
            text.push_str("these files are in memory: no device has answered\n");
        } else if facts.direct || facts.kind.is_virtual() || latencies.is_empty() {
            // The device itself has answered, or there is none.
        } else {
            text.push_str(&cache_remark(facts));
        }
        if latencies.count() > 1 {
            text.push_str(&histogram(tally));
        }
        write_stdout(&text)
    }

    fn painted(&self, color: &str, text: &str) -> String {
        match self.color {
            true => format!("{color}{text}{PLAIN}"),
            false => text.to_owned(),
        }
    }
}

/// Remarks about the target.
pub(super) fn notes(facts: &OneByOneFacts) -> Vec<String> {
    let mut notes = facts.notes.clone();
    if let Some(permille) = facts.unwritten_permille.filter(|permille| *permille > 0)
        && notes.iter().all(|note| !note.contains("never written"))
    {
        notes.push(format!(
            "{:.1} % of the target hold no data or zeros: reading what was never written may not \
             reach the device",
            f64::from(permille) / 10.0
        ));
    }
    notes
}

/// What an errno means; 0 is an operation that ended short.
pub(super) fn failure(errno: i32) -> String {
    match errno {
        0 => "fewer bytes were moved than requested".to_owned(),
        errno => std::io::Error::from_raw_os_error(errno).to_string(),
    }
}

fn arrow(kind: OpKind) -> &'static str {
    match kind {
        OpKind::Write | OpKind::Put => ">>>",
        OpKind::Connect => "<->",
        _ => "<<<",
    }
}

/// How much was done in which time.
fn totals(tally: &Tally) -> String {
    let latencies = tally.latencies();
    let busy_ns = latencies.sum() as f64;
    let done = match tally.kind() {
        Some(OpKind::Write | OpKind::Put) => "written",
        _ => "read",
    };
    let mut text = String::new();
    let per_second = |value: f64, ns: f64| if ns > 0.0 { value * 1e9 / ns } else { 0.0 };
    if latencies.is_empty() && tally.failures() > 0 && tally.failures() >= tally.shown() {
        return "all requests failed: nothing was timed\n".to_owned();
    } else if latencies.is_empty() {
        text.push_str("no request was counted: the first ones warm up; ask for more\n");
    } else {
        let count = latencies.count();
        if tally.kind() == Some(OpKind::Connect) {
            let _ = writeln!(
                text,
                "{} {} counted, in flight for {}",
                unit::group(count),
                plural(count, "connection"),
                unit::latency(busy_ns),
            );
            let _ = writeln!(
                text,
                "{} {} in {}",
                unit::group(tally.shown()),
                plural(tally.shown(), "connection"),
                unit::latency(tally.elapsed_ns() as f64),
            );
            return text;
        }
        let _ = writeln!(
            text,
            "{} {} counted, in flight for {}: {} {done}, {} iops, {}",
            unit::group(count),
            plural(count, "request"),
            unit::latency(busy_ns),
            unit::bytes(tally.bytes()),
            unit::count(per_second(count as f64, busy_ns)),
            unit::throughput(per_second(tally.bytes() as f64, busy_ns)),
        );
    }
    let elapsed_ns = tally.elapsed_ns() as f64;
    let _ = writeln!(
        text,
        "{} {} in {}: {}, {} iops, {}",
        unit::group(tally.shown()),
        plural(tally.shown(), "request"),
        unit::latency(elapsed_ns),
        unit::bytes(tally.shown_bytes()),
        unit::count(per_second(tally.shown() as f64, elapsed_ns)),
        unit::throughput(per_second(tally.shown_bytes() as f64, elapsed_ns)),
    );
    text
}

/// The percentiles that there are, and why there are no more.
fn percentiles(summary: &LatencySummary) -> String {
    let mut known = Vec::new();
    let mut missing = None;
    for percentile in &summary.percentiles {
        match percentile.latency_ns.value {
            Some(ns) => known.push(format!("p{} {}", percentile.percent, unit::latency(ns))),
            None => {
                missing.get_or_insert(percentile);
            }
        }
    }
    let mut text = String::new();
    if !known.is_empty() {
        let _ = writeln!(text, "{}", known.join(", "));
    }
    if let Some(percentile) = missing {
        let reason = percentile.latency_ns.reason.as_deref();
        let reason = reason.unwrap_or("the requests do not support more percentiles");
        let _ = writeln!(text, "{reason}");
    }
    text
}

fn remarks(tally: &Tally) -> String {
    let mut text = String::new();
    if tally.slow() > 0 {
        let _ = writeln!(
            text,
            "{} {} slow: more than {SLOW_TIMES} times the median of those before",
            unit::group(tally.slow()),
            were(tally.slow()),
        );
    }
    let (overlong, missed) = tally.overlong();
    if overlong > 0 {
        let _ = writeln!(
            text,
            "{} {} took longer than the interval: {} more would have been due meanwhile",
            unit::group(overlong),
            plural(overlong, "request"),
            unit::group(missed),
        );
    }
    if tally.failures() > 0 {
        let _ = writeln!(
            text,
            "{} {} failed and {} in no latency",
            unit::group(tally.failures()),
            plural(tally.failures(), "request"),
            if tally.failures() == 1 { "is" } else { "are" },
        );
    }
    if let Some((number, since)) = tally.unanswered_request() {
        let ns = u64::try_from(since.as_nanos()).unwrap_or(u64::MAX);
        let _ = writeln!(
            text,
            "request {number} has not ended after {}",
            unit::latency(ns as f64)
        );
    }
    text
}

fn cache_remark(facts: &OneByOneFacts) -> String {
    let (share, _) = fathom_observe::cached_share(&facts.files, None);
    let seen = share.filter(|share| *share >= CACHED_SHARE);
    let seen = seen.map(|share| format!(", which holds {:.0} % of the target", share * 100.0));
    format!(
        "the page cache took part{}: these are not latencies of the device\n",
        seen.unwrap_or_default()
    )
}

fn histogram(tally: &Tally) -> String {
    let rows = steps_of(tally.latencies());
    let most = rows.iter().map(|row| row.count).max().unwrap_or(1).max(1);
    let digits = unit::group(most).len();
    let mut text = String::from("\n");
    let long_gap = |at: usize| {
        let gap = rows.get(at..at + GAP_ROWS).unwrap_or_default();
        gap.len() == GAP_ROWS && gap.iter().all(|row| row.count == 0)
    };
    let mut at = 0;
    while let Some(row) = rows.get(at) {
        if long_gap(at) {
            let next = rows[at..].iter().position(|row| row.count > 0);
            at += next.unwrap_or(rows.len());
            let _ = writeln!(text, "{:>10}", '⋮');
            continue;
        }
        at += 1;
        let from = unit::latency(row.from_ns);
        let to = unit::latency(row.to_ns);
        // What is there is seen, however little.
        let columns = (row.count * BAR_COLUMNS).div_ceil(most) as usize;
        let bar = "█".repeat(columns);
        let line = format!(
            "{from:>8} – {to:<8} {:>digits$} {bar}",
            unit::group(row.count)
        );
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}

fn were(count: u64) -> &'static str {
    match count {
        1 => "request was",
        _ => "requests were",
    }
}

fn plural(count: u64, word: &str) -> String {
    match count {
        1 => word.to_owned(),
        _ => format!("{word}s"),
    }
}
