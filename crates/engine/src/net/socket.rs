//! Sockets: options, what the kernel knows of them, and the calls that the
//! standard library does not have.

use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use fathom_model::network::{LoadSpec, TcpState};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fs::MemfdFlags;
use rustix::net::sockopt::{Ipv4PathMtuDiscovery, Ipv6PathMtuDiscovery};
use rustix::net::{AddressFamily, SocketFlags, SocketType, sockopt};

/// Bytes of `TCP_INFO` that are asked for; kernels give what they have.
const TCP_INFO_BYTES: usize = 256;
/// Connections that may wait to be accepted.
const BACKLOG: i32 = 512;

/// For a time that the kernel cannot count: a month.
const LONGEST_WAIT: Timespec = Timespec {
    tv_sec: 30 * 86_400,
    tv_nsec: 0,
};

/// Options of a socket that a load asks for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SocketOptions {
    /// `TCP_NODELAY`.
    pub nodelay: bool,
    /// Size asked for both buffers, bytes; the kernel takes at most what
    /// `net.core.{r,w}mem_max` allow.
    pub buffer_bytes: Option<u32>,
    /// Largest segment, bytes.
    pub mss_bytes: Option<u32>,
    /// Congestion control by name.
    pub congestion: Option<String>,
}

impl SocketOptions {
    /// What a load asks for.
    pub fn of(spec: &LoadSpec) -> SocketOptions {
        SocketOptions {
            nodelay: spec.nodelay,
            buffer_bytes: spec.buffer_bytes,
            mss_bytes: spec.mss_bytes,
            congestion: spec.congestion.clone(),
        }
    }
}

