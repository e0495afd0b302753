//! `fathom doctor`: what this machine allows.

use anyhow::Context;
use fathom_observe::{CapabilityStatus, Sysroot, doctor};

use crate::cli::Doctor;
use crate::exit::Exit;
use crate::present;

pub(crate) fn run(options: &Doctor) -> anyhow::Result<Exit> {
    let capabilities = doctor(&Sysroot::host(), &options.directory);
    if options.json {
        let text = serde_json::to_string_pretty(&capabilities).context("cannot write JSON")?;
        present::write_stdout(&(text + "\n"))?;
        return Ok(Exit::Success);
    }
    let mut text = String::new();
    for capability in &capabilities {
        let mark = match capability.status {
            CapabilityStatus::Ok => "ok     ",
            CapabilityStatus::Limited => "limited",
            CapabilityStatus::Missing => "missing",
        };
        text += &format!("{mark}  {:<24} {}\n", capability.name, capability.meaning);
        if let Some(remedy) = &capability.remedy {
            text += &format!("{:35}-> {remedy}\n", "");
        }
    }
    present::write_stdout(&text)?;
    Ok(Exit::Success)
}
