//! Addresses of a host, with a deadline for the name service.

use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::time::Duration;

use crate::bounded_call::ask_within;

/// A resolver waits 5 s for its first server (resolv.conf(5)) before it asks the
/// next one.
const PATIENCE: Duration = Duration::from_secs(4);

/// The addresses of a host by its name or number.
///
/// # Errors
/// What the resolver says; [`io::ErrorKind::TimedOut`] when it does not answer.
pub fn host_addresses(host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    if let Ok(address) = host.parse::<IpAddr>() {
        return Ok(vec![SocketAddr::new(address, port)]);
    }
    let asked = host.to_owned();
    let what = format!("the name service for '{host}'");
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the call with a deadline"
    )]
    let resolve = move || {
        let found = (asked.as_str(), port).to_socket_addrs()?;
        Ok(found.collect())
    };
    ask_within(PATIENCE, &what, resolve)?
}

/// The addresses of `host:port`.
///
/// # Errors
/// As for [`host_addresses`], and where the text is no such pair.
pub fn addresses_of(text: &str) -> io::Result<Vec<SocketAddr>> {
    if let Ok(address) = text.parse() {
        return Ok(vec![address]);
    }
    let pair = text.rsplit_once(':');
    let pair = pair.and_then(|(host, port)| Some((host, port.parse().ok()?)));
    let (host, port) = pair.ok_or_else(|| {
        io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("'{text}' is not HOST:PORT"),
        )
    })?;
    host_addresses(host.trim_matches(['[', ']']), port)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_names_have_addresses() {
        let found = host_addresses("127.0.0.1", 80).unwrap();
        assert_eq!(found, ["127.0.0.1:80".parse().unwrap()]);
        assert_eq!(host_addresses("::1", 80).unwrap().len(), 1);
        let found = host_addresses("localhost", 7).unwrap();
        assert!(found.iter().any(|address| address.ip().is_loopback()));
        let found = addresses_of("localhost:7").unwrap();
        assert!(found.iter().all(|address| address.port() == 7));
        assert_eq!(addresses_of("[::1]:7").unwrap().len(), 1);
        let error = addresses_of("localhost").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    }
}
