//! Trials measured in pairs, in turns: the mean of their log ratios with its error,
//! and what may be claimed of it. For comparisons that are not of two runs of fathom.

pub use crate::comparison::effect::{Effect, Margin};
pub use crate::comparison::paired::{Difference, Order, effect};
pub use crate::comparison::{LEAST_PAIRS, holm, order_level};
