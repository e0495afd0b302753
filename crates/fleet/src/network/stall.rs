//! Telling of a connection that is not made, and of a load whose data do not move
//! any more: the end of either may be far away. A load that stands still for long
//! is ended.

use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use fathom_engine::net::{Connection, tcp_state};

use super::data::{DataConnections, LoadControl};

use fathom_model::network::LoadSpec;

const EVERY: Duration = Duration::from_millis(500);
/// How often the wish to end is passed on.
const LOOK: Duration = Duration::from_millis(50);
/// A standstill of this length is worth a line.
const NOTABLE: Duration = Duration::from_secs(3);
/// After a standstill of this length nothing more is expected of the server.
const OVER: Duration = Duration::from_secs(8);
/// At a low rate, blocks are far apart: so many of them must be missing.
const MISSING_BLOCKS: f64 = 4.0;
/// A connection that takes this long is worth a line.
const SLOW_CONNECTION: Duration = Duration::from_secs(2);
/// Connections that are looked at: a server that stands still moves none.
const LOOKED_AT: usize = 8;

/// Tells of connections to a server that take long, until it is dropped.
pub(super) struct ConnectWatch {
    _over: Sender<()>,
}

impl ConnectWatch {
    /// Waits from now on, where somebody hears of it.
    pub(super) fn begin(server: SocketAddr, tell: Option<fn(&str)>) -> Option<ConnectWatch> {
        let tell = tell?;
        let (over, ended) = channel::<()>();
        let wait = move || {
            if ended.recv_timeout(SLOW_CONNECTION) == Err(RecvTimeoutError::Timeout) {
                let seconds = SLOW_CONNECTION.as_secs();
                tell(&format!("{server} is not responding (waited {seconds} s)"));
            }
        };
        // Without a thread nothing is told. It ends by itself and is never joined.
        std::thread::Builder::new().spawn(wait).ok()?;
        Some(ConnectWatch { _over: over })
    }
}

/// Looks at the connections of a load until it is dropped.
pub(super) struct StallWatch {
    over: Arc<AtomicBool>,
    /// Ends the load: somebody asked for it, or it stands still.
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Option<Duration>>>,
}

/// What a watch looks at, and whom it tells.
struct Watched {
    streams: Vec<TcpStream>,
    server: SocketAddr,
    tell: Option<fn(&str)>,
    /// How long they may stand still.
    patience: Duration,
    /// The wish of whoever runs the load.
    wish: Arc<AtomicBool>,
}

impl StallWatch {
    /// Looks from now on. Datagrams do not show it.
    pub(super) fn begin(
        ways: &DataConnections,
        server: SocketAddr,
        spec: &LoadSpec,
        load_control: &LoadControl,
    ) -> Option<StallWatch> {
        let all = ways.forward.iter().chain(&ways.reverse);
        let streams = all.filter_map(|connection| match connection {
            Connection::Tcp(stream) => stream.try_clone().ok(),
            _ => None,
        });
        let streams: Vec<TcpStream> = streams.take(LOOKED_AT).collect();
        if streams.is_empty() {
            return None;
        }
        let watched = Watched {
            streams,
            server,
            tell: load_control.waiting,
            patience: patience(spec),
            wish: Arc::clone(&load_control.stop),
        };
        let (over, stop) = (Arc::new(AtomicBool::new(false)), Arc::default());
        let (ends, stops) = (Arc::clone(&over), Arc::clone(&stop));
        let look = move || look(&watched, &stops, &ends);
        let thread = std::thread::Builder::new().spawn(look).ok()?;
        Some(StallWatch {
            over,
            stop,
            thread: Some(thread),
        })
    }

    /// What holds the load back, with the end that this watch may bring about.
    pub(super) fn control(&self, load_control: &LoadControl) -> LoadControl {
        LoadControl {
            stop: Arc::clone(&self.stop),
            ..load_control.clone()
        }
    }

    /// Looks no longer. How long the load stood still, where that ended it.
    pub(super) fn end(mut self) -> Option<Duration> {
        self.over.store(true, Ordering::Relaxed);
        let thread = self.thread.take()?;
        thread.thread().unpark();
        thread.join().ok().flatten()
    }
}

/// How long a load may stand still.
fn patience(spec: &LoadSpec) -> Duration {
    let rate = spec.rate_bits.filter(|rate| *rate > 0);
    let apart = rate.map_or(0.0, |rate| f64::from(spec.block_bytes) * 8.0 / rate as f64);
    let blocks = Duration::try_from_secs_f64(apart * MISSING_BLOCKS).unwrap_or(Duration::MAX);
    OVER.max(blocks)
}

impl Drop for StallWatch {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // It only looks; a panic there changes nothing here.
            let _ = thread.join();
        }
    }
}

