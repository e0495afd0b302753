//! The parameters of models that are made of flash.

use super::super::parameter::Parameter;
use super::heat::{AMBIENT_C, COOL_S, HEAT, LIMIT_C, RESUME_C, THROTTLE};

pub(crate) const UNITS: Parameter = Parameter::number(
    "units",
    64.0,
    1.0,
    65_536.0,
    "operations that the flash serves at once",
);
pub(crate) const READ_US: Parameter = Parameter::number(
    "read_us",
    80.0,
    0.0,
    1e9,
    "mean time of a read in the flash",
);
pub(crate) const WRITE_US: Parameter =
    Parameter::number("write_us", 20.0, 0.0, 1e9, "mean time of a write");
pub(crate) const FLUSH_US: Parameter = Parameter::number(
    "flush_us",
    50.0,
    0.0,
    1e9,
    "time of a flush after the writes before it",
);
pub(crate) const TAIL: Parameter = Parameter::number(
    "tail",
    0.25,
    0.0,
    5.0,
    "standard deviation of the logarithm of these times",
);
pub(crate) const READ_MIBS: Parameter = Parameter::number(
    "read_mibs",
    3200.0,
    0.1,
    1e7,
    "rate of the link for reads, MiB/s",
);
pub(crate) const WRITE_MIBS: Parameter = Parameter::number(
    "write_mibs",
    2400.0,
    0.1,
    1e7,
    "rate of the link for writes, MiB/s",
);

/// The parameters that all these models share, and others.
macro_rules! flash_parameters {
    ($($own:expr),* $(,)?) => {
        &[
            Parameter::size(1e12),
            $crate::flash::UNITS,
            $crate::flash::READ_US,
            $crate::flash::WRITE_US,
            $crate::flash::FLUSH_US,
            $crate::flash::TAIL,
            $crate::flash::READ_MIBS,
            $crate::flash::WRITE_MIBS,
            $($own),*
        ]
    };
}
pub(crate) use flash_parameters;

pub(crate) const SSD_PARAMETERS: &[Parameter] = flash_parameters![];

#[rustfmt::skip]
pub(crate) const SLC_PARAMETERS: &[Parameter] = flash_parameters![
    Parameter::bytes("cache", 24e9, 0.0, "size of the fast cache"),
    Parameter::number("drain_mibs", 150.0, 0.001, 1e7, "rate at which the cache empties, MiB/s"),
    Parameter::number("folded_mibs", 0.0, 0.0, 1e7, "rate of writes that find the cache full, MiB/s; the cache then empties only when no write comes. 0: as fast as it empties, all the time"),
    Parameter::number("idle_ms", 100.0, 0.0, 1e6, "with folded_mibs: quiet time after which the cache begins to empty"),
];

#[rustfmt::skip]
pub(crate) const ENTERPRISE_PARAMETERS: &[Parameter] = flash_parameters![
    Parameter::number("media_mibs", 2400.0, 0.1, 1e7, "rate at which the flash can be written, MiB/s, the drive's own writes with it"),
    Parameter::number("spare_percent", 28.0, 2.0, 400.0, "flash beyond the capacity"),
    Parameter::switch("preconditioned", "1: filled and overwritten at random until steady, 0: fresh"),
];

pub(crate) const THERMAL_PARAMETERS: &[Parameter] =
    flash_parameters![AMBIENT_C, HEAT, COOL_S, LIMIT_C, RESUME_C, THROTTLE];
