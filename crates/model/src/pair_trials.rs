//! What was measured between two hosts as trials with two ends: each load and
//! each round of small requests is one, and each second of each connection at
//! each end is a sample.

use crate::fleet::FleetHost;
use crate::network::{
    ConnectionReport, ConnectionSecond, ConnectionState, End, EndReport, Ends, EndsReport,
    FlowFacts, FlowReport, HostFacts, LoadResult, LoadSpec, MEASURED_REMARKS, PairPlan, PairReport,
    PathFacts, Protocol, RoundTrip, TcpState, Trips, Way,
};
use crate::run::{RunMeta, RunRecord, RunState, TrialEnd, TrialRecord};
use crate::sample::Sample;
use crate::schedule::{ScheduledTrial, TrialRole};
use crate::workload::{BlockSizes, Bounds, EngineKind, OpMix, Work};
use crate::{Fingerprint, OpKind, Target, Workload};

/// Time of small requests of which only the sums are known.
const USUAL_TRIPS_NS: u64 = 1_000_000_000;

/// What small requests are called.
const WITHOUT_LOAD: &str = "round trips without load";

fn beside(load: &str) -> String {
    format!("round trips beside {load}")
}

/// Where the trials of a pair stand in their run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PairPlace {
    /// The two hosts, and which pairs run at the same time.
    pub ends: Ends,
    /// Row of the first trial.
    pub row: u32,
    /// Which look at the pair it is, from 0.
    pub iteration: u32,
    /// The set of the loads of all pairs that run at the same time. `None`: the
    /// loads of the pair follow one another.
    pub set: Option<u32>,
}

impl PairPlace {
    /// The only pair of its run.
    pub const ALONE: PairPlace = PairPlace {
        ends: Ends {
            from: 0,
            to: 1,
            mode: None,
            beside: None,
        },
        row: 0,
        iteration: 0,
        set: None,
    };
}

/// A pair of hosts as a run: its hosts and its trials.
#[must_use]
pub fn pair_run(meta: RunMeta, report: &PairReport) -> RunRecord {
    let hosts = [&report.ours, &report.theirs].map(|host| network_host(&host.hostname, host));
    let meta = RunMeta {
        hosts: hosts.into(),
        ..meta
    };
    run_of(meta, pair_trials(report, PairPlace::ALONE))
}

/// A run of these trials, in this order.
#[must_use]
pub fn run_of(mut meta: RunMeta, mut trials: Vec<TrialRecord>) -> RunRecord {
    for (index, trial) in (0..).zip(&mut trials) {
        trial.spec.index = index;
    }
    meta.schedule.trials = trials.iter().map(|trial| trial.spec.clone()).collect();
    RunRecord { meta, trials }
}

/// One of the hosts between which the network is measured.
pub fn network_host(name: &str, facts: &HostFacts) -> FleetHost {
    FleetHost {
        name: name.to_owned(),
        tool_version: facts.fathom.clone(),
        fingerprint: Fingerprint {
            hostname: facts.hostname.clone(),
            kernel: facts.kernel.clone(),
            cpus: facts.cpus,
            ..Fingerprint::default()
        },
        network: Some(Box::new(facts.clone())),
        ..FleetHost::default()
    }
}

/// The trials of a pair in the order in which they ran; [`run_of`] numbers them.
pub fn pair_trials(report: &PairReport, place: PairPlace) -> Vec<TrialRecord> {
    let mut trials: Vec<TrialRecord> = Vec::new();
    if let Some(idle) = &report.idle {
        let trips = trips_of(idle, LoadSpec::round_trips(USUAL_TRIPS_NS, 0));
        let alone = PairPlace { set: None, ..place };
        let probe = probe_trial(report, alone, WITHOUT_LOAD, trips);
        trials.push(probe);
    }
    for load in &report.loads {
        let mut place = place.after(trials.len());
        if load.loaded.is_some() {
            place.set = place.set.or(Some(place.row));
        }
        trials.push(load_trial(report, place, load));
        if let Some(loaded) = &load.loaded {
            place.ends.beside = Some(place.row);
            let trips = trips_of(loaded, load.spec.beside());
            trials.push(probe_trial(
                report,
                place.after(1),
                &beside(&load.name),
                trips,
            ));
        }
    }
    let first = trials.first_mut().and_then(|trial| trial.end.as_mut());
    if let Some(ends) = first.and_then(|end| end.ends.as_mut()) {
        ends.path = Some(Box::new(path_of(report)));
    }
    trials
}

