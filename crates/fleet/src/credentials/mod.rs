//! Keys and certificates of a fleet: an authority of its own, one certificate
//! for the coordinator and one for each agent.
//!
//! A coordinator's certificate is good for opening connections only, an
//! agent's for answering them only, under the name by which it joined: an
//! agent cannot drive others, nor stand in for one. They do not end by date,
//! because the clocks of the hosts need not agree; a new authority replaces
//! them all.

mod error;
pub(crate) mod join;
pub(crate) mod token;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use fathom_deadline::paths;
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, PublicKeyData, SignatureAlgorithm,
};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

pub use error::{CredentialsError, TokenError};

const AUTHORITY: &str = "authority.pem";
const AUTHORITY_KEY: &str = "authority.key";
const CERTIFICATE: &str = "certificate.pem";
const KEY: &str = "key.pem";

/// Who somebody is: a certificate, its key, and the authority that both sides
/// trust.
#[derive(Debug)]
pub(crate) struct Identity {
    pub(crate) authority: CertificateDer<'static>,
    pub(crate) certificate: CertificateDer<'static>,
    pub(crate) key: PrivateKeyDer<'static>,
}

impl Identity {
    pub(crate) fn load(directory: &Path) -> Result<Identity, CredentialsError> {
        let loaded = paths::on(directory, |directory| Ok(Identity::read(directory)));
        loaded.unwrap_or_else(out_of_reach(directory))
    }

    fn read(directory: &Path) -> Result<Identity, CredentialsError> {
        let read = |name: &str| {
            let path = directory.join(name);
            CertificateDer::from_pem_file(&path)
                .map_err(|cause| CredentialsError::Unreadable { path, cause })
        };
        let path = directory.join(KEY);
        Ok(Identity {
            authority: read(AUTHORITY)?,
            certificate: read(CERTIFICATE)?,
            key: PrivateKeyDer::from_pem_file(&path)
                .map_err(|cause| CredentialsError::Unreadable { path, cause })?,
        })
    }
}

/// The keys of a coordinator: `fathom fleet init` makes them.
#[derive(Debug)]
pub struct CoordinatorKeys {
    pub(crate) identity: Identity,
    pub(crate) directory: PathBuf,
    authority_key: KeyPair,
}

impl CoordinatorKeys {
    /// Makes an authority and the coordinator's own certificate.
    ///
    /// # Errors
    /// When there is a fleet in the directory already, or it cannot be
    /// written.
    pub fn create(directory: &Path) -> Result<CoordinatorKeys, CredentialsError> {
        let key = paths::metadata(&directory.join(AUTHORITY_KEY));
        match key {
            Ok(_) => {
                return Err(CredentialsError::FleetExists {
                    directory: directory.to_owned(),
                });
            }
            Err(error) if error.kind() == io::ErrorKind::TimedOut => {
                return out_of_reach(directory)(error);
            }
            Err(_) => {}
        }
        make_directory(directory)?;
        let authority_key = new_key()?;
        let authority = authority_params().self_signed(&authority_key);
        let authority = authority.map_err(unmade("make the authority"))?;
        let key = new_key()?;
        let mut params = named("fathom coordinator", Vec::new())?;
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        let issuer = Issuer::new(authority_params(), &authority_key);
        let certificate = params.signed_by(&key, &issuer);
        let certificate = certificate.map_err(unmade("sign a certificate"))?;
        write(directory, AUTHORITY, &authority.pem())?;
        write(directory, CERTIFICATE, &certificate.pem())?;
        write(directory, KEY, &key.serialize_pem())?;
        // Last: it marks that all is there.
        write(directory, AUTHORITY_KEY, &authority_key.serialize_pem())?;
        CoordinatorKeys::load(directory)
    }

    /// Reads them back.
    ///
    /// # Errors
    /// When there is no fleet in the directory.
    pub fn load(directory: &Path) -> Result<CoordinatorKeys, CredentialsError> {
        let path = directory.join(AUTHORITY_KEY);
        let text = paths::on(&path, |path| fs::read_to_string(path));
        let text = text.map_err(|cause| {
            let directory = directory.to_owned();
            match cause.kind() {
                io::ErrorKind::TimedOut => CredentialsError::OutOfReach { directory, cause },
                _ => CredentialsError::NoFleet { directory, cause },
            }
        })?;
        let authority_key =
            KeyPair::from_pem(&text).map_err(|cause| CredentialsError::NoKey { path, cause })?;
        Ok(CoordinatorKeys {
            identity: Identity::load(directory)?,
            directory: directory.to_owned(),
            authority_key,
        })
    }

