//! A file on another host, mounted here: the host is a network namespace, the
//! network between is a [`SimulatedLink`], the file is served as a network block
//! device (nbdkit) and mounted through FUSE (nbdfuse). It stands for NFS and its
//! like where the kernel has no such file system.

use std::fs;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use super::server::{PATIENCE, Server};
use super::tool;
use crate::{Error, SimulatedLink, WayTruth, Wire};

const PORT: u16 = 10_809;

/// A mounted file whose server is behind a link. Dropping it unmounts it and
/// takes the link and the namespace away.
#[derive(Debug)]
pub struct NetworkMount {
    path: PathBuf,
    interface: String,
    _client: Server,
    _server: Server,
    _host: Namespace,
    link: SimulatedLink,
}

impl NetworkMount {
    /// Makes `folder/mounted` of `bytes`, kept in the server's memory.
    ///
    /// # Errors
    /// [`Error::Absent`] without root, FUSE, nbdkit, nbdfuse or namespaces,
    /// [`Error::Program`] when one of the programs fails.
    pub fn start(folder: &Path, bytes: u64, wire: Wire, seed: u64) -> Result<NetworkMount, Error> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        tool::need_root("a network of its own")?;
        tool::need_fuse()?;
        let ip = tool::need("ip", "iproute2")?;
        let nbdkit = tool::need("nbdkit", "nbdkit")?;
        let nbdfuse = tool::need("nbdfuse", "libnbd-bin")?;
        let tag =
            std::process::id() % 100_000 + 100_000 * (NEXT.fetch_add(1, Ordering::Relaxed) % 10);
        let (near, far) = (format!("fm{tag}n"), format!("fm{tag}f"));
        // Of the network for benchmarks (RFC 2544), a part for each link.
        let part = (tag % 16_000) as u16 * 4;
        let address = |last: u8| {
            let [high, low] = part.to_be_bytes();
            Ipv4Addr::new(198, 18, high, low + last)
        };
        let link = SimulatedLink::make((&near, &far), wire, seed)?;
        let host = Namespace::make(&ip, &far)?;
        let steps = [
            format!("link set {far} netns {far}"),
            format!("-n {far} link set {far} up"),
            format!("-n {far} addr add {}/30 dev {far}", address(2)),
            format!("link set {near} up"),
            format!("addr add {}/30 dev {near}", address(1)),
        ];
        for step in &steps {
            tool::run(&ip, step.split(' '))?;
        }
        host.congest_as_usual()?;
        let inside = format!(
            "netns exec {far} {} -f -p {PORT} memory {bytes}",
            nbdkit.display()
        );
        let server = Server::start(&ip, inside.split(' '))?;
        let path = folder.join("mounted");
        fs::write(&path, b"").map_err(Error::io("make", &path))?;
        let uri = format!("nbd://{}:{PORT}", address(2));
        // The server may not listen yet: then its client is started again.
        let mut client = None;
        tool::wait_for("nbdfuse", "the mount", PATIENCE, || {
            let running = match &mut client {
                Some(running) => running,
                none => none.insert(Server::start(&nbdfuse, [path.as_os_str(), uri.as_ref()])?),
            };
            if running.check().is_err() {
                client = None;
                return Ok(None);
            }
            let served = fs::metadata(&path).is_ok_and(|file| file.len() == bytes);
            Ok(served.then_some(()))
        })?;
        let client = client.ok_or_else(|| Error::program("nbdfuse", "did not stay"))?;
        Ok(NetworkMount {
            path,
            interface: near,
            _client: client,
            _server: server,
            _host: host,
            link,
        })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The interface over which it is reached.
    pub fn interface(&self) -> &str {
        &self.interface
    }

    /// What passed so far, to the server and back.
    pub fn truth(&self) -> (WayTruth, WayTruth) {
        self.link.truth()
    }
}

impl Drop for NetworkMount {
    fn drop(&mut self) {
        self._client.stop();
        tool::unmount_leftover(&self.path);
    }
}

/// A network namespace. Dropping it removes it.
#[derive(Debug)]
struct Namespace {
    ip: PathBuf,
    name: String,
}

impl Namespace {
    fn make(ip: &Path, name: &str) -> Result<Namespace, Error> {
        tool::run(ip, ["netns", "add", name]).map_err(|error| {
            Error::Absent(format!("no network namespace can be made here: {error}"))
        })?;
        Ok(Namespace {
            ip: ip.to_owned(),
            name: name.to_owned(),
        })
    }

    /// Lets what is sent from here fill a path until segments are lost, as most
    /// hosts do, whatever this one prefers.
    fn congest_as_usual(&self) -> Result<(), Error> {
        let set = "echo reno > /proc/sys/net/ipv4/tcp_congestion_control";
        let inside = ["netns", "exec", &self.name, "sh", "-c", set];
        tool::run(&self.ip, inside).map(drop)
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        let _ = tool::run(&self.ip, ["netns", "del", &self.name]);
    }
}
