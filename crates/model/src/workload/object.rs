//! Work on an object store: which requests, on which objects, and how the
//! store is reached.
//!
//! Nothing here lists objects. Their keys, sizes and contents follow from the
//! worker's rank and a number, so that hundreds of millions need no memory; and
//! nothing here is a secret: keys are named by where they are found.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::MetaShare;
use crate::OpKind;

/// How an object store is reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ObjectStore {
    /// What is spoken.
    #[serde(default)]
    pub protocol: ObjectProtocol,
    /// Where it is: `http://host:port` or `https://host:port`, at least one.
    /// Connections are spread over them evenly.
    pub endpoints: Vec<String>,
    /// Region of the signature.
    pub region: String,
    /// The bucket is part of the host's name instead of the path.
    #[serde(default)]
    pub virtual_host: bool,
    /// Where the keys come from.
    #[serde(default)]
    pub keys: KeySource,
    /// Keys of single endpoints, in their order; `keys` where there is none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub endpoint_keys: Vec<Option<KeySource>>,
    /// Certificates of the authorities that vouch for the store, PEM.
    #[serde(default)]
    pub ca_file: Option<String>,
    /// Certificates are not checked.
    #[serde(default)]
    pub unverified: bool,
    /// The payload is part of the signature.
    #[serde(default)]
    pub sign_payload: bool,
    /// Checksum that objects and parts are put with, and that the store compares.
    #[serde(default)]
    pub checksum: Option<ObjectChecksum>,
    /// The checksum follows the payload (`aws-chunked`) instead of preceding it.
    #[serde(default)]
    pub checksum_trailing: bool,
    /// `x-amz-storage-class` of what is put.
    #[serde(default)]
    pub storage_class: Option<String>,
    /// Algorithm of a server-side encryption whose key is among the keys.
    #[serde(default)]
    pub sse_customer_algorithm: Option<String>,
    /// A request that takes longer fails as `timeout`.
    pub timeout_ns: u64,
    /// Each request has a connection of its own.
    #[serde(default)]
    pub no_keep_alive: bool,
}

impl ObjectStore {
    /// S3 at these endpoints, with the keys that are usually found, in half a
    /// minute's time; everything else as it is unless somebody asks for
    /// something else.
    pub fn new(endpoints: Vec<String>) -> ObjectStore {
        ObjectStore {
            protocol: ObjectProtocol::default(),
            endpoints,
            region: String::new(),
            virtual_host: false,
            keys: KeySource::default(),
            endpoint_keys: Vec::new(),
            ca_file: None,
            unverified: false,
            sign_payload: false,
            checksum: None,
            checksum_trailing: false,
            storage_class: None,
            sse_customer_algorithm: None,
            timeout_ns: 30_000_000_000,
            no_keep_alive: false,
        }
    }

    /// Where the keys of an endpoint come from.
    pub fn keys_of(&self, endpoint: usize) -> &KeySource {
        let own = self.endpoint_keys.get(endpoint).and_then(Option::as_ref);
        own.unwrap_or(&self.keys)
    }

    /// The files that keys are read from, where some are named.
    pub fn key_files(&self) -> impl Iterator<Item = &str> {
        let all = std::iter::once(&self.keys).chain(self.endpoint_keys.iter().flatten());
        all.filter_map(|keys| match keys {
            KeySource::Usual { file, .. } => file.as_deref(),
            KeySource::Variables { .. } | KeySource::Anonymous | KeySource::Given(_) => None,
        })
    }
}

/// What a store speaks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ObjectProtocol {
    /// Amazon's S3.
    #[default]
    S3,
    /// Plain PUT, GET and DELETE.
    Webdav,
    /// OpenStack Swift, with a token.
    Swift,
}

/// A checksum of what is put.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ObjectChecksum {
    /// CRC-32.
    Crc32,
    /// CRC-32C.
    Crc32c,
    /// CRC-64/NVME.
    Crc64nvme,
    /// SHA-1.
    Sha1,
    /// SHA-256.
    Sha256,
}

/// Where keys are found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum KeySource {
    /// The environment, then the files of the AWS tools.
    Usual {
        /// This file and nothing else.
        file: Option<String>,
        /// This profile of the files.
        profile: Option<String>,
    },
    /// Variables of the environment: this prefix before `_ACCESS_KEY_ID`,
    /// `_SECRET_ACCESS_KEY` and `_SESSION_TOKEN`.
    Variables {
        /// Prefix, without the underscore behind it.
        prefix: String,
    },
    /// Nothing is signed.
    Anonymous,
    /// What this process was given under a name. Not carried to other hosts.
    Given(String),
}

