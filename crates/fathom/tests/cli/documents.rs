//! What the documents show is true: every console line in them is run.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use fathom_lab::real::{or_skip, tool};

use crate::bench::{Bench, laboratory};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The commands of the console blocks of a document, in order.
fn console_lines(text: &str) -> Vec<String> {
    let mut inside = false;
    let mut commands = Vec::new();
    for line in text.lines() {
        if line.starts_with("```") {
            inside = line.trim() == "```console";
        } else if inside && let Some(command) = line.strip_prefix("$ ") {
            commands.push(command.to_owned());
        }
    }
    commands
}

/// The pages that show commands: those of the top and of docs.
fn documents() -> Vec<PathBuf> {
    let mut folders = vec![root().join("docs")];
    let mut found = vec![root().join("README.md"), root().join("CONTRIBUTING.md")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            match path.extension() {
                _ if path.is_dir() => folders.push(path),
                Some(extension) if extension == "md" => found.push(path),
                _ => {}
            }
        }
    }
    found.sort();
    found
}

/// Runs the commands of the pages below `docs` that lie in these folders; those of all
/// others where none are named. At least `least` of them must be there.
fn run_commands(folders: &[&str], least: usize) {
    let documents = documents();
    assert!(documents.len() > 50, "{documents:?}");
    let is_asked_for = |page: &PathBuf| {
        let folder = page.parent().and_then(Path::file_name);
        let folder = folder.and_then(|name| name.to_str()).unwrap_or_default();
        match folders {
            [] => !FOLDERS.contains(&folder),
            folders => folders.contains(&folder),
        }
    };
    let mut ran = 0;
    for document in documents.into_iter().filter(is_asked_for) {
        let text = std::fs::read_to_string(&document).unwrap();
        let document = document.display();
        let bench = Bench::new();
        // What a document gives as an example lies in the examples.
        let examples = bench.data().join("examples");
        std::os::unix::fs::symlink(root().join("examples"), examples).unwrap();
        // The lines call `fathom`; it is found first on the path.
        let bin = bench.path().join("bin");
        std::fs::create_dir(&bin).unwrap();
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_fathom"), bin.join("fathom")).unwrap();
        std::os::unix::fs::symlink(laboratory(), bin.join("fathom-lab")).unwrap();
        let path = format!(
            "{}:{}",
            bin.display(),
            std::env::var("PATH").unwrap_or_default()
        );
        for command in console_lines(&text) {
            if command.contains("fathom-lab drive") && or_skip(tool::need_fuse()).is_none() {
                continue;
            }
            let output = Command::new("sh")
                .args(["-c", &command])
                .current_dir(bench.data())
                .env("PATH", &path)
                .env("FATHOM_STORE", bench.store())
                .stdin(Stdio::null())
                .output()
                .expect("sh runs");
            ran += 1;
            assert!(
                matches!(output.status.code(), Some(0 | 4)),
                "{document}: {command}\n{}{}",
                String::from_utf8_lossy(&output.stdout),
                String::from_utf8_lossy(&output.stderr)
            );
        }
    }
    assert!(ran >= least, "the documents show commands: {ran}");
}

/// Folders whose pages have a test of their own, so that they run beside one another.
const FOLDERS: [&str; 5] = ["guide", "start", "how-to", "concepts", "coming-from"];

#[test]
fn every_command_of_the_guide_runs() {
    run_commands(&["guide"], 40);
}

#[test]
fn every_command_of_the_concepts_runs() {
    run_commands(&["concepts"], 15);
}

#[test]
fn every_command_of_how_tos_and_for_users_of_other_tools_runs() {
    run_commands(&["start", "how-to", "coming-from"], 25);
}

#[test]
fn every_command_of_all_other_pages_runs() {
    run_commands(&[], 6);
}
