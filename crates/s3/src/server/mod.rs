//! An object store in memory, over HTTP: what tests and the laboratory measure
//! against, and, keeping nothing, the store that takes no time.
//!
//! It speaks enough of S3 for this engine (objects, ranges, listings, batch
//! deletes, uploads in parts, copies, tags, versions, checksums) and plain PUT, GET and DELETE for
//! everything else. It checks no signatures and must not be reachable by
//! others: it listens on the loopback interface unless told otherwise. A script
//! makes it slow, failing or rude.

mod connection;
mod documents;
mod listing_fault;
mod log;
mod objects;
mod request;
mod script;
mod transport;
mod versions;

pub use listing_fault::ListingFault;
pub use script::{Action, Rule, Script};

use std::collections::BTreeMap;
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Acquire, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use connection::Connection;
use log::Log;
use objects::Objects;

/// Connections at the same time at most.
const MOST_CONNECTIONS: usize = 4096;
/// How long the log waits for answers that are being sent.
const LOG_WAIT: Duration = Duration::from_secs(1);

/// How the server answers.
#[derive(Debug)]
enum ServerKind {
    /// Keeps what is put.
    Store(Box<Objects>),
    /// Keeps nothing; a GET brings so many bytes.
    Null(u64),
}

/// What all connections of a server share.
#[derive(Debug)]
struct Shared {
    kind: ServerKind,
    script: Script,
    log: Log,
    tls: Option<Arc<rustls::ServerConfig>>,
    /// Requests so far.
    requests: AtomicU64,
    /// Answers that are being sent and not in the log yet.
    answering: AtomicU64,
    ends: AtomicBool,
    open: Mutex<BTreeMap<u64, TcpStream>>,
}

/// A server that runs until it is dropped.
#[derive(Debug)]
pub struct StoreServer {
    shared: Arc<Shared>,
    address: SocketAddr,
    thread: Option<JoinHandle<()>>,
}

impl StoreServer {
    /// A store that keeps everything in memory, at most `most_bytes`, on
    /// `address` (port 0: any that is free).
    ///
    /// # Errors
    /// When the address cannot be had.
    pub fn start(address: SocketAddr, most_bytes: u64, script: Script) -> io::Result<StoreServer> {
        let objects = Box::new(Objects::new(most_bytes));
        StoreServer::listen(address, ServerKind::Store(objects), script, None)
    }

    /// The same over TLS 1.3, with a certificate (its own first, then those
    /// that vouch for it) and its key (PKCS 8), both DER.
    ///
    /// # Errors
    /// When the address cannot be had or the certificate does not fit the key.
    pub fn start_tls(
        address: SocketAddr,
        most_bytes: u64,
        script: Script,
        (chain, key): (Vec<Vec<u8>>, Vec<u8>),
    ) -> io::Result<StoreServer> {
        let objects = Box::new(Objects::new(most_bytes));
        let config = transport::server_config(chain, key)?;
        StoreServer::listen(address, ServerKind::Store(objects), script, Some(config))
    }

    /// A store that keeps nothing and answers every GET with `bytes` bytes.
    ///
    /// # Errors
    /// When no port can be had.
    pub fn null(bytes: u64) -> io::Result<StoreServer> {
        let any = SocketAddr::from(([127, 0, 0, 1], 0));
        StoreServer::listen(any, ServerKind::Null(bytes), Script::default(), None)
    }

