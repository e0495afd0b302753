//! HTTP/2 (RFC 9113) below requests and answers that are written as HTTP/1.1.
//!
//! A session stands between a connection and those who use it: a head that is
//! sent through it becomes a HEADERS frame, a body DATA frames within the
//! windows of the other end, and what comes becomes heads and bodies again. One
//! request is under way at a time, so that as many connections are as many
//! requests in flight as with HTTP/1.1, and nothing else differs between the
//! two. Heads are written without a table of their own (RFC 7541), because the
//! other end then has nothing to keep.

mod fields;
mod frame;
mod incoming;
mod session;
mod unpack;

pub(crate) use frame::PREFACE;
pub(crate) use session::{Role, Session};

#[cfg(test)]
mod session_tests;
