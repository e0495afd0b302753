//! A pair of hosts, measured from one of them.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use fathom_model::network::{
    Direction, FlowReport, HostFacts, LinkCounters, LoadKind, LoadResult, LoadSpec, NO_PROBES,
    NetRemark, PAIR_SCHEMA, PairPlan, PairReport, PlannedLoad, Protocol, Reachability, RoundTrip,
    SMALL_SEGMENTS, Trips,
};
use fathom_observe::network::{cpu_count, link_counters, link_with};
use fathom_observe::{Sysroot, unix_now_ns};

use super::data::LoadControl;
use super::error::NetError;
use super::owner::plain;
use super::session::Session;

/// Handshakes that are timed.
const HANDSHAKES: usize = 5;
/// Share of segments sent again from which on TCP does not show the capacity.
const LOSSY_SHARE: f64 = 0.001;
/// Seconds of datagrams that show it.
const CAPACITY_SECONDS: u32 = 4;
/// A round trip for the probes when none was measured.
const USUAL_ROUND_TRIP: Duration = Duration::from_millis(50);

/// Everything that is worth knowing of a pair, in loads of `seconds`.
pub fn default_plan(seconds: u32, streams: u32) -> PairPlan {
    let stream = |name: &str, direction, streams| PlannedLoad {
        name: name.to_owned(),
        spec: LoadSpec {
            direction,
            streams,
            ..LoadSpec::stream(seconds)
        },
        round_trips: true,
    };
    let several = |way: &str| format!("{streams} streams {way}");
    let requests_ns = (u64::from(seconds) * 1_000_000_000 / 2).max(1_000_000_000);
    let requests = |name: &str, request, response| PlannedLoad {
        name: name.to_owned(),
        spec: LoadSpec::requests(request, response, requests_ns),
        round_trips: false,
    };
    PairPlan {
        path: true,
        idle_ns: 1_000_000_000,
        loads: vec![
            stream("1 stream there", Direction::Forward, 1),
            stream("1 stream back", Direction::Reverse, 1),
            stream("1 stream each way", Direction::Both, 1),
            stream(&several("there"), Direction::Forward, streams),
            stream(&several("back"), Direction::Reverse, streams),
            requests("read 4 KiB", 64, 4096),
            requests("write 4 KiB", 4096, 64),
            requests("read 1 MiB", 64, 1 << 20),
            requests("write 1 MiB", 1 << 20, 64),
        ],
    }
}

/// One load. Beside it round trips, unless it is to be comparable with a tool that
/// has none.
pub fn single_plan(spec: LoadSpec, bare: bool) -> PairPlan {
    let what = match (spec.protocol, spec.streams) {
        (Protocol::Udp, 1) => "datagrams".to_owned(),
        (Protocol::Udp, n) => format!("{n} × datagrams"),
        (Protocol::Tcp, 1) => "1 stream".to_owned(),
        (Protocol::Tcp, n) => format!("{n} streams"),
    };
    let way = match spec.direction {
        Direction::Forward => "there",
        Direction::Reverse => "back",
        Direction::Both => "each way",
    };
    PairPlan {
        path: false,
        idle_ns: 0,
        loads: vec![PlannedLoad {
            name: format!("{what} {way}"),
            spec,
            round_trips: !bare,
        }],
    }
}

/// Facts of this host and of its link with `address`.
pub(super) fn own_facts(address: std::net::IpAddr) -> HostFacts {
    let sys = Sysroot::host();
    let address = plain(address);
    let read = |path: &str| {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        text.trim().to_owned()
    };
    HostFacts {
        hostname: read("/proc/sys/kernel/hostname"),
        kernel: read("/proc/sys/kernel/osrelease"),
        cpus: cpu_count(&sys),
        fathom: env!("CARGO_PKG_VERSION").to_owned(),
        address: address.to_string(),
        link: link_with(&sys, address),
        boot_id: Some(read("/proc/sys/kernel/random/boot_id")).filter(|id| !id.is_empty()),
    }
}

