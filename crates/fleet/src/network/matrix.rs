//! All pairs of several servers, driven from a host that moves no data.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::ScopedJoinHandle;

use fathom_model::TrialRecord;
use fathom_model::fleet::FleetHost;
use fathom_model::network::{Ends, LoadSpec, MatrixMode, PairPlan, PairReport, PlannedLoad};
use fathom_model::pair_trials::{PairPlace, failed_trial, network_host, pair_trials};
use fathom_stats::median::median;

use super::driver::{Remote, StartTime};
use super::error::{NetError, no_thread};
use super::rounds::{HostPair, rounds};

/// Time from the order to the common start; servers meet meanwhile.
const LEAD_NS: u64 = 500_000_000;
/// Round trips without load, where pairs run alone.
const IDLE_NS: u64 = 200_000_000;

/// Pairs below so much of the median are looked at again, so often.
const AGAIN_BELOW: f64 = 0.9;
const LOOKS_AGAIN: u32 = 2;

/// What is measured among several servers.
#[derive(Debug, Clone, PartialEq)]
pub struct MatrixPlan {
    /// Kinds of rounds.
    pub modes: Vec<MatrixMode>,
    /// The load of each pair, sent forward.
    pub load: LoadSpec,
}

/// What was measured among several servers.
#[derive(Debug, Clone, PartialEq)]
pub struct MeasuredMatrix {
    /// The hosts as the user named them, with what each says of itself.
    pub hosts: Vec<FleetHost>,
    /// Every look at every pair, as trials in the order in which they ran.
    pub trials: Vec<TrialRecord>,
}

/// One look at one way.
#[derive(Debug, Clone, PartialEq)]
struct Look {
    from: usize,
    to: usize,
    /// Row of its trials.
    row: u32,
    /// Payload that arrived, bits per second.
    bits: Option<f64>,
}

/// Rows that one look takes at most: small requests without load, the load, and
/// small requests beside it.
const ROWS_OF_A_LOOK: u32 = 3;

/// Measures among `hosts` (name and address of each).
///
/// Stopped early, it returns what was measured until then.
///
/// # Errors
/// When any of the servers cannot be reached; all of them are named. When it is
/// stopped before anything is measured. What fails later is a trial that failed.
pub fn measure_matrix(
    hosts: &[(String, SocketAddr)],
    plan: &MatrixPlan,
    stop: &Arc<AtomicBool>,
    tell: &mut dyn FnMut(&str),
) -> Result<MeasuredMatrix, Vec<NetError>> {
    tell("reaching all hosts");
    let remotes = meet_all(hosts)?;
    let named = hosts.iter().zip(&remotes);
    let mut measuring = Measuring {
        hosts,
        remotes: &remotes,
        sets: 0,
        rows: 0,
        trials: Vec::new(),
    };
    'modes: for &mode in &plan.modes {
        let rounds = rounds(mode, remotes.len());
        let mut looks: Vec<Look> = Vec::new();
        for (number, round) in rounds.iter().enumerate() {
            if stop.load(Ordering::Relaxed) {
                break 'modes;
            }
            tell(&format!(
                "{}: round {} of {}",
                mode.words(),
                number + 1,
                rounds.len()
            ));
            looks.extend(measuring.round(mode, round, &plan.load));
        }
        if mode == MatrixMode::Alone {
            measuring.look_again(looks, &plan.load, stop, tell);
        }
    }
    if measuring.trials.is_empty() {
        return Err(vec![NetError::Interrupted]);
    }
    Ok(MeasuredMatrix {
        hosts: named
            .map(|((name, _), remote)| network_host(name, &remote.facts))
            .collect(),
        trials: measuring.trials,
    })
}

/// A matrix under way.
struct Measuring<'m> {
    hosts: &'m [(String, SocketAddr)],
    remotes: &'m [Remote],
    /// Sets of trials so far.
    sets: u32,
    /// Rows so far.
    rows: u32,
    trials: Vec<TrialRecord>,
}

