//! Targets that cannot be used, devices that fail, I/O that hangs.

use std::fs;
use std::io::{BufRead, BufReader};

use crate::bench::{Bench, finding, op};
use crate::devices::{Loop, Mount, can_use_devices, sparse_file, tool};

#[test]
fn a_missing_target_is_named_with_what_exists() {
    let bench = Bench::new();
    let output = bench.fathom([
        "io",
        "data/nowhere/deep",
        "--rw",
        "randread",
        "--size",
        "4M",
    ]);
    output.expect_status(2);
    let all = output.stdout.clone() + &output.stderr;
    assert!(all.contains("nowhere"), "{all}");
    assert!(all.contains("does not exist"), "{all}");
}

#[test]
fn a_file_that_fathom_did_not_make_is_not_overwritten() {
    let bench = Bench::new();
    let file = bench.data().join("precious");
    fs::write(&file, vec![7u8; 1 << 20]).unwrap();
    let output = bench.fathom([
        "io",
        "data/precious",
        "--rw",
        "write",
        "--bs",
        "4k",
        "--number-ios",
        "10",
    ]);
    output.expect_status(1);
    assert!(
        (output.stdout.clone() + &output.stderr).contains("--destructive"),
        "{}",
        output.stderr
    );
    assert_eq!(fs::read(&file).unwrap(), vec![7u8; 1 << 20]);
}

#[test]
fn a_file_can_be_read_without_permission_to_destroy() {
    let bench = Bench::new();
    fs::write(bench.data().join("precious"), vec![7u8; 1 << 20]).unwrap();
    let (output, result) = bench.json([
        "io",
        "data/precious",
        "--rw",
        "randread",
        "--bs",
        "4k",
        "--number-ios",
        "100",
    ]);
    output.expect_measured();
    assert_eq!(op(&result, 0, "read")["ops"], 100);
}

#[test]
fn too_little_space_is_seen_before_anything_is_written() {
    if !can_use_devices() {
        return;
    }
    let bench = Bench::new();
    let small = bench.path().join("small");
    let _mount = Mount::new(&["-t", "tmpfs", "-o", "size=8M", "none"], &small);
    let output = bench.fathom(["io", "small", "--rw", "randread", "--size", "64M"]);
    output.expect_status(2).expect_in_stderr("8.00 MiB free");
    assert_eq!(fs::read_dir(&small).unwrap().count(), 0, "nothing is left");
}

#[test]
fn sizes_that_nobody_chose_fit_a_small_file_system() {
    if !can_use_devices() {
        return;
    }
    let bench = Bench::new();
    let small = bench.path().join("small");
    let _mount = Mount::new(&["-t", "tmpfs", "-o", "size=20M", "none"], &small);
    bench
        .fathom(["ping", "small", "-c", "2", "-i", "0"])
        .expect_status(0);
    let args = ["disks", "small", "--seconds", "1", "--workload", "randread"];
    let output = bench.fathom(args);
    output.expect_measured();
    assert!(!output.stderr.contains("are needed"), "{}", output.stderr);
}

#[test]
fn a_read_only_file_system_is_named() {
    if !can_use_devices() {
        return;
    }
    let bench = Bench::new();
    let place = bench.path().join("readonly");
    let _mount = Mount::new(&["-t", "tmpfs", "-o", "size=8M,ro", "none"], &place);
    let output = bench.fathom(["io", "readonly", "--rw", "randwrite", "--size", "4M"]);
    output.expect_status(1);
    let all = (output.stdout.clone() + &output.stderr).to_lowercase();
    assert!(all.contains("read-only"), "{all}");
}

#[test]
fn a_device_with_a_file_system_is_refused_even_when_destructive() {
    if !can_use_devices() {
        return;
    }
    let bench = Bench::new();
    let image = bench.path().join("image");
    sparse_file(&image, 32 << 20);
    let disk = Loop::over(&image);
    tool("mkfs.ext4", &["-q", "-F", &disk.device]);
    let write = [
        "--rw",
        "write",
        "--bs",
        "4k",
        "--number-ios",
        "10",
        "--destructive",
    ];
    let args = |device: &str| {
        let mut args = vec!["io".to_owned(), device.to_owned()];
        args.extend(write.map(str::to_owned));
        args
    };
    let refused = bench.fathom(args(&disk.device));
    refused.expect_status(1);
    let all = refused.stdout.clone() + &refused.stderr;
    assert!(all.contains("ext"), "what was found is said: {all}");
    tool("wipefs", &["-qa", &disk.device]);
    bench.fathom(args(&disk.device)).expect_measured();
    let unnamed = bench.fathom(["io", &disk.device, "--rw", "write", "--number-ios", "10"]);
    unnamed.expect_status(1);
    assert!((unnamed.stdout.clone() + &unnamed.stderr).contains("--destructive"));
}

#[test]
fn a_mounted_device_is_refused_for_writing_and_allowed_for_reading() {
    if !can_use_devices() {
        return;
    }
    let bench = Bench::new();
    let image = bench.path().join("image");
    sparse_file(&image, 32 << 20);
    let disk = Loop::over(&image);
    tool("mkfs.ext4", &["-q", "-F", &disk.device]);
    let _mount = Mount::new(&[&disk.device], &bench.path().join("mounted"));
    let write = bench.fathom([
        "io",
        &disk.device,
        "--rw",
        "write",
        "--number-ios",
        "10",
        "--destructive",
    ]);
    write.expect_status(1);
    assert!(
        (write.stdout.clone() + &write.stderr).contains("mounted"),
        "{}",
        write.stderr
    );
    bench
        .fathom([
            "io",
            &disk.device,
            "--rw",
            "randread",
            "--bs",
            "4k",
            "--number-ios",
            "10",
        ])
        .expect_measured();
}

