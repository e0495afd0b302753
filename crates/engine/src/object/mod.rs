//! Requests to object stores: the work of engine `s3`.
//!
//! Which requests, on which objects, in which order, and what their answers mean
//! for the records. Connections, signatures and answers are those of `fathom-s3`,
//! which knows nothing of a workload.

mod access;
pub(crate) mod advice;
mod ask;
mod blocks;
mod bucket;
mod clean;
mod content;
mod fault;
mod fill;
mod keys;
mod known;
mod life;
mod look_back;
mod names;
mod own_keys;
mod picker;
mod prepare;
mod probe;
mod reach;
mod remove;
mod remove_known;
mod remove_requests;
mod settle;
mod shelf;
mod slot;
mod stalled;
mod under_way;
mod versions;
mod work;
mod worker;

pub(crate) use access::find;
pub use access::{endpoints_of, own_endpoint};
pub(crate) use blocks::{BlockStore, Blocks};
pub use bucket::{make_bucket, remove_empty_bucket};
pub use keys::give_credentials;

pub use clean::clean_bucket;
pub(crate) use life::live;
pub use look_back::look_back;
pub(crate) use prepare::prepare;
pub use probe::ObjectProbe;
pub(crate) use reach::Reached;
pub use remove::{Removal, keep_objects_of_run, remove_objects_of_part, remove_objects_of_run};
pub(crate) use work::{StoreProgress, StoreWork, check, results};

#[cfg(test)]
#[path = "object_tests.rs"]
mod tests;

#[cfg(test)]
mod hostile_tests;

#[cfg(test)]
mod keeping_tests;

#[cfg(test)]
mod lying_tests;

#[cfg(test)]
mod sums_tests;

#[cfg(test)]
mod truth_tests;

#[cfg(test)]
mod versions_tests;
