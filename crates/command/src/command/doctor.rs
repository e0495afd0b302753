//! `fathom doctor`: what this machine allows.

use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use fathom_model::view::Tone;
use fathom_observe::{Capability, CapabilityStatus, Sysroot, doctor};
use fathom_report::table::wrap;
use fathom_report::text::paint;

use crate::exit::Exit;
use crate::shown::{Shown, TextOrJson};

/// Check what this machine supports and how to fix gaps.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  fathom doctor\n  fathom doctor /mnt/data")]
pub(crate) struct Doctor {
    /// Directory in which to try things out.
    #[arg(default_value = ".")]
    pub(crate) directory: PathBuf,
    #[command(flatten)]
    shown: Shown<TextOrJson>,
}

pub(crate) fn run(options: &Doctor) -> anyhow::Result<Exit> {
    options.shown.admit()?;
    let looked = fathom_deadline::paths::metadata(&options.directory);
    // One that does not answer is what the examination has to report.
    let silent = matches!(&looked, Err(error) if error.kind() == std::io::ErrorKind::TimedOut);
    anyhow::ensure!(
        silent || looked.is_ok_and(|found| found.is_dir()),
        "{} is not a directory; name one in which a small file may be tried out",
        options.directory.display()
    );
    let capabilities = doctor(&Sysroot::host(), Some(&options.directory));
    let text = match options.shown.is_json() {
        true => fathom_model::indented_json(&capabilities).context("cannot write JSON")? + "\n",
        false => as_text(
            &capabilities,
            options.shown.columns(),
            options.shown.is_colored(),
        ),
    };
    options.shown.write(&text)?;
    Ok(Exit::Success)
}

fn status_name(status: CapabilityStatus) -> (&'static str, Tone) {
    match status {
        CapabilityStatus::Ok => ("ok", Tone::Good),
        CapabilityStatus::Limited => ("limited", Tone::Warning),
        CapabilityStatus::Missing => ("missing", Tone::Bad),
    }
}

/// Before a remedy.
const SIGN: &str = "-> ";
/// Columns of the status with the gap behind it.
const STATUS_COLUMNS: usize = 9;
/// Columns of text below which it stands under the name instead of beside it.
const LEAST_TEXT: usize = 30;

/// What is fine in one line each; what is not with its meaning and remedy.
fn as_text(capabilities: &[Capability], width: usize, color: bool) -> String {
    let longest = capabilities.iter().map(|c| c.name.len()).max();
    let names = longest.unwrap_or_default() + 2;
    let room = width.saturating_sub(STATUS_COLUMNS + names);
    let is_beside = room >= LEAST_TEXT;
    let (indent, room) = match is_beside {
        true => (STATUS_COLUMNS + names, room),
        false => (STATUS_COLUMNS, width.saturating_sub(STATUS_COLUMNS)),
    };
    let mut text = String::new();
    for capability in capabilities {
        let (status, tone) = status_name(capability.status);
        let gap = " ".repeat(STATUS_COLUMNS - status.len());
        text += &format!("{}{gap}", paint(status, tone, color));
        let lines = lines(capability, room);
        let below = match lines.split_first().filter(|_| is_beside) {
            Some((first, below)) => {
                text += &format!("{:<names$}{first}\n", capability.name);
                below
            }
            None => {
                text += &format!("{}\n", capability.name);
                &lines
            }
        };
        for line in below {
            text += &format!("{:indent$}{line}\n", "");
        }
    }
    text
}

/// What was found; with what it means and what would help where it is not fine.
fn lines(capability: &Capability, room: usize) -> Vec<String> {
    let mut lines = wrap(&capability.found, room);
    if capability.status != CapabilityStatus::Ok {
        lines.extend(wrap(&capability.meaning, room));
        let remedy = capability
            .remedy
            .as_deref()
            .map(|remedy| wrap(remedy, room - SIGN.len()));
        for (at, part) in remedy.unwrap_or_default().iter().enumerate() {
            let sign = if at == 0 { SIGN } else { "   " };
            lines.push(format!("{sign}{part}"));
        }
    }
    lines
}
