//! A connection, whatever carries it: two directions, and a way to end it from
//! any thread.

pub(crate) mod accepting;
mod error;
pub(crate) mod tls;
mod tls_stream;
pub(crate) mod unauthenticated;

use std::fmt;
use std::io::{Read, Write};
use std::sync::Arc;

pub use error::ConnectionError;

/// Ends a connection: whoever reads from it is told at once.
pub(crate) type Closer = Arc<dyn Fn() + Send + Sync>;

/// A connection.
pub(crate) struct Transport {
    pub(crate) input: Box<dyn Read + Send>,
    pub(crate) output: Box<dyn Write + Send>,
    pub(crate) close: Closer,
    /// Why it broke, in the words of what carries it, where that has any.
    pub(crate) complaint: Complaint,
}

/// Asks the carrier of a connection what went wrong.
pub(crate) type Complaint = Arc<dyn Fn() -> Option<String> + Send + Sync>;

impl fmt::Debug for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transport").finish_non_exhaustive()
    }
}
