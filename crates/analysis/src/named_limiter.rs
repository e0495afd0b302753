//! A limiter that was named, with why.

use fathom_model::verdict::Limiter;

/// A name and its evidence.
pub(crate) type Named = (Limiter, String);
