//! A store as it is reached: endpoints, keys and certificates, looked up once.

use std::sync::Arc;

use fathom_model::workload::ObjectStore;
use rustls::ClientConfig;

use super::content::Contents;
use super::credentials::{self, Found};
use super::endpoint::Endpoint;
use super::tls;
use crate::Error;

/// A store that has been looked up. All workers share it.
#[derive(Debug)]
pub(crate) struct Access {
    pub(crate) endpoints: Vec<Endpoint>,
    pub(crate) store: ObjectStore,
    pub(crate) bucket: String,
    /// Of each endpoint.
    pub(super) keys: Vec<Found>,
    pub(super) tls: Option<Arc<ClientConfig>>,
    pub(crate) contents: Contents,
}

impl Access {
    /// Looks up endpoints, keys and certificates.
    ///
    /// # Errors
    /// What cannot be found, in words.
    pub(crate) fn find(store: &ObjectStore, bucket: &str, seed: u64) -> Result<Access, Error> {
        let store = &told(store, &variable);
        let endpoints = store.endpoints.iter().map(|name| Endpoint::find(name));
        let endpoints: Vec<Endpoint> = endpoints.collect::<Result<_, Error>>()?;
        let tls = match endpoints.iter().any(|endpoint| endpoint.tls) {
            true => Some(tls::config(
                store.ca_file.as_deref(),
                store.unverified,
                store.http2,
            )?),
            false => None,
        };
        let keys = (0..endpoints.len()).map(|n| credentials::find(store.keys_of(n)));
        Ok(Access {
            keys: keys.collect::<Result<_, Error>>()?,
            endpoints,
            store: store.clone(),
            bucket: bucket.to_owned(),
            tls,
            contents: Contents::new(seed),
        })
    }
}

/// The endpoints that requests to a store go to.
pub fn endpoints_of(store: &ObjectStore) -> Vec<String> {
    told(store, &variable).endpoints
}

/// The endpoint of this host's own environment, Amazon's where it names none.
pub fn own_endpoint(region: &str) -> Option<String> {
    let mut store = ObjectStore::new(Vec::new());
    store.region = region.to_owned();
    endpoints_of(&store).pop()
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// A store with what the environment says where nothing else does.
fn told(store: &ObjectStore, variable: &dyn Fn(&str) -> Option<String>) -> ObjectStore {
    let first = |names: [&str; 2]| names.into_iter().find_map(variable);
    let mut store = store.clone();
    if store.region.is_empty() {
        let region = first(["AWS_REGION", "AWS_DEFAULT_REGION"]);
        store.region = region.unwrap_or_else(|| "us-east-1".to_owned());
    }
    if store.endpoints.is_empty() {
        let named = first(["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"]);
        let amazon = || format!("https://s3.{}.amazonaws.com", store.region);
        store.endpoints = vec![named.unwrap_or_else(amazon)];
    }
    store
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_says_what_nothing_else_does() {
        let store = ObjectStore::new(Vec::new());
        let found = told(&store, &|_| None);
        assert_eq!(found.endpoints, ["https://s3.us-east-1.amazonaws.com"]);
        let variable = |name: &str| match name {
            "AWS_ENDPOINT_URL" => Some("http://h:1".to_owned()),
            "AWS_DEFAULT_REGION" => Some("r".to_owned()),
            _ => None,
        };
        let found = told(&store, &variable);
        assert_eq!(
            (found.region.as_str(), found.endpoints[0].as_str()),
            ("r", "http://h:1")
        );
    }
}
