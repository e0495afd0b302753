//! Cross-checks: the other tool run on this host, in turns with fathom, and the
//! files that it leaves.

mod bench;
mod keep;
mod peer;

pub use self::bench::{Bench, BenchError};
pub use self::keep::Keep;
pub use self::peer::{CallError, DocumentProblem, Ending, Peer, PeerError};
