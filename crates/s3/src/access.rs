//! A store as it is reached: endpoints and certificates, looked up once.

use std::sync::Arc;

use rustls::ClientConfig;

use crate::Error;
use crate::credentials::FoundKeys;
use crate::encode;
use crate::endpoint::Endpoint;
use crate::payload::Payload;
use crate::settings::Settings;
use crate::tls;

/// A store that has been looked up. All that send requests to it share it.
#[derive(Debug)]
pub struct Access {
    /// Where it is; at least one.
    pub endpoints: Vec<Endpoint>,
    /// How it is reached.
    pub store: Settings,
    /// The bucket of all requests; may be empty.
    pub bucket: String,
    /// Who signs, of each endpoint.
    pub keys: Vec<FoundKeys>,
    pub(crate) tls: Option<Arc<ClientConfig>>,
    pub(crate) payload: Arc<dyn Payload>,
    pub(crate) now: fn() -> u64,
}

impl Access {
    /// Looks up endpoints and certificates; what the settings leave open is as
    /// the environment says. Nothing is signed before [`Access::signed_by`].
    /// Bodies are made of `payload`; moments are read from `now`, in
    /// nanoseconds.
    ///
    /// # Errors
    /// What cannot be found.
    pub fn find(
        store: Settings,
        bucket: &str,
        payload: Arc<dyn Payload>,
        now: fn() -> u64,
    ) -> Result<Access, Error> {
        let store = store.or_environment();
        let endpoints = store.endpoints.iter().map(|name| Endpoint::find(name));
        let endpoints: Vec<Endpoint> = endpoints.collect::<Result<_, Error>>()?;
        let tls = match endpoints.iter().any(|endpoint| endpoint.tls) {
            true => Some(tls::config(store.ca_file.as_deref(), store.unverified)?),
            false => None,
        };
        Ok(Access {
            keys: vec![FoundKeys::default(); endpoints.len()],
            endpoints,
            store,
            bucket: bucket.to_owned(),
            tls,
            payload,
            now,
        })
    }

    /// Has requests to each endpoint signed by its keys.
    #[must_use]
    pub fn signed_by(self, keys: Vec<FoundKeys>) -> Access {
        Access { keys, ..self }
    }

    /// The path of the bucket, percent-encoded: that of its listings.
    pub fn bucket_path(&self) -> Vec<u8> {
        let mut path = vec![b'/'];
        if !self.store.virtual_host {
            encode::percent(&mut path, self.bucket.as_bytes(), true);
        }
        path
    }

    /// The path of the object with a key, percent-encoded.
    pub fn path_of(&self, key: &str) -> Vec<u8> {
        let mut path = self.bucket_path();
        if path.last() != Some(&b'/') {
            path.push(b'/');
        }
        encode::percent(&mut path, key.as_bytes(), true);
        path
    }
}
