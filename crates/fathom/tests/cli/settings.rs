//! The file of settings: options that are not typed again, and names.

use std::path::PathBuf;

use crate::bench::{Bench, Output, finish};

fn file(bench: &Bench, text: &str) -> PathBuf {
    let path = bench.path().join("config.toml");
    std::fs::write(&path, text).unwrap();
    path
}

fn fathom(bench: &Bench, text: &str, words: &[&str]) -> Output {
    let path = file(bench, text);
    let mut command = bench.command(words);
    command.env("FATHOM_CONFIG", path);
    finish(command.spawn().unwrap())
}

#[test]
fn a_setting_counts_as_typed_unless_its_option_is_typed() {
    let bench = Bench::new();
    let settings = "[defaults]\ncolor = 'never'\n[io]\nruntime = '1s'\niodepth = 7\n\
                    size = '4m'\nformat = 'json'\nquiet = true\n";
    let from_file = fathom(&bench, settings, &["io", "sim:ssd", "--rw", "randread"]);
    from_file.expect_status(0);
    assert!(from_file.stdout.contains("\"iodepth\": 7") || from_file.stdout.contains("q7"));
    let typed = fathom(
        &bench,
        settings,
        &["io", "sim:ssd", "--iodepth", "3", "--csv"],
    );
    typed.expect_status(0);
    assert!(
        !typed.stdout.starts_with('{'),
        "--csv was typed:\n{}",
        typed.stdout
    );
    assert!(typed.stdout.contains("q3"), "{}", typed.stdout);
}

#[test]
fn a_variable_comes_before_the_file_and_the_file_before_what_is_built_in() {
    let bench = Bench::new();
    let shown = fathom(
        &bench,
        "[defaults]\nstore = '/elsewhere'\n[io]\nruntime = '7s'\n",
        &["config", "show", "io", "--json"],
    );
    shown.expect_status(0);
    let shown: serde_json::Value = serde_json::from_str(&shown.stdout).unwrap();
    let of = |name: &str| {
        let options = shown["options"].as_array().unwrap();
        options
            .iter()
            .find(|row| row["option"] == name)
            .unwrap()
            .clone()
    };
    assert_eq!(of("store")["from"], "$FATHOM_STORE");
    assert_eq!(of("runtime")["value"], "7s");
    assert_eq!(of("runtime")["from"], "config.toml:4");
    assert_eq!(of("iodepth")["from"], "built in");
}

#[test]
fn names_stand_for_targets_and_slos() {
    let bench = Bench::new();
    let settings = "[targets]\nboth = 'null:'\n[slos]\noltp = 'p99<900ms'\n\
                    [io]\nruntime = '1s'\nslo = '@oltp'\n";
    let measured = fathom(
        &bench,
        settings,
        &["io", "@both", "--rw", "randread", "--json"],
    );
    assert!(
        measured.stdout.contains("p99<900ms"),
        "{}{}",
        measured.stdout,
        measured.stderr
    );
    let completed = fathom(&bench, settings, &["complete", "--", "io", "@b"]);
    assert_eq!(completed.stdout, "@both\n");
    bench.fathom(["list"]).expect_status(0);
    let page = bench.fathom(["help", "list"]);
    assert!(page.stdout.contains("fathom runs list"), "{}", page.stdout);
    fathom(&bench, settings, &["io", "@bth"])
        .expect_status(2)
        .expect_in_stderr("did you mean '@both'?");
    fathom(&bench, settings, &["io", "null:", "--slo", "@other"])
        .expect_status(2)
        .expect_in_stderr("nothing is named '@other' below [slos]");
}

