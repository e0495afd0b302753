//! `fathom io`: what one workload does and what it reports.

use crate::bench::{Bench, op};

#[test]
fn a_simulated_drive_that_takes_no_time_comes_to_an_end() {
    let bench = Bench::new();
    for target in [
        "sim:ideal?latency_us=0",
        "sim:ideal?eio_every=1,latency_us=0",
    ] {
        let run = ["io", target, "--rw", "randread", "--runtime", "100ms", "-q"];
        let mut child = bench.command(run).spawn().expect("it starts");
        let begun = std::time::Instant::now();
        while child.try_wait().expect("it can be asked").is_none() {
            let waits = begun.elapsed() < std::time::Duration::from_secs(60);
            if !waits {
                child.kill().expect("it is there");
            }
            assert!(waits, "{target} does not end");
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }
}

#[test]
fn every_engine_moves_exactly_the_bytes_that_it_reports() {
    for engine in ["uring", "libaio", "psync", "mmap"] {
        let bench = Bench::new();
        let depth = if matches!(engine, "uring" | "libaio") {
            "8"
        } else {
            "1"
        };
        let direct = if engine == "mmap" { "0" } else { "1" };
        let (output, result) = bench.json([
            "io",
            "data",
            "--rw",
            "randrw",
            "--bs",
            "4k",
            "--size",
            "8M",
            "--number-ios",
            "1000",
            "--ioengine",
            engine,
            "--iodepth",
            depth,
            "--direct",
            direct,
        ]);
        output.expect_measured();
        let reads = op(&result, 0, "read");
        let writes = op(&result, 0, "write");
        let ops = |o: &serde_json::Value| o["ops"].as_u64().unwrap();
        assert_eq!(ops(reads) + ops(writes), 1000, "{engine}");
        assert!(
            ops(reads) > 400 && ops(writes) > 400,
            "{engine}: the mix is even"
        );
        assert_eq!(
            reads["bytes"].as_u64().unwrap(),
            ops(reads) * 4096,
            "{engine}"
        );
    }
}

#[test]
fn the_null_target_measures_fathom_itself() {
    let bench = Bench::new();
    let (output, result) = bench.json([
        "io",
        "null:",
        "--rw",
        "randread",
        "--bs",
        "4k",
        "--number-ios",
        "200000",
    ]);
    output.expect_measured();
    assert_eq!(op(&result, 0, "read")["ops"], 200_000);
}

#[test]
fn a_simulated_drive_takes_virtual_time() {
    let bench = Bench::new();
    let args = [
        "io",
        "sim:hdd",
        "--rw",
        "randread",
        "--bs",
        "4k",
        "--size",
        "1G",
        "--runtime",
        "600s",
        "--seed",
        "7",
    ];
    let (output, first) = bench.json(args);
    output.expect_measured();
    let seconds = first["trials"][0]["summary"]["duration_ns"]
        .as_u64()
        .unwrap()
        / 1_000_000_000;
    assert!(
        (599..=601).contains(&seconds),
        "ten virtual minutes: {seconds} s"
    );
    let (_, second) = bench.json(args);
    assert_eq!(
        op(&first, 0, "read"),
        op(&second, 0, "read"),
        "one seed, one result"
    );
}

#[test]
fn verification_passes_on_a_sound_disk() {
    let bench = Bench::new();
    let (output, result) = bench.json([
        "io",
        "data",
        "--rw",
        "randrw",
        "--bs",
        "4k",
        "--size",
        "4M",
        "--number-ios",
        "4000",
        "--iodepth",
        "16",
        "--verify",
        "after",
    ]);
    output.expect_measured();
    assert_eq!(op(&result, 0, "write")["errors"], serde_json::json!([]));
}

#[test]
fn an_open_loop_keeps_its_rate_and_reports_both_latencies() {
    let bench = Bench::new();
    let (output, result) = bench.json([
        "io",
        "data",
        "--rw",
        "randread",
        "--bs",
        "4k",
        "--size",
        "8M",
        "--runtime",
        "2s",
        "--rate-iops",
        "500",
    ]);
    output.expect_measured();
    let reads = op(&result, 0, "read");
    let ops = reads["ops"].as_u64().unwrap();
    assert!(
        (980..=1001).contains(&ops),
        "500 a second for two seconds: {ops}"
    );
    assert!(reads["response"]["count"].as_u64().unwrap() > 0);
}

#[test]
fn files_that_the_user_keeps_are_reused() {
    let bench = Bench::new();
    let args = [
        "io",
        "data",
        "--rw",
        "randread",
        "--bs",
        "4k",
        "--size",
        "8M",
        "--number-ios",
        "10",
        "--keep-files",
    ];
    bench.json(args).0.expect_measured();
    let file = bench.data().join("fathom-test.0");
    let modified = || {
        std::fs::metadata(&file)
            .expect("the file stays")
            .modified()
            .unwrap()
    };
    let before = modified();
    bench.json(args).0.expect_measured();
    assert_eq!(modified(), before, "not rewritten");
}
