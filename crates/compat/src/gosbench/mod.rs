//! Configurations of GOSBench, the object storage benchmark, as plans: YAML or
//! JSON, with the keys that its forks added.
//!
//! Keys mean what they do there. A key that GOSBench reads and never uses, or
//! does not know and ignores, is told at its place; what this tool cannot do is
//! an error at its place. Faults are not taken over: a random size includes its
//! largest, equal bounds are no division by zero, and keys of the store are
//! neither kept nor shown.

mod figures;
mod keys;
pub mod lines;
mod metrics;
mod read;
mod secrets;
mod to_plan;

pub use self::figures::Figures;
pub use self::metrics::GosbenchMetrics;

use std::fmt;

use fathom_plan::{Diagnostics, Problems, Source};

/// What GOSBench was asked to do.
#[derive(Debug, Clone)]
pub struct Gosbench {
    /// Where the store is; at least one.
    pub stores: Vec<GosbenchStore>,
    /// What is measured, one after the other; at least one.
    pub tests: Vec<GosbenchTest>,
    /// Keys without effect, each at its place.
    pub warnings: Diagnostics,
}

/// One endpoint with its keys.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct GosbenchStore {
    /// Access key; may be empty.
    pub access_key: String,
    /// Secret key; may be empty.
    pub secret_key: String,
    /// Region of the signature.
    pub region: String,
    /// Address with scheme and port.
    pub endpoint: String,
    /// Certificates are not checked.
    pub skip_verify: bool,
    /// The bucket is part of the path.
    pub path_style: bool,
}

impl fmt::Debug for GosbenchStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GosbenchStore({}, …)", self.endpoint)
    }
}

/// How a number is chosen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum GosbenchSpread {
    /// Always the smallest.
    #[default]
    Constant,
    /// Between the two.
    Random,
    /// One more each time.
    Sequential,
}

/// Smallest and largest of a number, and how it is chosen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct GosbenchNumber {
    /// Smallest; at least 1.
    pub min: u64,
    /// Largest.
    pub max: u64,
    /// How it is chosen.
    pub spread: GosbenchSpread,
}

/// Transfers in parts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct GosbenchParts {
    /// Parts of an upload at most; 0 and 1 are none.
    pub most: u64,
    /// Parts at the same time; at least 1.
    pub at_once: u64,
    /// Bytes of a part; 0 is the usual.
    pub bytes: u64,
}

/// Shares of requests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct GosbenchWeights {
    /// GETs of objects that are made first.
    pub read: u64,
    /// GETs of objects that are there.
    pub existing_read: u64,
    /// PUTs.
    pub write: u64,
    /// Listings.
    pub list: u64,
    /// DELETEs.
    pub delete: u64,
}

/// One test.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GosbenchTest {
    /// Its name, or `test N`.
    pub name: String,
    /// Line in the file, from 1.
    pub line: u32,
    /// Bytes of an object.
    pub size: GosbenchNumber,
    /// Objects of a worker in each bucket.
    pub objects: GosbenchNumber,
    /// Buckets.
    pub buckets: GosbenchNumber,
    /// Beginning of the names of buckets.
    pub bucket_prefix: String,
    /// Beginning of keys.
    pub object_prefix: String,
    /// Runs for so long.
    pub runtime_ns: Option<u64>,
    /// Operations of each worker.
    pub ops: Option<u64>,
    /// Each object once.
    pub oneshot: bool,
    /// Workers; at least 1.
    pub workers: u64,
    /// Buckets have no worker's name in front.
    pub share_buckets: bool,
    /// Objects are there already.
    pub skip_prepare: bool,
    /// Requests of a worker in flight; at least 1.
    pub clients: u64,
    /// What was made is removed.
    pub clean_after: bool,
    /// What is requested.
    pub weights: GosbenchWeights,
    /// Uploads in parts.
    pub write_parts: GosbenchParts,
    /// Downloads in parts.
    pub read_parts: GosbenchParts,
}

impl Gosbench {
    /// Reads a configuration. `name` is used in messages; one that ends in
    /// `.json` is read as JSON, everything else as YAML.
    ///
    /// # Errors
    /// Every mistake, each at its place. Keys of the store are not shown.
    pub fn parse(name: &str, text: &str) -> Result<Gosbench, Diagnostics> {
        let spaced;
        // Tabs between the parts of JSON are none in YAML, and cannot be within.
        let text = match name.ends_with(".json") {
            true => {
                spaced = text.replace('\t', " ");
                spaced.as_str()
            }
            false => text,
        };
        let mut problems = Problems::default();
        let root = match fathom_plan::yaml::read(text) {
            Ok(root) => root,
            Err(wrong) => {
                let source = Source::new(name, &secrets::masked_by_words(text));
                problems.error("syntax", wrong.span, wrong.message);
                return Err(problems.finish(&source));
            }
        };
        let source = Source::new(name, &secrets::masked(text, &root));
        let read = read::config(&root, text, &mut problems);
        let failed = problems.has_errors();
        let found = problems.finish(&source);
        match (failed, read) {
            (false, Some((stores, tests))) => Ok(Gosbench {
                stores,
                tests,
                warnings: found,
            }),
            _ => Err(found),
        }
    }

    /// The keys of each store, in their order; `None` where none are given.
    pub fn keys(&self) -> Vec<Option<(&str, &str)>> {
        let keys = self.stores.iter().map(|store| {
            let given = !store.access_key.is_empty() && !store.secret_key.is_empty();
            given.then_some((store.access_key.as_str(), store.secret_key.as_str()))
        });
        keys.collect()
    }
}

#[cfg(test)]
#[path = "gosbench_tests.rs"]
mod tests;
