//! Every threshold of network findings, with its source.

/// Share of the rated speed from which on the link itself is the limit. A
/// frame of 1,538 bytes on the wire carries 1,448 of payload; headers are
/// counted before this is applied, so what remains is pauses of the load.
pub const LINK_SHARE: f64 = 0.94;

/// Share of its time from which on a thread, or the interrupts of a CPU, are
/// the limit. The rest goes to waking up.
pub const CPU_SHARE: f64 = 0.90;

/// Share of all CPUs of a host from which on the host is the limit.
pub const HOST_SHARE: f64 = 0.95;

/// Share of a host's CPUs that the load itself used at both ends together, up
/// to which a steady rate is not taken for theirs.
pub const OWN_CPU_SHARE: f64 = 0.6;

/// Robust relative spread of the seconds (1.4826 × MAD over the median) up to
/// which a rate is held by something: token buckets and links at their rate
/// vary by less, windows that react to loss by much more.
pub const PLATEAU_SPREAD: f64 = 0.02;

/// Ratio of many streams to one up to which both reach the same rate.
pub const SAME_RATE: f64 = 1.06;

/// Whole seconds that a plateau needs.
pub const PLATEAU_SECONDS: usize = 3;

/// Share of segments sent again from which on loss sets the rate of TCP
/// (Mathis et al. 1997: rate ≈ 1.22 × segment / (round trip × √loss)).
pub const LOSS_SHARE: f64 = 0.000_5;

/// Share of segments sent again that is worth a remark: the cluster guide asks
/// for retries close to zero.
pub const RETRANSMIT_REMARK: f64 = 0.000_1;

/// Share of the busy time in which the window or the send buffer was full,
/// from which on they set the rate (`tcpi_rwnd_limited`, `tcpi_sndbuf_limited`).
pub const WINDOW_SHARE: f64 = 0.5;

/// Growth of the median round trip beside a load, in ms, that is worth a
/// remark: storage requests of NVMe devices take a tenth of a millisecond.
pub const BLOAT_MS: f64 = 5.0;

/// Share of all interrupt work on one CPU, and share of that CPU's time, from
/// which on interrupts are bound to it.
pub const INTERRUPT_CONCENTRATION: f64 = 0.8;
/// See [`INTERRUPT_CONCENTRATION`].
pub const INTERRUPT_SHARE: f64 = 0.5;

/// Clocks that differ by more, in ms, confuse logs of clusters.
pub const CLOCK_MS: f64 = 100.0;

/// A link is an outlier below this share of what its hosts reach otherwise …
pub const OUTLIER_RATIO: f64 = 0.85;
/// … if that is also this many robust standard deviations (Iglewicz and
/// Hoaglin 1993, modified z-score).
pub const OUTLIER_DEVIATIONS: f64 = 3.5;
/// Measurements after the first that must agree before a link is named.
pub const CONFIRMATIONS: usize = 1;
/// Spread below which links count as alike whatever their MAD.
pub const LEAST_SPREAD: f64 = 0.02;

/// Both ways at once below this share of the better way alone: they share
/// something.
pub const BOTH_WAYS_RATIO: f64 = 1.2;