#[test]
fn mistakes_are_told_with_their_place_and_harm_cannot_be_set() {
    let bench = Bench::new();
    let told = |text: &str, words: &[&str]| fathom(&bench, text, words);
    told("[io]\nruntim = '1s'\n", &["io", "null:"])
        .expect_status(2)
        .expect_in_stderr(
            "config.toml:2:1: io has no option 'runtim'\nhelp: did you mean 'runtime'?",
        );
    told("[io]\nruntime = 'soon'\n", &["io", "null:"])
        .expect_status(2)
        .expect_in_stderr("config.toml:2:1: ");
    told("[io]\ndestructive = true\n", &["io", "null:"])
        .expect_status(2)
        .expect_in_stderr("'destructive' cannot be set for good");
    told("[io\n", &["runs", "list"])
        .expect_status(2)
        .expect_in_stderr("config.toml:1:");
    let all = "[oi]\nbs = '4k'\n[defaults]\ncolour = 'never'\n[quick]\nseconds = 'many'\n";
    let checked = told(all, &["config", "check"]);
    checked
        .expect_status(2)
        .expect_in_stderr("did you mean [io]?")
        .expect_in_stderr("did you mean 'color'?")
        .expect_in_stderr("config.toml:6:1: invalid value 'many'");
}

#[test]
fn a_file_to_begin_with_is_written_once_and_is_right() {
    let bench = Bench::new();
    let path = bench.path().join("etc/config.toml");
    let run = |words: &[&str]| {
        let mut command = bench.command(words);
        finish(command.env("FATHOM_CONFIG", &path).spawn().unwrap())
    };
    run(&["config", "init"]).expect_status(0);
    run(&["config", "check"]).expect_status(0);
    run(&["config", "show"]).expect_status(0);
    run(&["config", "init"])
        .expect_status(2)
        .expect_in_stderr("is there already");
    // Every line of the example that is commented out is right as well.
    let text = std::fs::read_to_string(&path).unwrap();
    let lines = text.lines().map(|line| {
        let line = line
            .strip_prefix("# ")
            .filter(|rest| rest.contains(" = ") || rest.starts_with('['));
        line.unwrap_or_default()
    });
    let tables = [
        "[defaults]",
        "[targets]",
        "[endpoints]",
        "[hosts]",
        "[slos]",
    ];
    let whole: Vec<&str> = text
        .lines()
        .zip(lines)
        .map(|(line, open)| if tables.contains(&line) { line } else { open })
        .collect();
    assert!(
        whole.iter().filter(|line| line.contains(" = ")).count() >= 7,
        "{whole:?}"
    );
    std::fs::write(&path, whole.join("\n")).unwrap();
    run(&["config", "check"]).expect_status(0);
}

#[test]
fn names_are_checked_as_what_they_stand_for_and_secrets_are_not_shown() {
    let bench = Bench::new();
    let settings = "[targets]\ndb = 'sim:ssd'\nloop = '@db'\n[slos]\nbad = 'p99<<'\n\
                    [endpoints]\nlab = 'https://key:topsecret@x.example'\n\
                    [hosts]\nrack = 'node[01-02]'\n[io]\nruntime = '2x'\n";
    let checked = fathom(&bench, settings, &["config", "check"]);
    checked.expect_status(2);
    for part in [
        "config.toml:3:1: 'loop' stands for the name '@db', and names are not followed",
        "config.toml:5:1: invalid value 'p99<<' for '--slo <TARGET_TO_HOLD>'",
        "config.toml:7:1: invalid value 'https://***@x.example' for '--endpoint <ENDPOINT>'",
        "config.toml:11:1: invalid value '2x' for '--runtime <TIME>'",
    ] {
        assert!(checked.stderr.contains(part), "{part}\n{}", checked.stderr);
    }
    let settings = "[defaults]\nmetrics-push = 'https://key:topsecret@x.example'\n\
                    [targets]\ndb = 'sim:ssd'\n";
    for arguments in [&["config", "show"][..], &["config", "show", "io", "--json"]] {
        let shown = fathom(&bench, settings, arguments);
        assert!(!shown.stdout.contains("topsecret"), "{}", shown.stdout);
        assert!(!shown.stderr.contains("topsecret"), "{}", shown.stderr);
    }
}

#[test]
fn what_a_name_cannot_be_is_answered_with_what_to_type() {
    let bench = Bench::new();
    let settings = "[hosts]\nrack = 'node[01-02]'\n";
    fathom(&bench, settings, &["net", "@rack"])
        .expect_status(2)
        .expect_in_stderr("help: fathom net --hosts 'node[01-02]'");
}
