//! `fathom judge`: opinions on real files of fio, as its users get them.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::bench::Bench;

pub(crate) fn fixture(name: &str) -> PathBuf {
    let folder = "../compat/tests/fixtures/fio";
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join(folder)
        .join(name)
}

fn findings(job: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let list = job["verdict"]["findings"].as_array().unwrap();
    list.iter()
        .map(|f| (text(&f["id"]), text(&f["status"])))
        .collect()
}

/// The opinion on one file and the status of the command.
fn judged(names: &[&str]) -> (Option<i32>, Value) {
    let bench = Bench::new();
    let mut args = vec!["judge".into(), "--json".into()];
    args.extend(names.iter().map(|n| fixture(n).into_os_string()));
    let output = bench.fathom(args);
    assert_eq!(output.stderr, "", "nothing beside the document");
    (output.status, output.json())
}

#[test]
fn real_files_get_the_findings_that_they_deserve() {
    let cases: [(&[&str], i32, &str, &str); 12] = [
        (&["warm_cache.json"], 4, "V01", "invalid"),
        (&["buffered_aio.json"], 4, "V20", "invalid"),
        (&["buffered_write.json"], 4, "V07", "invalid"),
        (&["gtod_shm.json"], 0, "V61", "info"),
        (&["gtod_shm.json"], 0, "V06", "caveat"),
        (&["rate.json"], 0, "V23", "caveat"),
        (&["steadystate.json"], 0, "V70", "caveat"),
        (&["error_text_before.json"], 4, "V26", "invalid"),
        (&["null_group.json"], 0, "V65", "info"),
        (&["terse.txt"], 0, "V20", "not_measured"),
        (&["fio2.json"], 0, "V20", "pass"),
        (&["randread.json", "randread_iops.1.log"], 0, "V15", "info"),
    ];
    for (names, status, id, expected) in cases {
        let (exit, opinion) = judged(names);
        assert_eq!(exit, Some(status), "{names:?}");
        assert_eq!(opinion["schema"], "fathom.opinion/1");
        let found = findings(&opinion["results"][0]["jobs"][0]);
        let wanted = (id.to_owned(), expected.to_owned());
        assert!(
            found.contains(&wanted),
            "{names:?}: {wanted:?} in {found:?}"
        );
    }
}

#[test]
fn a_long_direct_run_is_believed_with_the_scatter_of_its_logs() {
    let names = ["randread.json", "randread_iops.1.log", "randread_bw.1.log"];
    let (exit, opinion) = judged(&names);
    // Its rate wanders between 62,000 and 97,000 operations a second, slowly: 40 s say
    // no more of the mean.
    assert_eq!((exit, &opinion["validity"]), (Some(0), &"caveats".into()));
    let bench = Bench::new();
    let mut args = vec!["judge".into()];
    args.extend(names.iter().map(|n| fixture(n).into_os_string()));
    let text = bench.fathom(args);
    text.expect_status(0);
    for words in [
        "Validity: trusted with caveats",
        "V16 caveat: read: the 95 % interval by the log is ± 16.3 % of the mean",
        "believe: throughput",
        "83,400",
        "Missing:",
    ] {
        assert!(text.stdout.contains(words), "{words}:\n{}", text.stdout);
    }
    assert!(text.stdout.lines().all(|line| line.chars().count() <= 80));
}

#[test]
fn the_status_is_for_gates() {
    let bench = Bench::new();
    let rate = fixture("rate.json");
    bench
        .fathom(["judge".as_ref(), "--strict".as_ref(), rate.as_os_str()])
        .expect_status(3);
    let text = bench.path().join("notes.txt");
    std::fs::write(&text, "IOPS: many\n").unwrap();
    bench
        .fathom(["judge".as_ref(), text.as_os_str()])
        .expect_status(2)
        .expect_in_stderr("found text that begins with 'IOPS: many'");
    bench
        .fathom(["judge", "missing.json"])
        .expect_status(2)
        .expect_in_stderr("missing.json");
    bench.fathom(["judge"]).expect_status(2);
    let cut = std::fs::read_to_string(fixture("two_jobs.json")).unwrap();
    std::fs::write(&text, &cut[..cut.len() * 3 / 4]).unwrap();
    let output = bench.fathom(["judge".as_ref(), text.as_os_str()]);
    output.expect_status(0);
    assert!(output.stdout.contains("V60 caveat"), "{}", output.stdout);
}

#[test]
fn logs_of_others_are_named_and_left_out() {
    let bench = Bench::new();
    let files = [fixture("two_jobs.json"), fixture("randread_iops.1.log")];
    let output = bench.fathom(["judge".as_ref(), files[0].as_os_str(), files[1].as_os_str()]);
    output
        .expect_status(0)
        .expect_in_stderr("belongs to none of the results");
}

