//! How long a store may say nothing.

use super::connection::State;
use super::connection_pool::ConnectionPool;
use super::fault::Fault;

impl ConnectionPool {
    /// No request takes longer than this, and setting up TLS no longer than that.
    pub fn limit(&mut self, request_ns: u64, handshake_ns: u64) {
        self.timeout_ns = self.timeout_ns.min(request_ns);
        self.handshake_ns = handshake_ns;
    }

    /// Ends all requests under way, each as one that took too long, where nothing
    /// has come from the store, and nothing was taken by it, for `silent_ns`.
    pub fn end_where_silent(&mut self, silent_ns: u64) {
        let now_ns = (self.now)();
        if now_ns.saturating_sub(self.heard_ns) < silent_ns {
            return;
        }
        for at in 0..self.connections.len() {
            let connection = &self.connections[at];
            if connection.has_request && connection.state != State::Idle {
                let fault = Fault::timeout(connection.doing());
                self.end(at, Err(fault));
            }
        }
    }
}