    /// A certificate for an agent with this public key (P-256, uncompressed
    /// point) under the name by which it is called. PEM.
    pub(crate) fn sign_agent(
        &self,
        name: &str,
        public_key: &[u8],
    ) -> Result<String, CredentialsError> {
        let mut params = named(name, vec![name.to_owned()])?;
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        let issuer = Issuer::new(authority_params(), &self.authority_key);
        let certificate = params.signed_by(&PublicKey(public_key), &issuer);
        let certificate = certificate.map_err(unmade("sign a certificate"))?;
        Ok(certificate.pem())
    }

    /// The authority's certificate, PEM.
    pub(crate) fn authority_pem(&self) -> Result<String, CredentialsError> {
        let path = self.directory.join(AUTHORITY);
        let text = paths::on(&path, |path| fs::read_to_string(path));
        text.map_err(CredentialsError::NoAuthority)
    }
}

/// The keys of an agent that has joined a fleet, or is about to.
#[derive(Debug)]
pub(crate) struct AgentKeys {
    directory: PathBuf,
}

impl AgentKeys {
    pub(crate) fn at(directory: &Path) -> Result<AgentKeys, CredentialsError> {
        make_directory(directory)?;
        Ok(AgentKeys {
            directory: directory.to_owned(),
        })
    }

    pub(crate) fn have_joined(&self) -> bool {
        paths::exists(&self.directory.join(CERTIFICATE))
    }

    /// Keeps what the coordinator has signed.
    pub(crate) fn keep(
        &self,
        key: &KeyPair,
        authority_pem: &str,
        certificate_pem: &str,
    ) -> Result<(), CredentialsError> {
        for pem in [authority_pem, certificate_pem] {
            CertificateDer::from_pem_slice(pem.as_bytes())
                .map_err(CredentialsError::NoCertificate)?;
        }
        write(&self.directory, AUTHORITY, authority_pem)?;
        write(&self.directory, KEY, &key.serialize_pem())?;
        write(&self.directory, CERTIFICATE, certificate_pem)
    }
}

/// A certificate that nobody vouches for, for a connection on which both sides
/// prove by other means who they are.
pub(crate) fn unsigned(key: &KeyPair) -> Result<Identity, CredentialsError> {
    let certificate = named("fathom agent to join", Vec::new())?
        .self_signed(key)
        .map_err(unmade("make a certificate"))?;
    let key = PrivatePkcs8KeyDer::from(key.serialize_der());
    Ok(Identity {
        authority: certificate.der().clone(),
        certificate: certificate.der().clone(),
        key: PrivateKeyDer::Pkcs8(key),
    })
}

pub(crate) fn new_key() -> Result<KeyPair, CredentialsError> {
    KeyPair::generate_for(ALGORITHM).map_err(unmade("make a key"))
}

const ALGORITHM: &SignatureAlgorithm = &rcgen::PKCS_ECDSA_P256_SHA256;

struct PublicKey<'k>(&'k [u8]);

impl PublicKeyData for PublicKey<'_> {
    fn der_bytes(&self) -> &[u8] {
        self.0
    }

    fn algorithm(&self) -> &'static SignatureAlgorithm {
        ALGORITHM
    }
}

fn authority_params() -> CertificateParams {
    let mut params = CertificateParams::default();
    params
        .distinguished_name
        .push(DnType::CommonName, "fathom fleet authority");
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![
        KeyUsagePurpose::KeyCertSign,
        KeyUsagePurpose::DigitalSignature,
    ];
    params
}

fn named(name: &str, alternatives: Vec<String>) -> Result<CertificateParams, CredentialsError> {
    let params = CertificateParams::new(alternatives);
    let mut params = params.map_err(unmade("name a certificate"))?;
    params.distinguished_name.push(DnType::CommonName, name);
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    Ok(params)
}

/// The error of keys on a mount that does not answer.
fn out_of_reach<T>(directory: &Path) -> impl FnOnce(io::Error) -> Result<T, CredentialsError> {
    let directory = directory.to_owned();
    move |cause| Err(CredentialsError::OutOfReach { directory, cause })
}

/// The error of what cannot be made.
fn unmade(what: &'static str) -> impl Fn(rcgen::Error) -> CredentialsError {
    move |cause| CredentialsError::Unmade { what, cause }
}

/// A directory that nobody else can look into.
pub(crate) fn make_directory(directory: &Path) -> Result<(), CredentialsError> {
    let made = paths::change(directory, fathom_outputs::make_folder);
    made.map_err(|cause| CredentialsError::NoDirectory {
        path: directory.to_owned(),
        cause,
    })
}

/// Writes a file that nobody else can read, all of it or nothing.
pub(crate) fn write(directory: &Path, name: &str, text: &str) -> Result<(), CredentialsError> {
    let path = directory.join(name);
    let text = text.to_owned();
    let written = paths::change(&path, move |path| {
        fathom_outputs::replace(path, text.as_bytes())
    });
    written.map_err(|cause| CredentialsError::Unwritten { path, cause })
}
