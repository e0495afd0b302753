//! Threads with a name.

use std::io;
use std::thread::JoinHandle;

/// There is no thread for what is to be done.
#[derive(Debug, thiserror::Error)]
#[error("cannot start a thread: {0}")]
pub struct ThreadError(pub(crate) io::Error);

/// Starts a thread.
///
/// # Errors
/// When the limit of threads is reached.
pub(crate) fn spawn(
    name: &str,
    body: impl FnOnce() + Send + 'static,
) -> Result<JoinHandle<()>, ThreadError> {
    std::thread::Builder::new()
        .name(name.to_owned())
        .spawn(body)
        .map_err(ThreadError)
}