/// Sets an option that `rustix` does not know.
fn set(fd: BorrowedFd<'_>, level: i32, name: i32, value: i32) -> io::Result<()> {
    // SAFETY: `value` lives through the call and has the length that is told.
    let result = unsafe {
        libc::setsockopt(
            fd.as_raw_fd(),
            level,
            name,
            (&raw const value).cast(),
            size_of::<i32>() as libc::socklen_t,
        )
    };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Reads an option that `rustix` does not know into `bytes`; gives the part that was
/// filled.
fn get<'a>(fd: BorrowedFd<'_>, level: i32, name: i32, bytes: &'a mut [u8]) -> io::Result<&'a [u8]> {
    let mut length = bytes.len() as libc::socklen_t;
    let to = bytes.as_mut_ptr().cast();
    // SAFETY: the kernel writes at most `length` bytes to `bytes`.
    let result = unsafe { libc::getsockopt(fd.as_raw_fd(), level, name, to, &mut length) };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(&bytes[..(length as usize).min(bytes.len())])
}

/// Options that must be set before a connection is made, or may be at any time.
fn set_common(fd: BorrowedFd<'_>, options: &SocketOptions) -> io::Result<()> {
    if let Some(bytes) = options.buffer_bytes {
        let bytes = bytes.min(i32::MAX as u32) as usize;
        sockopt::set_socket_send_buffer_size(fd, bytes)?;
        sockopt::set_socket_recv_buffer_size(fd, bytes)?;
    }
    Ok(())
}

/// Sets what a load asks for on a TCP socket.
///
/// # Errors
/// An option that the kernel refuses.
pub fn prepare_tcp(socket: &impl AsFd, options: &SocketOptions) -> io::Result<()> {
    let fd = socket.as_fd();
    set_common(fd, options)?;
    sockopt::set_tcp_nodelay(fd, options.nodelay)?;
    if let Some(mss) = options.mss_bytes {
        let mss = i32::try_from(mss).unwrap_or(i32::MAX);
        set(fd, libc::IPPROTO_TCP, libc::TCP_MAXSEG, mss)?;
    }
    if let Some(name) = &options.congestion {
        sockopt::set_tcp_congestion(fd, name).map_err(|errno| {
            let error = io::Error::from(errno);
            io::Error::new(
                error.kind(),
                format!("congestion control '{name}' cannot be used here: {error}"),
            )
        })?;
    }
    Ok(())
}

/// Gives a socket of datagrams room for bursts.
///
/// # Errors
/// An option that the kernel refuses.
pub fn prepare_udp(socket: &UdpSocket, options: &SocketOptions) -> io::Result<()> {
    let roomy = SocketOptions {
        buffer_bytes: options.buffer_bytes.or(Some(4 << 20)),
        ..options.clone()
    };
    set_common(socket.as_fd(), &roomy)
}

/// Sets how many routers a packet may pass, also to groups.
///
/// # Errors
/// When the kernel refuses.
pub fn set_ttl(socket: &UdpSocket, ttl: u32) -> io::Result<()> {
    socket.set_ttl(ttl)?;
    socket.set_multicast_ttl_v4(ttl)
}

/// The congestion control of a TCP connection.
pub fn congestion_of(socket: &impl AsFd) -> Option<String> {
    let name = sockopt::tcp_congestion(socket).ok()?;
    Some(name).filter(|name| !name.is_empty())
}

/// A new socket of the family of `address`.
fn new_socket(address: IpAddr, kind: SocketType) -> io::Result<OwnedFd> {
    let family = if address.is_ipv4() {
        AddressFamily::INET
    } else {
        AddressFamily::INET6
    };
    let socket = rustix::net::socket_with(family, kind, SocketFlags::CLOEXEC, None)?;
    Ok(socket)
}

/// Listens for TCP connections with options that connections inherit.
///
/// # Errors
/// When the address cannot be had or an option is refused.
pub fn listen_tcp(address: SocketAddr, options: &SocketOptions) -> io::Result<TcpListener> {
    let fd = new_socket(address.ip(), SocketType::STREAM)?;
    sockopt::set_socket_reuseaddr(&fd, true)?;
    prepare_tcp(&fd, options)?;
    rustix::net::bind(&fd, &address)?;
    rustix::net::listen(&fd, BACKLOG)?;
    Ok(TcpListener::from(fd))
}

/// Connects within `timeout`, with options that must be set before.
///
/// # Errors
/// When nobody answers or an option is refused.
pub fn connect_tcp(
    address: SocketAddr,
    options: &SocketOptions,
    timeout: Duration,
) -> io::Result<TcpStream> {
    let fd = new_socket(address.ip(), SocketType::STREAM)?;
    prepare_tcp(&fd, options)?;
    let stream = TcpStream::from(fd);
    stream.set_nonblocking(true)?;
    match rustix::net::connect(&stream, &address) {
        Ok(()) => {}
        Err(rustix::io::Errno::INPROGRESS) => {
            wait_writable(&stream, timeout)?;
            if let Some(error) = stream.take_error()? {
                return Err(error);
            }
        }
        Err(errno) => return Err(errno.into()),
    }
    stream.set_nonblocking(false)?;
    Ok(stream)
}

fn wait_writable(stream: &TcpStream, timeout: Duration) -> io::Result<()> {
    let timeout = Timespec::try_from(timeout).unwrap_or(LONGEST_WAIT);
    let mut polled = [PollFd::new(stream, PollFlags::OUT)];
    if rustix::event::poll(&mut polled, Some(&timeout))? > 0 {
        return Ok(());
    }
    let millis = timeout.tv_sec * 1000 + timeout.tv_nsec / 1_000_000;
    Err(io::Error::new(
        io::ErrorKind::TimedOut,
        format!("no answer within {millis} ms"),
    ))
}

/// A socket for datagrams on an address that others may use as well: several
/// of one port, each connected to another peer.
///
/// # Errors
/// When the address cannot be had.
pub fn bind_udp(address: SocketAddr) -> io::Result<UdpSocket> {
    let fd = new_socket(address.ip(), SocketType::DGRAM)?;
    sockopt::set_socket_reuseaddr(&fd, true)?;
    rustix::net::bind(&fd, &address)?;
    Ok(UdpSocket::from(fd))
}

/// What the kernel knows of a TCP connection.
pub fn tcp_state(socket: &impl AsFd) -> Option<TcpState> {
    let mut bytes = [0_u8; TCP_INFO_BYTES];
    let known = get(
        socket.as_fd(),
        libc::IPPROTO_TCP,
        libc::TCP_INFO,
        &mut bytes,
    );
    parse_tcp_info(known.ok()?)
}

/// `struct tcp_info` of `linux/tcp.h`, which only ever grows at its end.
fn parse_tcp_info(bytes: &[u8]) -> Option<TcpState> {
    let word = |at: usize| {
        let part = bytes.get(at..at + 4)?;
        Some(u32::from_ne_bytes(part.try_into().ok()?))
    };
    let long = |at: usize| {
        let part = bytes.get(at..at + 8)?;
        Some(u64::from_ne_bytes(part.try_into().ok()?))
    };
    Some(TcpState {
        mss_bytes: word(16)?,
        path_mtu_bytes: word(60)?,
        rtt_us: word(68)?,
        rtt_var_us: word(72)?,
        cwnd_segments: word(80)?,
        retransmits: word(100)?.into(),
        min_rtt_us: word(148).unwrap_or(0),
        segments_in: word(152).unwrap_or(0).into(),
        segments_out: word(156).unwrap_or(0).into(),
        delivery_rate: long(160).unwrap_or(0),
        busy_us: long(168).unwrap_or(0),
        window_limited_us: long(176).unwrap_or(0),
        buffer_limited_us: long(184).unwrap_or(0),
        reordered: word(220).unwrap_or(0),
        send_window_bytes: word(228).unwrap_or(0),
    })
}

/// Whether an error of a call with a timeout says that the time is over.
pub(super) fn is_timeout(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted
    )
}