    fn listen(
        address: SocketAddr,
        kind: ServerKind,
        script: Script,
        tls: Option<Arc<rustls::ServerConfig>>,
    ) -> io::Result<StoreServer> {
        let listener = TcpListener::bind(address)?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            kind,
            script,
            log: Log::default(),
            tls,
            requests: AtomicU64::new(0),
            answering: AtomicU64::new(0),
            ends: AtomicBool::new(false),
            open: Mutex::new(BTreeMap::new()),
        });
        let of_thread = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("store".to_owned())
            .spawn(move || accept(&listener, &of_thread))?;
        Ok(StoreServer {
            shared,
            address,
            thread: Some(thread),
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The same as an endpoint.
    pub fn endpoint(&self) -> String {
        match self.shared.tls {
            None => format!("http://{}", self.address),
            Some(_) => format!("https://{}", self.address),
        }
    }

    /// From now on every bucket keeps the versions of its objects.
    pub fn keep_versions(&self) {
        if let ServerKind::Store(objects) = &self.shared.kind {
            objects.keep_versions();
        }
    }

    /// How long successful requests with a method took here, in nanoseconds: from
    /// the end of their heads to the end of their answers. The first million of
    /// them are remembered.
    /// A client can have the end of an answer before it is noted here, so that is
    /// waited for.
    pub fn delivered(&self, method: &str) -> Vec<u64> {
        let until = Instant::now() + LOG_WAIT;
        while self.shared.answering.load(Acquire) > 0 && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(1));
        }
        self.shared.log.of(method)
    }

    /// How often each thing was done to a request by the script.
    pub fn done_to(&self, action: Action) -> u64 {
        self.shared.log.times(action)
    }

    /// Requests that it has seen.
    pub fn requests(&self) -> u64 {
        self.shared.requests.load(Relaxed)
    }

    /// Access key IDs that requests were signed with, and how many of each.
    pub fn signers(&self) -> BTreeMap<String, u64> {
        self.shared.log.signers()
    }

    /// Keys that it holds, in order, as `bucket/key`.
    pub fn keys(&self) -> Vec<String> {
        match &self.shared.kind {
            ServerKind::Store(objects) => objects.keys(),
            ServerKind::Null(_) => Vec::new(),
        }
    }

    /// Puts an object there as somebody else would, as `bucket/key`.
    pub fn plant(&self, path: &str, bytes: &[u8]) {
        if let ServerKind::Store(objects) = &self.shared.kind {
            objects.plant(path, bytes);
        }
    }

    /// Begins an upload as somebody else would, of `bucket/key`.
    pub fn plant_upload(&self, path: &str) {
        if let ServerKind::Store(objects) = &self.shared.kind {
            objects.plant_upload(path);
        }
    }

    /// What requests were to remove, as `bucket/key`, whether or not it did.
    pub fn removals(&self) -> Vec<String> {
        self.shared.log.removals()
    }

    /// Uploads that were begun and not ended.
    pub fn uploads(&self) -> usize {
        match &self.shared.kind {
            ServerKind::Store(objects) => objects.uploads(),
            ServerKind::Null(_) => 0,
        }
    }
}

impl Drop for StoreServer {
    fn drop(&mut self) {
        self.shared.ends.store(true, Relaxed);
        for stream in lock(&self.shared.open).values() {
            let _ = stream.shutdown(std::net::Shutdown::Both);
        }
        // Wakes the thread that waits for connections.
        let _ = TcpStream::connect_timeout(&self.address, Duration::from_secs(1));
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for number in 0.. {
        let stream = listener.accept();
        if shared.ends.load(Relaxed) {
            return;
        }
        let Ok((stream, _)) = stream else {
            std::thread::sleep(Duration::from_millis(10));
            continue;
        };
        let Ok(twin) = stream.try_clone() else {
            continue;
        };
        {
            let mut open = lock(&shared.open);
            if open.len() >= MOST_CONNECTIONS {
                continue;
            }
            open.insert(number, twin);
        }
        let of_thread = Arc::clone(shared);
        let spawned = std::thread::Builder::new()
            .name("store-c".to_owned())
            .stack_size(256 << 10)
            .spawn(move || {
                if let Some(mut connection) = Connection::new(stream, &of_thread) {
                    connection.serve();
                }
                lock(&of_thread.open).remove(&number);
            });
        if spawned.is_err() {
            lock(&shared.open).remove(&number);
        }
    }
}