/// Looks until it is over, or until they have stood still for too long: for how
/// long they did.
fn look(watched: &Watched, stop: &AtomicBool, over: &AtomicBool) -> Option<Duration> {
    let (mut moved, mut since, mut told) =
        (moved_segments(&watched.streams), Instant::now(), false);
    let mut looked = Instant::now();
    while !over.load(Ordering::Relaxed) {
        std::thread::park_timeout(LOOK);
        if watched.wish.load(Ordering::Relaxed) {
            stop.store(true, Ordering::Relaxed);
        }
        if looked.elapsed() < EVERY {
            continue;
        }
        looked = Instant::now();
        let now = moved_segments(&watched.streams);
        let still = since.elapsed();
        if now != moved {
            (moved, since, told) = (now, Instant::now(), false);
        } else if over.load(Ordering::Relaxed) || stop.load(Ordering::Relaxed) {
            continue;
        } else if still >= watched.patience {
            stop.store(true, Ordering::Relaxed);
            return Some(still);
        } else if let (true, Some(tell)) = (!told && still >= NOTABLE, watched.tell) {
            told = true;
            let (server, seconds) = (watched.server, still.as_secs());
            tell(&format!(
                "{server} is not responding: no data of the load has moved for {seconds} s"
            ));
        }
    }
    None
}

/// Segments with data that arrived, here or there.
fn moved_segments(streams: &[TcpStream]) -> u64 {
    let states = streams.iter().filter_map(tcp_state);
    states
        .map(|state| (state.segments_in + state.segments_out).saturating_sub(state.retransmits))
        .sum()
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn a_connection_that_is_not_made_is_told_of_and_one_that_is_made_is_not() {
        static TOLD: Mutex<Vec<String>> = Mutex::new(Vec::new());
        let tell: fn(&str) = |text| TOLD.lock().unwrap().push(text.to_owned());
        let (slow, quick): (SocketAddr, SocketAddr) = (
            "192.0.2.1:7".parse().unwrap(),
            "192.0.2.2:7".parse().unwrap(),
        );
        drop(ConnectWatch::begin(quick, Some(tell)));
        let watch = ConnectWatch::begin(slow, Some(tell));
        let until = Instant::now() + Duration::from_secs(60);
        while TOLD.lock().unwrap().is_empty() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(50));
        }
        drop(watch);
        let told = TOLD.lock().unwrap().clone();
        assert_eq!(told, ["192.0.2.1:7 is not responding (waited 2 s)"]);
        assert!(ConnectWatch::begin(slow, None).is_none());
    }

    #[test]
    fn a_load_that_stands_still_is_told_of_once() {
        static TOLD: Mutex<Vec<String>> = Mutex::new(Vec::new());
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = listener.local_addr().unwrap();
        let mut ways = DataConnections::default();
        let stream = TcpStream::connect(server).unwrap();
        ways.forward.push(Connection::Tcp(stream));
        let load_control = LoadControl {
            waiting: Some(|text| TOLD.lock().unwrap().push(text.to_owned())),
            ..LoadControl::default()
        };
        let spec = LoadSpec::stream(3600);
        let watch = StallWatch::begin(&ways, server, &spec, &load_control).unwrap();
        let until = Instant::now() + Duration::from_secs(60);
        while TOLD.lock().unwrap().is_empty() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(50));
        }
        let within = watch.control(&load_control);
        while !within.stop.load(Ordering::Relaxed) && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(50));
        }
        // The load is ended, and the run is not.
        assert!(!load_control.stop.load(Ordering::Relaxed));
        assert!(watch.end() >= Some(OVER));
        let told = TOLD.lock().unwrap().join("; ");
        let wanted = format!("{server} is not responding: no data of the load has moved for ");
        assert!(told.starts_with(&wanted), "{told}");
        assert_eq!(told.matches("responding").count(), 1, "{told}");
    }

    #[test]
    fn an_interrupt_is_passed_on_to_the_load() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = listener.local_addr().unwrap();
        let mut ways = DataConnections::default();
        let stream = TcpStream::connect(server).unwrap();
        ways.forward.push(Connection::Tcp(stream));
        let load_control = LoadControl::default();
        let spec = LoadSpec::stream(3600);
        let watch = StallWatch::begin(&ways, server, &spec, &load_control).unwrap();
        let within = watch.control(&load_control);
        load_control.stop.store(true, Ordering::Relaxed);
        let until = Instant::now() + Duration::from_secs(60);
        while !within.stop.load(Ordering::Relaxed) && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(within.stop.load(Ordering::Relaxed));
        assert_eq!(watch.end(), None);
    }

    #[test]
    fn a_load_at_a_low_rate_may_stand_still_between_its_blocks() {
        let slow = LoadSpec {
            block_bytes: 125_000,
            rate_bits: Some(100_000),
            ..LoadSpec::stream(3600)
        };
        assert_eq!(patience(&slow), Duration::from_secs(40));
        assert_eq!(patience(&LoadSpec::stream(1)), OVER);
    }
}
