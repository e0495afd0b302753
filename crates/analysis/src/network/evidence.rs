//! Numbers of a load in words.

/// A rate of bits in words, for example `941 Mbit/s`.
pub(super) fn bits(bits_per_second: f64) -> String {
    fathom_model::unit::bits(bits_per_second)
}

/// A share in percent with as many digits as it needs.
pub(super) fn percent(share: f64) -> String {
    let value = share * 100.0;
    match value {
        v if v >= 10.0 => format!("{v:.0} %"),
        v if v >= 0.1 => format!("{v:.1} %"),
        v if v > 0.0 => format!("{v:.3} %"),
        _ => "0 %".to_owned(),
    }
}

/// Nanoseconds as a round trip.
pub(super) fn trip(ns: u64) -> String {
    fathom_model::unit::latency(ns as f64)
}
