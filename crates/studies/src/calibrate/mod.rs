//! What a volume gives with the mix and block size of a load: first the cap, in
//! closed loops, then the time of an operation at a pace below it.
//!
//! The two are apart because limits of volumes answer too much load by holding
//! operations back: at the cap an operation takes as long as the queue is, and
//! only below it as long as the storage needs.

mod conductor;
mod judge;
mod plan;

#[cfg(test)]
mod calibrate_tests;

pub use conductor::CalibrationConductor;
pub use judge::{CALIBRATION, NoCalibration, calibration_of};
pub use plan::{CalibrationPlan, FileTooSmall, LoadShape, check_size};
