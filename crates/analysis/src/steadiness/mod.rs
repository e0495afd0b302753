//! Steady state, change points, regimes.

pub(crate) mod change_points;
pub(crate) mod drift;
pub(crate) mod levels;
pub(crate) mod modes;
pub(crate) mod robust;
pub(crate) mod snia;
pub(crate) mod track;
pub(crate) mod warmup;
