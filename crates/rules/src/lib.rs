//! The tables of rules: thresholds are data.