impl Default for KeySource {
    fn default() -> KeySource {
        KeySource::Usual {
            file: None,
            profile: None,
        }
    }
}

/// Requests on objects.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ObjectWork {
    /// What is done. One entry: a phase, which visits every object once.
    /// Several: a mix, drawn request by request.
    pub ops: Vec<MetaShare>,
    /// Objects of each worker; at least 1.
    pub objects: u64,
    /// Bytes of each object.
    pub sizes: ObjectSizes,
    /// How keys are laid out.
    #[serde(default)]
    pub keys: KeyLayout,
    /// Which object comes next.
    #[serde(default)]
    pub order: ObjectOrder,
    /// Bytes of a ranged GET; 0: a quarter of the object.
    #[serde(default)]
    pub range_bytes: u64,
    /// Bytes of a part of a multipart upload or parallel download.
    pub part_bytes: u64,
    /// Parts of one object in flight.
    pub parts_at_once: u32,
    /// Keys of a page of a listing, 1 to 1,000.
    pub page_keys: u32,
    /// Listings stop at the delimiter `/`.
    #[serde(default)]
    pub delimiter: bool,
    /// Objects that one batch delete names, 1 to 1,000.
    pub delete_batch: u32,
    /// Versions of each object that are made before those are asked for; at least 1.
    #[serde(default = "one")]
    pub versions: u32,
    /// Objects that are there already, below the target's prefix, are read
    /// instead of fathom's own.
    #[serde(default)]
    pub existing: bool,
    /// A phase begins anew when every object was visited, until the trial's
    /// bounds; one that makes objects makes more.
    #[serde(default)]
    pub repeat: bool,
    /// Worker n works on what belongs to worker n + `shift`.
    #[serde(default)]
    pub shift: u32,
    /// A request that failed for a passing reason is sent again this often.
    #[serde(default)]
    pub retries: u32,
    /// Pause before it is sent again the first time; doubled each time.
    #[serde(default)]
    pub backoff_ns: u64,
}

fn one() -> u32 {
    1
}

/// Bytes of each object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ObjectSizes {
    /// All alike.
    Fixed(u64),
    /// Uniform between the two, both included.
    Range {
        /// Smallest.
        min_bytes: u64,
        /// Largest.
        max_bytes: u64,
    },
    /// Each doubling from 1/256 of the largest on holds as many objects.
    Log2 {
        /// Largest.
        max_bytes: u64,
    },
    /// These sizes with these weights.
    Weighted(Vec<(u64, u32)>),
}

impl ObjectSizes {
    /// Bytes of the largest object.
    pub fn max_bytes(&self) -> u64 {
        match self {
            ObjectSizes::Fixed(bytes) => *bytes,
            ObjectSizes::Range { max_bytes, .. } | ObjectSizes::Log2 { max_bytes } => *max_bytes,
            ObjectSizes::Weighted(all) => all.iter().map(|(bytes, _)| *bytes).max().unwrap_or(0),
        }
    }

    /// Mean bytes of an object.
    pub fn mean_bytes(&self) -> f64 {
        match self {
            ObjectSizes::Fixed(bytes) => *bytes as f64,
            ObjectSizes::Range {
                min_bytes,
                max_bytes,
            } => (*min_bytes as f64 + *max_bytes as f64) / 2.0,
            // Uniform within each of eight doublings: three quarters of its end.
            ObjectSizes::Log2 { max_bytes } => {
                let ends: f64 = (0..8).map(|halvings| 0.5_f64.powi(halvings)).sum();
                *max_bytes as f64 * 0.75 * ends / 8.0
            }
            ObjectSizes::Weighted(all) => {
                let weights: f64 = all.iter().map(|(_, weight)| f64::from(*weight)).sum();
                let sum: f64 = all.iter().map(|(b, w)| *b as f64 * f64::from(*w)).sum();
                sum / weights.max(1.0)
            }
        }
    }
}

/// How keys are laid out below the run's prefix.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum KeyLayout {
    /// `PREFIX/w0/000000000001`.
    #[default]
    Flat,
    /// Prefixes within prefixes.
    Tree {
        /// Levels; at least 1.
        depth: u32,
        /// Prefixes in each; at least 1.
        fan_out: u32,
    },
    /// Keys begin with a hash, so that neighbours lie apart.
    Hashed,
}

