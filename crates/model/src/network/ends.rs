//! What the two ends of a load saw.

use serde::{Deserialize, Serialize};

use super::{TcpState, UdpState, sparse};
use crate::sample::Phase;
use crate::{Histogram, OpKind, OpSample, Sample};

/// One second (or the shorter last part) of one connection at one end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConnectionSecond {
    /// Whether it is before what counts.
    pub warmup: bool,
    /// Start, from the start of the load at this end.
    pub start_ns: u64,
    /// Length.
    pub duration_ns: u64,
    /// Bytes of payload that the end moved.
    pub bytes: u64,
    /// Blocks, datagrams or requests.
    pub blocks: u64,
    /// Time of each block in the call that moved it, or of each request until
    /// its response was there.
    #[serde(with = "sparse")]
    pub latency: Histogram,
    /// How late requests of an open loop were sent against their time.
    #[serde(with = "sparse")]
    pub lateness: Histogram,
    /// CPU time of the thread, user.
    pub cpu_user_ns: u64,
    /// CPU time of the thread, kernel.
    pub cpu_system_ns: u64,
    /// Time in which it could run and had no CPU.
    pub run_delay_ns: u64,
    /// CPU on which it was at the end of the second.
    pub cpu: u32,
    /// The connection at the end of the second.
    pub tcp: Option<TcpState>,
    /// What the receiver of datagrams saw.
    pub udp: Option<UdpState>,
}

impl ConnectionSecond {
    /// CPU time, user and kernel.
    pub fn cpu_ns(&self) -> u64 {
        self.cpu_user_ns.saturating_add(self.cpu_system_ns)
    }

    /// The second as a sample: `kind` says whether this end wrote or read, `index`
    /// is its number within its phase.
    pub fn sample(&self, kind: OpKind, index: u32) -> Sample {
        let phase = match self.warmup {
            true => Phase::Warmup,
            false => Phase::Measure,
        };
        let mut op = OpSample::new(kind, false);
        op.ops = self.blocks;
        op.bytes = self.bytes;
        op.service = self.latency.clone();
        let mut sample = Sample::new(phase, index, self.start_ns);
        sample.duration_ns = self.duration_ns;
        sample.workers = 1;
        sample.ops.push(op);
        sample.lateness = (!self.lateness.is_empty()).then(|| self.lateness.clone());
        sample.cpu_user_ns = self.cpu_user_ns;
        sample.cpu_system_ns = self.cpu_system_ns;
        sample.run_delay_ns = self.run_delay_ns;
        sample.busiest_worker_cpu_ns = self.cpu_ns();
        sample
    }
}

/// One connection at one end.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ConnectionReport {
    /// Address of this end.
    pub local: String,
    /// Address of the other end.
    pub remote: String,
    /// Its seconds, in order.
    pub seconds: Vec<ConnectionSecond>,
    /// Why it ended before its time, in words.
    pub error: Option<String>,
}

impl ConnectionReport {
    /// Seconds that count.
    pub fn measured(&self) -> impl Iterator<Item = &ConnectionSecond> {
        self.seconds.iter().filter(|second| !second.warmup)
    }

    /// The last known state of the connection.
    pub fn last_tcp(&self) -> Option<&TcpState> {
        self.seconds.iter().rev().find_map(|s| s.tcp.as_ref())
    }

    /// Segments sent again in the seconds that count.
    pub fn retransmits(&self) -> u64 {
        let before = self.seconds.iter().rfind(|s| s.warmup);
        let before = before.and_then(|s| s.tcp).map_or(0, |t| t.retransmits);
        let last = self.last_tcp().map_or(0, |t| t.retransmits);
        last.saturating_sub(before)
    }

    /// Segments sent in the seconds that count.
    pub fn segments_out(&self) -> u64 {
        let before = self.seconds.iter().rfind(|s| s.warmup);
        let before = before.and_then(|s| s.tcp).map_or(0, |t| t.segments_out);
        let last = self.last_tcp().map_or(0, |t| t.segments_out);
        last.saturating_sub(before)
    }
}

/// What the host of an end did while the load ran.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct HostUse {
    /// CPUs that were on line.
    pub cpus: u32,
    /// Share of all CPUs that was busy, 0 to 1.
    pub busy_share: f64,
    /// The busiest CPU.
    pub busiest_cpu: u32,
    /// Share of its time that it was busy, 0 to 1.
    pub busiest_share: f64,
    /// The CPU with the most interrupt work (hard and soft).
    pub interrupt_cpu: u32,
    /// Share of its time that went there, 0 to 1.
    pub interrupt_share: f64,
    /// Share of all interrupt work of the host that was done on that CPU.
    pub interrupt_concentration: f64,
}

