//! Threads with a name.

use std::thread::JoinHandle;

/// Starts a thread.
///
/// # Errors
/// When the limit of threads is reached.
pub(crate) fn spawn(
    name: &str,
    body: impl FnOnce() + Send + 'static,
) -> Result<JoinHandle<()>, String> {
    std::thread::Builder::new()
        .name(name.to_owned())
        .spawn(body)
        .map_err(|error| format!("cannot start a thread: {error}"))
}
