//! What is on a simulated drive before the load.

use fathom_drives::PersistentDrive;
use fathom_model::Job;
use fathom_model::workload::Precondition;

use super::{PrepareHooks, PrepareProgress, Prepared};
use crate::Error;

/// Fills the accessed range where that is asked for, and notes how much of it was never
/// written, where the drive answers such reads in another way.
///
/// # Errors
/// The user wants to stop.
pub(super) fn prepare_drive(
    job: &Job,
    drive: &PersistentDrive,
    prepared: &mut Prepared,
    hooks: &mut dyn PrepareHooks,
) -> Result<(), Error> {
    let Some(first) = prepared.layout.files.first() else {
        return Ok(());
    };
    let (start, bytes) = (first.start_bytes, first.span_bytes);
    let unwritten = || {
        let written = drive.with(|drive| drive.written_share(start, bytes));
        written.map(|share| 1.0 - share)
    };
    let is_filled = match job.workload.data_set.precondition {
        Precondition::None => false,
        Precondition::Written => unwritten().is_some_and(|share| share > 0.0),
        Precondition::Fill | Precondition::RandomFill => true,
    };
    if is_filled {
        drive.fill(start, bytes, |done_bytes| {
            hooks.progress(PrepareProgress {
                what: "filling the simulated drive",
                done_bytes,
                total_bytes: bytes,
            });
            !hooks.stop_requested()
        });
        if hooks.stop_requested() {
            return Err(Error::Stopped);
        }
        prepared.data.prepared_bytes = bytes;
    }
    if let Some(share) = unwritten() {
        prepared.data.unwritten_share = Some(share);
        prepared.data.unwritten_method = Some("what the simulated drive holds".to_owned());
    }
    if job.workload.data_set.precondition == Precondition::RandomFill {
        let note = "a simulated drive is filled in order, not at random";
        prepared.notes.push(note.to_owned());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use fathom_model::Target;
    use fathom_model::workload::{DataSet, Precondition};

    use super::super::tests::{job, reads};
    use crate::prepare::{NoHooks, prepare};

    fn share(precondition: Precondition, model: &str) -> Option<f64> {
        let mut job = job(Path::new(""), reads(0));
        job.target = Target::Sim(model.to_owned());
        job.workload.data_set = DataSet {
            size_bytes: None,
            precondition,
            ..job.workload.data_set
        };
        prepare(&job, &mut NoHooks).unwrap().data.unwritten_share
    }

    #[test]
    fn only_a_drive_that_knows_says_what_was_never_written() {
        assert_eq!(share(Precondition::None, "thin?size=64MiB"), Some(1.0));
        assert_eq!(share(Precondition::Fill, "thin?size=64MiB"), Some(0.0));
        assert_eq!(share(Precondition::Written, "thin?size=64MiB"), Some(0.0));
        assert_eq!(share(Precondition::None, "ideal?size=64MiB"), None);
        assert_eq!(share(Precondition::Fill, "ideal?size=64MiB"), None);
    }
}