/// The trials that a plan means for a pair, as [`pair_trials`] makes them once they
/// are measured; `address` is that of the other host.
pub fn planned_trials(plan: &PairPlan, place: PairPlace, address: &str) -> Vec<ScheduledTrial> {
    let mut trials: Vec<ScheduledTrial> = Vec::new();
    let of = |name: &str, spec: &LoadSpec, place: PairPlace, role: TrialRole| ScheduledTrial {
        role,
        ..trial(name, spec, place, target_of(address, spec.protocol)).spec
    };
    if plan.idle_ns > 0 {
        let spec = LoadSpec::round_trips(plan.idle_ns, 0);
        let alone = PairPlace { set: None, ..place };
        trials.push(of(WITHOUT_LOAD, &spec, alone, TrialRole::Probe));
    }
    for load in &plan.loads {
        let mut place = place.after(trials.len());
        if load.round_trips {
            place.set = place.set.or(Some(place.row));
        }
        trials.push(of(&load.name, &load.spec, place, TrialRole::Measure));
        if load.round_trips {
            place.ends.beside = Some(place.row);
            let label = beside(&load.name);
            let spec = load.spec.beside();
            trials.push(of(&label, &spec, place.after(1), TrialRole::Probe));
        }
    }
    trials
}

/// A load that gave nothing, for a reason; `address` is that of the other host.
pub fn failed_trial(
    name: &str,
    spec: &LoadSpec,
    place: PairPlace,
    address: &str,
    reason: String,
) -> TrialRecord {
    TrialRecord {
        state: RunState::Failed,
        end: Some(TrialEnd {
            reason: Some(reason),
            ..TrialEnd::default()
        }),
        ..trial(name, spec, place, target_of(address, spec.protocol))
    }
}

impl PairPlace {
    /// Some rows further on.
    #[must_use]
    pub fn after(self, rows: usize) -> PairPlace {
        PairPlace {
            row: self.row + u32::try_from(rows).unwrap_or(u32::MAX),
            ..self
        }
    }
}

fn path_of(report: &PairReport) -> PathFacts {
    let measured = |id: &str| MEASURED_REMARKS.contains(&id);
    PathFacts {
        reached: report.reached.clone(),
        clock: report.clock,
        probes: report.probes.clone(),
        our_counters: report.our_counters,
        their_counters: report.their_counters,
        remarks: report
            .remarks
            .iter()
            .filter(|remark| measured(&remark.id))
            .cloned()
            .collect(),
    }
}

fn load_trial(report: &PairReport, place: PairPlace, load: &LoadResult) -> TrialRecord {
    let flows = [(Way::Forward, &load.forward), (Way::Reverse, &load.reverse)];
    let flows = flows
        .into_iter()
        .filter_map(|(way, flow)| Some((way, flow.as_ref()?)));
    TrialRecord {
        started_unix_ns: match load.started_unix_ns {
            0 => started_unix_ns(report),
            known => known,
        },
        state: match load.error {
            Some(_) => RunState::Failed,
            None => RunState::Complete,
        },
        samples: flows
            .flat_map(|(way, flow)| flow_samples(way, flow))
            .collect(),
        end: Some(TrialEnd {
            reason: load.error.clone(),
            ends: Some(Box::new(EndsReport {
                forward: load.forward.as_ref().map(FlowFacts::from),
                reverse: load.reverse.as_ref().map(FlowFacts::from),
                path: None,
            })),
            ..TrialEnd::default()
        }),
        ..trial(
            &load.name,
            &load.spec,
            place,
            target_of(&report.reached.address, load.spec.protocol),
        )
    }
}

