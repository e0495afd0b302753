//! `fathom diagnose`: the method of a support engineer, on recordings whose
//! truth is known.

use std::path::{Path, PathBuf};

use crate::bench::Bench;

fn example(name: &str) -> PathBuf {
    let folder = "../../examples/iostat";
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join(folder)
        .join(name)
}

fn diagnose(bench: &Bench, files: &[&str], flags: &[&str]) -> crate::bench::Output {
    let mut args = vec!["diagnose".into()];
    args.extend(files.iter().map(|f| example(f).into_os_string()));
    args.extend(flags.iter().map(Into::into));
    bench.fathom(args)
}

#[test]
fn a_device_that_is_not_there_is_told_before_the_host_is_watched() {
    let bench = Bench::new();
    let refused = bench.fathom(["diagnose", "--for", "24h", "--disk", "no-such-disk"]);
    assert_eq!(refused.status, Some(2), "{}", refused.stderr);
    let told = "--disk no-such-disk: this host has ";
    assert!(refused.stderr.contains(told), "{}", refused.stderr);
}

#[test]
fn the_ticket_is_no_matter_of_the_disk() {
    let bench = Bench::new();
    let files = ["ticket.json", "test-load.json", "uptime.txt"];
    let output = diagnose(&bench, &files, &["--json"]);
    assert_eq!(output.status, Some(0), "{}", output.stderr);
    let found = output.json();
    assert_eq!(found["schema"], "fathom.diagnosis/1");
    assert_eq!(
        (&found["answer"], &found["limiter"]),
        (&"no".into(), &"cpu_queue".into())
    );
    let evidence: Vec<&str> = found["evidence"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|line| line.as_str())
        .collect();
    assert!(
        evidence[0].ends_with("for 100 % of the time; load average 2.5 per CPU"),
        "{evidence:?}"
    );
    assert!(
        evidence[1].contains("sda peaks at 240 of 1,000 IOPS"),
        "{evidence:?}"
    );
    let ceiling = found["ceiling"]["operations"].as_f64().unwrap();
    assert!((ceiling / 1_000.0 - 1.0).abs() < 0.02, "{ceiling}");
}

#[test]
fn text_and_page_say_the_same() {
    let bench = Bench::new();
    let files = ["ticket.json", "test-load.json", "uptime.txt"];
    let text = diagnose(&bench, &files, &[]).stdout;
    assert!(
        text.starts_with("NO: the storage is not the bottleneck; CPUs are\n"),
        "{text}"
    );
    assert!(
        text.contains("sda over time (full height: the ceiling"),
        "{text}"
    );
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
    let page = diagnose(&bench, &files, &["--format", "html"]).stdout;
    assert!(page.contains("NO: the storage is not the bottleneck; CPUs are"));
    assert!(page.contains("<polyline class=\"reads\""));
    assert!(page.contains("class=\"ceiling\"") && !page.contains("<script src"));
    let file = bench.path().join("page.html");
    let both = diagnose(&bench, &files, &["--html", file.to_str().unwrap()]);
    assert_eq!(both.stdout, text);
    let beside = std::fs::read_to_string(file).unwrap();
    assert!(beside.contains("NO: the storage is not the bottleneck; CPUs are"));
}

#[test]
fn without_a_ceiling_it_is_said_what_would_settle_it() {
    let bench = Bench::new();
    // The test load alone: the volume works, and nothing says how much it can.
    let found = diagnose(&bench, &["test-load.json"], &["--json"]).json();
    assert_eq!(found["answer"], "not_proven");
    let settle = found["settle"].to_string();
    assert!(settle.contains("--ceiling-iops"), "{settle}");
    // At its known limit, with hardly any waiting, it is not blamed.
    let limits = ["--ceiling-iops", "1000", "--json"];
    let full = diagnose(&bench, &["test-load.json"], &limits).json();
    assert_ne!(full["answer"], "yes");
    assert!(
        full["evidence"]
            .to_string()
            .contains("at 90 % of its ceiling"),
        "{full}"
    );
}

#[test]
fn wrong_calls_are_told() {
    let bench = Bench::new();
    let missing = diagnose(&bench, &["absent.json"], &[]);
    assert_eq!(missing.status, Some(2));
    assert!(
        missing.stderr.contains("absent.json: "),
        "{}",
        missing.stderr
    );
    let disk = diagnose(&bench, &["ticket.json"], &["--disk", "/dev/sdz"]);
    assert_eq!(disk.status, Some(2));
    assert!(
        disk.stderr.contains("--disk sdz: the recording has sda"),
        "{}",
        disk.stderr
    );
    let three = ["ticket.json", "test-load.json", "ticket.json"];
    let three = diagnose(&bench, &three, &[]);
    assert_eq!(three.status, Some(2));
    assert!(
        three.stderr.contains("a third recording"),
        "{}",
        three.stderr
    );
}

