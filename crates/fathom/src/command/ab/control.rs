//! The untouched control: a short fixed workload before every trial.

use fathom_model::comparison::ControlDesign;
use fathom_model::schedule::{Pause, TrialRole};
use fathom_model::{ScheduledTrial, Target};

use super::sides::{Sides, flags_of};
use crate::surroundings;

/// The control.
pub(crate) struct Control {
    pub(crate) trial: ScheduledTrial,
    pub(crate) design: ControlDesign,
}

/// The control that was chosen; `None` when there is none.
///
/// The null target is the default: it cannot be touched by anything that
/// differs in the storage, and what moves it (the clock rate of the CPUs,
/// other load, a hypervisor) moves every result.
pub(crate) fn of(
    choice: Option<&str>,
    sides: &Sides,
    color: bool,
) -> Result<Option<Control>, String> {
    let simulated = sides
        .pairs()
        .all(|(a, b)| matches!((&a.target, &b.target), (Target::Sim(_), Target::Sim(_))));
    let (target, why) = match choice {
        Some("none") => return Ok(None),
        // A virtual clock has no surroundings that could move.
        None if simulated => return Ok(None),
        None => (Target::Null, "not storage: shows the host's CPUs"),
        Some(text) => {
            let target = text
                .parse()
                .map_err(|error| format!("fathom: --control {text}: {error}\n"))?;
            (target, "chosen on the command line")
        }
    };
    let mut keys = vec![("rw", "randread"), ("bs", "4k"), ("iodepth", "1")];
    keys.push(("runtime", "1s"));
    if target.path().is_some_and(fathom_deadline::paths::is_dir) {
        keys.push(("size", "64M"));
    }
    let flags = flags_of(&keys).map_err(|problem| format!("fathom: the control: {problem}\n"))?;
    let scheduled = flags.to_plan(target.clone()).and_then(|plan| {
        let surroundings = surroundings::of(&plan);
        plan.schedule(&surroundings)
    });
    let mut schedule = scheduled.map_err(|problems| problems.render(color))?;
    let Some(mut trial) = schedule.trials.pop() else {
        return Ok(None);
    };
    trial.role = TrialRole::Control;
    trial.label = "control".to_owned();
    trial.pause = Pause::NONE;
    Ok(Some(Control {
        trial,
        design: ControlDesign {
            target: target.to_string(),
            why: why.to_owned(),
        },
    }))
}
