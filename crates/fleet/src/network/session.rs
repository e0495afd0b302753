//! A conversation with a server, from the end that measures.

use std::io;
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::sync::Arc;
use std::time::{Duration, Instant};

use fathom_engine::net::mtu::{ProbeDirection, Prober};
use fathom_engine::net::{SocketOptions, connect_tcp};
use fathom_model::network::{
    ClockOffset, FlowReport, HostFacts, LinkCounters, LoadSpec, MtuProbe, PairPlan, PairReport,
};
use fathom_observe::unix_now_ns;

use super::data::{self, LoadControl};
use super::error::NetError;
use super::listener::{LOOK, Listener, is_silence};
use super::stall::{ConnectWatch, StallWatch};
use super::wire::{self, Hello, ServerAnswer, ServerRequest, Token};

/// How long a server may take to answer a question.
const PATIENCE: Duration = Duration::from_secs(10);
/// For the connection and its first answer.
const WELCOME: Duration = Duration::from_secs(4);
/// How long a server may take beyond the time of a load.
const REPORT_PATIENCE: Duration = Duration::from_secs(20);
/// Segments of control connections, bytes: they pass where large packets
/// vanish, so that this can be found out and told.
const CONTROL_SEGMENT_BYTES: u32 = 1180;
/// Exchanges for the clock.
const CLOCK_EXCHANGES: u32 = 20;

/// The address of a host with or without a port.
///
/// # Errors
/// When the name cannot be found.
pub fn resolve(host: &str) -> Result<SocketAddr, NetError> {
    let fail = |reason: String| NetError::Name {
        host: host.to_owned(),
        reason,
    };
    if let Ok(address) = host.parse::<SocketAddr>() {
        return Ok(address);
    }
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    if let Ok(address) = bare.parse::<std::net::IpAddr>() {
        return Ok(SocketAddr::new(address, super::DEFAULT_PORT));
    }
    let (name, port) = match host.rsplit_once(':') {
        Some((name, port)) => {
            let port = port.parse().map_err(|_| NetError::Port {
                host: host.to_owned(),
            })?;
            (name, port)
        }
        None => (host, super::DEFAULT_PORT),
    };
    let found = fathom_deadline::host_addresses(name, port);
    let found = found.map_err(|error| fail(error.to_string()))?;
    found
        .first()
        .copied()
        .ok_or_else(|| fail("it has no address".to_owned()))
}

/// Both ways of a load, as far as it had them: forward, reverse.
pub(super) type Flows = (Option<FlowReport>, Option<FlowReport>);

/// A conversation with one server.
pub(super) struct Session {
    control: TcpStream,
    pub(super) server: SocketAddr,
    pub(super) connect_ns: u64,
    token: Token,
    load_control: LoadControl,
    /// It did not answer in its time, or a load stood still.
    pub(super) mute: bool,
}

impl Session {
    /// Connects and is welcomed. Waits no longer than `load_control` says.
    pub(super) fn open(
        server: SocketAddr,
        load_control: &LoadControl,
    ) -> Result<Session, NetError> {
        let unreachable = |source| NetError::Unreachable {
            address: server.to_string(),
            source,
        };
        let begun = Instant::now();
        let small = SocketOptions {
            nodelay: true,
            mss_bytes: Some(CONTROL_SEGMENT_BYTES),
            ..SocketOptions::default()
        };
        let watch = ConnectWatch::begin(server, load_control.waiting);
        let control = connect_tcp(server, &small, WELCOME).map_err(unreachable)?;
        drop(watch);
        let connect_ns = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
        control.set_read_timeout(Some(LOOK)).map_err(unreachable)?;
        control
            .set_write_timeout(Some(PATIENCE))
            .map_err(unreachable)?;
        let mut session = Session {
            control,
            server,
            connect_ns,
            token: [0; 16],
            load_control: load_control.clone(),
            mute: false,
        };
        io::Write::write_all(&mut session.control, &Hello::Control.encode())
            .map_err(|error| session.broken(error))?;
        match session.hear_after(Duration::ZERO, WELCOME) {
            Ok(ServerAnswer::Welcome { token, .. }) => {
                session.token = token;
                Ok(session)
            }
            Ok(ServerAnswer::Refused(reason)) => Err(session.refused(reason)),
            Ok(_) => Err(session.foreign("it does not welcome".to_owned())),
            Err(NetError::Mute { address, waited }) => Err(NetError::Silent { address, waited }),
            Err(NetError::Broken { source, .. }) => Err(session.foreign(source.to_string())),
            Err(error) => Err(error),
        }
    }

