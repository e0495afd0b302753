//! Requests one after the other over one connection, beside the load: listings,
//! removals, questions about a bucket.

use std::sync::Arc;

use super::access::Access;
use super::connection_pool::ConnectionPool;
use super::events::Ended;
use super::fault::Fault;
use super::request::Request;
use crate::Error;

/// How long TLS may take to be set up: what listens there may wait for more of
/// something else, and would do so until the time of the request is over.
const HANDSHAKE_NS: u64 = 5_000_000_000;

impl ConnectionPool {
    /// A pool of one connection.
    ///
    /// # Errors
    /// When the kernel gives no epoll.
    pub fn single(access: &Arc<Access>) -> Result<ConnectionPool, Error> {
        let mut pool = ConnectionPool::new(access, 1, 0)?;
        pool.limit(u64::MAX, HANDSHAKE_NS);
        Ok(pool)
    }

    /// One request by itself, from beginning to end.
    ///
    /// # Errors
    /// Why it did not succeed.
    pub fn ask(&mut self, request: Request<'_>) -> Result<Ended, Fault> {
        self.ask_unless(request, &|| false)
    }

    /// One request, given up as soon as `stops` says so.
    ///
    /// # Errors
    /// Why it did not succeed.
    pub fn ask_unless(
        &mut self,
        request: Request<'_>,
        stops: &dyn Fn() -> bool,
    ) -> Result<Ended, Fault> {
        let _ = self.make_ready(0, request);
        self.start_now(0);
        let mut ended = Vec::with_capacity(1);
        while ended.is_empty() {
            if stops() {
                self.give_up(0);
            }
            self.poll(None, false, &mut ended);
        }
        let mut end = ended.swap_remove(0);
        match std::mem::replace(&mut end.outcome, Ok(())) {
            Ok(()) => Ok(end),
            Err(fault) => Err(fault),
        }
    }
}
