//! TLS towards an object store, 1.3 or, where the store has nothing newer, 1.2:
//! with the CA certificates of a file, those of the system, or deliberately
//! unverified.

use std::io;
use std::path::Path;
use std::sync::Arc;

use fathom_deadline::paths::read_soon;
use rustls::crypto::ring;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};

use super::any_certificate::AnyCertificate;
use crate::Error;

/// Where distributions keep the certificates of public authorities.
const SYSTEM_BUNDLES: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// What is done with the file of authorities, for errors.
const READING: &str = "read certificates from";
/// Larger than any bundle of authorities.
const BUNDLE_BYTES_MAX: u64 = 16 << 20;

/// The settings of connections to a store.
///
/// # Errors
/// When the certificates cannot be read.
pub(crate) fn config(ca_file: Option<&str>, unverified: bool) -> Result<Arc<ClientConfig>, Error> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()?;
    let config = if unverified {
        builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(AnyCertificate::new(provider)))
            .with_no_client_auth()
    } else {
        builder
            .with_root_certificates(roots(ca_file)?)
            .with_no_client_auth()
    };
    Ok(Arc::new(config))
}

fn roots(ca_file: Option<&str>) -> Result<RootCertStore, Error> {
    let environment = std::env::var("SSL_CERT_FILE").ok();
    let named = ca_file.map(str::to_owned).or(environment);
    let found = named.clone().or_else(|| {
        let there = SYSTEM_BUNDLES.iter().find(|path| Path::new(path).exists());
        there.map(|path| (*path).to_owned())
    });
    let Some(path) = found else {
        return Err(Error::NoAuthorities);
    };
    let path = Path::new(&path);
    let mut store = RootCertStore::empty();
    let text = read_soon(path, BUNDLE_BYTES_MAX);
    let text = text.map_err(Error::file(READING, path))?;
    let certificates = CertificateDer::pem_slice_iter(&text);
    for certificate in certificates.flatten() {
        // Bundles hold some that are too old to be understood.
        let _ = store.add(certificate);
    }
    match store.is_empty() {
        true => {
            let none = io::Error::new(io::ErrorKind::InvalidData, "it holds no certificate");
            Err(Error::file(READING, path)(none))
        }
        false => Ok(store),
    }
}