    fn broken(&self, source: io::Error) -> NetError {
        NetError::Broken {
            address: self.server.to_string(),
            source,
        }
    }

    fn refused(&self, reason: String) -> NetError {
        NetError::Refused {
            address: self.server.to_string(),
            reason,
        }
    }

    fn foreign(&self, reason: String) -> NetError {
        NetError::Foreign {
            address: self.server.to_string(),
            reason,
        }
    }

    fn hear(&mut self) -> Result<ServerAnswer, NetError> {
        self.hear_after(Duration::ZERO, PATIENCE)
    }

    /// Hears an answer that is `work` away, and may be late by `patience`.
    fn hear_after(&mut self, work: Duration, patience: Duration) -> Result<ServerAnswer, NetError> {
        self.hear_while(work, patience, None)
    }

    /// The same of an answer that takes long: whether the server is `alive` is
    /// asked meanwhile.
    fn hear_while(
        &mut self,
        work: Duration,
        patience: Duration,
        alive: Option<&dyn Fn() -> bool>,
    ) -> Result<ServerAnswer, NetError> {
        let (control, server) = (&self.control, self.server);
        let mut listener = Listener::new(control, server, &self.load_control, work, patience);
        if let Some(alive) = alive {
            listener = listener.asking(alive);
        }
        let heard = wire::receive(&mut listener, wire::ANSWER_LIMIT_BYTES);
        let waited = listener.waited();
        heard.map_err(|error| match is_silence(&error) {
            true => self.silent(waited),
            false => self.broken(error),
        })
    }

    fn silent(&mut self, waited: Duration) -> NetError {
        self.mute = true;
        NetError::Mute {
            address: self.server.to_string(),
            waited,
        }
    }

    fn ask(&mut self, request: &ServerRequest) -> Result<ServerAnswer, NetError> {
        wire::send(&mut self.control, request).map_err(|error| self.broken(error))?;
        match self.hear()? {
            ServerAnswer::Refused(reason) => Err(self.refused(reason)),
            answer => Ok(answer),
        }
    }

    fn odd(&self) -> NetError {
        self.foreign("it answers another question".to_owned())
    }

    /// The address of this end.
    pub(super) fn local(&self) -> Option<std::net::IpAddr> {
        self.control.local_addr().ok().map(|address| address.ip())
    }

    /// Facts of the server's host.
    pub(super) fn describe(&mut self) -> Result<HostFacts, NetError> {
        match self.ask(&ServerRequest::Describe)? {
            ServerAnswer::Facts(facts) => Ok(*facts),
            _ => Err(self.odd()),
        }
    }

    /// Counters of the server's link.
    pub(super) fn counters(&mut self) -> Result<LinkCounters, NetError> {
        match self.ask(&ServerRequest::Counters)? {
            ServerAnswer::Counters(counters) => Ok(counters),
            _ => Err(self.odd()),
        }
    }

    /// The server's clock against ours: of several exchanges the one with the
    /// shortest round trip, which leaves least room for error.
    pub(super) fn clock(&mut self) -> Result<ClockOffset, NetError> {
        let mut best: Option<(u64, i64)> = None;
        for _ in 0..CLOCK_EXCHANGES {
            let before = unix_now_ns();
            let begun = Instant::now();
            let ServerAnswer::Clock(theirs) = self.ask(&ServerRequest::Clock)? else {
                return Err(self.odd());
            };
            let trip_ns = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
            let middle = before.saturating_add(trip_ns / 2);
            let offset_ns = theirs.wrapping_sub(middle) as i64;
            if best.is_none_or(|(shortest, _)| trip_ns < shortest) {
                best = Some((trip_ns, offset_ns));
            }
        }
        let (trip_ns, offset_ns) = best.unwrap_or((u64::MAX, 0));
        Ok(ClockOffset {
            offset_ns,
            uncertainty_ns: trip_ns.div_ceil(2),
            exchanges: CLOCK_EXCHANGES,
        })
    }

    /// Which packets pass each way.
    pub(super) fn probes(&mut self, round_trip: Duration) -> Result<[MtuProbe; 2], NetError> {
        let here = |source| NetError::Here {
            what: format!("packets of {} cannot be probed", self.server),
            source,
        };
        let socket = UdpSocket::bind(data::any_address(self.server)).map_err(here)?;
        socket.connect(self.server).map_err(here)?;
        let mut prober = Prober::new(&socket, self.token, round_trip).map_err(here)?;
        let forward = prober.largest(ProbeDirection::Forward).map_err(here)?;
        let reverse = prober.largest(ProbeDirection::Reverse).map_err(here)?;
        Ok([forward, reverse])
    }