/// Counters of a link of this host.
pub(super) fn own_counters(facts: &HostFacts) -> LinkCounters {
    let link = facts.link.as_ref();
    link.map_or_else(LinkCounters::default, |link| {
        link_counters(&Sysroot::host(), &link.interface)
    })
}

/// Measures what `plan` names between this host and `server`. Loads begin at
/// `start_unix_ns` by this host's clock, or at once when that has passed.
/// `tell` hears what is done next.
///
/// Stopped early, the report has the loads until then, and the counters of the
/// links did not grow.
///
/// # Errors
/// When the server cannot be reached or does not want to, or when it is stopped
/// before any load. A load that fails is part of the report.
pub fn measure_pair(
    server: SocketAddr,
    plan: &PairPlan,
    start_unix_ns: u64,
    load_control: &LoadControl,
    tell: &mut dyn FnMut(&str),
) -> Result<PairReport, NetError> {
    tell("reaching the other host");
    let mut session = Session::open(server, load_control)?;
    let mut report = begin(&mut session)?;
    if plan.path {
        report.clock = Some(session.clock()?);
        report
            .reached
            .connect_ns
            .extend(handshakes(server, load_control)?);
    }
    if plan.idle_ns > 0 {
        tell("round trips without load");
        let (spec, started_unix_ns) = (LoadSpec::round_trips(plan.idle_ns, 0), unix_now_ns());
        let flows = session.load(&spec, load_control)?;
        report.idle = flows.0.map(|flow| trips(flow, spec, started_unix_ns));
    }
    if plan.path {
        tell("packet sizes");
        probe_packet_sizes(&mut session, &mut report);
    }
    let segment = segment_that_passes(&report);
    if let Some(bytes) = segment {
        report.remarks.push(small_segments(bytes));
    }
    wait_until(start_unix_ns, &load_control.stop);
    let mut measuring = Measuring {
        server,
        session,
        load_control,
    };
    if !measuring.measure_loads(plan, segment, &mut report, tell) {
        return Ok(report);
    }
    let mut session = measuring.session;
    if is_stopped(load_control) {
        return match report.loads.is_empty() {
            true => Err(NetError::Interrupted),
            false => Ok(report),
        };
    }
    report.our_counters = own_counters(&report.ours).since(&counters_of(&report.ours));
    match session.counters() {
        Ok(counters) => report.their_counters = counters.since(&counters_of(&report.theirs)),
        Err(error) if report.loads.is_empty() => return Err(error),
        // What was measured is worth more than what its counters say.
        Err(error) => return Ok(unfinished(report, &error)),
    }
    // What a flood of datagrams overruns is not the link's fault.
    if plan.path {
        for load in capacity_loads(&report) {
            tell(&load.name);
            report
                .loads
                .push(one_load(&mut session, &load, load_control));
        }
    }
    Ok(report)
}

/// The loads of a plan under way.
struct Measuring<'m> {
    server: SocketAddr,
    session: Session,
    load_control: &'m LoadControl,
}

impl Measuring<'_> {
    /// Measures one load after the other, in segments of this size where larger ones
    /// do not pass. Returns whether the server still answers: nothing more is to be had
    /// of one that is silent.
    fn measure_loads(
        &mut self,
        plan: &PairPlan,
        segment: Option<u32>,
        report: &mut PairReport,
        tell: &mut dyn FnMut(&str),
    ) -> bool {
        for load in &plan.loads {
            if is_stopped(self.load_control) {
                break;
            }
            tell(&load.name);
            let mut load = load.clone();
            load.spec.mss_bytes = load.spec.mss_bytes.or(segment);
            let measured = one_load(&mut self.session, &load, self.load_control);
            let failed = measured.error.is_some();
            report.loads.push(measured);
            if !failed || is_stopped(self.load_control) {
                continue;
            }
            if self.session.mute {
                return false;
            }
            // The conversation may be out of step; begin another one.
            self.session = match Session::open(self.server, self.load_control) {
                Ok(session) => session,
                // What was measured is worth more than the second reason.
                Err(_) => return false,
            };
        }
        true
    }
}

