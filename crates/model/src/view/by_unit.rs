//! What a reader sees in the unit of his choice.

use crate::figure::Throughput;

/// A part of a view that is made for each unit in which rates in bytes are shown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ByUnit<T> {
    binary: T,
    /// Where it differs.
    decimal: Option<T>,
}

impl<T: PartialEq> ByUnit<T> {
    /// What is made for each unit.
    pub fn of(make: impl Fn(Throughput) -> T) -> ByUnit<T> {
        let binary = make(Throughput::Binary);
        let decimal = Some(make(Throughput::Decimal)).filter(|decimal| *decimal != binary);
        ByUnit { binary, decimal }
    }

    /// What is the same in both.
    pub fn alike(binary: T) -> ByUnit<T> {
        ByUnit {
            binary,
            decimal: None,
        }
    }

    /// What a reader of this unit gets.
    pub fn shown(&self, throughput: Throughput) -> &T {
        match (throughput, &self.decimal) {
            (Throughput::Decimal, Some(decimal)) => decimal,
            _ => &self.binary,
        }
    }
}
