//! An authority made for one server of the laboratory, so that TLS can be tried
//! with a certificate that nobody else vouches for.

use std::net::IpAddr;

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose};

use crate::Error;

/// A server's certificate with its key, and the authority that vouches for it.
pub struct ServerIdentity {
    /// The authority's certificate, PEM: what clients are told to trust.
    pub authority_pem: String,
    /// The server's certificate, DER.
    pub certificate_der: Vec<u8>,
    /// Its key, PKCS 8 in DER. Secret.
    pub key_der: Vec<u8>,
}

/// Makes an authority and a certificate for a server on `address`, which is
/// called `localhost` as well. The authority's key is forgotten.
///
/// # Errors
/// When keys cannot be made.
pub fn server_identity(address: IpAddr) -> Result<ServerIdentity, Error> {
    let cannot = |error: rcgen::Error| Error::Authority(error.to_string());
    let authority_key = KeyPair::generate().map_err(cannot)?;
    let mut authority = CertificateParams::default();
    let name = "fathom laboratory";
    authority.distinguished_name.push(DnType::CommonName, name);
    authority.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    authority.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    let certificate = authority.self_signed(&authority_key).map_err(cannot)?;
    let key = KeyPair::generate().map_err(cannot)?;
    let names = vec!["localhost".to_owned(), address.to_string()];
    let mut params = CertificateParams::new(names).map_err(cannot)?;
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    let issuer = Issuer::new(authority, &authority_key);
    let signed = params.signed_by(&key, &issuer).map_err(cannot)?;
    Ok(ServerIdentity {
        authority_pem: certificate.pem(),
        certificate_der: signed.der().to_vec(),
        key_der: key.serialize_der(),
    })
}

impl std::fmt::Debug for ServerIdentity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ServerIdentity(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_is_made_and_hides_its_key() {
        let made = server_identity([127, 0, 0, 1].into()).unwrap();
        assert!(
            made.authority_pem
                .starts_with("-----BEGIN CERTIFICATE-----")
        );
        assert!(made.certificate_der.len() > 100 && made.key_der.len() > 100);
        assert_eq!(format!("{made:?}"), "ServerIdentity(…)");
    }
}
