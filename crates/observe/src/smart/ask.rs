//! Asks smartctl, where it is installed. Disks that sleep are not woken
//! (`-n standby`); without root it refuses, which is told.

use std::io;
use std::path::Path;
use std::thread::Builder;
use std::time::Duration;

use super::devices::{SmartDevice, parse_scan};
use super::{SmartHealth, parse_smartctl};
use fathom_deadline::{find_program, output_of};

/// A healthy disk answers within a fraction of a second.
const PATIENCE: Duration = Duration::from_secs(4);
/// Disks that are asked at the same time.
const AT_ONCE: usize = 8;
/// What came of asking a drive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SmartAnswer {
    /// Its name: `sda`.
    pub name: String,
    /// What it says, or why it said nothing.
    pub health: Result<SmartHealth, String>,
}

/// Why no drive could be asked.
#[derive(Debug, thiserror::Error)]
pub enum NoSmart {
    /// The program that asks is missing.
    #[error(
        "SMART of SATA and SAS disks is not read: smartctl (package smartmontools) is not installed"
    )]
    NotInstalled,
    /// It does not answer.
    #[error("SMART of SATA and SAS disks is not read: {0}")]
    NotRun(#[from] io::Error),
}

/// Asks every SATA and SAS drive of this host; `Err` says why none could be.
///
/// # Errors
/// smartctl is not installed, or does not answer.
pub fn smart_answers() -> Result<Vec<SmartAnswer>, NoSmart> {
    let program = find_program("smartctl").ok_or(NoSmart::NotInstalled)?;
    let scan = output_of(&program, &["--json", "--scan"], PATIENCE)?;
    let devices = parse_scan(&scan);
    let mut answers = Vec::new();
    for some in devices.chunks(AT_ONCE) {
        std::thread::scope(|scope| {
            let begin = |device| {
                let program = &program;
                let begun = Builder::new().spawn_scoped(scope, move || ask(program, device));
                (device, begun)
            };
            let asked: Vec<_> = some.iter().map(begin).collect();
            // Where no thread can be had, one drive is asked after the other.
            answers.extend(asked.into_iter().filter_map(|(device, begun)| match begun {
                Ok(thread) => thread.join().ok(),
                Err(_) => Some(ask(&program, device)),
            }));
        });
    }
    Ok(answers)
}

fn ask(program: &Path, device: &SmartDevice) -> SmartAnswer {
    let mut arguments = vec!["--json", "-n", "standby", "-a", "-l", "devstat"];
    arguments.extend(device.arguments.iter().map(String::as_str));
    let said = output_of(program, &arguments, PATIENCE).map_err(|error| error.to_string());
    let health = said.and_then(|text| match parse_smartctl(&text) {
        Some(drive) if !drive.health.is_empty() => Ok(drive.health),
        Some(drive) => Err(drive
            .message
            .unwrap_or_else(|| "smartctl found nothing to tell".to_owned())),
        None => Err("smartctl gave no JSON; it takes version 7.0".to_owned()),
    });
    SmartAnswer {
        name: device.name.clone(),
        health,
    }
}
