//! Work that is held back before it reaches a device: by a limit on the I/O or a quota
//! on the CPU time of its control group, or by a lock.

use std::collections::BTreeSet;
use std::path::Path;

use fathom_rules::diagnosis;
use fathom_rules::diagnosis::held_back::{
    FILLED, LEAST_WAITERS, LUMPS, LUMPS_MOST, MOST_OF_THE_TIME, OF_PERIODS, THRESHOLD as AT_LIMIT,
};
use fathom_rules::method::observed::PEAK_QUANTILE;

use crate::load;
use crate::recording::{DoerMoment, Recording};
use crate::series::Series;

/// The limits of each group that has one, as shares of what they allow over time.
fn used_limits(recording: &Recording) -> Vec<LimitUse<'_>> {
    let limited = recording.moments.iter().flat_map(|m| &m.groups);
    let limited = limited.filter(|group| group.limit_used.is_some());
    let mut names: Vec<&str> = limited.map(|group| group.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let used = |name: &str| {
        // A group that did nothing in a second is not in it.
        load::series(recording, |m| {
            let group = m.groups.iter().find(|group| group.name == name);
            Some(group.and_then(|group| group.limit_used).unwrap_or(0.0))
        })
    };
    let all = names.into_iter().map(|name| LimitUse::of(name, used(name)));
    all.collect()
}

/// How much of its limit a group used over time.
struct LimitUse<'a> {
    name: &'a str,
    /// Shares of what it may do.
    used: Series,
    /// How far it was exceeded, where none could be that held.
    exceeded: Option<f64>,
}

