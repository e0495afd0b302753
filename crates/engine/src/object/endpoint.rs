//! Where a store is: the addresses behind an endpoint's name, and what a
//! request calls it.

use std::net::SocketAddr;

use fathom_model::secret;

use super::advice::advised;
use crate::Error;

/// An endpoint, looked up.
#[derive(Debug, Clone)]
pub(crate) struct Endpoint {
    /// As it was named.
    pub(crate) name: String,
    pub(crate) tls: bool,
    /// Host without port, for the certificate.
    pub(crate) host: String,
    /// What the header `host` says: with the port unless it is the usual one.
    pub(crate) authority: String,
    /// The addresses of the host, all of which are used.
    pub(crate) addresses: Vec<SocketAddr>,
}

impl Endpoint {
    /// Looks an endpoint up: `http://host:port`, `https://host` or `host:port`.
    ///
    /// # Errors
    /// A name without a form or an address.
    pub(crate) fn find(name: &str) -> Result<Endpoint, Error> {
        let shown = secret::without_user(name).unwrap_or_else(|| name.to_owned());
        let bad = |reason: &str| {
            Error::Workload(format!(
                "the endpoint '{shown}' {reason}; write for example http://host:9000 or \
                 https://s3.eu-central-1.amazonaws.com"
            ))
        };
        let (tls, rest) = match name.split_once("://") {
            Some(("http", rest)) => (false, rest),
            Some(("https", rest)) => (true, rest),
            Some(_) => return Err(bad("is neither http nor https")),
            None => (false, name),
        };
        let rest = rest.trim_end_matches('/');
        if shown != name {
            return Err(bad(
                "holds a user or keys; name these with --credentials-file or AWS_ACCESS_KEY_ID and \
                 AWS_SECRET_ACCESS_KEY",
            ));
        }
        if rest.contains('/') || rest.contains('@') || rest.contains('?') {
            return Err(bad("has more than a host and a port"));
        }
        let usual = if tls { 443 } else { 80 };
        let (host, port) = split_port(rest).ok_or_else(|| bad("has a port that is no number"))?;
        if host.is_empty() {
            return Err(bad("names no host"));
        }
        let port = port.unwrap_or(usual);
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let addresses = fathom_deadline::host_addresses(bare, port).map_err(|error| {
            let told = advised(&error.to_string());
            Error::Workload(format!("the endpoint '{name}': {told}"))
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
            return Err(bad("has no address"));
        }
        Ok(Endpoint {
            name: name.to_owned(),
            tls,
            host: bare.to_owned(),
            authority: match port == usual {
                true => host.to_owned(),
                false => format!("{host}:{port}"),
            },
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
        ] {
            assert!(Endpoint::find(bad).is_err(), "{bad}");
        }
    }
}