#[test]
fn fathom_s_own_results_show_their_verdict() {
    let bench = Bench::new();
    let (ran, _) = bench.json([
        "io",
        "null:",
        "--rw",
        "randread",
        "--size",
        "1M",
        "--runtime",
        "1s",
        "--quiet",
    ]);
    ran.expect_measured();
    let file = bench.path().join("run.json");
    std::fs::write(&file, &ran.stdout).unwrap();
    let shown = bench.fathom(["judge".as_ref(), file.as_os_str()]);
    assert_eq!(shown.status, ran.status, "{}", shown.stderr);
    assert!(shown.stdout.contains("Validity:"), "{}", shown.stdout);
    let again = bench.fathom(["judge".as_ref(), "--json".as_ref(), file.as_os_str()]);
    assert_eq!(again.json(), ran.json());
    let series = bench.fathom(["runs", "export", "latest"]);
    std::fs::write(&file, &series.stdout).unwrap();
    let anew = bench.fathom(["judge".as_ref(), file.as_os_str()]);
    assert_eq!(anew.status, ran.status, "{}", anew.stderr);
    assert_eq!(
        anew.stdout, shown.stdout,
        "the same run, the same judgement"
    );
    std::fs::write(&file, "{\"schema\": \"fathom.check/1\"}").unwrap();
    bench
        .fathom(["judge".as_ref(), file.as_os_str()])
        .expect_status(2)
        .expect_in_stderr("fathom.series/1");
}

#[test]
fn logs_of_histograms_give_percentiles_and_a_rate() {
    let bench = Bench::new();
    let log = bench.path().join("j_clat_hist.1.log");
    // Column 1,000 of fio's 1,856: around 1.7 ms.
    let line = |ms: u32, ops: u32| {
        let columns = (0..1856).map(|c| if c == 1000 { ops } else { 0 });
        let columns: Vec<String> = columns.map(|c| format!(", {c}")).collect();
        format!("{ms}, 0, 4096{}\n", columns.concat())
    };
    let text: String = (1..=60).map(|s| line(1000 * s, 1000 + s % 7)).collect();
    std::fs::write(&log, text).unwrap();
    let shown = bench.fathom(["judge".as_ref(), "--json".as_ref(), log.as_os_str()]);
    let figures = &shown.json()["results"][0]["jobs"][0]["figures"][0];
    assert_eq!(figures["percentile_kind"], "completion", "{}", shown.stdout);
    let rate = figures["ops_per_second"]["value"].as_f64().unwrap();
    assert!((1000.0..1010.0).contains(&rate), "{rate}");
    let p99 = figures["percentiles"].as_array().unwrap();
    let p99 = p99.iter().find(|p| p["percent"] == 99.0).unwrap();
    let ns = p99["stated_ns"].as_f64().unwrap();
    // Column 1,000 = 15 * 64 + 40 begins at (64 + 40) * 2^14 ns.
    assert!((1_703_936.0..1_720_320.0).contains(&ns), "{ns}");
}

#[test]
fn fio_itself_is_understood_where_it_is_installed() {
    let bench = Bench::new();
    let result = bench.path().join("fresh.json");
    let ran = std::process::Command::new("fio")
        .args([
            "--name=fresh",
            "--ioengine=null",
            "--rw=randread",
            "--bs=4k",
        ])
        .args(["--size=1m", "--output-format=json+"])
        .arg(format!("--output={}", result.display()))
        .current_dir(bench.path())
        .output();
    if !ran.is_ok_and(|output| output.status.success()) {
        println!("skipped: fio is not installed");
        return;
    }
    let output = bench.fathom(["judge".as_ref(), "--json".as_ref(), result.as_os_str()]);
    let job = &output.json()["results"][0]["jobs"][0];
    assert_eq!(job["name"], "fresh");
    assert_eq!(job["figures"][0]["ops"], 256);
    assert!(
        findings(job).contains(&("V25".into(), "pass".into())),
        "{job:#}"
    );
}

#[test]
fn a_result_without_jobs_is_not_trusted_and_it_is_said_why() {
    let bench = Bench::new();
    for (jobs, words) in [
        ("[]", "no job with results"),
        ("[7]", "an entry of the job list is not an object"),
    ] {
        let text = format!("{{\"fio version\": \"fio-3.36\", \"jobs\": {jobs}}}");
        std::fs::write(bench.path().join("none.json"), text).unwrap();
        let output = bench.fathom(["judge", "none.json"]);
        output.expect_status(4);
        assert!(output.stdout.contains(words), "{}", output.stdout);
        assert!(
            output.stdout.contains("no job with results"),
            "{}",
            output.stdout
        );
    }
}
