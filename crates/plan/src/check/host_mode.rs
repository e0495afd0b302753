//! Whether data and turns of hosts go together.

use fathom_model::host_mode::{HostData, HostMode, HostTurns};

use crate::diagnostic::Problems;
use crate::keys::PlanKeys;

/// How the keys of a plan spread it over hosts.
pub(crate) fn of_keys(keys: &PlanKeys) -> HostMode {
    let (data, turns) = (keys.host_data.as_ref(), keys.host_turns.as_ref());
    HostMode {
        data: data.map_or(HostData::Own, |data| data.value.data()),
        turns: turns.map_or(HostTurns::Together, |turns| turns.value.turns()),
    }
}

/// A first host alone has nobody whose data it could read.
pub(crate) fn check(keys: &PlanKeys, problems: &mut Problems) {
    let mode = of_keys(keys);
    if mode.data == HostData::Rotated && mode.turns == HostTurns::Growing {
        let span = keys.host_turns.as_ref().and_then(|turns| turns.span);
        let message = "rotated data need two hosts at least, and growing turns begin with one";
        problems.error("host_mode", span, message);
    }
}