impl Measuring<'_> {
    /// Pairs at the same time, for the first time.
    fn round(&mut self, mode: MatrixMode, pairs: &[HostPair], load: &LoadSpec) -> Vec<Look> {
        let looks = pairs.iter().map(|&(from, to)| {
            let row = self.rows;
            self.rows += ROWS_OF_A_LOOK;
            Look {
                from,
                to,
                row,
                bits: None,
            }
        });
        let looks = looks.collect();
        self.measure(looks, mode, 0, load)
    }

    /// Measures the ways that stand out some more times, each by itself: a host
    /// that stood still for a moment looks like a slow way.
    fn look_again(
        &mut self,
        looks: Vec<Look>,
        load: &LoadSpec,
        stop: &AtomicBool,
        tell: &mut dyn FnMut(&str),
    ) {
        let slow = slow_ways(self.remotes.len(), looks);
        for number in 1..=LOOKS_AGAIN {
            for way in &slow {
                if stop.load(Ordering::Relaxed) {
                    return;
                }
                tell(&format!(
                    "again what stood out: look {number} of {LOOKS_AGAIN}"
                ));
                self.measure(vec![way.clone()], MatrixMode::Alone, number, load);
            }
        }
    }

    /// Measures ways at the same time, and keeps what came of it.
    fn measure(
        &mut self,
        mut looks: Vec<Look>,
        mode: MatrixMode,
        iteration: u32,
        load: &LoadSpec,
    ) -> Vec<Look> {
        let plan = plan_of(mode, load);
        let set = self.sets;
        self.sets += 1;
        let (mut before, mut together) = (Vec::new(), Vec::new());
        let measured = one_round(self.remotes, &looks, &plan);
        for (look, done) in looks.iter_mut().zip(measured) {
            let place = PairPlace {
                ends: Ends {
                    from: host_number(look.from),
                    to: host_number(look.to),
                    mode: Some(mode),
                    beside: None,
                },
                row: look.row,
                iteration,
                set: Some(set),
            };
            let name = |host: usize| self.hosts[host].0.as_str();
            let label = format!("{}: {} to {}", mode.words(), name(look.from), name(look.to));
            let trials = match done {
                Ok(mut report) => {
                    let first = report.loads.first_mut();
                    look.bits = first.and_then(|load| {
                        load.name = label;
                        load.bits_per_second()
                    });
                    pair_trials(&report, place)
                }
                Err(reason) => {
                    let address = self.remotes[look.to].address;
                    let loads = usize::from(plan.idle_ns > 0);
                    let place = place.after(loads);
                    vec![failed_trial(
                        &label,
                        load,
                        place,
                        &address.to_string(),
                        reason,
                    )]
                }
            };
            // Small requests without load come before any load of the round.
            let (alone, others): (Vec<_>, Vec<_>) = trials
                .into_iter()
                .partition(|trial| trial.spec.together.is_none());
            before.extend(alone);
            together.extend(others);
        }
        self.trials.extend(before);
        self.trials.extend(together);
        looks
    }
}

fn host_number(host: usize) -> u32 {
    u32::try_from(host).unwrap_or(u32::MAX)
}

/// The ways that are slower than their hosts, slowest first.
fn slow_ways(hosts: usize, looks: Vec<Look>) -> Vec<Look> {
    let rates: Vec<f64> = looks.iter().filter_map(|look| look.bits).collect();
    let Some(middle) = median(&rates) else {
        return Vec::new();
    };
    let expected = expected(hosts, &looks, middle);
    let share = |look: &Look| {
        let usual = expected(look.from, look.to).max(1.0);
        look.bits.map(|bits| bits / usual)
    };
    let mut slow: Vec<(f64, Look)> = looks
        .into_iter()
        .filter_map(|look| Some((share(&look)?, look)))
        .filter(|(share, _)| *share < AGAIN_BELOW)
        .collect();
    // A host whose ways are all slow is found without them.
    slow.sort_by(|a, b| a.0.total_cmp(&b.0));
    slow.truncate(hosts * 2);
    slow.into_iter().map(|(_, look)| look).collect()
}

