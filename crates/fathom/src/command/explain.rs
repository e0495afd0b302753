//! `fathom explain`: what a check means and what to do about it.

use fathom_analysis::{Check, check_table, find_check};

use crate::cli::Explain;
use crate::exit::Exit;
use crate::present;

pub(crate) fn run(explain: &Explain) -> anyhow::Result<Exit> {
    let Some(name) = &explain.check else {
        present::write_stdout(&list())?;
        return Ok(Exit::Success);
    };
    match find_check(name) {
        Some(check) => {
            present::write_stdout(&fathom_analysis::explain(check))?;
            Ok(Exit::Success)
        }
        None => {
            let nearest = fathom_analysis::nearest_check(name)
                .map(|check| format!("; did you mean {} {}?", check.id, check.name));
            present::complain(&format!(
                "there is no check '{name}'{}; `fathom explain` lists them all",
                nearest.unwrap_or_default()
            ));
            Ok(Exit::Usage)
        }
    }
}

fn list() -> String {
    let line = |check: &Check| format!("{:<4} {:<22} {}\n", check.id, check.name, check.title);
    let mut text: String = check_table().iter().map(line).collect();
    text += "\n`fathom explain ID` says how a check works and what to do about it.\n";
    text
}
