//! What the judges say of drawn input, kept.
//!
//! Tests beside the code hold single judgements against what is true. These keep what is
//! said of many inputs, most of them at a threshold or just beside it, so that a change of
//! the judges that nobody meant shows as a difference of a kept file. One that is meant
//! is accepted by `FATHOM_BLESS=1 cargo test -p fathom-diagnose --test judges`.

mod alarms;
mod answers;
mod clusters;
mod course;
mod draw;
mod hosts;
mod kept;
mod pairs;
mod said;
mod stacks;
mod used;
