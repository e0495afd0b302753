//! `fathom doctor`: what this machine allows.

use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use fathom_observe::{Capability, CapabilityStatus, Sysroot, doctor};

use crate::exit::Exit;
use crate::present;

/// Check what this machine supports and how to fix gaps.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  fathom doctor\n  fathom doctor /mnt/data")]
pub(crate) struct Doctor {
    /// Directory in which to try things out.
    #[arg(default_value = ".")]
    pub(crate) directory: PathBuf,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn run(options: &Doctor) -> anyhow::Result<Exit> {
    let looked = fathom_deadline::paths::metadata(&options.directory);
    // One that does not answer is what the examination has to report.
    let silent = matches!(&looked, Err(error) if error.kind() == std::io::ErrorKind::TimedOut);
    anyhow::ensure!(
        silent || looked.is_ok_and(|found| found.is_dir()),
        "{} is no directory; name one in which a small file may be tried out",
        options.directory.display()
    );
    let capabilities = doctor(&Sysroot::host(), Some(&options.directory));
    if options.json {
        let text = serde_json::to_string_pretty(&capabilities).context("cannot write JSON")?;
        present::write_stdout(&(text + "\n"))?;
    } else {
        present::write_stdout(&as_text(&capabilities))?;
    }
    Ok(Exit::Success)
}

fn status_name(status: CapabilityStatus) -> &'static str {
    match status {
        CapabilityStatus::Ok => "ok",
        CapabilityStatus::Limited => "limited",
        CapabilityStatus::Missing => "missing",
    }
}

/// What is fine in one line each; what is not with its meaning and remedy.
fn as_text(capabilities: &[Capability]) -> String {
    let width = capabilities
        .iter()
        .map(|c| c.name.len())
        .max()
        .unwrap_or_default();
    let mut text = String::new();
    for capability in capabilities {
        let status = status_name(capability.status);
        text += &format!(
            "{status:<8} {:<width$}  {}\n",
            capability.name, capability.found
        );
        if capability.status != CapabilityStatus::Ok {
            text += &format!("{:8} {:width$}  {}\n", "", "", capability.meaning);
            if let Some(remedy) = &capability.remedy {
                text += &format!("{:8} {:width$}  -> {remedy}\n", "", "");
            }
        }
    }
    text
}