/// Takes up to `bytes` off a TCP connection without copying them.
pub(super) fn discard(socket: &impl AsFd, bytes: usize) -> io::Result<usize> {
    let fd = socket.as_fd().as_raw_fd();
    // SAFETY: with MSG_TRUNC on TCP nothing is written to the buffer, which
    // may therefore be none (tcp(7)).
    let got = unsafe { libc::recv(fd, std::ptr::null_mut(), bytes, libc::MSG_TRUNC) };
    usize::try_from(got).map_err(|_| io::Error::last_os_error())
}

/// Sends from the file `from` at `offset`.
pub(super) fn sendfile(
    to: &impl AsFd,
    from: &impl AsFd,
    mut offset: u64,
    bytes: usize,
) -> io::Result<usize> {
    Ok(rustix::fs::sendfile(to, from, Some(&mut offset), bytes)?)
}

/// A file in memory that holds `contents`.
pub(super) fn memory_file(contents: &[u8]) -> io::Result<std::fs::File> {
    use std::io::Write;
    let fd = rustix::fs::memfd_create("fathom-net", MemfdFlags::CLOEXEC)?;
    let mut file = std::fs::File::from(fd);
    file.write_all(contents)?;
    Ok(file)
}

/// The CPU on which the calling thread runs.
pub(super) fn current_cpu() -> u32 {
    u32::try_from(rustix::thread::sched_getcpu()).unwrap_or(0)
}

/// From `linux/in.h` and `linux/in6.h`.
const IP_RECVERR: i32 = 11;
const IPV6_RECVERR: i32 = 25;

/// Forbids routers to split what `socket` sends, whatever the kernel has
/// learnt of the path, and asks for what routers complain about.
pub(super) fn forbid_fragments(socket: &UdpSocket) -> io::Result<()> {
    let fd = socket.as_fd();
    if socket.local_addr()?.is_ipv4() {
        sockopt::set_ip_mtu_discover(fd, Ipv4PathMtuDiscovery::PROBE)?;
        set(fd, libc::IPPROTO_IP, IP_RECVERR, 1)
    } else {
        sockopt::set_ipv6_mtu_discover(fd, Ipv6PathMtuDiscovery::PROBE)?;
        set(fd, libc::IPPROTO_IPV6, IPV6_RECVERR, 1)
    }
}

