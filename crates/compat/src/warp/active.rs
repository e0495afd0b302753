//! Which requests `warp analyze` looks at: those between the moment when every
//! thread has ended its first request and the one when the first thread begins
//! its last. fathom takes all that succeeded, so that the two differ a little; how
//! many are left out there is told.

use std::collections::BTreeMap;

use fathom_model::unit;

/// When a request was under way.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Span {
    pub(crate) thread: u32,
    pub(crate) start_ns: u64,
    pub(crate) end_ns: u64,
}

/// Requests within the time in which all threads are at work.
fn active(spans: &[Span]) -> usize {
    let mut threads: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    for span in spans {
        let (first_ended_ns, last_started_ns) = threads.entry(span.thread).or_insert((u64::MAX, 0));
        *first_ended_ns = span.end_ns.min(*first_ended_ns);
        *last_started_ns = span.start_ns.max(*last_started_ns);
    }
    let from_ns = threads.values().map(|(ended, _)| *ended).max().unwrap_or(0);
    let to_ns = threads
        .values()
        .map(|(_, started)| *started)
        .min()
        .unwrap_or(0);
    let within = |span: &&Span| span.start_ns >= from_ns && span.end_ns <= to_ns;
    spans.iter().filter(within).count()
}

/// Why the figures differ from those of `warp analyze`.
pub(crate) fn remark(op: &str, spans: &[Span], mixed: bool, failed: u64) -> Option<String> {
    if spans.is_empty() {
        return None;
    }
    let total = unit::group(spans.len() as u64);
    // With failures, or several kinds, another and wider window is taken.
    let share = match mixed || failed > 0 {
        true => format!("a part of the {total}"),
        false => format!("{} of the {total}", unit::group(active(spans) as u64)),
    };
    Some(format!(
        "{op}: warp analyze looks at {share} requests that succeeded, leaving out the first and last \
         of its threads; the figures here are of all of them"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_before_all_threads_work_are_left_out_there() {
        let span = |thread, start_ns, end_ns| Span {
            thread,
            start_ns,
            end_ns,
        };
        let mut spans = vec![span(0, 0, 10), span(1, 0, 25)];
        spans.extend((1..9).map(|n| span(0, 10 * n, 10 * n + 10)));
        spans.extend([span(1, 25, 50), span(1, 50, 75), span(1, 75, 100)]);
        // From 25 to 75: two of the second thread, four of the first.
        assert_eq!(active(&spans), 6);
        let told = remark("GET", &spans, false, 0).unwrap();
        assert!(told.contains("6 of the 13 requests"), "{told}");
        assert!(
            remark("GET", &spans, true, 0)
                .unwrap()
                .contains("a part of the 13")
        );
        assert_eq!(remark("GET", &[], false, 0), None);
    }
}
