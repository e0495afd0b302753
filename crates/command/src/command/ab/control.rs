//! The untouched control: a short fixed workload before every trial.

use fathom_model::ScheduledTrial;
use fathom_model::comparison::ControlDesign;
use fathom_studies::ab::{Sides, as_control, default_control};

use super::sides::flags_of;
use crate::exit::CommandError;
use crate::output_flags::Color;
use crate::surroundings;

/// The control.
pub(crate) struct Control {
    pub(crate) trial: ScheduledTrial,
    pub(crate) design: ControlDesign,
}

/// The control that was chosen; `None` when there is none.
pub(crate) fn of(
    choice: Option<&str>,
    sides: &Sides,
    color: Color,
) -> Result<Option<Control>, CommandError> {
    let (target, why) = match choice {
        Some("none") => return Ok(None),
        None => match default_control(sides) {
            Some(control) => (control.target, control.why),
            None => return Ok(None),
        },
        Some(text) => {
            let target = text
                .parse()
                .map_err(CommandError::about(format!("--control {text}")))?;
            (target, "chosen on the command line")
        }
    };
    let mut keys = vec![("rw", "randread"), ("bs", "4k"), ("iodepth", "1")];
    keys.push(("runtime", "1s"));
    if target.path().is_some_and(fathom_deadline::paths::is_dir) {
        keys.push(("size", "64M"));
    }
    let flags = flags_of(&keys).map_err(CommandError::about("the control"))?;
    let scheduled = flags.to_plan(target.clone()).and_then(|plan| {
        let surroundings = surroundings::of(&plan);
        plan.schedule(&surroundings)
    });
    let mut schedule = scheduled.map_err(|problems| CommandError::plan(problems, color))?;
    let Some(trial) = schedule.trials.pop() else {
        return Ok(None);
    };
    Ok(Some(Control {
        trial: as_control(trial),
        design: ControlDesign {
            target: target.to_string(),
            why: why.to_owned(),
        },
    }))
}
