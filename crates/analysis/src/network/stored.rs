//! A stored network: the trials of a run back to what a pair of hosts, or all
//! pairs of several hosts, gave.

use fathom_model::network::{
    ConnectionFacts, ConnectionReport, ConnectionSecond, End, EndFacts, EndReport, Ends, FlowFacts,
    FlowReport, HostFacts, LinkCounters, LoadResult, LoadSpec, MATRIX_SCHEMA, MatrixCell,
    MatrixMode, MatrixReport, MatrixRound, NodeSum, Outliers, PAIR_SCHEMA, PairReport, PathFacts,
    Reachability, RoundTrip, Way,
};
use fathom_model::schedule::TrialRole;
use fathom_model::{Phase, RunMeta, RunRecord, Sample, TrialRecord};

/// A trial with two ends.
#[derive(Clone, Copy)]
struct TwoEnded<'r> {
    trial: &'r TrialRecord,
    ends: Ends,
    spec: &'r LoadSpec,
}

impl<'r> TwoEnded<'r> {
    fn of(trial: &'r TrialRecord) -> Option<TwoEnded<'r>> {
        Some(TwoEnded {
            trial,
            ends: trial.spec.ends?,
            spec: trial.spec.workload.pair()?,
        })
    }

    fn is_load(self) -> bool {
        self.trial.spec.role == TrialRole::Measure
    }

    fn flow(self, way: Way) -> Option<FlowReport> {
        let ends = self.trial.end.as_ref()?.ends.as_ref()?;
        let facts = match way {
            Way::Forward => ends.forward.as_ref(),
            Way::Reverse => ends.reverse.as_ref(),
        };
        facts.map(|facts| flow_of(self.trial, way, facts))
    }

    fn round_trip(self) -> Option<RoundTrip> {
        Some(RoundTrip::of(&self.flow(Way::Forward)?))
    }

    fn path(self) -> Option<&'r PathFacts> {
        self.trial.end.as_ref()?.ends.as_ref()?.path.as_deref()
    }

    fn error(self) -> Option<String> {
        self.trial.end.as_ref()?.reason.clone()
    }

    /// The load with the small requests beside it.
    fn result(self, all: &[TwoEnded<'_>]) -> LoadResult {
        let beside = |other: &&TwoEnded<'_>| {
            other.ends.beside == Some(self.trial.spec.row)
                && other.trial.spec.iteration == self.trial.spec.iteration
        };
        LoadResult {
            name: self.trial.spec.label.clone(),
            spec: self.spec.clone(),
            forward: self.flow(Way::Forward),
            reverse: self.flow(Way::Reverse),
            loaded: all.iter().find(beside).and_then(|other| other.round_trip()),
            error: self.error(),
            started_unix_ns: 0,
        }
    }
}

fn flow_of(trial: &TrialRecord, way: Way, facts: &FlowFacts) -> FlowReport {
    FlowReport {
        sender: end_of(trial, (way, End::Sender), &facts.sender),
        receiver: end_of(trial, (way, End::Receiver), &facts.receiver),
    }
}

fn end_of(trial: &TrialRecord, of: (Way, End), facts: &EndFacts) -> EndReport {
    let mut connections: Vec<ConnectionReport> =
        facts.connections.iter().map(without_seconds).collect();
    for sample in &trial.samples {
        let Some(state) = &sample.connection else {
            continue;
        };
        let number = state.number as usize;
        if (state.way, state.end) == of
            && let Some(connection) = connections.get_mut(number)
        {
            connection.seconds.push(second_of(sample));
        }
    }
    EndReport {
        connections,
        host: facts.host,
        congestion: facts.congestion.clone(),
    }
}

fn without_seconds(facts: &ConnectionFacts) -> ConnectionReport {
    ConnectionReport {
        local: facts.local.clone(),
        remote: facts.remote.clone(),
        seconds: Vec::new(),
        error: facts.error.clone(),
    }
}

