//! The program as its users meet it. What it serves is tried in the tests of fathom.

use std::process::{Command, Output, Stdio};

fn laboratory(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fathom-lab"))
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .expect("fathom-lab starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn each_command_says_what_it_is_for_and_shows_a_call() {
    let all = text(&laboratory(&["--help"]).stdout);
    for command in [
        "drive",
        "models",
        "s3",
        "link",
        "exam",
        "accuracy",
        "diagnosis",
    ] {
        assert!(all.contains(&format!("\n  {command} ")), "{all}");
        let output = laboratory(&[command, "--help"]);
        assert_eq!(output.status.code(), Some(0), "{command}");
        let help = text(&output.stdout);
        assert!(help.contains(&format!("fathom-lab {command}")), "{help}");
        assert!(help.contains("Example"), "{help}");
    }
}

#[test]
fn a_wrong_call_has_status_2_and_nothing_on_standard_output() {
    for wrong in [&[] as &[&str], &["drvie"], &["exam", "--repeats", "0"]] {
        let output = laboratory(wrong);
        assert_eq!(output.status.code(), Some(2), "{wrong:?}");
        assert_eq!(text(&output.stdout), "", "{wrong:?}");
        assert!(text(&output.stderr).contains("--help"), "{wrong:?}");
    }
}

#[test]
fn an_exam_needs_a_fathom_to_examine() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let missing = folder.path().join("fathom").display().to_string();
    for exam in ["diagnosis", "accuracy"] {
        let output = laboratory(&[exam, "--fathom", &missing]);
        assert_eq!(output.status.code(), Some(2), "{exam}");
        let complaint = text(&output.stderr);
        assert!(
            complaint.starts_with("fathom-lab: cannot use "),
            "{complaint}"
        );
        assert!(complaint.contains(&missing), "{complaint}");
    }
}

#[test]
fn the_simulated_exam_is_sat_without_any_program() {
    let output = laboratory(&["exam", "--seed", "7", "--scenario", "sound", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stdout));
    let paper: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let answers = paper["answers"].as_array().expect("answers");
    assert!(!answers.is_empty(), "{paper}");
    assert!(
        answers.iter().all(|answer| answer["grade"] == "right"),
        "{paper}"
    );
}
