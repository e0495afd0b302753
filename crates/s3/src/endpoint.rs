//! Where a store is: the addresses behind an endpoint's name, and what a
//! request calls it.

use std::fmt;
use std::net::SocketAddr;
use std::str::FromStr;

use crate::error::{EndpointError, EndpointProblem, Error};

/// An endpoint, looked up.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// As it was named.
    pub name: String,
    /// It is spoken to over TLS.
    pub tls: bool,
    /// Host without port, for the certificate.
    pub(crate) host: String,
    /// What the header `host` says: with the port unless it is the usual one.
    pub(crate) authority: String,
    /// The addresses of the host, all of which are used.
    pub(crate) addresses: Vec<SocketAddr>,
}

/// An endpoint as it is named: what is spoken, host and port. Two names of the
/// same endpoint are equal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointAddress {
    tls: bool,
    /// In lower case, without brackets.
    host: String,
    port: u16,
}

impl EndpointAddress {
    /// What the header `host` says: with the port unless it is the usual one.
    fn authority(&self) -> String {
        let host = match self.host.contains(':') {
            true => format!("[{}]", self.host),
            false => self.host.clone(),
        };
        match self.port == usual_port(self.tls) {
            true => host,
            false => format!("{host}:{}", self.port),
        }
    }
}

impl fmt::Display for EndpointAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.tls { "https" } else { "http" };
        write!(f, "{scheme}://{}", self.authority())
    }
}

impl FromStr for EndpointAddress {
    type Err = EndpointError;

    /// Reads `http://host:port`, `https://host` or `host:port`.
    fn from_str(name: &str) -> Result<EndpointAddress, EndpointError> {
        let user = user_end(name);
        let bad = |problem| EndpointError {
            endpoint: match user {
                Some(end) => format!("{}***{}", scheme_of(name), &name[end..]),
                None => name.to_owned(),
            },
            problem,
        };
        let (tls, rest) = match name.split_once("://") {
            Some(("http", rest)) => (false, rest),
            Some(("https", rest)) => (true, rest),
            Some(_) => return Err(bad(EndpointProblem::Scheme)),
            None => (false, name),
        };
        let rest = rest.trim_end_matches('/');
        if user.is_some() {
            return Err(bad(EndpointProblem::User));
        }
        if rest.contains(['/', '@', '?', '#']) {
            return Err(bad(EndpointProblem::MoreThanHost));
        }
        let (host, port) = split_port(rest).ok_or_else(|| bad(EndpointProblem::Port))?;
        let host = host.trim_start_matches('[').trim_end_matches(']');
        if host.is_empty() {
            return Err(bad(EndpointProblem::NoHost));
        }
        Ok(EndpointAddress {
            tls,
            host: host.to_ascii_lowercase(),
            port: port.unwrap_or(usual_port(tls)),
        })
    }
}

/// The scheme of an address, with what follows it.
fn scheme_of(name: &str) -> &str {
    name.find("://").map_or("", |at| &name[..at + 3])
}

/// Where the user part of an address ends: at the last `@` before the path. A
/// password may hold a slash: then what stands before it is not a host with a
/// port.
fn user_end(name: &str) -> Option<usize> {
    let start = scheme_of(name).len();
    let rest = &name[start..];
    let host = &rest[..rest.find(['/', '?', '#', ',']).unwrap_or(rest.len())];
    let within = host.rfind('@').or_else(|| {
        let (_, port) = host.rsplit_once(':')?;
        let is_port = port.bytes().all(|byte| byte.is_ascii_digit());
        match is_port || host.starts_with('[') {
            true => None,
            false => rest.rfind('@'),
        }
    });
    within.map(|at| start + at)
}

fn usual_port(tls: bool) -> u16 {
    if tls { 443 } else { 80 }
}

impl Endpoint {
    /// Looks an endpoint up: `http://host:port`, `https://host` or `host:port`.
    ///
    /// # Errors
    /// A name without a form or an address.
    pub(crate) fn find(name: &str) -> Result<Endpoint, Error> {
        let named: EndpointAddress = name.parse()?;
        let addresses =
            fathom_deadline::host_addresses(&named.host, named.port).map_err(|source| {
                Error::Lookup {
                    endpoint: name.to_owned(),
                    source,
                }
            })?;
        // What listens on both is asked once, over IPv4.
        let v4: Vec<SocketAddr> = addresses
            .iter()
            .copied()
            .filter(SocketAddr::is_ipv4)
            .collect();
        let mut addresses = if v4.is_empty() { addresses } else { v4 };
        addresses.dedup();
        if addresses.is_empty() {
            return Err(Error::NoAddress(name.to_owned()));
        }
        Ok(Endpoint {
            name: name.to_owned(),
            tls: named.tls,
            authority: named.authority(),
            host: named.host,
            addresses,
        })
    }
}

/// Host and port; `None` when the port is no number.
fn split_port(text: &str) -> Option<(&str, Option<u16>)> {
    match text.rsplit_once(':') {
        Some((host, _)) if host.contains(':') && !host.ends_with(']') => Some((text, None)),
        Some((host, port)) => Some((host, Some(port.parse().ok()?))),
        None => Some((text, None)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endpoints_are_understood() {
        let found = Endpoint::find("http://127.0.0.1:9000/").unwrap();
        assert_eq!(
            (found.tls, found.authority.as_str()),
            (false, "127.0.0.1:9000")
        );
        let found = Endpoint::find("https://127.0.0.1").unwrap();
        assert_eq!((found.tls, found.authority.as_str()), (true, "127.0.0.1"));
        assert_eq!(found.addresses, ["127.0.0.1:443".parse().unwrap()]);
        let found = Endpoint::find("http://[::1]:81").unwrap();
        assert_eq!(
            (found.host.as_str(), found.authority.as_str()),
            ("::1", "[::1]:81")
        );
        assert_eq!(
            Endpoint::find("127.0.0.1:80").unwrap().authority,
            "127.0.0.1"
        );
        for bad in [
            "ftp://h",
            "http://",
            "http://h:x",
            "http://h/path",
            "http://u@h",
            "http://h#x",
        ] {
            assert!(Endpoint::find(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_user_is_refused_and_never_shown() {
        for (name, shown) in [
            ("http://me:pass@h:9000", "http://***@h:9000"),
            ("me:pass@h", "***@h"),
            ("https://me:pa/ss@h", "https://***@h"),
        ] {
            let error = name.parse::<EndpointAddress>().unwrap_err();
            assert_eq!(error.problem, EndpointProblem::User, "{name}");
            assert_eq!(error.endpoint, shown);
        }
        for name in ["http://h:1/x@y", "http://[::1]:1/x@y"] {
            let error = name.parse::<EndpointAddress>().unwrap_err();
            assert_eq!(error.problem, EndpointProblem::MoreThanHost, "{name}");
            assert_eq!(error.endpoint, name);
        }
    }

    #[test]
    fn names_of_one_endpoint_are_equal() {
        let of = |text: &str| text.parse::<EndpointAddress>().unwrap();
        assert_eq!(of("HTTP-host:80"), of("http://http-HOST/"));
        assert_eq!(of("https://h"), of("https://h:443/"));
        assert_ne!(of("https://h"), of("http://h:443"));
        assert_ne!(of("http://h"), of("http://h:9000"));
        assert_ne!(of("http://h.example"), of("http://h.example.net"));
        assert_eq!(of("http://[::1]:81").to_string(), "http://[::1]:81");
        assert_eq!(of("https://H:443").to_string(), "https://h");
    }
}
