//! Limits of control groups that a killed test left changed.

use fathom_report::table::clean;

use crate::changed_limits::{Changed, Forgotten, Standing};
use crate::command::clean::Clean;
use crate::exit::Exit;
use crate::present;

/// Lists them, or sets them back. `None` when there are none.
pub(super) fn here(options: &Clean) -> anyhow::Result<Option<Exit>> {
    let store = present::store_path(&options.store)?;
    let Some(forgotten) = Forgotten::beside(&store) else {
        return Ok(None);
    };
    let found = match options.yes {
        true => forgotten.set_back(),
        false => forgotten.limits.iter().map(Changed::standing).collect(),
    };
    let found: Vec<Standing> = match found {
        Ok(found) => found,
        Err(error) => {
            let what = "cannot set back what a test changed";
            present::complain(&format!("{what}: {error}"));
            return Ok(Some(Exit::Failure));
        }
    };
    for (limit, standing) in forgotten.limits.iter().zip(&found) {
        present::write_names(&words(limit, standing, options.yes))?;
    }
    if !options.yes {
        let end = match found.contains(&Standing::Changed) {
            true => "sets it back",
            false => "removes the note of it",
        };
        let text = format!("by a test that was killed; `fathom clean --yes` {end}\n");
        present::write_names(&text)?;
    }
    Ok(Some(Exit::Success))
}

fn words(limit: &Changed, standing: &Standing, yes: bool) -> String {
    let path = limit.back.path.display().to_string();
    let (path, line) = (clean(&path), clean(&limit.back.line));
    match standing {
        Standing::Changed if yes => format!("set back {path}, which was '{line}'\n"),
        Standing::Changed => format!("changed {path}, which was '{line}'\n"),
        Standing::Settled => format!("nothing to set back in {path}, which was '{line}'\n"),
        Standing::Left(why) => format!(
            "left {path} as it is: {} (before the test: '{line}')\n",
            clean(why)
        ),
    }
}