fn second_of(sample: &Sample) -> ConnectionSecond {
    let op = sample.ops.first();
    let state = sample.connection.as_deref();
    ConnectionSecond {
        warmup: sample.phase == Phase::Warmup,
        start_ns: sample.start_ns,
        duration_ns: sample.duration_ns,
        bytes: op.map_or(0, |op| op.bytes),
        blocks: op.map_or(0, |op| op.ops),
        latency: op.map(|op| op.service.clone()).unwrap_or_default(),
        lateness: sample.lateness.clone().unwrap_or_default(),
        cpu_user_ns: sample.cpu_user_ns,
        cpu_system_ns: sample.cpu_system_ns,
        run_delay_ns: sample.run_delay_ns,
        cpu: state.map_or(0, |state| state.cpu),
        tcp: state.and_then(|state| state.tcp),
        udp: state.and_then(|state| state.udp),
    }
}

/// The pair of hosts of a run; `None` where it is of none.
pub(super) fn pair(record: &RunRecord) -> Option<PairReport> {
    let all: Vec<TwoEnded<'_>> = record.trials.iter().filter_map(TwoEnded::of).collect();
    let first = all.first().filter(|first| first.ends.mode.is_none())?;
    let path = all.iter().find_map(|trial| trial.path());
    let idle = all
        .iter()
        .find(|other| !other.is_load() && other.ends.beside.is_none());
    Some(PairReport {
        schema: PAIR_SCHEMA.to_owned(),
        started_unix_s: first.trial.started_unix_ns / 1_000_000_000,
        ours: host_facts(&record.meta, first.ends.from),
        theirs: host_facts(&record.meta, first.ends.to),
        reached: path.map_or_else(unreached, |path| path.reached.clone()),
        clock: path.and_then(|path| path.clock),
        probes: path.and_then(|path| path.probes.clone()),
        mtu: None,
        idle: idle.and_then(|idle| idle.round_trip()),
        loads: all
            .iter()
            .filter(|one| one.is_load())
            .map(|one| one.result(&all))
            .collect(),
        our_counters: path.map_or_else(LinkCounters::default, |path| path.our_counters),
        their_counters: path.map_or_else(LinkCounters::default, |path| path.their_counters),
        limits: Vec::new(),
        remarks: path.map(|path| path.remarks.clone()).unwrap_or_default(),
    })
}

fn unreached() -> Reachability {
    Reachability {
        address: String::new(),
        connect_ns: Vec::new(),
    }
}

fn host_facts(meta: &RunMeta, host: u32) -> HostFacts {
    let host = meta.hosts.get(host as usize);
    let facts = host.and_then(|host| host.network.as_deref());
    facts.cloned().unwrap_or_default()
}

/// All pairs of several hosts of a run; `None` where it is of none.
pub(super) fn matrix(record: &RunRecord) -> Option<MatrixReport> {
    if let Some(figures) = &record.meta.matrix_figures {
        return Some(MatrixReport {
            outliers: Outliers::default(),
            remarks: Vec::new(),
            ..MatrixReport::clone(figures)
        });
    }
    let all: Vec<TwoEnded<'_>> = record.trials.iter().filter_map(TwoEnded::of).collect();
    all.iter().find(|trial| trial.ends.mode.is_some())?;
    // What was planned, where a run ended before its first load.
    let planned = record.meta.schedule.trials.iter();
    let planned = planned
        .filter(|trial| trial.role == TrialRole::Measure)
        .find_map(|trial| trial.workload.pair());
    let load = all.iter().find(|trial| trial.is_load());
    let load = load.map(|load| load.spec).or(planned);
    let hosts = &record.meta.hosts;
    let mut modes: Vec<MatrixMode> = Vec::new();
    for mode in all.iter().filter_map(|trial| trial.ends.mode) {
        if !modes.contains(&mode) {
            modes.push(mode);
        }
    }
    let numbers = 0..u32::try_from(hosts.len()).unwrap_or(u32::MAX);
    Some(MatrixReport {
        schema: MATRIX_SCHEMA.to_owned(),
        started_unix_s: record.meta.started_unix_ns / 1_000_000_000,
        hosts: hosts.iter().map(|host| host.name.clone()).collect(),
        facts: numbers.map(|host| host_facts(&record.meta, host)).collect(),
        seconds: load.map_or(0, |load| {
            u32::try_from(load.measure_ns / 1_000_000_000).unwrap_or(u32::MAX)
        }),
        streams: load.map_or(0, |load| load.streams),
        rounds: modes
            .into_iter()
            .map(|mode| round(&all, mode, hosts.len()))
            .collect(),
        outliers: Outliers::default(),
        remarks: Vec::new(),
    })
}

