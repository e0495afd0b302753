//! `sar` of sysstat: what it prints, and its JSON (`sadf -j`).

pub(crate) mod json;
pub(crate) mod text;
