//! All pairs of several servers, driven from a host that moves no data.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::ScopedJoinHandle;

use fathom_model::network::{
    Cell, LoadResult, LoadSpec, MATRIX_SCHEMA, MatrixMode, MatrixReport, MatrixRound, NodeSum,
    Outliers, PairPlan, PairReport, PlannedLoad,
};
use fathom_observe::unix_now_ns;
use fathom_stats::median::median;

use super::driver::{Remote, StartTime};
use super::error::{NetError, no_thread};
use super::rounds::rounds;

/// Time from the order to the common start; servers meet meanwhile.
const LEAD_NS: u64 = 500_000_000;
/// Round trips without load, where pairs run alone.
const IDLE_NS: u64 = 200_000_000;

/// Pairs below so much of the median are looked at again, so often.
const AGAIN_BELOW: f64 = 0.9;
const LOOKS_AGAIN: usize = 2;

/// What is measured among several servers.
#[derive(Debug, Clone, PartialEq)]
pub struct MatrixPlan {
    /// Kinds of rounds.
    pub modes: Vec<MatrixMode>,
    /// The load of each pair, sent forward.
    pub load: LoadSpec,
}

/// Measures among `hosts` (name and address of each).
///
/// # Errors
/// When any of the servers cannot be reached; all of them are named. What fails
/// later stands in its cell.
pub fn measure_matrix(
    hosts: &[(String, SocketAddr)],
    plan: &MatrixPlan,
    stop: &Arc<AtomicBool>,
    tell: &mut dyn FnMut(&str),
) -> Result<MatrixReport, Vec<NetError>> {
    tell("reaching all hosts");
    let remotes = meet_all(hosts)?;
    let mut report = MatrixReport {
        schema: MATRIX_SCHEMA.to_owned(),
        started_unix_s: unix_now_ns() / 1_000_000_000,
        hosts: hosts.iter().map(|(name, _)| name.clone()).collect(),
        facts: remotes.iter().map(|remote| remote.facts.clone()).collect(),
        seconds: u32::try_from(plan.load.measure_ns / 1_000_000_000).unwrap_or(u32::MAX),
        streams: plan.load.streams,
        rounds: Vec::new(),
        outliers: Outliers::default(),
        remarks: Vec::new(),
    };
    for &mode in &plan.modes {
        let rounds = rounds(mode, remotes.len());
        let mut cells: Vec<Cell> = Vec::new();
        let mut sums = vec![NodeSum::default(); remotes.len()];
        for (number, round) in rounds.iter().enumerate() {
            if stop.load(Ordering::Relaxed) {
                return Err(vec![NetError::Interrupted]);
            }
            tell(&format!(
                "{}: round {} of {}",
                mode.words(),
                number + 1,
                rounds.len()
            ));
            let measured = one_round(&remotes, round, &plan_of(mode, &plan.load));
            add_sums(&mut sums, &measured);
            cells.extend(measured);
        }
        if mode == MatrixMode::Alone {
            look_again(&remotes, &mut cells, &plan_of(mode, &plan.load), stop, tell);
        }
        report.rounds.push(MatrixRound {
            mode,
            rounds: u32::try_from(rounds.len()).unwrap_or(u32::MAX),
            cells,
            sums,
        });
    }
    Ok(report)
}

/// Measures the ways that stand out some more times, each by itself: a host
/// that stood still for a moment looks like a slow way.
fn look_again(
    remotes: &[Remote],
    cells: &mut [Cell],
    plan: &PairPlan,
    stop: &AtomicBool,
    tell: &mut dyn FnMut(&str),
) {
    let rates: Vec<f64> = cells.iter().filter_map(|c| c.bits_per_second).collect();
    let Some(middle) = median(&rates) else {
        return;
    };
    let expected = expected(remotes.len(), cells, middle);
    let share = |cell: &Cell| {
        let usual = expected(cell.from, cell.to).max(1.0);
        cell.bits_per_second.map(|bits| bits / usual)
    };
    let mut slow: Vec<(f64, &mut Cell)> = cells
        .iter_mut()
        .filter_map(|cell| Some((share(cell)?, cell)))
        .filter(|(share, _)| *share < AGAIN_BELOW)
        .collect();
    // The slowest first. A host whose ways are all slow is found without them.
    slow.sort_by(|a, b| a.0.total_cmp(&b.0));
    slow.truncate(remotes.len() * 2);
    for look in 1..=LOOKS_AGAIN {
        for (_, cell) in &mut slow {
            if stop.load(Ordering::Relaxed) {
                return;
            }
            tell(&format!(
                "again what stood out: look {look} of {LOOKS_AGAIN}"
            ));
            let again = one_round(remotes, &[(cell.from, cell.to)], plan);
            let bits = again.first().and_then(|again| again.bits_per_second);
            cell.again_bits.extend(bits);
        }
    }
}