/// What a way should reach by its hosts' other ways, at least the median of all: a
/// way can be slow for two fast hosts and still be no slower than most.
fn expected(hosts: usize, looks: &[Look], middle: f64) -> impl Fn(usize, usize) -> f64 + use<> {
    let of = |matches: &dyn Fn(&Look) -> bool| {
        let ways = looks.iter().filter(|look| matches(look));
        let rates: Vec<f64> = ways.filter_map(|look| look.bits).collect();
        median(&rates).unwrap_or(middle)
    };
    let sent: Vec<f64> = (0..hosts).map(|host| of(&|c| c.from == host)).collect();
    let received: Vec<f64> = (0..hosts).map(|host| of(&|c| c.to == host)).collect();
    move |from, to| {
        let usual = |rates: &[f64], host: usize| rates.get(host).copied().unwrap_or(middle);
        let both = usual(&sent, from) * usual(&received, to) / middle.max(1.0);
        both.max(middle)
    }
}

fn meet_all(hosts: &[(String, SocketAddr)]) -> Result<Vec<Remote>, Vec<NetError>> {
    let met: Vec<_> = std::thread::scope(|scope| {
        let meet = |(_, address): &(String, SocketAddr)| {
            let address = *address;
            std::thread::Builder::new().spawn_scoped(scope, move || Remote::meet(address))
        };
        let threads: Vec<_> = hosts.iter().map(meet).collect();
        threads
            .into_iter()
            .filter_map(|begun| match begun {
                Ok(thread) => thread.join().ok(),
                Err(source) => Some(Err(NetError::unstarted(source))),
            })
            .collect()
    });
    let (mut remotes, mut errors) = (Vec::new(), Vec::new());
    for one in met {
        match one {
            Ok(remote) => remotes.push(remote),
            Err(error) => errors.push(error),
        }
    }
    if errors.is_empty() && remotes.len() == hosts.len() {
        Ok(remotes)
    } else {
        Err(errors)
    }
}

fn plan_of(mode: MatrixMode, load: &LoadSpec) -> PairPlan {
    PairPlan {
        path: false,
        idle_ns: if mode == MatrixMode::Alone {
            IDLE_NS
        } else {
            0
        },
        loads: vec![PlannedLoad {
            name: "stream".to_owned(),
            spec: load.clone(),
            round_trips: true,
        }],
    }
}

/// Measures ways at the same time. What comes of each, or why nothing.
fn one_round(
    remotes: &[Remote],
    looks: &[Look],
    plan: &PairPlan,
) -> Vec<Result<PairReport, String>> {
    let cue = StartTime::after_ns(LEAD_NS + plan.idle_ns);
    std::thread::scope(|scope| {
        let start = |look: &Look| {
            let (from, to) = (look.from, look.to);
            let measure = move || remotes[from].measure(remotes[to].address, plan, cue);
            std::thread::Builder::new().spawn_scoped(scope, measure)
        };
        let threads: Vec<_> = looks.iter().map(start).collect();
        threads
            .into_iter()
            .map(|begun| match begun.map(ScopedJoinHandle::join) {
                Ok(Ok(done)) => done.map_err(|error| error.to_string()),
                Ok(Err(_)) => Err("its thread failed".to_owned()),
                Err(error) => Err(no_thread(&error)),
            })
            .collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_way_between_fast_hosts_is_looked_at_again() {
        // Hosts 0 and 1 are twice as fast as the others; their own way is not.
        let fast = |host: usize| host < 2;
        let mut looks = Vec::new();
        for (from, to) in (0..6).flat_map(|from| (0..6).map(move |to| (from, to))) {
            if from == to {
                continue;
            }
            let bits = match (fast(from), fast(to)) {
                (true, true) => 11e9,
                (false, false) => 10e9,
                _ => 20e9,
            };
            looks.push(Look {
                from,
                to,
                row: 0,
                bits: Some(bits),
            });
        }
        let expected = expected(6, &looks, 10e9);
        assert!(11e9 < AGAIN_BELOW * expected(0, 1), "{}", expected(0, 1));
        assert!(20e9 >= AGAIN_BELOW * expected(0, 3), "{}", expected(0, 3));
        assert!(10e9 >= AGAIN_BELOW * expected(3, 4), "{}", expected(3, 4));
    }
}