/// One end of one direction of a load.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct EndReport {
    /// Its connections.
    pub connections: Vec<ConnectionReport>,
    /// What the host did meanwhile, where that was observed.
    pub host: Option<HostUse>,
    /// Congestion control of the first connection, by name.
    pub congestion: Option<String>,
}

impl EndReport {
    /// The seconds of all connections together as samples: `kind` says whether
    /// this end wrote or read.
    pub fn samples(&self, kind: OpKind) -> Vec<Sample> {
        let mut samples: Vec<Sample> = Vec::new();
        for connection in &self.connections {
            let (mut warm, mut cold) = (0, 0);
            for second in &connection.seconds {
                let index = if second.warmup { &mut warm } else { &mut cold };
                let one = second.sample(kind, *index);
                *index += 1;
                let same = |s: &&mut Sample| (s.phase, s.index) == (one.phase, one.index);
                match samples.iter_mut().find(same) {
                    Some(sample) => sample.merge(&one),
                    None => samples.push(one),
                }
            }
        }
        samples.sort_by_key(|sample| (sample.phase, sample.index));
        samples
    }

    /// Bytes of the seconds that count.
    pub fn bytes(&self) -> u64 {
        self.measured().map(|second| second.bytes).sum()
    }

    /// Blocks, datagrams or requests of the seconds that count.
    pub fn blocks(&self) -> u64 {
        self.measured().map(|second| second.blocks).sum()
    }

    /// Time that counts: of the connection that had most of it.
    pub fn duration_ns(&self) -> u64 {
        let of = |c: &ConnectionReport| c.measured().map(|s| s.duration_ns).sum();
        self.connections.iter().map(of).max().unwrap_or(0)
    }

    /// Payload, bits per second; `None` when no time passed.
    pub fn bits_per_second(&self) -> Option<f64> {
        let duration_ns = self.duration_ns();
        (duration_ns > 0).then(|| self.bytes() as f64 * 8e9 / duration_ns as f64)
    }

    /// Payload of each second that is (nearly) whole, bits per second.
    pub fn bits_each_second(&self) -> Vec<f64> {
        self.samples(OpKind::Read)
            .iter()
            .filter(|s| s.phase == Phase::Measure && s.duration_ns >= 900_000_000)
            .map(|s| s.data_bytes() as f64 * 8e9 / s.duration_ns as f64)
            .collect()
    }

    /// Latency of blocks or requests in the seconds that count.
    pub fn latency(&self) -> Histogram {
        let mut all = Histogram::new();
        self.measured()
            .for_each(|second| all.merge(&second.latency));
        all
    }

    /// Segments sent again in the seconds that count.
    pub fn retransmits(&self) -> u64 {
        self.connections
            .iter()
            .map(ConnectionReport::retransmits)
            .sum()
    }

    /// Share of the segments that were sent again; `None` when none were sent.
    pub fn retransmit_share(&self) -> Option<f64> {
        let sent: u64 = self
            .connections
            .iter()
            .map(ConnectionReport::segments_out)
            .sum();
        (sent > 0).then(|| self.retransmits() as f64 / sent as f64)
    }

    /// CPU time of its threads in the seconds that count.
    pub fn cpu_ns(&self) -> u64 {
        self.measured().map(ConnectionSecond::cpu_ns).sum()
    }

    /// The thread that used most of its time: share of it, 0 to 1, and the
    /// CPU on which it was last.
    pub fn busiest_thread(&self) -> Option<(f64, u32)> {
        let share = |connection: &ConnectionReport| {
            let time: u64 = connection.measured().map(|s| s.duration_ns).sum();
            let used: u64 = connection.measured().map(ConnectionSecond::cpu_ns).sum();
            let cpu = connection.measured().last()?.cpu;
            (time > 0).then(|| (used as f64 / time as f64, cpu))
        };
        let shares = self.connections.iter().filter_map(share);
        shares.max_by(|a, b| a.0.total_cmp(&b.0))
    }

    /// Datagrams that arrived and that are missing.
    pub fn datagrams(&self) -> Option<(u64, u64)> {
        let states = self.measured().filter_map(|second| second.udp);
        states.fold(None, |sum, state| {
            let (packets, lost) = sum.unwrap_or((0, 0));
            Some((packets + state.packets, lost + state.lost))
        })
    }

    /// What went wrong, first come first.
    pub fn error(&self) -> Option<&str> {
        self.connections.iter().find_map(|c| c.error.as_deref())
    }

    fn measured(&self) -> impl Iterator<Item = &ConnectionSecond> {
        self.connections.iter().flat_map(ConnectionReport::measured)
    }
}

/// One direction of a load at both ends.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct FlowReport {
    /// The end that sent (or asked, of requests).
    pub sender: EndReport,
    /// The end that received (or answered).
    pub receiver: EndReport,
}
