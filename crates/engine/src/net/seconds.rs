//! The seconds of one connection, kept by the thread that carries it.

use fathom_model::Histogram;
use fathom_model::network::{ConnectionSecond, LoadSpec, TcpState, UdpState};

use super::socket::current_cpu;
use crate::usage::ThreadMeter;

/// Length of a full interval.
const SECOND_NS: u64 = 1_000_000_000;

/// Counts what one connection does, second by second.
pub(super) struct Seconds {
    warmup_end_ns: u64,
    end_ns: u64,
    origin_ns: u64,
    current: ConnectionSecond,
    current_end_ns: u64,
    done: Vec<ConnectionSecond>,
    meter: ThreadMeter,
}

impl Seconds {
    /// Starts at `origin_ns` of the host's clock; the calling thread carries
    /// the connection.
    pub(super) fn start(origin_ns: u64, spec: &LoadSpec) -> Seconds {
        let warmup_end_ns = origin_ns.saturating_add(spec.warmup_ns);
        let end_ns = origin_ns.saturating_add(spec.total_ns());
        let warm = spec.warmup_ns > 0;
        let whole = (spec.total_ns() / SECOND_NS) as usize + 2;
        let first_end = if warm { warmup_end_ns } else { end_ns };
        Seconds {
            warmup_end_ns,
            end_ns,
            origin_ns,
            current: empty(warm, 0),
            current_end_ns: first_end.min(origin_ns + SECOND_NS),
            done: Vec::with_capacity(whole.min(7200)),
            meter: ThreadMeter::start(),
        }
    }

    /// When the load ends.
    pub(super) fn end_ns(&self) -> u64 {
        self.end_ns
    }

    /// Whether the current second is over: [`Seconds::cut`] is due.
    #[inline]
    pub(super) fn is_over(&self, now_ns: u64) -> bool {
        now_ns >= self.current_end_ns
    }

    /// One block of `bytes` that took `latency_ns`.
    #[inline]
    pub(super) fn block(&mut self, bytes: usize, latency_ns: u64) {
        self.current.bytes += bytes as u64;
        self.current.blocks += 1;
        self.current.latency.record(latency_ns);
    }

    /// A request was sent so late against its time.
    #[inline]
    pub(super) fn lateness(&mut self, lateness_ns: u64) {
        self.current.lateness.record(lateness_ns);
    }

    /// The state of the receiver of datagrams in the current second.
    #[inline]
    pub(super) fn udp(&mut self) -> &mut UdpState {
        self.current.udp.get_or_insert_default()
    }

    /// Closes every second that is over at `now_ns`, at most up to the end of
    /// the load. What the thread used goes to the first of them.
    #[cold]
    pub(super) fn cut(&mut self, now_ns: u64, tcp: Option<TcpState>) {
        let used = self.meter.take();
        self.current.cpu_user_ns += used.cpu_user_ns;
        self.current.cpu_system_ns += used.cpu_system_ns;
        self.current.run_delay_ns += used.run_delay_ns;
        self.current.cpu = current_cpu();
        self.current.tcp = tcp;
        while now_ns >= self.current_end_ns && self.current_end_ns <= self.end_ns {
            let end_ns = self.current_end_ns;
            self.close(end_ns);
            let warm = end_ns < self.warmup_end_ns;
            self.current = empty(warm, end_ns - self.origin_ns);
            self.current.cpu = current_cpu();
            self.current.tcp = tcp;
            if end_ns >= self.end_ns {
                // What comes later belongs to no second.
                self.current_end_ns = u64::MAX;
                return;
            }
            let phase_end = if warm {
                self.warmup_end_ns
            } else {
                self.end_ns
            };
            self.current_end_ns = phase_end.min(end_ns + SECOND_NS);
        }
    }

    fn close(&mut self, end_ns: u64) {
        let start_ns = self.origin_ns + self.current.start_ns;
        self.current.duration_ns = end_ns.saturating_sub(start_ns);
        let next = empty(false, 0);
        self.done.push(std::mem::replace(&mut self.current, next));
    }

    /// The seconds until `now_ns`. One that has begun and not ended is kept at
    /// its length, unless the load is over.
    pub(super) fn finish(mut self, now_ns: u64, tcp: Option<TcpState>) -> Vec<ConnectionSecond> {
        self.cut(now_ns, tcp);
        let begun_ns = self.origin_ns + self.current.start_ns;
        if self.current_end_ns != u64::MAX && now_ns > begun_ns {
            self.close(now_ns.min(self.end_ns));
        }
        self.done
    }
}

fn empty(warmup: bool, start_ns: u64) -> ConnectionSecond {
    ConnectionSecond {
        warmup,
        start_ns,
        duration_ns: 0,
        bytes: 0,
        blocks: 0,
        latency: Histogram::new(),
        lateness: Histogram::new(),
        cpu_user_ns: 0,
        cpu_system_ns: 0,
        run_delay_ns: 0,
        cpu: 0,
        tcp: None,
        udp: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(warmup_ns: u64, measure_ns: u64) -> LoadSpec {
        LoadSpec {
            warmup_ns,
            measure_ns,
            ..LoadSpec::stream(1)
        }
    }

    #[test]
    fn seconds_lie_end_to_end_and_warm_up_stays_apart() {
        let mut seconds = Seconds::start(100, &spec(1_500_000_000, 2_000_000_000));
        for step in 1..=40_u64 {
            let now_ns = 100 + step * 100_000_000;
            if seconds.is_over(now_ns) {
                seconds.cut(now_ns, None);
            }
            seconds.block(10, 5);
        }
        let done = seconds.finish(100 + 4_000_000_000, None);
        let shape: Vec<_> = done
            .iter()
            .map(|s| (s.warmup, s.start_ns / 1_000_000, s.duration_ns / 1_000_000))
            .collect();
        assert_eq!(
            shape,
            [
                (true, 0, 1000),
                (true, 1000, 500),
                (false, 1500, 1000),
                (false, 2500, 1000)
            ]
        );
        assert_eq!(done[2].bytes, 100);
    }

    #[test]
    fn a_load_that_ends_early_keeps_its_last_part() {
        let mut seconds = Seconds::start(0, &spec(0, 3_000_000_000));
        seconds.block(7, 1);
        let done = seconds.finish(1_250_000_000, None);
        let lengths: Vec<_> = done.iter().map(|s| s.duration_ns).collect();
        assert_eq!(lengths, [1_000_000_000, 250_000_000]);
        assert_eq!(done.iter().map(|s| s.bytes).sum::<u64>(), 7);
    }
}
