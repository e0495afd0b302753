//! The keys of a configuration of GOSBench: known to this process by names, and written
//! nowhere.

use fathom_compat::gosbench::Gosbench;
use fathom_engine::object::give_credentials;
use fathom_model::workload::{KeySource, ObjectStore};
use fathom_s3::Credentials;

use crate::error::RequestError;

/// What the keys are called that all stores have.
const COMMON: &str = "the configuration of GOSBench";

fn name_of(store: usize) -> String {
    format!("store {} of {COMMON}", store + 1)
}

/// Makes the keys known to this process. Whether there are any.
pub fn give(config: &Gosbench) -> bool {
    let all = config.keys();
    let known = |name: &str, (key_id, secret): (&str, &str)| {
        let credentials = Credentials {
            key_id: key_id.to_owned(),
            secret: secret.to_owned(),
            ..Credentials::default()
        };
        give_credentials(name, credentials);
    };
    if let Some(first) = all.first().copied().flatten() {
        known(COMMON, first);
    }
    for (store, keys) in all.iter().enumerate() {
        if let Some(keys) = keys {
            known(&name_of(store), *keys);
        }
    }
    all.iter().any(Option::is_some)
}

/// Lets the requests to each endpoint be signed with the keys of its store,
/// where the configuration has them.
///
/// # Errors
/// When each store has keys of its own and the endpoints are others.
pub fn name(config: &Gosbench, store: &mut ObjectStore) -> Result<(), RequestError> {
    let all = config.keys();
    if all.iter().all(|keys| *keys == all[0]) {
        if all.first().is_some_and(Option::is_some) {
            store.keys = KeySource::Given(COMMON.to_owned());
        }
        return Ok(());
    }
    if store.endpoints.len() != all.len() {
        return Err(RequestError::KeysOfStores {
            stores: all.len(),
            endpoints: store.endpoints.len(),
        });
    }
    let own = all.iter().enumerate();
    let own = own.map(|(at, keys)| keys.map(|_| KeySource::Given(name_of(at))));
    store.endpoint_keys = own.collect();
    Ok(())
}
