//! From what a workload says of a store to the store, looked up.

use std::sync::Arc;

use fathom_model::workload::{ObjectChecksum, ObjectProtocol, ObjectStore};
use fathom_s3::{Access, Checksum, Protocol, Settings};

use super::content::Contents;
use super::keys;
use crate::Error;
use crate::clock::{Clock, HostClock};

/// Looks up endpoints, keys and certificates; the contents of objects follow
/// from `seed`.
///
/// # Errors
/// What cannot be found, in words.
pub(crate) fn find(store: &ObjectStore, bucket: &str, seed: u64) -> Result<Access, Error> {
    let contents = Arc::new(Contents::new(seed));
    let access = Access::find(settings_of(store), bucket, contents, now_ns)?;
    let keys = (0..access.endpoints.len()).map(|n| keys::find(store.keys_of(n)));
    let keys = keys.collect::<Result<_, Error>>()?;
    Ok(access.signed_by(keys))
}

/// The clock that requests are timed by: that of the load.
fn now_ns() -> u64 {
    HostClock::new().now()
}

/// The endpoints that requests to a store go to.
pub fn endpoints_of(store: &ObjectStore) -> Vec<String> {
    settings_of(store).or_environment().endpoints
}

/// The endpoint of this host's own environment, Amazon's where it names none.
pub fn own_endpoint(region: &str) -> Option<String> {
    let mut store = Settings::new(Vec::new());
    store.region = region.to_owned();
    store.or_environment().endpoints.pop()
}

fn settings_of(store: &ObjectStore) -> Settings {
    Settings {
        protocol: match store.protocol {
            ObjectProtocol::S3 => Protocol::S3,
            ObjectProtocol::Webdav => Protocol::Webdav,
            ObjectProtocol::Swift => Protocol::Swift,
        },
        endpoints: store.endpoints.clone(),
        region: store.region.clone(),
        virtual_host: store.virtual_host,
        ca_file: store.ca_file.clone(),
        unverified: store.unverified,
        sign_payload: store.sign_payload,
        checksum: store.checksum.map(|checksum| match checksum {
            ObjectChecksum::Crc32 => Checksum::Crc32,
            ObjectChecksum::Crc32c => Checksum::Crc32c,
            ObjectChecksum::Crc64nvme => Checksum::Crc64nvme,
            ObjectChecksum::Sha1 => Checksum::Sha1,
            ObjectChecksum::Sha256 => Checksum::Sha256,
        }),
        checksum_trailing: store.checksum_trailing,
        storage_class: store.storage_class.clone(),
        sse_customer_algorithm: store.sse_customer_algorithm.clone(),
        timeout_ns: store.timeout_ns,
        no_keep_alive: store.no_keep_alive,
    }
}