/// What was measured of a server that does not answer any more.
fn unfinished(mut report: PairReport, error: &NetError) -> PairReport {
    report.our_counters = LinkCounters::default();
    if let Some(load) = report.loads.last_mut().filter(|load| load.error.is_none()) {
        load.error = Some(format!("afterwards {error}"));
    }
    report
}

fn is_stopped(load_control: &LoadControl) -> bool {
    load_control.stop.load(Ordering::Relaxed)
}

/// Sends packets of growing size, and notes which of them arrive.
fn probe_packet_sizes(session: &mut Session, report: &mut PairReport) {
    let idle = report.idle.as_ref();
    // Over a very long way no small request came back in its time.
    let connect_ns = report.reached.connect_ns.iter().copied().max();
    let typical_ns = idle.and_then(|idle| idle.latency.quantile(0.99));
    let typical_ns = typical_ns.max(connect_ns);
    let typical = typical_ns.map_or(USUAL_ROUND_TRIP, Duration::from_nanos);
    match session.probes(typical) {
        Ok(probes) => report.probes = Some(probes),
        Err(error) => report.remarks.push(NetRemark {
            id: NO_PROBES.to_owned(),
            text: error.to_string(),
        }),
    }
}

fn small_segments(bytes: u32) -> NetRemark {
    NetRemark {
        id: SMALL_SEGMENTS.to_owned(),
        text: format!(
            "loads were made with segments of {bytes} bytes: larger packets vanish on the way, \
             and ordinary connections hang"
        ),
    }
}

/// The segment that loads must keep to where large packets vanish without a
/// word; `None` where TCP finds out by itself.
fn segment_that_passes(report: &PairReport) -> Option<u32> {
    let probes = report.probes.as_ref()?;
    if !probes.iter().any(|probe| probe.silent) {
        return None;
    }
    let (probe_headers, tcp_headers) = match report.theirs.address.contains(':') {
        true => (48, 60),
        false => (28, 40),
    };
    let largest = probes
        .iter()
        .map(|probe| probe.largest_payload_bytes)
        .min()?;
    let path = largest + probe_headers;
    let mtu = |host: &HostFacts| host.link.as_ref()?.mtu_bytes;
    let set = mtu(&report.ours)?.min(mtu(&report.theirs)?);
    (path < set).then(|| path.saturating_sub(tcp_headers))
}

/// Where TCP is held back by loss it does not show what the path carries:
/// datagrams do, which nothing slows down.
fn capacity_loads(report: &PairReport) -> Vec<PlannedLoad> {
    let lossy = |way: Direction| {
        let flows = report
            .loads
            .iter()
            .filter(|load| load.spec.kind == LoadKind::Stream);
        let shares = flows
            .filter(|load| load.spec.direction == way)
            .filter_map(|load| {
                let flow = [&load.forward, &load.reverse]
                    .into_iter()
                    .flatten()
                    .next()?;
                flow.sender.retransmit_share()
            });
        shares.fold(0.0, f64::max) > LOSSY_SHARE
    };
    let headers = if report.theirs.address.contains(':') {
        48
    } else {
        28
    };
    let probed = report.probes.as_ref();
    let passes = |at: usize| probed.map_or(1472, |probes| probes[at].largest_payload_bytes);
    let likely = |at: usize| passes(at).min(1500 - headers);
    [
        ("datagrams there", Direction::Forward, likely(0)),
        ("datagrams back", Direction::Reverse, likely(1)),
    ]
    .into_iter()
    .filter(|(_, way, _)| lossy(*way))
    .map(|(name, direction, block_bytes)| PlannedLoad {
        name: name.to_owned(),
        spec: LoadSpec {
            protocol: Protocol::Udp,
            direction,
            block_bytes,
            ..LoadSpec::stream(CAPACITY_SECONDS)
        },
        round_trips: false,
    })
    .collect()
}

