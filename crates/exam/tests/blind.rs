//! Cases of a batch, set up and taken away. A file of its own: what a case leaves
//! running is ended for the whole process, so no other test here starts anything.

use std::fs;
use std::path::Path;
use std::time::Duration;

use fathom_exam::blind::{Batch, BlindDesk, BlindGrade, BlindResult};
use fathom_exam::diagnosis::Programs;

/// Stands for fathom: it says yes, and its status is 3.
const YES: &str = "#!/bin/sh\necho '{\"answer\": \"yes\"}'; exit 3\n";

fn sit(folder: &Path, case: &str) -> BlindResult {
    let text = format!("title = 't'\nby = 'b'\n[[case]]\nname = 'n'\ntruth = 't'\n{case}");
    let batch = Batch::parse(&text).unwrap_or_else(|error| panic!("{error}"));
    let programs = Programs {
        fathom: folder.join("fathom"),
        laboratory: folder.join("fathom"),
    };
    let stopped = || false;
    let desk = BlindDesk::new(&programs, folder, Duration::ZERO, &stopped).expect("a desk");
    let result = desk.sit(&batch.cases[0]).expect("it is sat");
    drop(desk);
    let left = fs::read_dir(folder).expect("the folder").flatten();
    let left = left.filter(|entry| {
        entry
            .file_name()
            .to_string_lossy()
            .starts_with("fathom-blind")
    });
    assert_eq!(left.count(), 0, "nothing is left");
    result.expect("it was not stopped")
}

/// Makes a script that can be run. Another process writes it: while this one has it
/// open, a child that another test starts inherits that, and running it is "text file
/// busy" (ETXTBSY).
fn program(path: &Path, script: &str) {
    let write = "printf %s \"$2\" >\"$1\" && chmod 755 \"$1\"";
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", write, "sh"]).arg(path).arg(script);
    assert!(shell.status().expect("a shell").success());
}

#[test]
fn a_case_finds_its_programs_and_leaves_nothing() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let fathom = folder.path().join("fathom");
    program(&fathom, YES);
    let marker = folder.path().join("marker");

    let result = sit(
        folder.path(),
        &format!(
            "setup = '''touch here\n(sleep 1000 & echo $! > {0}; disown)\n(setsid sleep 1000 & \
             echo $! >> {0}) '''\nask = 'test -e here && fathom'\nteardown = 'rm here'\n\
             right = [{{ '/answer' = 'yes', status = 3 }}]",
            marker.display()
        ),
    );
    // Others may be at work on this machine, which the grade would say.
    let fair = matches!(result.grade, BlindGrade::Right | BlindGrade::Disturbed);
    assert!(fair && result.said.contains("yes"), "{result:?}");
    assert_eq!(result.status, Some(3));
    let started = fs::read_to_string(marker).expect("what was started");
    assert_eq!(started.lines().count(), 2);
    for pid in started.lines() {
        assert!(!Path::new("/proc").join(pid).exists(), "{pid} still runs");
    }

    let broken = sit(
        folder.path(),
        "setup = 'echo no such thing >&2; false'\nask = 'fathom'\nright = [{ status = 3 }]",
    );
    assert_eq!(broken.grade, BlindGrade::Broken);
    assert_eq!(broken.remark.as_deref(), Some("no such thing"));

    let late = sit(
        folder.path(),
        "ask = 'sleep 1000'\nseconds = 1\nright = [{ status = 0 }]",
    );
    assert_eq!(late.status, None);
    let fair = matches!(late.grade, BlindGrade::Wrong | BlindGrade::Disturbed);
    assert!(fair, "{late:?}");
}

/// What the guide shows to who writes a batch is one.
#[test]
fn the_example_of_the_guide_is_a_batch() {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/lab.md");
    let guide = fs::read_to_string(guide).expect("the guide");
    let example = guide.split("```toml\n").nth(1).expect("an example");
    let example = example.split("```").next().expect("its end");
    let batch = Batch::parse(example).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((batch.cases.len(), batch.cases[0].never.len()), (1, 1));
}
