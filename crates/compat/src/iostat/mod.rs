//! `iostat` of sysstat, with and without `-x`.

pub(crate) mod fields;
pub(crate) mod json;
pub(crate) mod text;