/// What a way should reach by its hosts' other ways, at least the median of all: a
/// way can be slow for two fast hosts and still be no slower than most.
fn expected(hosts: usize, cells: &[Cell], middle: f64) -> impl Fn(usize, usize) -> f64 + use<> {
    let of = |matches: &dyn Fn(&Cell) -> bool| {
        let ways = cells.iter().filter(|cell| matches(cell));
        let rates: Vec<f64> = ways.filter_map(|c| c.bits_per_second).collect();
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

fn one_round(remotes: &[Remote], round: &[(usize, usize)], plan: &PairPlan) -> Vec<Cell> {
    let cue = StartTime::after_ns(LEAD_NS + plan.idle_ns);
    std::thread::scope(|scope| {
        let start = |&(from, to): &(usize, usize)| {
            let measure = move || remotes[from].measure(remotes[to].address, plan, cue);
            let begun = std::thread::Builder::new().spawn_scoped(scope, measure);
            (from, to, begun)
        };
        let threads: Vec<_> = round.iter().map(start).collect();
        threads
            .into_iter()
            .map(
                |(from, to, begun)| match begun.map(ScopedJoinHandle::join) {
                    Ok(Ok(done)) => cell(from, to, done),
                    Ok(Err(_)) => failed(from, to, "its thread failed".to_owned()),
                    Err(error) => failed(from, to, no_thread(&error)),
                },
            )
            .collect()
    })
}

fn failed(from: usize, to: usize, error: String) -> Cell {
    Cell {
        from,
        to,
        bits_per_second: None,
        retransmits: 0,
        retransmit_share: None,
        idle_ns: None,
        loaded_ns: None,
        error: Some(error),
        again_bits: Vec::new(),
    }
}

fn cell(from: usize, to: usize, done: Result<PairReport, NetError>) -> Cell {
    let report = match done {
        Ok(report) => report,
        Err(error) => return failed(from, to, error.to_string()),
    };
    let load: Option<&LoadResult> = report.loads.first();
    let flow = load.and_then(|load| load.forward.as_ref());
    Cell {
        from,
        to,
        bits_per_second: load.and_then(LoadResult::bits_per_second),
        retransmits: flow.map_or(0, |flow| flow.sender.retransmits()),
        retransmit_share: flow.and_then(|flow| flow.sender.retransmit_share()),
        idle_ns: report.idle.and_then(|idle| idle.latency.quantile(0.5)),
        loaded_ns: load
            .and_then(|load| load.loaded.as_ref())
            .and_then(|loaded| loaded.latency.quantile(0.5)),
        error: load.and_then(|load| load.error.clone()),
        again_bits: Vec::new(),
    }
}

/// Keeps the largest sum that a host had in any round.
fn add_sums(sums: &mut [NodeSum], cells: &[Cell]) {
    let mut now = vec![NodeSum::default(); sums.len()];
    for cell in cells {
        let bits = cell.bits_per_second.unwrap_or(0.0);
        now[cell.from].sent_bits += bits;
        now[cell.to].received_bits += bits;
    }
    for (sum, now) in sums.iter_mut().zip(now) {
        sum.sent_bits = sum.sent_bits.max(now.sent_bits);
        sum.received_bits = sum.received_bits.max(now.received_bits);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_way_between_fast_hosts_is_looked_at_again() {
        // Hosts 0 and 1 are twice as fast as the others; their own way is not.
        let fast = |host: usize| host < 2;
        let mut cells = Vec::new();
        for (from, to) in (0..6).flat_map(|from| (0..6).map(move |to| (from, to))) {
            if from == to {
                continue;
            }
            let mut cell = failed(from, to, String::new());
            cell.bits_per_second = Some(match (fast(from), fast(to)) {
                (true, true) => 11e9,
                (false, false) => 10e9,
                _ => 20e9,
            });
            cells.push(cell);
        }
        let expected = expected(6, &cells, 10e9);
        assert!(11e9 < AGAIN_BELOW * expected(0, 1), "{}", expected(0, 1));
        assert!(20e9 >= AGAIN_BELOW * expected(0, 3), "{}", expected(0, 3));
        assert!(10e9 >= AGAIN_BELOW * expected(3, 4), "{}", expected(3, 4));
    }
}
