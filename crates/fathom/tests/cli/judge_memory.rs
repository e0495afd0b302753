//! What others give to be read does not fill the memory.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::bench::Bench;

/// What reading a file may take at most.
const MOST_KB: u64 = 256 << 10;

/// Status, standard error and the highest memory in use, in KB.
fn measured(bench: &Bench, words: &[&str]) -> (Option<i32>, String, u64) {
    let mut child = Command::new("/usr/bin/time")
        .args(["-f", "peak-kb=%M", env!("CARGO_BIN_EXE_fathom")])
        .args(words)
        .env("FATHOM_STORE", bench.store())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("time runs fathom");
    let mut text = String::new();
    let mut err = child.stderr.take().unwrap();
    err.read_to_string(&mut text).unwrap();
    let status = child.wait().unwrap().code();
    let peak = text.lines().find_map(|line| line.strip_prefix("peak-kb="));
    let peak = peak.and_then(|kb| kb.parse().ok()).expect(&text);
    (status, text, peak)
}

fn fill(path: &Path, (start, part, end): (&str, &str, &str), bytes: usize) {
    let mut file = std::io::BufWriter::new(std::fs::File::create(path).unwrap());
    file.write_all(start.as_bytes()).unwrap();
    for _ in 0..bytes / part.len() {
        file.write_all(part.as_bytes()).unwrap();
    }
    file.write_all(end.as_bytes()).unwrap();
}

#[test]
fn files_that_would_fill_the_memory_are_refused_below_the_bound() {
    if !Path::new("/usr/bin/time").exists() {
        println!("skipped: /usr/bin/time is not there");
        return;
    }
    let bench = Bench::new();
    let path = |name: &str| bench.path().join(name);
    let jobs = ("{\"jobs\":[", "0,", "0]}");
    fill(&path("zeros.json"), jobs, 32 << 20);
    fill(
        &path("maps.json"),
        ("{\"jobs\":[", "{\"a\":0},", "0]}"),
        8 << 20,
    );
    fill(
        &path("long_bw.1.log"),
        ("", "1, 2, 0, 4096, 0\n", ""),
        97 << 20,
    );
    let moment = "0 0 0 0 0 0 0 0 0 0 0 0 0 0 100 0 0\n";
    let head = "procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----\n \
                r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st\n";
    fill(&path("vmstat.txt"), (head, moment, ""), 16 << 20);
    for (command, name, told) in [
        ("judge", "zeros.json", "that are allowed"),
        ("judge", "maps.json", "that are allowed"),
        ("judge", "long_bw.1.log", "256 MiB of memory"),
        ("diagnose", "zeros.json", "256 MiB of memory"),
        ("diagnose", "maps.json", "256 MiB of memory"),
        ("diagnose", "vmstat.txt", "256 MiB of memory"),
    ] {
        let file = path(name);
        let (status, err, peak) = measured(&bench, &[command, file.to_str().unwrap()]);
        assert_eq!(status, Some(2), "{command} {name}: {err}");
        assert!(
            err.replace('\n', " ").contains(told),
            "{command} {name}: {err}"
        );
        assert!(peak < MOST_KB, "{command} {name}: {peak} KB");
    }
}

#[test]
fn a_small_file_that_unpacks_to_much_is_refused_below_the_bound() {
    let tools = ["/usr/bin/time", "/usr/bin/zstd"];
    if let Some(missing) = tools.iter().find(|tool| !Path::new(tool).exists()) {
        println!("skipped: {missing} is not there");
        return;
    }
    let bench = Bench::new();
    for (options, told) in [("-19", "larger than"), ("-3 --long=27", "unzstd")] {
        let bomb = bench.path().join("bomb.csv.zst");
        let pack = format!("head -c 2000000000 /dev/zero | zstd -q -f {options} -o \"$0\"");
        let made = Command::new("sh").args(["-c", &pack]).arg(&bomb).status();
        assert!(made.unwrap().success());
        let (status, err, peak) = measured(&bench, &["judge", bomb.to_str().unwrap()]);
        assert_eq!(status, Some(2), "{options}: {err}");
        assert!(peak < MOST_KB, "{options}: {peak} KB");
        assert!(
            err.contains("bomb.csv.zst") && err.contains(told),
            "{options}: {err}"
        );
    }
}
