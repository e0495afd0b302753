//! Help: groups first, one screen with `-h`, everything with `--help-all`.

use std::path::Path;
use std::process::Command;

use crate::bench::Bench;

/// Lines of a screen.
const SCREEN: usize = 40;

/// The commands that a page of help lists below a heading `Commands:`.
fn subcommands(page: &str) -> Vec<&str> {
    let below = page.split("\nCommands:\n").nth(1).unwrap_or_default();
    let lines = below.lines().take_while(|line| line.starts_with("  "));
    lines
        .filter(|line| !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .collect()
}

fn short(bench: &Bench, path: &[&str], columns: &str) -> String {
    let mut command = bench.command(path.iter().chain(&["-h"]));
    let output = command.env("COLUMNS", columns).output().unwrap();
    assert!(output.status.success(), "{path:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_first_page_puts_the_commands_to_start_with_on_top() {
    let bench = Bench::new();
    let page = short(&bench, &[], "80");
    assert!(page.lines().count() <= SCREEN, "{page}");
    let places: Vec<usize> = [
        "Start here:",
        "  quick ",
        "  doctor ",
        "Measure:",
        "Maintenance:",
    ]
    .iter()
    .map(|word| {
        page.find(word)
            .unwrap_or_else(|| panic!("no {word} in\n{page}"))
    })
    .collect();
    assert!(places.is_sorted(), "{page}");
    assert!(
        !page.contains("gosbench"),
        "other tools are below compat:\n{page}"
    );
    let alone = bench.fathom([""; 0]);
    alone.expect_status(2).expect_in_stderr("Start here:");
    let full = bench.fathom(["--help"]).stdout;
    assert!(full.contains("  enumerate    Measure listings"), "{full}");
}

#[test]
fn short_help_fits_one_screen_and_the_terminal() {
    let bench = Bench::new();
    let all = bench.fathom(["--help"]).stdout;
    let names: Vec<&str> = all
        .lines()
        .filter(|line| line.starts_with("  ") && line.as_bytes()[2].is_ascii_lowercase())
        .filter_map(|line| line.split_whitespace().next())
        .filter(|word| *word != "fathom")
        .collect();
    assert!(names.len() > 30, "{names:?}");
    for name in names {
        let page = short(&bench, &[name], "80");
        assert!(page.lines().count() <= SCREEN, "{name}:\n{page}");
        let narrow = short(&bench, &[name], "60");
        let wide: Vec<&str> = narrow
            .lines()
            .filter(|line| line.chars().count() > 60)
            .collect();
        assert!(wide.is_empty(), "{name}: {wide:?}");
        for sub in subcommands(&page) {
            let page = short(&bench, &[name, sub], "80");
            assert!(page.lines().count() <= SCREEN, "{name} {sub}:\n{page}");
        }
    }
}

#[test]
fn short_help_shows_defaults_and_the_longest_help_shows_every_flag() {
    let bench = Bench::new();
    let page = short(&bench, &["io"], "80");
    for words in [
        "--iodepth",
        "[1]",
        "[1g]",
        "[30s]",
        "[randread]",
        "[4k]",
        "--help-all",
    ] {
        assert!(page.contains(words), "no {words} in\n{page}");
    }
    assert!(!page.contains("--key-layout"), "{page}");
    let taught = bench.fathom(["io", "--help"]).stdout;
    assert!(
        taught.contains("more options: fathom io --help-all"),
        "{taught}"
    );
    assert!(!taught.contains("--key-layout"), "{taught}");
    let whole = bench.fathom(["io", "--help-all"]).stdout;
    assert!(
        whole.contains("--key-layout") && whole.contains("--iodepth"),
        "{whole}"
    );
    let same = bench.fathom(["help", "io", "all"]).stdout;
    assert_eq!(whole, same);
}

#[test]
fn topics_have_a_table_each() {
    let bench = Bench::new();
    let statuses = bench.fathom(["help", "exit-status"]);
    statuses.expect_status(0);
    for status in ["0", "6", "10"] {
        let begins = |line: &str| line.split_whitespace().next() == Some(status);
        assert!(statuses.stdout.lines().any(begins), "{}", statuses.stdout);
    }
    let mut narrow = bench.command(["help", "exit-status"]);
    let narrow = narrow.env("COLUMNS", "60").output().unwrap();
    let narrow = String::from_utf8(narrow.stdout).unwrap();
    let fits = |line: &str| line.chars().count() <= 60;
    assert!(narrow.lines().all(fits), "{narrow}");
    let variables = bench.fathom(["help", "environment"]);
    variables.expect_status(0);
    assert!(
        variables.stdout.contains("FATHOM_STORE"),
        "{}",
        variables.stdout
    );
}

#[test]
fn topics_of_the_book_fit_the_terminal_and_point_to_one_another() {
    let bench = Bench::new();
    let list = bench.fathom(["help", "topics"]);
    list.expect_status(0);
    let topics: Vec<&str> = list
        .stdout
        .lines()
        .filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next())
        .collect();
    assert!(topics.len() > 25, "{}", list.stdout);
    for topic in topics {
        let mut command = bench.command(["help", topic]);
        let page = command.env("COLUMNS", "80").output().unwrap();
        assert!(page.status.success(), "{topic}");
        let page = String::from_utf8(page.stdout).unwrap();
        assert!(!page.contains('\x1b'), "no colour into a pipe: {topic}");
        // Code stands as it is written.
        let text = page.lines().filter(|line| !line.starts_with("    "));
        let wide: Vec<&str> = text.filter(|line| line.chars().count() > 80).collect();
        assert!(wide.is_empty(), "{topic}:\n{}", wide.join("\n"));
    }
    let page = bench.fathom(["help", "traps"]).stdout;
    assert!(page.contains("`fathom help caches`"), "{page}");
}

#[test]
fn a_mistyped_topic_is_answered_with_the_nearest_word() {
    let bench = Bench::new();
    let near = bench.fathom(["help", "netwrk"]);
    near.expect_status(2);
    near.expect_in_stderr("did you mean `fathom help network`?");
    let far = bench.fathom(["help", "xyzzyplugh"]);
    far.expect_status(2);
    far.expect_in_stderr("fathom help topics");
}

#[test]
fn other_tools_are_found_below_compat_and_by_their_own_names() {
    let bench = Bench::new();
    let page = bench.fathom(["compat", "--help"]).stdout;
    for tool in [
        "fio",
        "judge",
        "smallfile",
        "gosbench",
        "at_io_iops",
        "at_io_parallel",
    ] {
        assert!(subcommands(&page).contains(&tool), "{tool}:\n{page}");
        let below = bench.fathom(["compat", tool, "--help"]);
        let own = bench.fathom([tool, "--help"]);
        assert_eq!((below.status, own.status), (Some(0), Some(0)), "{tool}");
    }
}

#[test]
fn completions_know_commands_flags_values_and_runs() {
    let bench = Bench::new();
    let complete = |words: &[&str]| {
        let outcome = bench.fathom(["complete", "--"].iter().chain(words));
        outcome.expect_status(0);
        outcome.stdout
    };
    assert!(complete(&["qu"]).contains("quick"));
    assert!(complete(&["io", "--iod"]).contains("--iodepth"));
    assert!(complete(&["io", ".", "--rw", "randr"]).contains("randread"));
    assert!(complete(&["explain", "V0"]).contains("V01"));
    assert!(complete(&["plan", "new", "da"]).contains("database"));
    bench
        .fathom(["io", "null:", "--rw", "randread", "--number-ios", "500"])
        .expect_status(0);
    assert!(complete(&["runs", "show", "20"]).lines().count() == 1);
    let page = bench.fathom(["man", "runs", "list"]);
    page.expect_status(0);
    assert!(
        page.stdout.contains("fathom\\-runs\\-list"),
        "{}",
        page.stdout
    );
    bench.fathom(["man", "--all", "pages"]).expect_status(0);
    assert!(bench.path().join("pages/fathom-io.1").exists());
}

/// What a shell prints for a script; `None` where the shell is not there.
fn in_shell(bench: &Bench, shell: &str, script: &str) -> Option<String> {
    if Command::new(shell).arg("--version").output().is_err() {
        println!("skipped: {shell} is not installed");
        return None;
    }
    let program = Path::new(env!("CARGO_BIN_EXE_fathom")).parent()?;
    let path = format!("{}:{}", program.display(), std::env::var("PATH").ok()?);
    let mut command = Command::new(shell);
    command.args(["-c", script]).env("PATH", path);
    command.env("HOME", bench.path()).current_dir(bench.path());
    let output = command.output().unwrap();
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn fish_offers_what_fits_and_files_only_where_nothing_does() {
    let bench = Bench::new();
    std::fs::write(bench.path().join("nearby"), "").unwrap();
    let complete = |line: &str| {
        let script = format!("fathom completions fish | source; complete -C '{line}'");
        in_shell(&bench, "fish", &script)
    };
    let Some(commands) = complete("fathom expl") else {
        return;
    };
    assert_eq!(commands, "explain\n");
    assert!(complete("fathom explain V0").is_some_and(|found| found.contains("V01\n")));
    let engines = complete("fathom io --engine ").unwrap();
    assert!(
        engines.contains("uring\n") && !engines.contains("nearby"),
        "{engines}"
    );
    let files = complete("fathom io near").unwrap();
    assert_eq!(files, "nearby\n");
}

#[test]
fn zsh_completes_a_command() {
    let bench = Bench::new();
    // A shell without a terminal completes nothing: zsh brings a pseudo-terminal along.
    let script = r#"
zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z 'PROMPT=; autoload -U compinit; compinit -u -d dump; eval "$(fathom completions zsh)"; print ready'
zpty -r z line '*ready*ready*'
zpty -w -n z $'fathom expl\t'
zpty -r z line '*explain*'
print -r -- "$line"
zpty -d z
"#;
    let Some(found) = in_shell(&bench, "zsh", script) else {
        return;
    };
    assert!(found.contains("explain"), "{found}");
}

/// Profiles whose names a shell would run, if it were given them as they are.
const ODD_PROFILES: [&str; 6] = [
    "$(touch made)",
    "`touch made`",
    ";touch made;",
    "two words",
    "it's \"so\"",
    "star*",
];

#[test]
fn bash_gets_words_with_the_quotes_that_they_need_and_runs_none() {
    let bench = Bench::new();
    let folder = bench.path().join(".aws");
    std::fs::create_dir(&folder).unwrap();
    let profiles = ODD_PROFILES
        .map(|name| format!("[{name}]\nkey = x\n"))
        .concat();
    std::fs::write(folder.join("credentials"), profiles + "[two\rlines]\n").unwrap();
    std::fs::write(bench.path().join("starry"), "").unwrap();
    // Words as bash cuts them, the text that it replaces, and the line.
    let complete = |words: &str, replaced: &str, line: &str| {
        let script = format!(
            "source <(fathom completions bash); COMP_WORDS=({words}); COMP_LINE='{line}'
             COMP_POINT=${{#COMP_LINE}}; COMP_CWORD=$((${{#COMP_WORDS[@]}}-1))
             _fathom fathom '{replaced}' 2>&1
             for word in \"${{COMPREPLY[@]}}\"; do eval \"printf '%s\\n' $word\"; done"
        );
        in_shell(&bench, "bash", &script)
    };
    let line = "fathom s3 get --profile ";
    let Some(found) = complete("fathom s3 get --profile ''", "", line) else {
        return;
    };
    assert_eq!(found.lines().collect::<Vec<_>>(), ODD_PROFILES);
    assert!(!bench.path().join("made").exists());
    let typed = complete("fathom s3 get --profile '$(touch made)'", "", line);
    assert!(typed.is_some() && !bench.path().join("made").exists());
    let joined = complete("fathom io --rw = randr", "randr", "fathom io --rw=randr");
    assert_eq!(joined.as_deref(), Some("randread\nrandrw\n"));
    let store = complete("fathom io --engine = ''", "", "fathom io --engine=");
    assert!(store.is_some_and(|found| found.starts_with("uring\n")));
}

#[test]
fn completions_are_silent_about_stores_that_cannot_be_read() {
    let bench = Bench::new();
    std::fs::write(bench.path().join("damaged.db"), "no database\n").unwrap();
    let status = Command::new("mkfifo")
        .arg("pipe.db")
        .current_dir(bench.path())
        .status();
    assert!(status.unwrap().success());
    for store in [
        "missing.db",
        "missing/x.db",
        "damaged.db",
        "pipe.db",
        ".",
        "postgres://h/d",
    ] {
        let words = ["complete", "--", "runs", "show", "--store", store, ""];
        let outcome = bench.fathom(words);
        outcome.expect_status(0);
        assert_eq!(
            (outcome.stdout.as_str(), outcome.stderr.as_str()),
            ("latest\n", ""),
            "{store}"
        );
    }
    assert!(!bench.path().join("missing.db").exists());
}
