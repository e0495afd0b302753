//! Limits of control groups that a killed test left changed.

use crate::changed_limits::Forgotten;
use crate::command::clean::Clean;
use crate::exit::Exit;
use crate::present;

/// Lists them, or sets them back. `None` when there are none.
pub(super) fn here(clean: &Clean) -> anyhow::Result<Option<Exit>> {
    let store = present::store_path(&clean.store)?;
    let Some(forgotten) = Forgotten::beside(&store) else {
        return Ok(None);
    };
    let verb = if clean.yes { "set back" } else { "changed" };
    if clean.yes
        && let Err(error) = forgotten.set_back()
    {
        present::complain(&format!("cannot set back what a test changed: {error}"));
        return Ok(Some(Exit::Failure));
    }
    for limit in &forgotten.back {
        let (path, line) = (limit.path.display(), &limit.line);
        present::write_stdout(&format!("{verb} {path}, which was '{line}'\n"))?;
    }
    if !clean.yes {
        present::write_stdout("by a test that was killed; `fathom clean --yes` sets it back\n")?;
    }
    Ok(Some(Exit::Success))
}
