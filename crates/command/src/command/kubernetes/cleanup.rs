//! `--cleanup`: what earlier calls left in a namespace.

use fathom_fleet::VolumeLeftovers;

use super::Kubernetes;
use crate::exit::Exit;
use crate::present;

pub(super) fn run(command: &Kubernetes) -> anyhow::Result<Exit> {
    let kubectl = command.kubectl();
    let left = VolumeLeftovers::find(&kubectl)?;
    if left.names.is_empty() {
        present::write_names("nothing to clean in this namespace\n")?;
        return Ok(Exit::Success);
    }
    let done = match command.yes {
        true => {
            left.remove(&kubectl)?;
            "removed "
        }
        false => "",
    };
    for name in &left.names {
        present::write_names(&format!("{done}{name}\n"))?;
    }
    if !command.yes {
        present::write_names(
            "a run that is under way somewhere has these as well; `fathom kubernetes --cleanup \
             --yes` removes them\n",
        )?;
    }
    Ok(Exit::Success)
}