fn probe_trial(report: &PairReport, place: PairPlace, label: &str, trips: Trips) -> TrialRecord {
    let load = LoadResult {
        name: label.to_owned(),
        spec: trips.spec,
        forward: Some(trips.flow),
        reverse: None,
        loaded: None,
        error: None,
        started_unix_ns: trips.started_unix_ns,
    };
    let mut trial = load_trial(report, place, &load);
    trial.spec.role = TrialRole::Probe;
    trial
}

/// The requests of which these are the sums, or what the sums say of them.
fn trips_of(sums: &RoundTrip, usual: LoadSpec) -> Trips {
    if let Some(trips) = &sums.trips {
        return Trips::clone(trips);
    }
    let tcp = sums.kernel_min_us.map(|min_rtt_us| TcpState {
        min_rtt_us,
        ..TcpState::default()
    });
    let second = ConnectionSecond {
        warmup: false,
        start_ns: usual.warmup_ns,
        duration_ns: usual.measure_ns,
        bytes: 0,
        blocks: sums.latency.count(),
        latency: sums.latency.clone(),
        lateness: sums.lateness.clone(),
        cpu_user_ns: 0,
        cpu_system_ns: 0,
        run_delay_ns: 0,
        cpu: 0,
        tcp,
        udp: None,
    };
    let sender = EndReport {
        connections: vec![ConnectionReport {
            seconds: vec![second],
            ..ConnectionReport::default()
        }],
        ..EndReport::default()
    };
    Trips {
        spec: usual,
        started_unix_ns: 0,
        flow: FlowReport {
            sender,
            receiver: EndReport::default(),
        },
    }
}

fn trial(name: &str, spec: &LoadSpec, place: PairPlace, target: Target) -> TrialRecord {
    TrialRecord {
        spec: ScheduledTrial {
            row: place.row,
            iteration: place.iteration,
            together: place.set,
            host: Some(place.ends.from),
            ends: Some(place.ends),
            ..ScheduledTrial::new(name, target, workload_of(name, spec))
        },
        started_unix_ns: 0,
        state: RunState::Complete,
        samples: Vec::new(),
        observations: Vec::new(),
        target_before: None,
        end: None,
    }
}

/// A load between two hosts as a workload.
pub fn workload_of(name: &str, spec: &LoadSpec) -> Workload {
    Workload {
        work: Work::Pair(Box::new(spec.clone())),
        engine: EngineKind::Net,
        mix: OpMix::WRITE,
        block: BlockSizes::Fixed(u64::from(spec.block_bytes)),
        align_bytes: 1,
        workers: spec.streams,
        bounds: Bounds {
            time_ns: Some(spec.measure_ns),
            ..Bounds::default()
        },
        warmup_ns: spec.warmup_ns,
        ..Workload::example(name)
    }
}

fn started_unix_ns(report: &PairReport) -> u64 {
    report.started_unix_s.saturating_mul(1_000_000_000)
}

fn target_of(address: &str, protocol: Protocol) -> Target {
    let protocol = match protocol {
        Protocol::Tcp => "tcp",
        Protocol::Udp => "udp",
    };
    Target::Peer(match address.rsplit_once(':') {
        Some((host, port)) => format!("{protocol}/{}/{port}", host.trim_matches(['[', ']'])),
        None => format!("{protocol}/{address}"),
    })
}

/// The seconds of all connections of a direction, at the sender and then at the
/// receiver: each connection by itself, its seconds in order.
fn flow_samples(way: Way, flow: &FlowReport) -> Vec<Sample> {
    let ends = [(End::Sender, &flow.sender), (End::Receiver, &flow.receiver)];
    let mut samples = Vec::new();
    for (end, report) in ends {
        let kind = match end {
            End::Sender => OpKind::Write,
            End::Receiver => OpKind::Read,
        };
        for (number, connection) in (0..).zip(&report.connections) {
            let mut indexes = [0, 0];
            for second in &connection.seconds {
                let index = &mut indexes[usize::from(second.warmup)];
                let state = ConnectionState {
                    way,
                    end,
                    number,
                    cpu: second.cpu,
                    tcp: second.tcp,
                    udp: second.udp,
                };
                samples.push(Sample {
                    connection: Some(Box::new(state)),
                    ..second.sample(kind, *index)
                });
                *index += 1;
            }
        }
    }
    samples
}
