//! A small HTTP server with one page.

use std::collections::BTreeMap;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::Context;

use super::{SharedMetrics, lock};
use crate::present;

/// Time for a request and its answer together. Whoever is slower is left alone.
const PATIENCE: Duration = Duration::from_secs(2);
/// Connections at the same time; the oldest goes when one more comes.
const MAX_CONNECTIONS: usize = 32;
const REQUEST_BYTES_MAX: usize = 8 << 10;
/// After a failure of the system, such as too many open files.
const BREATH: Duration = Duration::from_millis(50);

/// The server; it ends when this is dropped.
pub(super) struct Serving {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Serving {
    pub(super) fn start(address: &str, shared: &SharedMetrics) -> anyhow::Result<Serving> {
        let what = || format!("cannot serve metrics at {address}");
        let listener = TcpListener::bind(place(address).with_context(what)?).with_context(what)?;
        let address = listener.local_addr().with_context(what)?;
        present::write_stderr(&format!("metrics: http://{address}/metrics\n"));
        let stop = Arc::new(AtomicBool::new(false));
        let (shared, told) = (Arc::clone(shared), Arc::clone(&stop));
        let thread = std::thread::Builder::new()
            .name("fathom-metrics".to_owned())
            .spawn(move || {
                let clients = Arc::new(Clients::default());
                for connection in listener.incoming() {
                    if told.load(Relaxed) {
                        return;
                    }
                    match connection {
                        Ok(connection) => clients.serve(connection, &shared),
                        Err(_) => std::thread::sleep(BREATH),
                    }
                }
            })
            .with_context(what)?;
        Ok(Serving {
            address,
            stop,
            thread: Some(thread),
        })
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.stop.store(true, Relaxed);
        // Wakes it where it waits for a connection.
        let mut own = self.address;
        if own.ip().is_unspecified() {
            own.set_ip(match own.is_ipv4() {
                true => std::net::Ipv4Addr::LOCALHOST.into(),
                false => std::net::Ipv6Addr::LOCALHOST.into(),
            });
        }
        let woken = TcpStream::connect_timeout(&own, PATIENCE);
        if let (Ok(_), Some(thread)) = (woken, self.thread.take()) {
            let _ = thread.join();
        }
    }
}

/// A port alone is one of this host alone.
fn place(text: &str) -> anyhow::Result<SocketAddr> {
    if let Ok(port) = text.parse::<u16>() {
        return Ok((std::net::Ipv4Addr::LOCALHOST, port).into());
    }
    let places = fathom_deadline::addresses_of(text)
        .context("expected a port, or an address and a port such as 0.0.0.0:9464")?;
    places.first().copied().context("this name has no address")
}

/// Those who are being answered, each by a thread of its own, so that one who
/// is slow keeps nobody waiting.
#[derive(Default)]
struct Clients {
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    next: u64,
    /// In the order in which they came.
    sockets: BTreeMap<u64, TcpStream>,
}

impl Clients {
    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn serve(self: &Arc<Clients>, mut connection: TcpStream, shared: &SharedMetrics) {
        // Who went away meanwhile misses nothing.
        let Ok(socket) = connection.try_clone() else {
            return;
        };
        let number = self.admit(socket);
        let (clients, shared) = (Arc::clone(self), Arc::clone(shared));
        let thread = std::thread::Builder::new()
            .name("fathom-scrape".to_owned())
            .stack_size(1 << 20);
        let spawned = thread.spawn(move || {
            let _ = answer(&mut connection, &shared);
            clients.lock().sockets.remove(&number);
        });
        if spawned.is_err() {
            self.lock().sockets.remove(&number);
        }
    }

    fn admit(&self, socket: TcpStream) -> u64 {
        let mut open = self.lock();
        while open.sockets.len() >= MAX_CONNECTIONS {
            if let Some((_, oldest)) = open.sockets.pop_first() {
                let _ = oldest.shutdown(Shutdown::Both);
            }
        }
        let number = open.next;
        open.next += 1;
        open.sockets.insert(number, socket);
        number
    }
}

/// The time that is left until a deadline, as a timeout.
fn left(deadline: Instant) -> std::io::Result<Option<Duration>> {
    let left = deadline.saturating_duration_since(Instant::now());
    match left.is_zero() {
        true => Err(ErrorKind::TimedOut.into()),
        false => Ok(Some(left)),
    }
}

/// Writes all, or gives up at the deadline.
fn write_until(
    connection: &mut TcpStream,
    mut bytes: &[u8],
    deadline: Instant,
) -> std::io::Result<()> {
    while !bytes.is_empty() {
        connection.set_write_timeout(left(deadline)?)?;
        let written = connection.write(bytes)?;
        if written == 0 {
            return Err(ErrorKind::WriteZero.into());
        }
        bytes = &bytes[written..];
    }
    Ok(())
}

fn answer(connection: &mut TcpStream, shared: &SharedMetrics) -> std::io::Result<()> {
    let deadline = Instant::now() + PATIENCE;
    let mut request = Vec::new();
    let mut room = [0; 1024];
    while !request.windows(4).any(|end| end == b"\r\n\r\n") {
        connection.set_read_timeout(left(deadline)?)?;
        let read = connection.read(&mut room)?;
        request.extend_from_slice(&room[..read]);
        if read == 0 || request.len() > REQUEST_BYTES_MAX {
            return Ok(());
        }
    }
    let line = String::from_utf8_lossy(&request);
    let mut words = line.lines().next().unwrap_or_default().split(' ');
    let (method, path) = (words.next().unwrap_or_default(), words.next());
    let path = path
        .unwrap_or_default()
        .split('?')
        .next()
        .unwrap_or_default();
    let (status, kind, body) = match (method, path) {
        ("GET" | "HEAD", "/metrics") => {
            let kind = "text/plain; version=0.0.4; charset=utf-8";
            ("200 OK", kind, lock(shared).to_prometheus())
        }
        ("GET" | "HEAD", _) => {
            let body = "fathom: the metrics of the run are at /metrics\n".to_owned();
            ("404 Not Found", "text/plain; charset=utf-8", body)
        }
        _ => ("405 Method Not Allowed", "text/plain", String::new()),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: \
         close\r\n\r\n",
        body.len()
    );
    write_until(connection, head.as_bytes(), deadline)?;
    match method {
        "HEAD" => Ok(()),
        _ => write_until(connection, body.as_bytes(), deadline),
    }
}

#[cfg(test)]
mod tests {
    use fathom_report::metrics::Metrics;

    use super::super::Names;
    use super::*;

    #[test]
    fn clients_that_say_half_a_request_keep_nobody_waiting() {
        let own = Metrics::of_run("run", "plan", "1", 1);
        let shared: SharedMetrics = Arc::new(Mutex::new(Names {
            own,
            gosbench: None,
        }));
        let serving = Serving::start("127.0.0.1:0", &shared).unwrap();
        let slow: Vec<TcpStream> = (0..200)
            .map(|_| {
                let mut one = TcpStream::connect(serving.address).unwrap();
                one.write_all(b"GET /metrics HTTP/1.1\r\n").unwrap();
                one
            })
            .collect();
        let begun = Instant::now();
        let mut honest = TcpStream::connect(serving.address).unwrap();
        honest
            .set_read_timeout(Some(Duration::from_secs(30)))
            .unwrap();
        honest.write_all(b"GET /metrics HTTP/1.1\r\n\r\n").unwrap();
        let mut answer = String::new();
        honest.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
        assert!(answer.contains("fathom_"), "{answer}");
        // One after the other they would have taken minutes.
        assert!(begun.elapsed() < Duration::from_secs(20));
        drop(slow);
    }
}