impl<'a> LimitUse<'a> {
    fn of(name: &'a str, used: Series) -> LimitUse<'a> {
        let beyond = |used: &Series, most| peak(used).filter(|peak| *peak > most);
        if beyond(&used, diagnosis::ceiling_contradicted::THRESHOLD).is_none() {
            return LimitUse {
                name,
                used,
                exceeded: None,
            };
        }
        // Large operations are counted as they pass: one second holds those of two.
        let used = used.smoothed(LUMPS);
        LimitUse {
            name,
            exceeded: beyond(&used, LUMPS_MOST),
            used,
        }
    }
}

/// What is used for a twentieth of the time and in two samples: one alone may show what
/// had gathered in a pause.
fn peak(used: &Series) -> Option<f64> {
    Some(used.quantile(PEAK_QUANTILE)?.min(used.second_most()?))
}

/// Limits of groups that do not hold, in words.
pub(crate) fn contradicted_limits(recording: &Recording) -> Vec<String> {
    let limits = used_limits(recording);
    let words = limits.iter().filter_map(|limit| {
        let times = limit.exceeded?;
        let name = limit.name;
        Some(format!(
            "control group {name}: its limit on I/O is contradicted by {times:.1} times as much; ignored"
        ))
    });
    words.collect()
}

/// The group whose limit held it back for the largest share of the time, with
/// that share, and in words.
pub(crate) fn by_a_limit(recording: &Recording) -> Option<(f64, String)> {
    let limits = used_limits(recording);
    let holding = limits.iter().filter(|limit| limit.exceeded.is_none());
    let shares = holding.map(|limit| (limit.used.share_from(AT_LIMIT), limit.name));
    let (share, name) = shares.max_by(|a, b| a.0.total_cmp(&b.0))?;
    (share > 0.0).then(|| {
        let line = format!(
            "control group {name}: at {:.0} % of its limit on I/O and above for {:.0} % of the time \
             (io.max, or blkio.throttle)",
            100.0 * AT_LIMIT,
            100.0 * share
        );
        (share, line)
    })
}

/// Whether a group does just what it may, over every few seconds, while programs ask for
/// more: who paces itself doesn't meet a limit so closely, and what waits for one is not
/// always counted (asynchronous I/O is not, as of a group of version 1).
pub(crate) fn fills_a_limit(recording: &Recording) -> bool {
    let limits = used_limits(recording);
    let holding = limits.into_iter().filter(|limit| limit.exceeded.is_none());
    let mut over_some = holding.map(|limit| limit.used.smoothed(LUMPS));
    over_some.any(|used| used.share_from(FILLED) >= 1.0) && programs_ask(recording)
}

/// Whether programs cause most of what the devices do: pages that somebody made dirty long
/// ago are written without one, and nobody waits for them.
fn programs_ask(recording: &Recording) -> bool {
    let share = load::series(recording, |m| {
        let programs = m.processes.iter().filter(|doer| !doer.is_of_the_kernel());
        let asked: f64 = programs.map(DoerMoment::bytes).sum();
        Some(asked / m.moved_bytes().max(1.0))
    });
    share.share_from(0.5) >= MOST_OF_THE_TIME
}

/// Leaves limits out that do not bear on the processes of `group`: those of
/// groups other than it and those above it.
pub fn only_limits_of(recording: &mut Recording, group: &str) {
    let group = Path::new(group.trim_start_matches('/'));
    let groups = recording.moments.iter_mut().flat_map(|m| &mut m.groups);
    for other in groups.filter(|other| !group.starts_with(other.name.trim_start_matches('/'))) {
        other.limit_used = None;
    }
}

/// The group that its CPU quota holds back most, in words.
pub(crate) fn by_a_quota(recording: &Recording) -> Option<String> {
    let quotas = recording.moments.iter().flat_map(|m| &m.quotas);
    let names: BTreeSet<&str> = quotas.map(|quota| quota.name.as_str()).collect();
    let held = names.into_iter().map(|name| {
        // A group that had nothing to do is not in it.
        let of_group = load::series(recording, |m| {
            let quota = m.quotas.iter().find(|quota| quota.name == name);
            Some(quota.map_or(0.0, |quota| quota.held_back))
        });
        (name, of_group)
    });
    let lasting = held.filter(|(_, held)| held.share_from(OF_PERIODS) >= MOST_OF_THE_TIME);
    let shares = lasting.filter_map(|(name, held)| Some((name, held.mean()?)));
    let (name, share) = shares.max_by(|a, b| a.1.total_cmp(&b.1))?;
    Some(format!(
        "control group {name}: its CPU quota held it back in {:.0} % of the periods (cpu.max, or \
         cpu.cfs_quota_us): its programs wait for CPU time",
        100.0 * share
    ))
}

/// Tasks that wait for locks on files, in words.
pub(crate) fn by_locks(recording: &Recording) -> Option<String> {
    let waiters = load::series(recording, |m| m.lock_waiters);
    let lasting = waiters.share_from(LEAST_WAITERS) >= MOST_OF_THE_TIME;
    let usual = waiters.quantile(0.5).filter(|_| lasting)?;
    Some(format!(
        "{usual:.0} tasks wait for locks on files, all the time: who has one sets their pace \
         (`lslocks` names them)"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::{Moment, QuotaMoment};

    fn recording(moments: impl Iterator<Item = Moment>) -> Recording {
        Recording {
            moments: moments.collect(),
            ..Recording::default()
        }
    }

    #[test]
    fn limits_of_other_groups_are_left_out_where_one_is_asked_for() {
        let groups = ["app", "app/db", "app/db2", "other"].map(|name| DoerMoment {
            name: name.to_owned(),
            limit_used: Some(1.0),
            ..DoerMoment::default()
        });
        let moment = Moment {
            seconds: Some(1.0),
            groups: groups.to_vec(),
            ..Moment::default()
        };
        let mut seen = recording(std::iter::once(moment));
        only_limits_of(&mut seen, "/app/db");
        let kept = seen.moments[0].groups.iter();
        let kept: Vec<&str> = kept
            .filter(|group| group.limit_used.is_some())
            .map(|group| group.name.as_str())
            .collect();
        assert_eq!(kept, ["app", "app/db"]);
        only_limits_of(&mut seen, "/");
        assert_eq!(by_a_limit(&seen), None);
    }

    #[test]
    fn the_group_that_is_most_at_its_limit_is_named() {
        let group = |name: &str, limit_used| DoerMoment {
            name: name.to_owned(),
            limit_used,
            ..DoerMoment::default()
        };
        let found = by_a_limit(&recording((0..10).map(|second| {
            Moment {
                seconds: Some(1.0),
                groups: match second {
                    0..5 => vec![
                        group("a", Some(0.2)),
                        group("b", Some(0.99)),
                        group("c", None),
                    ],
                    _ => vec![group("a", Some(0.95))]
                        .into_iter()
                        .take(second - 5)
                        .collect(),
                },
                ..Moment::default()
            }
        })));
        let (share, line) = found.expect("one is");
        assert_eq!(share, 0.5);
        assert!(
            line.starts_with("control group b: at 90 % of its limit"),
            "{line}"
        );
        assert_eq!(by_a_limit(&Recording::default()), None);
    }

    #[test]
    fn a_limit_that_does_not_hold_is_left_out_and_named() {
        let doing = |limit_used| {
            recording((0..20).map(move |_| Moment {
                seconds: Some(1.0),
                groups: vec![DoerMoment {
                    name: "a".to_owned(),
                    limit_used: Some(limit_used),
                    ..DoerMoment::default()
                }],
                ..Moment::default()
            }))
        };
        assert_eq!(by_a_limit(&doing(3.0)), None);
        assert_eq!(
            contradicted_limits(&doing(3.0)),
            ["control group a: its limit on I/O is contradicted by 3.0 times as much; ignored"]
        );
        assert!(by_a_limit(&doing(1.05)).is_some());
        assert!(contradicted_limits(&doing(1.05)).is_empty());
    }

    #[test]
    fn who_does_just_what_it_may_fills_its_limit() {
        let by = |name: &str, usual: f64, once: f64| {
            let writer = DoerMoment {
                name: name.to_owned(),
                write_bytes: 1e6,
                ..DoerMoment::default()
            };
            recording((0..12).map(move |second| Moment {
                seconds: Some(1.0),
                processes: vec![writer.clone()],
                groups: vec![DoerMoment {
                    name: "a".to_owned(),
                    limit_used: Some(if second == 7 { once } else { usual }),
                    ..DoerMoment::default()
                }],
                ..Moment::default()
            }))
        };
        let doing = |usual, once| by("7 dd", usual, once);
        assert!(fills_a_limit(&doing(0.99, 1.02)));
        let written_back = by("9 [kworker/0:1]", 0.99, 0.99);
        assert!(!fills_a_limit(&written_back), "nobody asks");
        assert!(!fills_a_limit(&doing(0.99, 0.5)), "a pause");
        assert!(!fills_a_limit(&doing(0.93, 0.93)), "another pace");
        assert!(!fills_a_limit(&doing(3.0, 3.0)), "not in force");
        assert!(!fills_a_limit(&Recording::default()));
    }

    #[test]
    fn one_burst_of_what_had_gathered_contradicts_no_limit() {
        let with_bursts = |bursts: usize| {
            recording((0..12).map(move |second| Moment {
                seconds: Some(1.0),
                groups: vec![DoerMoment {
                    name: "a".to_owned(),
                    limit_used: Some(if second < bursts { 1.9 } else { 0.99 }),
                    ..DoerMoment::default()
                }],
                ..Moment::default()
            }))
        };
        assert!(by_a_limit(&with_bursts(1)).is_some());
        assert!(contradicted_limits(&with_bursts(1)).is_empty());
        assert_eq!(by_a_limit(&with_bursts(4)), None);
    }

    #[test]
    fn the_group_that_its_quota_holds_back_most_is_named() {
        let held = |shares: [f64; 2]| {
            by_a_quota(&recording((0..10).map(move |_| {
                let quotas = ["pod", "pod/app"].iter().zip(shares);
                let quotas = quotas.map(|(name, held_back)| QuotaMoment {
                    name: (*name).to_owned(),
                    held_back,
                });
                Moment {
                    seconds: Some(1.0),
                    quotas: quotas.collect(),
                    ..Moment::default()
                }
            })))
        };
        let line = held([0.1, 0.93]).expect("one is held back");
        assert!(
            line.starts_with("control group pod/app: its CPU quota held it back in 93 %"),
            "{line}"
        );
        assert_eq!(held([0.1, 0.3]), None);
    }

    #[test]
    fn a_standby_is_no_queue_for_a_lock() {
        let waiting = |waiters: Option<f64>| {
            by_locks(&recording((0..10).map(|_| Moment {
                seconds: Some(1.0),
                lock_waiters: waiters,
                ..Moment::default()
            })))
        };
        assert_eq!(waiting(None), None);
        assert_eq!(waiting(Some(1.0)), None);
        let line = waiting(Some(7.0)).expect("a queue");
        assert!(
            line.starts_with("7 tasks wait for locks on files"),
            "{line}"
        );
    }
}
