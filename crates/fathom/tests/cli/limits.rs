//! Limits of the process end with a message and a clean target.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// Calls fathom under a limit of the shell.
fn limited(here: &Path, limit: &str, line: &str) -> Output {
    let script = format!(
        "ulimit {limit}; exec {} {line}",
        env!("CARGO_BIN_EXE_fathom")
    );
    Command::new("bash")
        .args(["-c", &script])
        .current_dir(here)
        .env("FATHOM_STORE", here.join("store/fathom.db"))
        .env("RUST_BACKTRACE", "0")
        .stdin(Stdio::null())
        .output()
        .expect("a shell runs")
}

fn files(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap().flatten();
    entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect()
}

const LOAD: &str = "io data --rw randread --bs 4k --size 8m --runtime 300ms";

#[track_caller]
fn ends_in_order(limit: &str, line: &str, told: &[&str]) {
    let home = TempDir::new().unwrap();
    let data = home.path().join("data");
    std::fs::create_dir(&data).unwrap();
    let output = limited(home.path(), limit, line);
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    let out = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(1), "{limit}: {out}{err}");
    for word in told {
        assert!(err.contains(word), "{limit}: {err}");
    }
    assert!(!err.contains("panicked"), "{limit}: {err}");
    assert!(files(&data).is_empty(), "{limit}: {:?}", files(&data));
}

#[test]
fn too_little_address_space_is_said_before_files_are_made() {
    let many = format!("{LOAD} --numjobs 64");
    // Which thread allocates first is chance, and with it what is in use.
    for _ in 0..8 {
        ends_in_order(
            "-v 200000",
            &many,
            &["no memory for 64 workers", "ulimit -v"],
        );
    }
    ends_in_order("-v 600000", &many, &["no memory for 64 workers"]);
    let psync = format!("{many} --engine psync");
    ends_in_order("-v 200000", &psync, &["no memory for 64 workers"]);
}

#[test]
fn a_limit_of_file_sizes_is_an_error_and_no_signal() {
    ends_in_order("-f 1024", LOAD, &["ulimit -f"]);
    // Not even the list of the test files can be begun.
    ends_in_order("-f 0", LOAD, &["ulimit -f"]);
}

#[test]
fn small_files_name_the_limit_of_file_sizes() {
    for line in [
        "smallfile --operation create --top data --file-size 2000 --files 4",
        "meta data --file-size 1m --files 4 --runtime 1s",
    ] {
        let home = TempDir::new().unwrap();
        std::fs::create_dir(home.path().join("data")).unwrap();
        let data = home.path().join("data").display().to_string();
        let output = limited(home.path(), "-f 100", &line.replace("data", &data));
        let all = [output.stdout, output.stderr].concat();
        let all = String::from_utf8_lossy(&all);
        let flat: String = all.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.contains("ulimit -f"), "{line}: {all}");
        assert!(!flat.contains("bytes were moved"), "{line}: {all}");
    }
}

/// Statuses by which a shell reports SIGABRT and SIGSEGV.
const ABORTED: [i32; 2] = [134, 139];

#[test]
fn a_small_stack_is_no_obstacle() {
    let home = TempDir::new().unwrap();
    for limit in ["-s 64", "-s 256", "-S -s 256"] {
        for line in ["io null: --rw read --runtime 300ms", "io --help"] {
            let output = limited(home.path(), limit, line);
            let err = String::from_utf8_lossy(&output.stderr);
            let code = output.status.code();
            assert!(
                code == Some(0) || code == Some(4),
                "{limit}, {line}: {code:?} {err}"
            );
        }
    }
}

#[test]
fn the_least_memory_ends_with_a_message() {
    let home = TempDir::new().unwrap();
    let mut refused = 0;
    // Below it the system kills what it cannot load, or its loader says so (127).
    let loads = |limit: &u32| {
        let output = limited(home.path(), &format!("-v {limit}"), "--version");
        output.status.code().is_some_and(|code| code != 127)
    };
    let least = (0..100).map(|step| 40_000 + 2_000 * step).find(loads);
    let least = least.expect("240 MB load the program");
    // From what hardly loads the program up to what is enough for a load.
    for limit in (0..40).map(|step| least + 2_000 * step) {
        let line = "io null: --rw read --runtime 50ms";
        let output = limited(home.path(), &format!("-v {limit}"), line);
        let err = String::from_utf8_lossy(&output.stderr);
        let code = output.status.code();
        let signal = std::os::unix::process::ExitStatusExt::signal(&output.status);
        assert_eq!(signal, None, "{limit}: {err}");
        assert!(
            !code.is_some_and(|c| ABORTED.contains(&c)),
            "{limit}: {err}"
        );
        refused += u32::from(err.contains("too little memory") && err.contains("ulimit -v"));
    }
    assert!(refused > 0, "no limit was small enough");
}

#[test]
fn few_open_files_and_no_locked_memory_are_worked_around_or_said() {
    for limit in ["-n 24", "-l 0", "-n 12"] {
        let home = TempDir::new().unwrap();
        let data = home.path().join("data");
        std::fs::create_dir(&data).unwrap();
        let output = limited(home.path(), limit, LOAD);
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        let code = output.status.code();
        assert!(
            code.is_some_and(|code| [0, 1, 4].contains(&code)),
            "{limit}: {code:?} {err}"
        );
        assert!(!err.contains("panicked"), "{limit}: {err}");
        assert!(code != Some(1) || !err.is_empty(), "{limit}");
        assert!(files(&data).is_empty(), "{limit}: {:?}", files(&data));
    }
}
