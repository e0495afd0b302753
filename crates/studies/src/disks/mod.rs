//! What does each disk of a machine do alone, and while all of them work?

mod judge;
mod plan;
mod schedule;
mod view;

use fathom_model::JudgedRun;
use fathom_model::run::RunRecord;
use fathom_model::schedule::{Purpose, Schedule};
use fathom_model::view::View;

pub use plan::{DiskKind, DiskLoad, DiskMachine, DiskWorkload, disk_plan};
pub use schedule::{DiskOrder, DisksOptions, LoadedDisk, PlannedDisks, length_ns, plan_disks};

use crate::study::Study;

/// The disks of a machine beside one another.
pub(crate) struct Disks;

impl Study for Disks {
    fn owns(&self, schedule: &Schedule) -> bool {
        schedule.purpose == Purpose::Disks
    }

    fn judge(&self, run: &mut JudgedRun, record: &RunRecord) {
        judge::draw(run, record);
    }

    fn view(&self, run: &JudgedRun) -> Option<View> {
        run.disks.as_ref().map(view::view)
    }
}
