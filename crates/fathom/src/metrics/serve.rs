//! A small HTTP server with one page.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::Context;

use super::{Shared, lock};
use crate::present;

/// Whoever asks more slowly is left alone.
const PATIENCE: Duration = Duration::from_secs(2);
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
    pub(super) fn start(address: &str, shared: &Shared) -> anyhow::Result<Serving> {
        let what = || format!("cannot serve metrics at {address}");
        let listener = TcpListener::bind(place(address).with_context(what)?).with_context(what)?;
        let address = listener.local_addr().with_context(what)?;
        present::write_stderr(&format!("metrics: http://{address}/metrics\n"));
        let stop = Arc::new(AtomicBool::new(false));
        let (shared, told) = (Arc::clone(shared), Arc::clone(&stop));
        let thread = std::thread::Builder::new()
            .name("fathom-metrics".to_owned())
            .spawn(move || {
                for connection in listener.incoming() {
                    if told.load(Relaxed) {
                        return;
                    }
                    match connection {
                        // Who went away meanwhile misses nothing.
                        Ok(mut connection) => drop(answer(&mut connection, &shared)),
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
    let mut places = text
        .to_socket_addrs()
        .context("expected a port, or an address and a port such as 0.0.0.0:9464")?;
    places.next().context("this name has no address")
}

fn answer(connection: &mut TcpStream, shared: &Shared) -> std::io::Result<()> {
    connection.set_read_timeout(Some(PATIENCE))?;
    connection.set_write_timeout(Some(PATIENCE))?;
    let mut request = Vec::new();
    let mut room = [0; 1024];
    let begun = Instant::now();
    while !request.windows(4).any(|end| end == b"\r\n\r\n") {
        let read = connection.read(&mut room)?;
        request.extend_from_slice(&room[..read]);
        if read == 0 || request.len() > REQUEST_BYTES_MAX || begun.elapsed() > PATIENCE {
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
    connection.write_all(head.as_bytes())?;
    match method {
        "HEAD" => Ok(()),
        _ => connection.write_all(body.as_bytes()),
    }
}
