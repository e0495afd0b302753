//! Takes a mount away, also when programs still hold its files.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use fuser::BackgroundSession;

use crate::real::tool;

/// How long the session may take to notice.
const PATIENCE: Duration = Duration::from_secs(2);

/// Detaches the mount at `at` and ends its session. A program that still has
/// the drive open gets EIO from it until it closes it.
pub(super) fn unmount(at: &Path, session: BackgroundSession) {
    if !session.guard.is_finished() {
        tool::unmount_leftover(at);
    }
    let start = Instant::now();
    while !session.guard.is_finished() && start.elapsed() < PATIENCE {
        thread::sleep(Duration::from_millis(2));
    }
    if session.guard.is_finished() {
        // Its result is the end of the connection, which is what was wanted.
        let _ = session.join();
    } else {
        // Held open by somebody. The session goes on answering EIO, and ends
        // with the last file or with this process.
        std::mem::forget(session);
    }
}
