//! Sockets: options, what the kernel knows of them, and the calls that the
//! standard library does not have.

use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::time::Duration;

use fathom_model::network::{LoadSpec, TcpState};

/// Bytes of `TCP_INFO` that are asked for; kernels give what they have.
const TCP_INFO_BYTES: usize = 256;
/// Connections that may wait to be accepted.
const BACKLOG: i32 = 512;

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

/// Sets one option.
fn set<T: Copy>(fd: RawFd, level: i32, name: i32, value: T) -> io::Result<()> {
    // SAFETY: `value` lives through the call and has the length that is told.
    let result = unsafe {
        libc::setsockopt(
            fd,
            level,
            name,
            (&raw const value).cast(),
            size_of::<T>() as libc::socklen_t,
        )
    };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Reads an option into `bytes`; gives the part that was filled.
fn get(fd: RawFd, level: i32, name: i32, bytes: &mut [u8]) -> io::Result<&[u8]> {
    let mut length = bytes.len() as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes to `bytes`.
    let result =
        unsafe { libc::getsockopt(fd, level, name, bytes.as_mut_ptr().cast(), &mut length) };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(&bytes[..(length as usize).min(bytes.len())])
}

/// Options that must be set before a connection is made, or may be at any time.
fn set_common(fd: RawFd, options: &SocketOptions) -> io::Result<()> {
    if let Some(bytes) = options.buffer_bytes {
        let bytes = i32::try_from(bytes).unwrap_or(i32::MAX);
        set(fd, libc::SOL_SOCKET, libc::SO_SNDBUF, bytes)?;
        set(fd, libc::SOL_SOCKET, libc::SO_RCVBUF, bytes)?;
    }
    Ok(())
}

/// Sets what a load asks for on a TCP socket.
///
/// # Errors
/// An option that the kernel refuses.
pub fn prepare_tcp(socket: &impl AsRawFd, options: &SocketOptions) -> io::Result<()> {
    let fd = socket.as_raw_fd();
    set_common(fd, options)?;
    set(
        fd,
        libc::IPPROTO_TCP,
        libc::TCP_NODELAY,
        i32::from(options.nodelay),
    )?;
    if let Some(mss) = options.mss_bytes {
        let mss = i32::try_from(mss).unwrap_or(i32::MAX);
        set(fd, libc::IPPROTO_TCP, libc::TCP_MAXSEG, mss)?;
    }
    if let Some(name) = &options.congestion {
        let mut bytes = [0_u8; 16];
        let length = name.len().min(15);
        bytes[..length].copy_from_slice(&name.as_bytes()[..length]);
        set(fd, libc::IPPROTO_TCP, libc::TCP_CONGESTION, bytes).map_err(|error| {
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
    set_common(socket.as_raw_fd(), &roomy)
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
pub fn congestion_of(socket: &impl AsRawFd) -> Option<String> {
    let mut bytes = [0_u8; 16];
    let name = get(
        socket.as_raw_fd(),
        libc::IPPROTO_TCP,
        libc::TCP_CONGESTION,
        &mut bytes,
    );
    let name = String::from_utf8_lossy(name.ok()?);
    Some(name.trim_matches('\0').to_owned()).filter(|name| !name.is_empty())
}

/// A new socket of the family of `address`.
pub(super) fn new_socket(address: IpAddr, kind: i32) -> io::Result<OwnedFd> {
    let family = if address.is_ipv4() {
        libc::AF_INET
    } else {
        libc::AF_INET6
    };
    // SAFETY: takes plain numbers only.
    let fd = unsafe { libc::socket(family, kind | libc::SOCK_CLOEXEC, 0) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor is new and nobody else's.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// A C address with its length.
pub(super) fn c_address(address: SocketAddr) -> (libc::sockaddr_storage, libc::socklen_t) {
    // SAFETY: zero is a valid value of every field of the C struct.
    let mut storage: libc::sockaddr_storage = unsafe { std::mem::zeroed() };
    match address {
        SocketAddr::V4(v4) => {
            let c = libc::sockaddr_in {
                sin_family: libc::AF_INET as libc::sa_family_t,
                sin_port: v4.port().to_be(),
                sin_addr: libc::in_addr {
                    s_addr: u32::from_ne_bytes(v4.ip().octets()),
                },
                sin_zero: [0; 8],
            };
            // SAFETY: the storage is larger than any address and aligned for all.
            unsafe { (&raw mut storage).cast::<libc::sockaddr_in>().write(c) };
            (storage, size_of::<libc::sockaddr_in>() as libc::socklen_t)
        }
        SocketAddr::V6(v6) => {
            let c = libc::sockaddr_in6 {
                sin6_family: libc::AF_INET6 as libc::sa_family_t,
                sin6_port: v6.port().to_be(),
                sin6_flowinfo: v6.flowinfo(),
                sin6_addr: libc::in6_addr {
                    s6_addr: v6.ip().octets(),
                },
                sin6_scope_id: v6.scope_id(),
            };
            // SAFETY: the storage is larger than any address and aligned for all.
            unsafe { (&raw mut storage).cast::<libc::sockaddr_in6>().write(c) };
            (storage, size_of::<libc::sockaddr_in6>() as libc::socklen_t)
        }
    }
}

fn bind(fd: &OwnedFd, address: SocketAddr) -> io::Result<()> {
    let (storage, length) = c_address(address);
    // SAFETY: `storage` holds an address of `length` bytes.
    let result = unsafe { libc::bind(fd.as_raw_fd(), (&raw const storage).cast(), length) };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Listens for TCP connections with options that connections inherit.
///
/// # Errors
/// When the address cannot be had or an option is refused.
pub fn listen_tcp(address: SocketAddr, options: &SocketOptions) -> io::Result<TcpListener> {
    let fd = new_socket(address.ip(), libc::SOCK_STREAM)?;
    set(fd.as_raw_fd(), libc::SOL_SOCKET, libc::SO_REUSEADDR, 1_i32)?;
    prepare_tcp(&fd, options)?;
    bind(&fd, address)?;
    // SAFETY: takes plain numbers only.
    if unsafe { libc::listen(fd.as_raw_fd(), BACKLOG) } != 0 {
        return Err(io::Error::last_os_error());
    }
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
    let fd = new_socket(address.ip(), libc::SOCK_STREAM)?;
    prepare_tcp(&fd, options)?;
    let stream = TcpStream::from(fd);
    stream.set_nonblocking(true)?;
    let (storage, length) = c_address(address);
    // SAFETY: `storage` holds an address of `length` bytes.
    let result = unsafe { libc::connect(stream.as_raw_fd(), (&raw const storage).cast(), length) };
    if result != 0 {
        let error = io::Error::last_os_error();
        if error.raw_os_error() != Some(libc::EINPROGRESS) {
            return Err(error);
        }
        wait_writable(stream.as_raw_fd(), timeout)?;
        if let Some(error) = stream.take_error()? {
            return Err(error);
        }
    }
    stream.set_nonblocking(false)?;
    Ok(stream)
}

fn wait_writable(fd: RawFd, timeout: Duration) -> io::Result<()> {
    let mut poll = libc::pollfd {
        fd,
        events: libc::POLLOUT,
        revents: 0,
    };
    let millis = i32::try_from(timeout.as_millis()).unwrap_or(i32::MAX);
    // SAFETY: one valid structure is given.
    match unsafe { libc::poll(&mut poll, 1, millis) } {
        0 => Err(io::Error::new(
            io::ErrorKind::TimedOut,
            format!("no answer within {millis} ms"),
        )),
        1 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// A socket for datagrams on an address that others may use as well: several
/// of one port, each connected to another peer.
///
/// # Errors
/// When the address cannot be had.
pub fn bind_udp(address: SocketAddr) -> io::Result<UdpSocket> {
    let fd = new_socket(address.ip(), libc::SOCK_DGRAM)?;
    set(fd.as_raw_fd(), libc::SOL_SOCKET, libc::SO_REUSEADDR, 1_i32)?;
    bind(&fd, address)?;
    Ok(UdpSocket::from(fd))
}

/// What the kernel knows of a TCP connection.
pub fn tcp_state(socket: &impl AsRawFd) -> Option<TcpState> {
    let mut bytes = [0_u8; TCP_INFO_BYTES];
    let known = get(
        socket.as_raw_fd(),
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
pub(super) fn discard(fd: RawFd, bytes: usize) -> io::Result<usize> {
    // SAFETY: with MSG_TRUNC on TCP nothing is written to the buffer, which
    // may therefore be none (tcp(7)).
    let got = unsafe { libc::recv(fd, std::ptr::null_mut(), bytes, libc::MSG_TRUNC) };
    usize::try_from(got).map_err(|_| io::Error::last_os_error())
}

/// Sends from the file `from` at `offset`.
pub(super) fn sendfile(to: RawFd, from: RawFd, offset: u64, bytes: usize) -> io::Result<usize> {
    let mut offset = offset as libc::off_t;
    // SAFETY: `offset` lives through the call.
    let sent = unsafe { libc::sendfile(to, from, &mut offset, bytes) };
    usize::try_from(sent).map_err(|_| io::Error::last_os_error())
}

/// A file in memory that holds `contents`.
pub(super) fn memory_file(contents: &[u8]) -> io::Result<std::fs::File> {
    use std::io::Write;
    // SAFETY: the name is a C string.
    let fd = unsafe { libc::memfd_create(c"fathom-net".as_ptr(), libc::MFD_CLOEXEC) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor is new and nobody else's.
    let mut file = std::fs::File::from(unsafe { OwnedFd::from_raw_fd(fd) });
    file.write_all(contents)?;
    Ok(file)
}

/// The CPU on which the calling thread runs.
pub(super) fn current_cpu() -> u32 {
    // SAFETY: takes nothing.
    u32::try_from(unsafe { libc::sched_getcpu() }).unwrap_or(0)
}

/// From `linux/in.h` and `linux/in6.h`: `IP_PMTUDISC_PROBE`.
const PMTUDISC_PROBE: i32 = 3;
const IP_RECVERR: i32 = 11;
const IPV6_MTU_DISCOVER: i32 = 23;
const IPV6_RECVERR: i32 = 25;

/// Forbids routers to split what `socket` sends, whatever the kernel has
/// learnt of the path, and asks for what routers complain about.
pub(super) fn forbid_fragments(socket: &UdpSocket) -> io::Result<()> {
    let fd = socket.as_raw_fd();
    if socket.local_addr()?.is_ipv4() {
        set(fd, libc::IPPROTO_IP, libc::IP_MTU_DISCOVER, PMTUDISC_PROBE)?;
        set(fd, libc::IPPROTO_IP, IP_RECVERR, 1_i32)
    } else {
        set(fd, libc::IPPROTO_IPV6, IPV6_MTU_DISCOVER, PMTUDISC_PROBE)?;
        set(fd, libc::IPPROTO_IPV6, IPV6_RECVERR, 1_i32)
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