    /// A load, from the agreement to the reports of both ends. Pulled, the
    /// The control ends it early; what was measured is kept.
    pub(super) fn load(
        &mut self,
        spec: &LoadSpec,
        load_control: &LoadControl,
    ) -> Result<Flows, NetError> {
        let ServerAnswer::Ready(token) = self.ask(&ServerRequest::Load(spec.clone()))? else {
            return Err(self.odd());
        };
        let watch = ConnectWatch::begin(self.server, load_control.waiting);
        let ways = data::connect(self.server, spec, token, &load_control.stop);
        drop(watch);
        let ways = ways.map_err(|source| NetError::Here {
            what: format!(
                "the connections of the load to {} cannot be made",
                self.server
            ),
            source,
        })?;
        match self.hear()? {
            ServerAnswer::Connected => {}
            ServerAnswer::Refused(reason) => return Err(self.refused(reason)),
            _ => return Err(self.odd()),
        }
        let ServerAnswer::Going = self.ask(&ServerRequest::Go)? else {
            return Err(self.odd());
        };
        let watch = StallWatch::begin(&ways, self.server, spec, load_control);
        let within = match &watch {
            Some(watch) => watch.control(load_control),
            None => load_control.clone(),
        };
        let (forward, reverse) = data::run(ways, spec, true, &within);
        if let Some(waited) = watch.and_then(StallWatch::end) {
            return Err(self.silent(waited));
        }
        let alive = is_alive(self.server, load_control);
        let patience = REPORT_PATIENCE + Duration::from_secs(u64::from(spec.streams / 8));
        let ServerAnswer::Done {
            forward: there,
            reverse: back,
        } = self.hear_while(Duration::ZERO, patience, Some(&alive))?
        else {
            return Err(self.odd());
        };
        let (there, back) = (there.map(|end| *end), back.map(|end| *end));
        let forward = forward
            .zip(there)
            .map(|(sender, receiver)| FlowReport { sender, receiver });
        let reverse = back
            .zip(reverse)
            .map(|(sender, receiver)| FlowReport { sender, receiver });
        Ok((forward, reverse))
    }

    /// Has the server measure against another one. Returns when it has.
    pub(super) fn measure(
        &mut self,
        peer: SocketAddr,
        plan: &PairPlan,
        start_unix_ns: u64,
    ) -> Result<PairReport, NetError> {
        let request = ServerRequest::Measure {
            peer: peer.to_string(),
            plan: plan.clone(),
            start_unix_ns,
        };
        let ahead = Duration::from_nanos(start_unix_ns.saturating_sub(unix_now_ns()));
        let ahead = ahead.min(Duration::from_secs(3600));
        let work = Duration::from_nanos(plan.total_ns()) + ahead;
        wire::send(&mut self.control, &request).map_err(|error| self.broken(error))?;
        let load_control = self.load_control.clone();
        let alive = is_alive(self.server, &load_control);
        match self.hear_while(work, REPORT_PATIENCE * 3, Some(&alive))? {
            ServerAnswer::Refused(reason) => Err(self.refused(reason)),
            ServerAnswer::Measured(Ok(report)) => Ok(*report),
            ServerAnswer::Measured(Err(reason)) => Err(self.refused(reason.to_string())),
            _ => Err(self.odd()),
        }
    }
}

/// Whether a server answers: another conversation begins and ends.
fn is_alive(server: SocketAddr, load_control: &LoadControl) -> impl Fn() -> bool + use<> {
    let quiet = LoadControl {
        stop: Arc::clone(&load_control.stop),
        ..LoadControl::default()
    };
    move || answers(server, &quiet)
}

/// Whether somebody answers there, if only with a refusal.
pub(super) fn answers(server: SocketAddr, load_control: &LoadControl) -> bool {
    let opened = Session::open(server, load_control);
    !matches!(
        opened,
        Err(NetError::Silent { .. } | NetError::Mute { .. } | NetError::Unreachable { .. })
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_take_the_usual_forms() {
        let port = super::super::DEFAULT_PORT;
        for (text, wanted) in [
            ("127.0.0.1", format!("127.0.0.1:{port}")),
            ("127.0.0.1:99", "127.0.0.1:99".to_owned()),
            ("::1", format!("[::1]:{port}")),
            ("[::1]", format!("[::1]:{port}")),
            ("[::1]:7", "[::1]:7".to_owned()),
        ] {
            assert_eq!(resolve(text).unwrap().to_string(), wanted, "{text}");
        }
        assert!(resolve("host:port").is_err());
        assert!(resolve("no-such-host.invalid").is_err());
    }
}