/// The result of a simulated drive, as a run on an SSD of the host would have it.
fn as_of_a_disk(bench: &Bench, args: &[&str]) -> String {
    let (_, mut run) = bench.json(args.iter().copied());
    let device = serde_json::json!({"name": "sda", "kind": "disk", "below": [],
        "size_bytes": 1_u64 << 40, "facts": {}});
    for list in ["rows", "trials"] {
        for one in run[list].as_array_mut().unwrap() {
            one["target"] = "/dev/sda".into();
        }
    }
    for trial in run["trials"].as_array_mut().unwrap() {
        trial["workload"]["engine"] = "uring".into();
        trial["target_before"] = serde_json::json!({"target": "/dev/sda", "filesystem": null,
            "devices": [device]});
    }
    let path = bench.path().join("disk.json");
    std::fs::write(&path, run.to_string()).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn what_was_measured_is_a_ceiling() {
    let bench = Bench::new();
    let of_fio = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/fio/randread.json");
    let of_fio = of_fio.to_str().unwrap();
    let found = diagnose(&bench, &["ticket.json"], &["--ceiling", of_fio, "--json"]).json();
    let ceiling = &found["ceiling"];
    assert!(
        ceiling["source"].as_str().unwrap().contains("of fio-3"),
        "{ceiling}"
    );
    assert_eq!(ceiling["comparable"], true, "{ceiling}");

    // The article's volume, and the mix and the blocks of the ticket.
    let drive = "sim:ideal?latency_us=1000,parallel=1";
    let mixed = [
        "io",
        drive,
        "--rw",
        "randrw",
        "--rwmixread",
        "83",
        "--bs",
        "4k",
        "--runtime",
        "60s",
    ];
    let disk = as_of_a_disk(&bench, &mixed);
    let found = diagnose(&bench, &["ticket.json"], &["--ceiling", &disk, "--json"]).json();
    let ceiling = &found["ceiling"];
    assert_eq!(ceiling["comparable"], true, "{ceiling}");
    let share = ceiling["peak_share"].as_f64().unwrap();
    assert!((share - 0.24).abs() < 0.01, "{ceiling}");
    let evidence = found["evidence"].to_string();
    assert!(evidence.contains("peaks at 240 of"), "{evidence}");

    // Another workload is shown, and judges nothing.
    let large = [
        "io",
        drive,
        "--rw",
        "write",
        "--bs",
        "1M",
        "--runtime",
        "60s",
    ];
    let disk = as_of_a_disk(&bench, &large);
    let found = diagnose(&bench, &["ticket.json"], &["--ceiling", &disk, "--json"]).json();
    assert_eq!(found["ceiling"]["comparable"], false);
    let remarks = found["remarks"].to_string();
    assert!(remarks.contains("judges nothing"), "{remarks}");
    diagnose(&bench, &["ticket.json"], &["--ceiling", "nothing"])
        .expect_status(2)
        .expect_in_stderr("no such file");
}

#[test]
fn what_measured_no_disk_is_no_ceiling_and_sizes_no_node() {
    let bench = Bench::new();
    for (target, why) in [("null:", "null target"), ("sim:ssd", "simulated drive")] {
        let args = ["io", target, "--rw", "randread", "--runtime", "5s"];
        bench.fathom(args);
        diagnose(&bench, &["ticket.json"], &["--ceiling", "latest"])
            .expect_status(2)
            .expect_in_stderr(why);
        bench
            .fathom(["size", "--link", "25GbE", "--run", "latest"])
            .expect_status(2)
            .expect_in_stderr(why);
    }
    let sound = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/fio/randread.json");
    let sound = std::fs::read_to_string(sound).unwrap();
    for (from, to, why) in [
        ("\"libaio\"", "\"null\"", "moves no data"),
        ("\"libaio\"", "\"rbd\"", "reaches a server"),
        ("/data/t.dat", "/dev/null", "/dev/null is not on a disk"),
        ("/data/t.dat", "/dev/shm/t", "/dev/shm/t is not on a disk"),
        (
            "\"read_ios\" : 3334370",
            "\"read_ios\" : 0",
            "cannot be believed",
        ),
        ("\"disk_util\"", "\"other\"", "nothing shows that a device"),
    ] {
        let text = sound.replace(from, to);
        assert_ne!(text, sound, "{from}");
        std::fs::write(bench.path().join("other.json"), text).unwrap();
        let other = ["--ceiling", "other.json"];
        let refused = diagnose(&bench, &["ticket.json"], &other);
        refused.expect_status(2).expect_in_stderr(why);
    }
}

#[test]
fn a_ticket_can_be_read_by_strangers() {
    let bench = Bench::new();
    let files = ["ticket.json", "uptime.txt"];
    let named = diagnose(&bench, &files, &[]).stdout;
    assert!(named.contains("cubes"), "{named}");
    for format in ["text", "json", "markdown", "html"] {
        let output = diagnose(&bench, &files, &["--format", format, "--anonymise"]);
        output.expect_status(0);
        assert!(output.stdout.contains("host-1"), "{}", output.stdout);
        assert!(!output.stdout.contains("cubes"), "{}", output.stdout);
    }
    let markdown = diagnose(&bench, &files, &["--format", "markdown"]).stdout;
    assert!(
        markdown.starts_with("# N") && markdown.contains("\n| sda | "),
        "{markdown}"
    );
}

/// A copy of an example, changed.
fn changed(bench: &Bench, name: &str, change: impl Fn(String) -> String) -> String {
    let path = bench.path().join(name);
    let text = std::fs::read_to_string(example(name)).expect("an example");
    std::fs::write(&path, change(text)).expect("the copy");
    path.to_str().expect("text").to_owned()
}

#[test]
fn a_second_look_at_the_same_load_is_no_test_load() {
    let bench = Bench::new();
    // Of the same time: it is joined to the first.
    let load = example("test-load.json");
    let load = load.to_str().unwrap();
    let output = diagnose(&bench, &[load, load], &["--json"]);
    let found = output.json();
    assert_ne!(found["answer"], "yes", "{found}");
    assert_eq!(found["ceiling"], serde_json::Value::Null);
    let remarks = found["remarks"].to_string();
    assert!(
        remarks.contains("of the same time as the first"),
        "{remarks}"
    );
    // Of another time, and with nothing more in flight.
    let later = changed(&bench, "test-load.json", |text| {
        text.replace("11/20/26 11:", "11/20/26 15:")
    });
    let found = diagnose(&bench, &[load, &later], &["--json"]).json();
    assert_ne!(found["answer"], "yes", "{found}");
    let remarks = found["remarks"].to_string();
    assert!(remarks.contains("is not a test load"), "{remarks}");
    // Of another host.
    let other = changed(&bench, "test-load.json", |text| {
        text.replace("\"cubes\"", "\"spheres\"")
    });
    diagnose(&bench, &["ticket.json", &other], &[])
        .expect_status(2)
        .expect_in_stderr("give recordings of one host");
}

#[test]
fn a_limit_below_the_load_is_ignored_and_named() {
    let bench = Bench::new();
    // The ticket peaks at 240 operations a second.
    let limit = ["--ceiling-iops", "100"];
    let text = diagnose(&bench, &["ticket.json"], &limit).stdout;
    assert!(!text.starts_with("YES"), "{text}");
    assert!(!text.contains("240 %"), "{text}");
    let text: Vec<&str> = text.split_whitespace().collect();
    let words = "--ceiling-iops 100 is contradicted by a peak of 240; ignored";
    assert!(text.join(" ").contains(words), "{text:?}");
    let found = diagnose(
        &bench,
        &["ticket.json"],
        &["--ceiling-iops", "100", "--json"],
    );
    let found = found.json();
    assert_eq!(found["ceiling"]["contradicted"], true, "{found}");
    assert_ne!(found["answer"], "yes");
    assert!(found["remarks"].to_string().contains(words), "{found}");
    // One that the load keeps is believed.
    let kept = diagnose(
        &bench,
        &["ticket.json"],
        &["--ceiling-iops", "1000", "--json"],
    );
    assert_eq!(kept.json()["ceiling"]["contradicted"], false);
}

#[test]
fn a_device_that_hangs_is_the_answer_with_its_name() {
    let bench = Bench::new();
    let sample = "../compat/samples/known-truth/hung-device.json";
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join(sample);
    let output = bench.fathom(["diagnose".into(), sample.into_os_string()]);
    output.expect_status(0);
    assert!(
        output.stdout.starts_with(
            "YES: the storage is the bottleneck: a device has requests and completes none\n"
        ),
        "{}",
        output.stdout
    );
    assert!(
        output.stdout.contains("loop0: operations in flight"),
        "{}",
        output.stdout
    );
}
