//! A network path that gives no more, of whose speed nothing is known.
//!
//! TCP sends more until segments are lost, and then sends them again. So an
//! interface that moves data at an even rate, second after second, while
//! segments are lost all the time, is at the end of what the path behind it
//! gives, whatever its own rated speed is. A program that sends at its own even
//! pace loses nothing. Who sends sees what it sends again; who receives sees
//! segments that overtook a lost one. (Congestion control that keeps the
//! buffers of the path empty, as BBR does, loses nothing at the end of a path
//! either: then this shows nothing.)

use fathom_model::unit;
use fathom_rules::diagnosis::path_full::{EVEN, LEAST_BYTES, LEAST_MOMENTS, MOSTLY};

use crate::load;
use crate::recording::{LinkMoment, Recording};

/// What shows that a path is full.
pub(crate) fn full(recording: &Recording) -> Option<String> {
    if recording.moments.len() < LEAST_MOMENTS {
        return None;
    }
    let lost = load::series(recording, |m| {
        let (again, _) = m.retransmits?;
        Some(again + m.out_of_order.unwrap_or(0.0))
    });
    if lost.share_from(f64::MIN_POSITIVE) < MOSTLY {
        return None;
    }
    let mut names: Vec<&str> = recording
        .moments
        .iter()
        .flat_map(|m| m.links.iter().map(|link| link.name.as_str()))
        .collect();
    names.sort_unstable();
    names.dedup();
    let rates = |name: &str| {
        load::series(recording, |m| {
            let link = m.links.iter().find(|link| link.name == name);
            Some(link.map_or(0.0, fuller))
        })
    };
    let median = |name: &str| rates(name).quantile(0.5).unwrap_or(0.0);
    let busiest = names
        .into_iter()
        .max_by(|a, b| median(a).total_cmp(&median(b)))?;
    let usual = median(busiest);
    let rates = rates(busiest);
    let even = rates.share_from((1.0 - EVEN) * usual) - rates.share_from((1.0 + EVEN) * usual);
    (usual >= LEAST_BYTES && even >= MOSTLY).then(|| {
        format!(
            "{busiest}: moves {} all the time while segments are lost ({:.1} a second sent again or out \
             of order): the path behind it gives no more",
            unit::throughput(usual),
            lost.mean().unwrap_or(0.0)
        )
    })
}

/// The direction that moves more.
fn fuller(link: &LinkMoment) -> f64 {
    link.received_bytes.max(link.sent_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::Moment;

    fn recording(rate: impl Fn(usize) -> f64, again: f64) -> Recording {
        let moments = (0..10).map(|second| Moment {
            seconds: Some(1.0),
            links: vec![
                LinkMoment {
                    name: "eth0".to_owned(),
                    sent_bytes: rate(second),
                    ..LinkMoment::default()
                },
                LinkMoment {
                    name: "eth1".to_owned(),
                    received_bytes: 1000.0,
                    ..LinkMoment::default()
                },
            ],
            retransmits: Some((again, 0.001)),
            ..Moment::default()
        });
        Recording {
            moments: moments.collect(),
            ..Recording::default()
        }
    }

    #[test]
    fn an_even_rate_with_losses_is_a_full_path() {
        let found = full(&recording(|second| 2e6 + 1e4 * second as f64, 3.0));
        let line = found.expect("full");
        assert!(
            line.starts_with("eth0: moves 1.95 MiB/s all the time"),
            "{line}"
        );
    }

    #[test]
    fn neither_losses_nor_an_even_rate_alone_show_it() {
        assert_eq!(full(&recording(|_| 2e6, 0.0)), None);
        let comes_and_goes = |second: usize| if second.is_multiple_of(2) { 2e6 } else { 4e5 };
        assert_eq!(full(&recording(comes_and_goes, 3.0)), None);
        assert_eq!(full(&recording(|_| 1e4, 3.0)), None);
        assert_eq!(full(&Recording::default()), None);
    }
}