/// Which object comes next.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ObjectOrder {
    /// As they were made.
    AsMade,
    /// At random, each once.
    #[default]
    EachOnce,
    /// At random with repeats.
    Uniform,
    /// Rank r in proportion to r^-theta.
    Zipf {
        /// Exponent, above 0.
        theta: f64,
    },
}

impl ObjectWork {
    /// These requests, each with its weight, on `objects` of each worker;
    /// everything else as it is unless somebody asks for something else.
    pub fn new(
        ops: impl IntoIterator<Item = (OpKind, u32)>,
        objects: u64,
        sizes: ObjectSizes,
    ) -> ObjectWork {
        ObjectWork {
            ops: MetaShare::all(ops),
            objects,
            sizes,
            keys: KeyLayout::default(),
            order: ObjectOrder::default(),
            range_bytes: 0,
            part_bytes: 5 << 20,
            parts_at_once: 4,
            page_keys: 1000,
            delimiter: false,
            delete_batch: 100,
            versions: 1,
            existing: false,
            repeat: false,
            shift: 0,
            retries: 0,
            backoff_ns: 100_000_000,
        }
    }

    /// Whether requests of a kind are sent.
    pub fn does(&self, kind: OpKind) -> bool {
        self.ops.iter().any(|share| share.kind == kind)
    }

    /// The kind of a phase; `None` for a mix.
    pub fn phase(&self) -> Option<OpKind> {
        match self.ops.as_slice() {
            [only] => Some(only.kind),
            _ => None,
        }
    }

    /// Whether nothing in the store is changed.
    pub fn only_reads(&self) -> bool {
        self.ops.iter().all(|share| share.kind.reads_objects())
    }
}

/// What one endpoint of a store did in the measure phase, retries included.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EndpointReport {
    /// Its address as it was named.
    pub endpoint: String,
    /// Whose keys signed, by the place where they were found; never a key.
    #[serde(default)]
    pub keys: String,
    /// Requests that succeeded.
    pub requests: u64,
    /// Bytes of the bodies that they moved.
    pub bytes: u64,
    /// Requests that failed, those that were sent again included.
    pub failed: u64,
    /// Of those, the ones that the store asked to slow down by (503, 429).
    pub slow_downs: u64,
    /// Requests that were sent again.
    pub retries: u64,
    /// Answers whose checksum was compared with what came.
    #[serde(default)]
    pub checksums_compared: u64,
    /// Connections that were made.
    pub connections: u64,
    /// Mean time until a connection was made, TLS not included.
    pub connect_mean_ns: u64,
    /// Mean time of a TLS handshake; 0 without TLS.
    pub handshake_mean_ns: u64,
    /// Median from the start of a request to its last byte.
    pub p50_ns: u64,
    /// 99th percentile of the same.
    pub p99_ns: u64,
    /// Longest of the same.
    pub max_ns: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_follow_from_the_distribution() {
        assert_eq!(ObjectSizes::Fixed(7).mean_bytes(), 7.0);
        let weighted = ObjectSizes::Weighted(vec![(10, 1), (20, 3)]);
        assert_eq!((weighted.mean_bytes(), weighted.max_bytes()), (17.5, 20));
        let log2 = ObjectSizes::Log2 { max_bytes: 1000 };
        assert!(
            (log2.mean_bytes() - 186.8).abs() < 1.0,
            "{}",
            log2.mean_bytes()
        );
    }

    #[test]
    fn endpoints_have_the_common_keys_unless_they_have_their_own() {
        let file = |name: &str| KeySource::Usual {
            file: Some(name.to_owned()),
            profile: None,
        };
        let mut store = ObjectStore::new(vec!["a".to_owned(), "b".to_owned()]);
        store.keys = file("common");
        assert_eq!(store.keys_of(1), &file("common"));
        store.endpoint_keys = vec![None, Some(file("own"))];
        assert_eq!(
            (store.keys_of(0), store.keys_of(1)),
            (&file("common"), &file("own"))
        );
        assert_eq!(store.key_files().collect::<Vec<_>>(), ["common", "own"]);
    }

    #[test]
    fn no_key_is_part_of_a_workload() {
        let text = serde_json::to_string(&KeySource::default()).unwrap();
        assert_eq!(text, r#"{"usual":{"file":null,"profile":null}}"#);
    }
}