/// All rounds in which the same pairs ran at the same time.
fn round(all: &[TwoEnded<'_>], mode: MatrixMode, hosts: usize) -> MatrixRound {
    let of_mode = all.iter().filter(|trial| trial.ends.mode == Some(mode));
    let loads: Vec<&TwoEnded<'_>> = of_mode.filter(|trial| trial.is_load()).collect();
    let mut cells: Vec<MatrixCell> = Vec::new();
    let mut sums = vec![NodeSum::default(); hosts];
    let mut sets: Vec<(Option<u32>, Vec<NodeSum>)> = Vec::new();
    for load in loads {
        let cell = cell(load, all);
        if load.trial.spec.iteration > 0 {
            let known = |known: &&mut MatrixCell| (known.from, known.to) == (cell.from, cell.to);
            if let Some(known) = cells.iter_mut().find(known) {
                known.again_bits.extend(cell.bits_per_second);
            }
            continue;
        }
        let set = load.trial.spec.together;
        if sets.last().is_none_or(|(last, _)| *last != set) {
            sets.push((set, vec![NodeSum::default(); hosts]));
        }
        let bits = cell.bits_per_second.unwrap_or(0.0);
        if let Some((_, now)) = sets.last_mut() {
            if let Some(sum) = now.get_mut(cell.from) {
                sum.sent_bits += bits;
            }
            if let Some(sum) = now.get_mut(cell.to) {
                sum.received_bits += bits;
            }
        }
        cells.push(cell);
    }
    cells.extend(without_load(all, mode, &cells));
    // The largest sum that a host had in any round.
    for (_, now) in &sets {
        for (sum, now) in sums.iter_mut().zip(now) {
            sum.sent_bits = sum.sent_bits.max(now.sent_bits);
            sum.received_bits = sum.received_bits.max(now.received_bits);
        }
    }
    MatrixRound {
        mode,
        rounds: u32::try_from(sets.len()).unwrap_or(u32::MAX),
        cells,
        sums,
    }
}

/// Pairs of which the run knows the round trip without load and no more: it ended there.
fn without_load(all: &[TwoEnded<'_>], mode: MatrixMode, known: &[MatrixCell]) -> Vec<MatrixCell> {
    let is_known = |ends: Ends| {
        let ends = (ends.from as usize, ends.to as usize);
        known.iter().any(|cell| (cell.from, cell.to) == ends)
    };
    let idle = all.iter().filter(|trial| {
        let ends = trial.ends;
        !trial.is_load() && ends.beside.is_none() && ends.mode == Some(mode) && !is_known(ends)
    });
    let cell = |idle: &TwoEnded<'_>| MatrixCell {
        from: idle.ends.from as usize,
        to: idle.ends.to as usize,
        bits_per_second: None,
        retransmits: 0,
        retransmit_share: None,
        idle_ns: idle
            .round_trip()
            .and_then(|trip| trip.latency.quantile(0.5)),
        loaded_ns: None,
        error: idle.error(),
        again_bits: Vec::new(),
    };
    idle.map(cell).collect()
}

/// One look at a pair.
fn cell(load: &TwoEnded<'_>, all: &[TwoEnded<'_>]) -> MatrixCell {
    let result = load.result(all);
    let same_pair = |other: &&TwoEnded<'_>| {
        let (mine, theirs) = (load.ends, other.ends);
        !other.is_load()
            && theirs.beside.is_none()
            && (mine.from, mine.to, mine.mode) == (theirs.from, theirs.to, theirs.mode)
            && other.trial.spec.iteration == load.trial.spec.iteration
    };
    let idle = all
        .iter()
        .find(same_pair)
        .and_then(|idle| idle.round_trip());
    let flow = result.forward.as_ref();
    let middle = |trips: Option<&RoundTrip>| trips?.latency.quantile(0.5);
    MatrixCell {
        from: load.ends.from as usize,
        to: load.ends.to as usize,
        bits_per_second: result.bits_per_second(),
        retransmits: flow.map_or(0, |flow| flow.sender.retransmits()),
        retransmit_share: flow.and_then(|flow| flow.sender.retransmit_share()),
        idle_ns: middle(idle.as_ref()),
        loaded_ns: middle(result.loaded.as_ref()),
        error: result.error,
        again_bits: Vec::new(),
    }
}