/// The next complaint in the error queue of a socket: who says that a packet
/// is too large, and what fits (`ip(7)`, `IP_RECVERR`).
pub(super) fn next_complaint(socket: &UdpSocket) -> Option<(Option<IpAddr>, u32)> {
    let mut control = [0_u64; 32];
    // SAFETY: zero is a valid value of every field of the C struct.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_control = control.as_mut_ptr().cast();
    message.msg_controllen = size_of_val(&control) as _;
    let flags = libc::MSG_ERRQUEUE | libc::MSG_DONTWAIT;
    // SAFETY: the message describes a control buffer that lives through the call.
    if unsafe { libc::recvmsg(socket.as_raw_fd(), &mut message, flags) } < 0 {
        return None;
    }
    let mut bytes = [0_u8; 256];
    for (chunk, word) in bytes.chunks_exact_mut(8).zip(control) {
        chunk.copy_from_slice(&word.to_ne_bytes());
    }
    parse_complaint(&bytes)
}

/// `struct cmsghdr` (16 bytes), `struct sock_extended_err` (16 bytes), then
/// the address of the one who complains.
fn parse_complaint(bytes: &[u8]) -> Option<(Option<IpAddr>, u32)> {
    let errno = u32::from_ne_bytes(bytes.get(16..20)?.try_into().ok()?);
    let fits = u32::from_ne_bytes(bytes.get(24..28)?.try_into().ok()?);
    if errno != libc::EMSGSIZE as u32 {
        return None;
    }
    let family = u16::from_ne_bytes(bytes.get(32..34)?.try_into().ok()?);
    let offender = match i32::from(family) {
        libc::AF_INET => {
            let octets: [u8; 4] = bytes.get(36..40)?.try_into().ok()?;
            Some(IpAddr::from(octets))
        }
        libc::AF_INET6 => {
            let octets: [u8; 16] = bytes.get(40..56)?.try_into().ok()?;
            Some(IpAddr::from(octets))
        }
        _ => None,
    };
    Some((offender.filter(|address| !address.is_unspecified()), fits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tcp_info_is_read_by_offset_and_may_be_short() {
        let mut bytes = vec![0_u8; 240];
        bytes[16..20].copy_from_slice(&1448_u32.to_ne_bytes());
        bytes[68..72].copy_from_slice(&2500_u32.to_ne_bytes());
        bytes[100..104].copy_from_slice(&7_u32.to_ne_bytes());
        bytes[148..152].copy_from_slice(&2100_u32.to_ne_bytes());
        let state = parse_tcp_info(&bytes).unwrap();
        assert_eq!((state.mss_bytes, state.rtt_us), (1448, 2500));
        assert_eq!((state.retransmits, state.min_rtt_us), (7, 2100));
        assert_eq!(parse_tcp_info(&bytes[..104]).unwrap().min_rtt_us, 0);
        assert_eq!(parse_tcp_info(&bytes[..50]), None);
    }

    #[test]
    fn a_complaint_names_its_author_and_what_fits() {
        let mut bytes = [0_u8; 64];
        bytes[16..20].copy_from_slice(&(libc::EMSGSIZE as u32).to_ne_bytes());
        bytes[24..28].copy_from_slice(&1500_u32.to_ne_bytes());
        bytes[32..34].copy_from_slice(&(libc::AF_INET as u16).to_ne_bytes());
        bytes[36..40].copy_from_slice(&[10, 0, 0, 254]);
        let hop = Some(IpAddr::from([10, 0, 0, 254]));
        assert_eq!(parse_complaint(&bytes), Some((hop, 1500)));
        assert_eq!(parse_complaint(&bytes[..20]), None);
    }

    #[test]
    fn a_connection_has_a_state_and_a_congestion_control() {
        let options = SocketOptions {
            nodelay: true,
            buffer_bytes: Some(65_536),
            ..SocketOptions::default()
        };
        let listener = listen_tcp("127.0.0.1:0".parse().unwrap(), &options).unwrap();
        let address = listener.local_addr().unwrap();
        let stream = connect_tcp(address, &options, Duration::from_secs(5)).unwrap();
        let state = tcp_state(&stream).unwrap();
        assert!(state.mss_bytes > 500, "{state:?}");
        assert!(congestion_of(&stream).is_some());
        let unknown = SocketOptions {
            congestion: Some("nonesuch".to_owned()),
            ..SocketOptions::default()
        };
        let told = prepare_tcp(&stream, &unknown).unwrap_err().to_string();
        assert!(told.contains("'nonesuch'"), "{told}");
    }
}
