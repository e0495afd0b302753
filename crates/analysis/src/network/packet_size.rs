//! Which packets pass between two hosts, and what that says of their settings.

use fathom_model::network::{HostFacts, MtuFinding, PairReport};
use fathom_rules::network::packet_size::LARGEST_BYTES;

/// What the probes say; `None` when there were none.
pub(super) fn finding(report: &PairReport) -> Option<MtuFinding> {
    let [forward, reverse] = report.probes.as_ref()?;
    let headers = if report.theirs.address.contains(':') {
        48
    } else {
        28
    };
    let there = forward.largest_payload_bytes + headers;
    let back = reverse.largest_payload_bytes + headers;
    let path = there.min(back);
    let (ours, theirs) = (mtu(&report.ours), mtu(&report.theirs));
    let set = match (ours, theirs) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (one, other) => one.or(other),
    };
    let silent = match forward.silent || reverse.silent {
        true => "vanish without a word",
        false => "do not pass",
    };
    let hop = [forward, reverse]
        .into_iter()
        .find_map(|probe| probe.refused_by.clone());
    let hop = hop.filter(|(host, _)| *host != report.ours.address && !host.is_empty());
    let (mismatch, explanation) = match (hop, ours, theirs) {
        (Some((host, fits)), ..) => (
            true,
            format!(
                "{host} on the way takes packets of at most {fits} bytes: raise its MTU, or lower \
                 that of both hosts"
            ),
        ),
        (None, Some(a), Some(b)) if a != b => (
            true,
            format!(
                "{} takes packets of {a} bytes, {} of {b}: larger ones {silent}; set the same MTU \
                 on both and on every switch between",
                named(&report.ours),
                named(&report.theirs)
            ),
        ),
        _ if set.is_some_and(|set| path < set.min(LARGEST_BYTES)) => (
            true,
            format!(
                "both hosts are set to {} bytes, but packets above {path} {silent}: a switch port \
                 or bridge between them takes no larger ones; raise its MTU, or lower that of \
                 both hosts",
                set.unwrap_or(0)
            ),
        ),
        _ if path >= LARGEST_BYTES => (
            false,
            "jumbo packets of 9000 bytes pass both ways".to_owned(),
        ),
        _ => (
            false,
            format!("packets of {path} bytes pass both ways, as the links are set"),
        ),
    };
    Some(MtuFinding {
        path_mtu_bytes: path,
        mismatch,
        explanation,
    })
}

fn mtu(host: &HostFacts) -> Option<u32> {
    host.link.as_ref()?.mtu_bytes
}

fn named(host: &HostFacts) -> String {
    let link = host
        .link
        .as_ref()
        .map_or("its link", |link| link.interface.as_str());
    format!("{link} of {} ({})", host.hostname, host.address)
}
