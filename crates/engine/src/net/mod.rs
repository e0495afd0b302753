//! The network as something that is loaded: connections that two ends have
//! made are given to [`carry_out`], which moves data over them for a time and
//! reports each second of each connection.
//!
//! Nothing here knows how the two ends found one another or who may ask for
//! what: that is the business of whoever accepts connections. A thread per
//! connection makes blocking calls on large buffers; nothing is locked or
//! allocated between two seconds. [`mtu`] finds out which packets pass.

mod datagrams;
mod guide;
pub mod mtu;
mod payload;
mod requests;
mod seconds;
mod socket;
mod stream;
mod work;

pub use guide::{EndRole, EndWork};
pub use socket::{
    SocketOptions, bind_udp, congestion_of, connect_tcp, listen_tcp, prepare_tcp, prepare_udp,
    set_ttl, tcp_state,
};
pub use work::{Connection, carry_out};
