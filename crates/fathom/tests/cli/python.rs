//! Python programs of others, from the package index.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A Python environment with the packages; nothing, and a word why, where it
/// cannot be had.
pub(crate) fn environment(folder: &Path, packages: &[&str]) -> Option<PathBuf> {
    let venv = folder.join("venv");
    let made = Command::new("python3")
        .args(["-m", "venv"])
        .arg(&venv)
        .output();
    if !made.is_ok_and(|made| made.status.success()) {
        println!("skipped: python3 -m venv does not work here");
        return None;
    }
    let installed = Command::new("timeout")
        .arg("240")
        .arg(venv.join("bin/pip"))
        .args(["install", "--quiet", "--retries", "1", "--timeout", "15"])
        .args(["--disable-pip-version-check", "--no-input"])
        .args(packages)
        .output()
        .unwrap();
    if !installed.status.success() {
        let said = String::from_utf8_lossy(&installed.stderr);
        let last = said.lines().last().unwrap_or("no answer");
        println!("skipped: no package index: {last}");
        return None;
    }
    Some(venv.join("bin"))
}
