//! `fathom at_io_iops`: the tool's command lines, its files and its result line.

use std::collections::BTreeMap;

use crate::bench::{Bench, Output, finish};

impl Bench {
    fn at_io_iops(&self, line: &str) -> Output {
        self.fathom(std::iter::once("at_io_iops").chain(line.split(' ')))
    }

    /// Sizes of the test files in the data folder by name.
    fn sizes(&self) -> BTreeMap<String, u64> {
        let files = self.data_files().into_iter();
        files
            .filter(|path| path.extension().is_some_and(|e| e != "manifest"))
            .map(|path| {
                let name = path.file_name().unwrap().to_string_lossy().into_owned();
                (name, path.metadata().unwrap().len())
            })
            .collect()
    }
}

/// The number and the unit of the one line on standard output.
#[track_caller]
fn rate(output: &Output) -> (f64, String) {
    output.expect_status(0);
    assert_eq!(output.stdout.lines().count(), 1, "{}", output.stdout);
    let line = output.stdout.trim_end();
    let fields: Vec<&str> = line.split(' ').collect();
    assert_eq!(fields[0], "time:", "{line}");
    assert_eq!(
        (fields[3], fields[4], fields[6]),
        ("rate:", "{", "}"),
        "{line}"
    );
    assert!(line.ends_with(';'));
    let number = fields[5].parse().unwrap_or_else(|_| panic!("{line}"));
    (number, fields[7].trim_end_matches(';').to_owned())
}

#[test]
fn each_operation_of_the_guide_gives_its_result_line() {
    let bench = Bench::new();
    for (line, unit) in [
        (
            "--read --seq -s 1M --mbs -p 2 -t 1 -u 8M -S --cached -f data",
            "MB/s",
        ),
        (
            "--write --seq -s 1M --mbs -p 2 -t 1 -u 8M -S --cached -f data",
            "MB/s",
        ),
        (
            "--read --rand -s 4K --iops -p 4 -t 1 -u 8M -S --cached -f data",
            "iops",
        ),
        (
            "--fdatasync --rand -s 4K --iops -p 4 -t 1 -u 8M -S --cached -f data",
            "sync/s",
        ),
        (
            "--fsync --rand -s 4K -q 8 --iops -p 4 -t 1 -u 8M -S --cached -f data",
            "sync/s",
        ),
        ("--write --rand -s 4K --mbs -t 1 -u 8M -f data", "MB/s"),
    ] {
        let output = bench.at_io_iops(line);
        let (number, of) = rate(&output);
        assert!(number > 0.0, "{line}: {}", output.stdout);
        assert_eq!(of, unit, "{line}");
        output.expect_in_stderr("Validity:");
        assert_eq!(output.stderr.contains(" writes/s\n"), unit == "sync/s");
    }
}

#[test]
fn files_are_made_reused_grown_cut_added_removed_and_kept() {
    let bench = Bench::new();
    let run = |line: &str| rate(&bench.at_io_iops(line));
    let expect = |files: &[(&str, u64)]| {
        let expected: BTreeMap<String, u64> = files
            .iter()
            .map(|(name, mib)| ((*name).to_owned(), mib << 20))
            .collect();
        assert_eq!(bench.sizes(), expected);
    };
    run("--read --rand -p 2 -t 1 -u 8M -f data");
    expect(&[("at_io_iops.0", 4), ("at_io_iops.1", 4)]);
    let inode = |name: &str| {
        use std::os::unix::fs::MetadataExt;
        bench.data().join(name).metadata().unwrap().ino()
    };
    let first = inode("at_io_iops.0");
    // Also a load that only writes has its files written before.
    run("--write --rand -p 2 -t 1 -u 8M -f data");
    assert_eq!(inode("at_io_iops.0"), first);
    run("--write --rand -p 2 -t 1 -u 16M -f data");
    expect(&[("at_io_iops.0", 8), ("at_io_iops.1", 8)]);
    run("--read --rand -p 4 -t 1 -u 8M -f data");
    let two = [("at_io_iops.0", 2), ("at_io_iops.1", 2)];
    expect(&[&two[..], &[("at_io_iops.2", 2), ("at_io_iops.3", 2)]].concat());
    run("--read --rand -p 4 -n 1 -t 1 -u 4M -f data");
    expect(&[("at_io_iops.0", 4)]);
    assert_eq!(inode("at_io_iops.0"), first);
    // They are known, and removed by name of the run.
    bench.fathom(["clean", "--kept", "--yes"]).expect_status(0);
    assert!(bench.data_files().is_empty(), "{:?}", bench.data_files());
}

#[test]
fn a_name_that_is_no_directory_begins_the_names_of_the_files() {
    let bench = Bench::new();
    rate(&bench.at_io_iops("--read --rand -p 2 -t 1 -u 2M -f data/temp"));
    let names: Vec<String> = bench.sizes().into_keys().collect();
    assert_eq!(names, ["temp.0", "temp.1"]);
}

#[test]
fn files_that_others_made_are_left_alone() {
    let bench = Bench::new();
    let file = bench.data().join("at_io_iops.0");
    std::fs::write(&file, "mine").unwrap();
    let output = bench.at_io_iops("--write --rand -t 1 -u 2M -f data");
    assert_ne!(output.status, Some(0));
    assert_eq!(output.stdout, "");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
}

#[test]
fn a_link_of_its_name_is_the_tool() {
    let bench = Bench::new();
    let link = bench.path().join("at_io_iops");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_fathom"), &link).unwrap();
    let mut command = bench.command(["-a", "--read", "--seq", "-p", "4", "-f", "data"]);
    let mut by_link = std::process::Command::new(&link);
    by_link
        .args(command.get_args())
        .current_dir(bench.path())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    let output = finish(by_link.spawn().unwrap());
    output.expect_status(0);
    assert!(
        output
            .stdout
            .contains("Cmdline:        -a --read --seq -p 4 -f data\n"),
        "{}",
        output.stdout
    );
    assert!(output.stdout.contains("create/open 4 file(s)"));
    assert!(bench.data_files().is_empty(), "-a makes nothing");
    // The same by the name of the command.
    command = bench.command([
        "at_io_iops",
        "-a",
        "--read",
        "--seq",
        "-p",
        "4",
        "-f",
        "data",
    ]);
    let named = finish(command.spawn().unwrap());
    assert_eq!(named.stdout, output.stdout);
}

#[test]
fn verbosity_goes_to_standard_error() {
    let bench = Bench::new();
    let line = "--fsync --rand -q 4 -p 2 -t 1 -u 2M -f data";
    for (flag, words) in [
        ("-v", "Testcase:"),
        ("-vv", "fsync(fd) after every 4 writes"),
        ("-vvv", "thread 1: pwrite64(at_io_iops.1, 4096 bytes at "),
    ] {
        let output = bench.at_io_iops(&format!("{flag} {line}"));
        rate(&output);
        output.expect_in_stderr(words);
        assert!(output.stderr.len() < 128 << 10, "bounded");
    }
    bench
        .at_io_iops("--read --rand -u 1K -p 4 -f data")
        .expect_status(2)
        .expect_in_stderr("less than a block");
    bench
        .at_io_iops("--read --sequential")
        .expect_status(2)
        .expect_in_stderr("--seq");
}
