//! Links, addresses and the CPUs that serve them.
//!
//! What a link says of itself comes from `/sys/class/net`, as far as that shows
//! the network namespace of this process: an interface of the same name in
//! another namespace has another index, and is not believed.

mod addresses;
mod link;
mod traffic;
mod use_of_host;

pub use addresses::{Interface, interfaces, mtu_bytes};
pub use link::{link_counters, link_facts, link_with};
pub use traffic::{link_words, read_traffic, traffic_since};
pub use use_of_host::{HostUseWatch, cpu_count};
