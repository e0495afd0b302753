//! Help: groups first, one screen with `-h`, everything with `--help-all`.

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
    let variables = bench.fathom(["help", "environment"]);
    variables.expect_status(0);
    assert!(
        variables.stdout.contains("FATHOM_STORE"),
        "{}",
        variables.stdout
    );
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