fn counters_of(facts: &HostFacts) -> LinkCounters {
    facts
        .link
        .as_ref()
        .map_or_else(LinkCounters::default, |link| link.counters)
}

fn begin(session: &mut Session) -> Result<PairReport, NetError> {
    let unspecified = std::net::Ipv4Addr::UNSPECIFIED.into();
    Ok(PairReport {
        schema: PAIR_SCHEMA.to_owned(),
        started_unix_s: unix_now_ns() / 1_000_000_000,
        ours: own_facts(session.local().unwrap_or(unspecified)),
        theirs: session.describe()?,
        reached: Reachability {
            address: session.server.to_string(),
            connect_ns: vec![session.connect_ns],
        },
        clock: None,
        probes: None,
        mtu: None,
        idle: None,
        loads: Vec::new(),
        our_counters: LinkCounters::default(),
        their_counters: LinkCounters::default(),
        limits: Vec::new(),
        remarks: Vec::new(),
    })
}

fn handshakes(server: SocketAddr, load_control: &LoadControl) -> Result<Vec<u64>, NetError> {
    (1..HANDSHAKES)
        .map(|_| Ok(Session::open(server, load_control)?.connect_ns))
        .collect()
}

fn wait_until(start_unix_ns: u64, stop: &AtomicBool) {
    loop {
        let left = start_unix_ns.saturating_sub(unix_now_ns());
        if left == 0 || stop.load(Ordering::Relaxed) {
            return;
        }
        std::thread::sleep(Duration::from_nanos(left.min(100_000_000)));
    }
}

fn one_load(session: &mut Session, load: &PlannedLoad, load_control: &LoadControl) -> LoadResult {
    let server = session.server;
    let started_unix_ns = unix_now_ns();
    let small = load.spec.beside();
    // One of the two tells of a silence.
    let silent = LoadControl {
        waiting: None,
        ..load_control.clone()
    };
    let (done, loaded) = std::thread::scope(|scope| {
        let beside = load.round_trips.then(|| {
            let beside = || Session::open(server, &silent)?.load(&small, &silent);
            std::thread::Builder::new().spawn_scoped(scope, beside)
        });
        let beside = match beside.transpose() {
            Ok(beside) => beside,
            Err(source) => return (Err(NetError::unstarted(source)), None),
        };
        let done = session.load(&load.spec, load_control);
        (done, beside.and_then(|thread| thread.join().ok()))
    });
    let mut result = LoadResult {
        name: load.name.clone(),
        spec: load.spec.clone(),
        forward: None,
        reverse: None,
        loaded: None,
        error: None,
        started_unix_ns,
    };
    match done {
        Ok((forward, reverse)) => {
            let error = [&forward, &reverse]
                .into_iter()
                .flatten()
                // The end that gives up knows why; the other one sees it go.
                .flat_map(|flow| [&flow.receiver, &flow.sender])
                .find_map(|end| end.error().map(str::to_owned));
            result.error = error;
            (result.forward, result.reverse) = (forward, reverse);
        }
        Err(error) => result.error = Some(error.to_string()),
    }
    if let Some(Ok((Some(flow), _))) = loaded {
        result.loaded = Some(trips(flow, small, started_unix_ns));
    }
    result
}

/// Small requests as they are sent, with when it began.
fn trips(flow: FlowReport, spec: LoadSpec, started_unix_ns: u64) -> RoundTrip {
    RoundTrip {
        trips: Some(Box::new(Trips {
            spec,
            started_unix_ns,
            flow: flow.clone(),
        })),
        ..RoundTrip::of(&flow)
    }
}
