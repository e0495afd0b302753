//! Requests to object stores: the work of engine `s3`.
//!
//! A client of its own, made for load: nonblocking connections on one epoll
//! per worker ([`hub`]), requests signed by hand ([`sign`]), answers read as they
//! come ([`reply`]), bodies sent from where they are ([`content`]).

mod access;
mod advice;
mod ask;
mod blocks;
mod bucket;
mod checksum;
mod clean;
mod content;
mod credentials;
mod date;
mod digests;
mod encode;
mod endpoint;
mod fill;
mod framing;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
mod http2;
mod hub;
mod lane;
mod life;
mod link;
mod listing;
mod md5;
mod names;
mod own_keys;
mod picker;
mod prepare;
mod probe;
mod reach;
mod region;
mod remove;
mod reply;
mod request;
mod server;
mod settle;
mod shelf;
mod sign;
mod single;
mod slot;
mod tls;
mod versions;
mod wire;
mod work;
mod worker;
mod xml;

pub(crate) use access::Access;
pub use access::{endpoints_of, own_endpoint};
pub(crate) use blocks::{BlockStore, Blocks};
pub use bucket::{make_bucket, remove_empty_bucket};
pub use credentials::{Credentials, give_credentials};

pub use clean::clean_bucket;
pub use endpoint::EndpointAddress;
pub(crate) use life::live;
pub(crate) use prepare::prepare;
pub use probe::ObjectProbe;
pub(crate) use reach::Reached;
pub use remove::{Removal, keep_objects_of_run, remove_objects_of_part, remove_objects_of_run};
pub use server::{Action, ListingFault, Rule, Script, StoreServer};
pub(crate) use work::{Done, Work, check, results};

#[cfg(test)]
#[path = "object_tests.rs"]
mod tests;

#[cfg(test)]
mod http2_tests;

#[cfg(test)]
mod hostile_tests;

#[cfg(test)]
mod keeping_tests;

#[cfg(test)]
mod sums_tests;

#[cfg(test)]
mod truth_tests;

#[cfg(test)]
mod versions_tests;
