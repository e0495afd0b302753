//! `fathom at_io_parallel`: the parallel script of the I/O guide, over agents.

use crate::bench::{Bench, finish};
use crate::fleet::{Agent, agents};

/// Two agents of this host.
fn run(bench: &Bench, agents: &[Agent], words: &[&str]) -> crate::bench::Output {
    let hosts: Vec<&str> = agents.iter().map(|agent| agent.host.as_str()).collect();
    let mut command = bench.command(["at_io_parallel", "--launcher", "static"]);
    command
        .args(words)
        .arg(format!("REMOTE_PCS_MOUNT_PATH={}", bench.data().display()))
        .args(&hosts)
        .env("FATHOM_FLEET", bench.path().join("fleet"))
        .env("TIME", "1");
    finish(command.spawn().unwrap())
}

/// The number in `{ … }` of a line.
fn number(line: &str) -> f64 {
    let inside = line.split(['{', '}']).nth(1);
    inside.and_then(|text| text.trim().parse().ok()).unwrap()
}

#[test]
fn sections_sums_and_averages_are_those_of_the_script() {
    let bench = Bench::new();
    let agents = agents(&bench, 2);
    let words = ["THREADS=1", "FILE_SIZE=32M", "ITERATIONS=2", "PAUSE=0"];
    let output = run(&bench, &agents, &words);
    output.expect_status(0);
    let text = &output.stdout;
    // `grep '===' results.txt`, as the guide shows.
    let found: Vec<&str> = text.lines().filter(|line| line.contains("===")).collect();
    let titles: Vec<&str> = found
        .iter()
        .copied()
        .filter(|line| !line.contains("Average"))
        .collect();
    assert_eq!(
        titles,
        [
            "===== Warming (1thr) =====",
            "===== Sequential read (1thr) =====",
            "===== Sequential write (1thr) =====",
            "===== Random read (1thr) =====",
            "===== Random write (1thr) =====",
            "===== Random write with sync (1thr) =====",
        ],
        "{text}"
    );
    assert_eq!(found.len(), 12, "each has its average: {text}");
    for agent in &agents {
        let line = format!("[SUCCESS] {}", agent.host);
        assert_eq!(text.matches(&line).count(), 11, "{text}");
    }
    // A sum is that of the hosts, an average that of the sums.
    let section = text.split("===== Random read (1thr) =====").nth(1).unwrap();
    let section = section.split("===== Random write (1thr)").next().unwrap();
    let lines = |what: &str| -> Vec<f64> {
        section
            .lines()
            .filter(|line| line.contains(what))
            .map(number)
            .collect()
    };
    let (rates, sums, average) = (lines("rate:"), lines("Sum value"), lines("Average value"));
    assert_eq!(
        (rates.len(), sums.len(), average.len()),
        (4, 2, 1),
        "{section}"
    );
    for (sum, rates) in sums.iter().zip(rates.chunks(2)) {
        assert!((sum - rates.iter().sum::<f64>()).abs() < 1e-4, "{section}");
    }
    assert!(
        (average[0] - (sums[0] + sums[1]) / 2.0).abs() < 1e-4,
        "{section}"
    );
    assert!(
        section.contains("  Sum value on iteration 2 = { "),
        "{section}"
    );
    // The files stay for the next time.
    assert!(!bench.data_files().is_empty());
}

#[test]
fn what_is_missing_or_wrong_is_said_before_anything_is_done() {
    let bench = Bench::new();
    bench
        .fathom(["at_io_parallel", "10.0.0.1"])
        .expect_status(2)
        .expect_in_stderr("REMOTE_PCS_MOUNT_PATH=");
    bench
        .fathom(["at_io_parallel", "REMOTE_PCS_MOUNT_PATH=/mnt"])
        .expect_status(2)
        .expect_in_stderr("name the hosts");
    bench
        .fathom(["at_io_parallel", "TIMES=3", "h1"])
        .expect_status(2)
        .expect_in_stderr("there is no setting TIMES");
    bench
        .fathom(["at_io_parallel", "TIME=x", "h1"])
        .expect_status(2)
        .expect_in_stderr("TIME=x: ");
    let shown = bench.fathom(["at_io_parallel", "-a", "REMOTE_PCS_MOUNT_PATH=/mnt/x"]);
    shown.expect_status(0);
    assert_eq!(shown.stdout.matches("=====").count(), 2 * 18);
    assert!(
        shown.stdout.contains("-p 16 -n 16 -t 60"),
        "{}",
        shown.stdout
    );
}

#[test]
fn a_link_of_the_name_of_the_script_is_enough() {
    let bench = Bench::new();
    let link = bench.path().join("at_io_parallel.sh");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_fathom"), &link).unwrap();
    let mut command = std::process::Command::new(&link);
    let output = command
        .args(["-a", "REMOTE_PCS_MOUNT_PATH=/mnt"])
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("===== Warming (1thr) ====="), "{text}");
}
