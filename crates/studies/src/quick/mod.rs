//! What does this storage do, in a grid that people know how to read?

mod class;
mod file_size;
mod objects;
mod plan;
mod sheet;
mod view;

use fathom_model::JudgedRun;
use fathom_model::run::RunRecord;
use fathom_model::schedule::Schedule;
use fathom_model::view::View;

pub use file_size::{FileRoom, SizeTooSmall, check_size};
pub use plan::{QuickOptions, ReadExtent, quick};
pub use view::view;

use crate::study::Study;

/// The name of the plan, by which its runs are known.
const NAME: &str = "quick";

/// The shapes of spec sheets, each once. The rows are its answer: there is nothing
/// to judge over them.
pub(crate) struct Quick;

impl Study for Quick {
    fn owns(&self, schedule: &Schedule) -> bool {
        schedule.name == NAME
    }

    fn judge(&self, _: &mut JudgedRun, _: &RunRecord) {}

    fn view(&self, run: &JudgedRun) -> Option<View> {
        Some(view(run))
    }
}
