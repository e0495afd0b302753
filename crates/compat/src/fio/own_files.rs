//! What a fio run may write to: what it makes, what fathom made before, and
//! the rest only with leave.

use std::path::Path;

use super::request::{FioMapped, FioPath, FioSurroundings};

/// Lets scripts that cannot pass a switch give leave.
pub const DESTRUCTIVE_VARIABLE: &str = "FATHOM_DESTRUCTIVE";

/// Marks which files are fathom's own: those that an earlier run made, and
/// those that this one will make.
///
/// # Errors
/// What would be overwritten without leave, one sentence each.
pub fn mark_own_files(
    mapped: &mut FioMapped,
    machine: &impl FioSurroundings,
    was_made: impl Fn(&Path) -> bool,
    destructive: bool,
) -> Result<(), Vec<String>> {
    mapped.schedule.destructive = destructive;
    let mut refused = Vec::new();
    for job in &mapped.jobs {
        let mut ours = true;
        for path in &job.files {
            let is_ours = match machine.look(path) {
                FioPath::Missing => true,
                FioPath::File(_) => was_made(path),
                _ => false,
            };
            ours &= is_ours;
            if job.modifies && !is_ours && !destructive {
                let what = format!(
                    "{} was there already and fathom did not make it; a job would overwrite it: pass \
                     --destructive (or set {DESTRUCTIVE_VARIABLE}=1) if its content may be lost",
                    path.display()
                );
                if !refused.contains(&what) && refused.len() < 20 {
                    refused.push(what);
                }
            }
        }
        let trial = mapped.schedule.trials.get_mut(job.trial as usize);
        if let Some(named) = trial.and_then(|trial| trial.workload.data_set.named.as_mut()) {
            named.ours = ours;
        }
    }
    match refused.is_empty() {
        true => Ok(()),
        false => Err(refused),
    }
}
