//! The network between hosts, as something that is measured: what a load is,
//! what its two ends saw second by second, and what came of a pair of hosts or
//! of all pairs.
//!
//! A *load* is a number of connections that move data between two ends for a
//! time. Each end reports each second of each connection: bytes, blocks, the
//! latency of blocks or requests as a histogram, CPU time of the thread that
//! carried it, and what the kernel knows of the connection (`TCP_INFO`).
//! Rates are of the receiver: what was sent and did not arrive is no work.

mod connection;
mod ends;
mod facts;
mod limit;
mod matrix;
mod pair;
mod sparse;
mod spec;
mod trips;
mod two_ends;

pub use connection::{ConnectionState, End, TcpState, UdpState, Way};
pub use ends::{ConnectionReport, ConnectionSecond, EndReport, FlowReport, HostUse};
pub use facts::{ClockOffset, HostFacts, LinkCounters, LinkFacts, MtuFinding, MtuProbe};
pub use limit::{MEASURED_REMARKS, NO_PROBES, NetLimit, NetLimitKind, NetRemark, SMALL_SEGMENTS};
pub use matrix::{
    LinkOutlier, MatrixCell, MatrixMode, MatrixReport, MatrixRound, NodeOutlier, NodeSum, Outliers,
};
pub use pair::{LoadResult, PairPlan, PairReport, PlannedLoad, Reachability};
pub use spec::{Direction, LoadKind, LoadSpec, Protocol, SendMethod, SpecError};
pub use trips::{RoundTrip, Trips};
pub use two_ends::{ConnectionFacts, EndFacts, Ends, EndsReport, FlowFacts, PathFacts};

/// Version of the machine-readable result of a pair: its `schema` field.
pub const PAIR_SCHEMA: &str = "fathom.net-pair/1";

/// Version of the machine-readable result of a matrix: its `schema` field.
pub const MATRIX_SCHEMA: &str = "fathom.net-matrix/1";
