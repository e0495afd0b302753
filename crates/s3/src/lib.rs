//! A client of object stores, made for load, and a store in memory to test it.
//!
//! The client has nonblocking connections on one epoll ([`ConnectionPool`]): one thread
//! keeps many requests in flight, and the caller sees when each began, when its
//! answer began and when it had all of it. Requests are signed by hand, answers
//! read as they come, and bodies sent from where they are ([`Payload`]).
//!
//! Who sends which requests, and what an error means for a measurement, is the
//! business of the caller: nothing here knows workloads, plans or options.
//!
//! [`StoreServer`] keeps objects in memory, slow, failing or rude as a
//! [`Script`] says.

mod access;
mod answer;
mod any_certificate;
mod checksum;
mod connection;
mod connection_pool;
mod credentials;
mod date;
mod digests;
pub mod encode;
mod endpoint;
mod error;
mod events;
mod fault;
mod framing;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
mod list_query;
mod listing;
mod md5;
mod page;
mod payload;
mod printable;
mod region;
mod request;
mod response;
mod server;
mod settings;
mod sign;
mod silence;
mod single_request;
mod tls;
mod transport;
mod xml;

pub use self::access::Access;
pub use self::answer::{error_codes, upload_id};
pub use self::any_certificate::AnyCertificate;
pub use self::checksum::Checksum;
pub use self::connection_pool::ConnectionPool;
pub use self::credentials::{Credentials, FoundKeys, KeySource};
pub use self::date::Stamp;
pub use self::endpoint::{Endpoint, EndpointAddress};
pub use self::error::{EndpointError, EndpointProblem, Error};
pub use self::events::{Connected, Ended};
pub use self::fault::{Fault, FaultKind, Hint};
pub use self::list_query::{VERSION_BEHIND, list_query};
pub use self::listing::{Broken, Listing, ListingError, MOST_ENTRIES, is_below, page_of};
pub use self::md5::md5;
pub use self::page::{Entry, Listed, NextPage, Page, PageError};
pub use self::payload::{OWN_BYTES, Payload, Piece};
pub use self::printable::shown;
pub use self::request::{Body, Method, Request, Sink};
pub use self::server::{Action, ListingFault, Rule, Script, StoreServer};
pub use self::settings::{Protocol, Settings};
pub use self::xml::{XmlError, escape};
