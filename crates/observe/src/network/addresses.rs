//! Addresses of this host (`getifaddrs(3)`) and the packet sizes of its links.

use std::ffi::CStr;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// An address of a link of this host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interface {
    /// Name of the link.
    pub name: String,
    /// The address.
    pub address: IpAddr,
    /// Bits of the address that name its network.
    pub prefix_bits: u8,
}

impl Interface {
    /// Whether `other` is in the same network.
    pub fn reaches(&self, other: IpAddr) -> bool {
        match (self.address, other) {
            (IpAddr::V4(ours), IpAddr::V4(theirs)) => {
                let bits = u32::from(self.prefix_bits.min(32));
                let mask = u32::MAX.checked_shl(32 - bits).unwrap_or(0);
                u32::from(ours) & mask == u32::from(theirs) & mask
            }
            (IpAddr::V6(ours), IpAddr::V6(theirs)) => {
                let bits = u32::from(self.prefix_bits.min(128));
                let mask = u128::MAX.checked_shl(128 - bits).unwrap_or(0);
                u128::from(ours) & mask == u128::from(theirs) & mask
            }
            _ => false,
        }
    }
}

/// Every address of every link that is up; none when the kernel does not say.
pub fn interfaces() -> Vec<Interface> {
    let mut first: *mut libc::ifaddrs = std::ptr::null_mut();
    // SAFETY: the call fills `first` with a list, or fails.
    if unsafe { libc::getifaddrs(&mut first) } != 0 {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut next = first;
    while !next.is_null() {
        // SAFETY: an entry of the list, which is freed below only.
        let entry = unsafe { &*next };
        // SAFETY: the name is a C string of the list; addresses are null or
        // structures of the family that they say.
        let read = unsafe {
            let name = CStr::from_ptr(entry.ifa_name).to_string_lossy();
            let mask = ip_of(entry.ifa_netmask);
            ip_of(entry.ifa_addr).map(|address| (name.into_owned(), address, mask))
        };
        let up = entry.ifa_flags & libc::IFF_UP as u32 != 0;
        if let Some((name, address, mask)) = read.filter(|_| up) {
            found.push(Interface {
                name,
                address,
                // Without a mask the link reaches nobody but itself.
                prefix_bits: mask.map_or(128, prefix_bits),
            });
        }
        next = entry.ifa_next;
    }
    // SAFETY: the list came from getifaddrs and nothing refers to it any more.
    unsafe { libc::freeifaddrs(first) };
    found
}

/// The IP address in a C address.
///
/// # Safety
/// `address` is null or points to a structure of the family that it says.
unsafe fn ip_of(address: *const libc::sockaddr) -> Option<IpAddr> {
    if address.is_null() {
        return None;
    }
    // SAFETY: as the caller promises.
    match i32::from(unsafe { (*address).sa_family }) {
        libc::AF_INET => {
            // SAFETY: of this family.
            let v4 = unsafe { &*address.cast::<libc::sockaddr_in>() };
            Some(Ipv4Addr::from(v4.sin_addr.s_addr.to_ne_bytes()).into())
        }
        libc::AF_INET6 => {
            // SAFETY: of this family.
            let v6 = unsafe { &*address.cast::<libc::sockaddr_in6>() };
            Some(Ipv6Addr::from(v6.sin6_addr.s6_addr).into())
        }
        _ => None,
    }
}

fn prefix_bits(mask: IpAddr) -> u8 {
    match mask {
        IpAddr::V4(mask) => u32::from(mask).leading_ones() as u8,
        IpAddr::V6(mask) => u128::from(mask).leading_ones() as u8,
    }
}

/// Largest packet of a link, from the kernel itself.
pub fn mtu_bytes(interface: &str) -> Option<u32> {
    let socket = std::net::UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).ok()?;
    // SAFETY: zero is a valid value of every field of the C struct.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    let name = interface.as_bytes();
    if name.len() >= request.ifr_name.len() {
        return None;
    }
    for (to, from) in request.ifr_name.iter_mut().zip(name) {
        *to = *from as libc::c_char;
    }
    use std::os::fd::AsRawFd;
    // SAFETY: the request takes a structure with the name of an interface.
    let done = unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCGIFMTU as _, &mut request) };
    // SAFETY: the call filled this field of the union.
    let mtu = unsafe { request.ifr_ifru.ifru_mtu };
    (done == 0).then(|| u32::try_from(mtu).ok()).flatten()
}

/// The kernel's number of a link.
pub(super) fn index_of(interface: &str) -> Option<u32> {
    let socket = std::net::UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).ok()?;
    rustix::net::netdevice::name_to_index(&socket, interface).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loopback_is_found_with_its_network_and_packet_size() {
        let all = interfaces();
        let loopback = all
            .iter()
            .find(|i| i.address == IpAddr::from([127, 0, 0, 1]));
        let loopback = loopback.expect("every host has one");
        assert!(loopback.reaches(IpAddr::from([127, 9, 9, 9])));
        assert!(!loopback.reaches(IpAddr::from([10, 0, 0, 1])));
        assert!(mtu_bytes(&loopback.name).is_some_and(|mtu| mtu >= 1280));
        assert_eq!(mtu_bytes("no-such-interface-at-all"), None);
    }

    #[test]
    fn networks_of_any_length_are_compared() {
        let of = |text: &str, prefix_bits| Interface {
            name: String::new(),
            address: text.parse().unwrap(),
            prefix_bits,
        };
        assert!(of("10.1.2.3", 0).reaches("192.168.1.1".parse().unwrap()));
        assert!(!of("10.1.2.3", 32).reaches("10.1.2.4".parse().unwrap()));
        assert!(of("fd00::1", 64).reaches("fd00::2".parse().unwrap()));
        assert!(!of("fd00::1", 64).reaches("10.0.0.1".parse().unwrap()));
    }
}
