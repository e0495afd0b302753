//! How does listing a directory or a bucket scale with its entries?

mod judge;
mod plan;
mod sizes;
mod view;

use fathom_model::JudgedRun;
use fathom_model::run::RunRecord;
use fathom_model::schedule::{Purpose, Schedule};
use fathom_model::view::View;

pub use plan::enumeration_plan;
pub use sizes::{FreeSpace, SizeOptions, SizesError};

use crate::study::Study;

/// Listings of directories or prefixes of growing size.
pub(crate) struct Enumerate;

impl Study for Enumerate {
    fn owns(&self, schedule: &Schedule) -> bool {
        schedule.purpose == Purpose::Enumeration
    }

    fn judge(&self, run: &mut JudgedRun, _: &RunRecord) {
        judge::draw(run);
    }

    fn view(&self, run: &JudgedRun) -> Option<View> {
        run.enumeration.as_ref().map(view::view)
    }
}
