//! fio's `http` engine: each block is an object, over WebDAV, S3 or Swift.

use std::path::{Path, PathBuf};

use fathom_model::Target;
use fathom_model::secret;
use fathom_model::workload::{KeySource, NamedFiles, ObjectProtocol, ObjectStore, Work, Workload};

use super::asked::Asked;

/// What signs the requests of a job. It is given to whoever carries the job
/// out, and is no part of the schedule, which is stored.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct FioKeys {
    /// What the workload calls it.
    pub name: String,
    /// Access key ID, or user.
    pub key_id: String,
    /// Secret key, or password.
    pub secret: String,
    /// Session token of S3, or token of Swift.
    pub session_token: Option<String>,
    /// Key of the encryption that the customer provides.
    pub sse_customer_key: Option<String>,
}

impl std::fmt::Debug for FioKeys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "FioKeys({})", self.name)
    }
}

/// Options whose values nobody is shown.
pub(crate) const SECRETS: [&str; 5] = [
    "http_pass",
    "http_s3_key",
    "http_s3_security_token",
    "http_s3_sse_customer_key",
    "http_swift_auth_token",
];

/// Why an address with a user part is refused.
const HOST_WITH_KEYS: &str = "it holds a user or keys; use http_user and http_pass, or \
                              http_s3_keyid and http_s3_key";
/// Time within which a request has to end.
const TIMEOUT_NS: u64 = 30_000_000_000;
/// Bytes of a key of SSE-C.
const SSE_KEY_BYTES: usize = 32;

/// Fills in how the store is reached, and gives the keys for it. `None` when
/// the job cannot be run.
pub(super) fn fill(asked: &mut Asked<'_>, workload: &mut Workload, number: u32) -> Option<FioKeys> {
    let protocol = match asked.word("http_mode", "webdav") {
        "s3" => ObjectProtocol::S3,
        "swift" => ObjectProtocol::Swift,
        _ => ObjectProtocol::Webdav,
    };
    if asked.word("http_object_mode", "block") == "range" {
        let remark = "each block is an object; read ranges with `fathom s3 get --range-size`";
        asked.refused("http_object_mode", remark);
        return None;
    }
    let text = |name| {
        asked
            .text(name)
            .map(str::trim)
            .filter(|text| !text.is_empty())
    };
    let owned = |name| text(name).map(str::to_owned);
    let host = text("http_host").unwrap_or("localhost");
    if secret::without_user(host).is_some() {
        asked.refused("http_host", HOST_WITH_KEYS);
        return None;
    }
    let https = asked.word("https", "off");
    let scheme = if https == "off" { "http" } else { "https" };
    let s3 = protocol == ObjectProtocol::S3;
    let keys = FioKeys {
        name: format!("job {number} of fio"),
        key_id: owned(if s3 { "http_s3_keyid" } else { "http_user" }).unwrap_or_default(),
        secret: owned(if s3 { "http_s3_key" } else { "http_pass" }).unwrap_or_default(),
        session_token: match protocol {
            ObjectProtocol::S3 => owned("http_s3_security_token"),
            ObjectProtocol::Swift => owned("http_swift_auth_token"),
            ObjectProtocol::Webdav => None,
        },
        sse_customer_key: owned("http_s3_sse_customer_key")
            .filter(|_| s3)
            .map(whole_key),
    };
    let anonymous = match protocol {
        ObjectProtocol::Swift => keys.session_token.is_none(),
        _ => keys.key_id.is_empty(),
    };
    workload.work = Work::blocks_as_objects(ObjectStore {
        protocol,
        endpoints: vec![format!("{scheme}://{host}")],
        region: text("http_s3_region").unwrap_or("us-east-1").to_owned(),
        virtual_host: false,
        keys: match anonymous {
            true => KeySource::Anonymous,
            false => KeySource::Given(keys.name.clone()),
        },
        endpoint_keys: Vec::new(),
        ca_file: None,
        unverified: https == "insecure",
        // The original signs the payload always.
        sign_payload: s3,
        checksum: None,
        checksum_trailing: false,
        storage_class: owned("http_s3_storage_class").filter(|_| s3),
        sse_customer_algorithm: keys.sse_customer_key.as_ref().map(|_| {
            let named = text("http_s3_sse_customer_algorithm");
            named.unwrap_or("AES256").to_owned()
        }),
        timeout_ns: TIMEOUT_NS,
        no_keep_alive: false,
    });
    Some(keys)
}

/// A key of the length that the encryption has, as the original pads it.
fn whole_key(mut key: String) -> String {
    while key.len() < SSE_KEY_BYTES {
        key.push('\0');
    }
    key
}

/// Names the files whose blocks are objects, and what stands for them.
pub(super) fn target(workload: &mut Workload, paths: &[PathBuf]) -> Target {
    workload.data_set.named = Some(NamedFiles {
        paths: paths.to_vec(),
        create: false,
        ours: true,
    });
    let first = paths.first().map_or(Path::new("object"), PathBuf::as_path);
    Target::Bucket(first.display().to_string().trim_matches('/').to_owned())
}
