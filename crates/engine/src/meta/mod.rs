//! Operations on many files: the work of engine `meta`.
//!
//! A tree of files lies in a directory of its own (`PREFIX.tree`). Which files
//! there are follows from a few numbers per worker ([`rank`]), and names,
//! places, sizes and contents follow from those ([`names`], [`geometry`],
//! [`content`]), so that ten million files cost no memory. Every operation has
//! its own kind, and so a latency histogram of its own.
//!
//! A *phase* is one kind of operation on everything that there is; phases are
//! trials one after the other, and the end of a trial is the barrier between
//! them. A *mix* draws its operations by weight.

mod absence;
mod content;
mod directories;
mod geometry;
mod hand;
mod held;
mod life;
mod names;
mod picker;
mod prepare;
mod rank;
mod remove;
mod task;
mod top;
mod tree;
mod work;
mod worker;

pub(crate) use hand::Calls;
pub(crate) use life::live;
pub(crate) use prepare::prepare;
pub(crate) use remove::remove;
pub(crate) use top::OwnTree;
pub(crate) use tree::{Tree, TreePlace};
pub(crate) use work::{TreeProgress, TreeWork, check, finishers};

#[cfg(test)]
#[path = "meta_tests.rs"]
mod tests;