/// A loop device whose backing file was cut in half: reads beyond it fail
/// with EIO, as a dying disk's do.
fn half_broken(bench: &Bench) -> Loop {
    let image = bench.path().join("image");
    fs::write(&image, vec![1u8; 32 << 20]).unwrap();
    let disk = Loop::over(&image);
    fs::OpenOptions::new()
        .write(true)
        .open(&image)
        .unwrap()
        .set_len(16 << 20)
        .unwrap();
    disk
}

#[test]
fn errors_of_the_device_are_counted_and_are_never_work() {
    if !can_use_devices() {
        return;
    }
    let bench = Bench::new();
    let disk = half_broken(&bench);
    let (output, result) = bench.json([
        "io",
        &disk.device,
        "--rw",
        "randread",
        "--bs",
        "4k",
        "--number-ios",
        "2000",
        "--on-error",
        "continue",
    ]);
    output.expect_status(4);
    let reads = op(&result, 0, "read");
    let errors = reads["errors"].as_array().unwrap();
    assert_eq!(errors.len(), 1, "{reads}");
    assert_eq!(errors[0]["class"], "io");
    let failed = errors[0]["count"].as_u64().unwrap();
    let done = reads["ops"].as_u64().unwrap();
    assert!(failed > 500, "about half of the reads fail: {failed}");
    assert_eq!(
        reads["service"]["count"].as_u64().unwrap(),
        done,
        "failures have no latency"
    );
    let error = finding(&result["verdict"], "V26").expect("a finding names the errors");
    assert_eq!(error["status"], "invalid");
}

#[test]
fn the_first_error_ends_the_run_unless_told_otherwise() {
    if !can_use_devices() {
        return;
    }
    let bench = Bench::new();
    let disk = half_broken(&bench);
    let (output, result) = bench.json([
        "io",
        &disk.device,
        "--rw",
        "read",
        "--bs",
        "1M",
        "--runtime",
        "30s",
    ]);
    output.expect_status(1);
    assert_eq!(result["run"]["state"], "failed");
    assert!(!result["trials"][0]["errors"].as_array().unwrap().is_empty());
}

/// Reads lines until what was read is enough, or there are no more.
fn read_until(lines: &mut impl BufRead, enough: impl Fn(&str) -> bool) -> String {
    let mut text = String::new();
    while !enough(&text) && lines.read_line(&mut text).unwrap() > 0 {}
    text
}

#[test]
fn io_that_hangs_ends_the_run_with_a_list_of_what_is_stuck() {
    if !can_use_devices() {
        return;
    }
    let bench = Bench::new();
    let image = bench.path().join("image");
    sparse_file(&image, 64 << 20);
    let disk = Loop::over(&image);
    tool("mkfs.ext4", &["-q", "-F", &disk.device]);
    let place = bench.path().join("frozen");
    let _mount = Mount::new(&[&disk.device], &place);
    let mut child = bench
        .command([
            "io",
            "frozen",
            "--rw",
            "randwrite",
            "--bs",
            "4k",
            "--size",
            "8M",
            "--runtime",
            "60s",
            "--deadline",
            "2s",
            "--direct",
            "0",
            "--fdatasync",
            "1",
            "--ioengine",
            "psync",
            "--json",
        ])
        .spawn()
        .expect("fathom starts");
    let mut progress = BufReader::new(child.stderr.take().unwrap());
    read_until(&mut progress, |text| text.contains(" measure "));
    let frozen = place.to_str().unwrap();
    tool("fsfreeze", &["-f", frozen]);
    // The result is there before the file system thaws; only then can the
    // kernel let the process go.
    let mut result = BufReader::new(child.stdout.take().unwrap());
    let stdout = read_until(&mut result, |text| {
        serde_json::from_str::<serde_json::Value>(text).is_ok()
    });
    tool("fsfreeze", &["-u", frozen]);
    let notes = read_until(&mut progress, |_| false);
    assert!(notes.contains("test files are left in"), "{notes}");
    let mut output = crate::bench::finish(child);
    output.stdout = stdout;
    output.expect_status(5);
    let result = output.json();
    assert_eq!(result["run"]["state"], "interrupted");
    let stuck = result["trials"][0]["stuck"].as_array().unwrap();
    assert!(!stuck.is_empty(), "{:#}", result["trials"][0]["verdict"]);
    assert!(
        stuck[0]["age_ns"].as_u64().unwrap() >= 2_000_000_000,
        "{stuck:?}"
    );
}

#[test]
fn tmpfs_is_named_as_what_it_is() {
    if !can_use_devices() {
        return;
    }
    let bench = Bench::new();
    let place = bench.path().join("memory");
    let _mount = Mount::new(&["-t", "tmpfs", "-o", "size=32M", "none"], &place);
    let (output, result) = bench.json([
        "io",
        "memory",
        "--rw",
        "randread",
        "--size",
        "8M",
        "--number-ios",
        "5000",
    ]);
    output.expect_measured();
    let virtual_fs = finding(&result["verdict"], "V06").expect("a finding names tmpfs");
    assert_ne!(virtual_fs["status"], "pass");
    assert!(virtual_fs["evidence"].as_str().unwrap().contains("tmpfs"));
}

#[test]
fn reads_from_the_page_cache_are_not_trusted() {
    let bench = Bench::new();
    let (output, result) = bench.json([
        "io",
        "data",
        "--rw",
        "randread",
        "--bs",
        "4k",
        "--size",
        "16M",
        "--direct",
        "0",
        "--runtime",
        "3s",
    ]);
    output.expect_status(4);
    assert_eq!(result["verdict"]["validity"], "not_trusted");
}
