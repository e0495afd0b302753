//! Two sides: `fathom ab` and `fathom compare`.

use std::fs;
use std::thread::sleep;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::bench::{Bench, Output, finding, finish};

const READS: [&str; 8] = [
    "--rw", "randread", "--bs", "4k", "--size", "1G", "--seed", "7",
];

fn ab(bench: &Bench, args: &[&str]) -> (Output, Value) {
    bench.json(["ab"].iter().chain(args).chain(&READS))
}

/// A comparison on simulated drives, twenty virtual seconds a trial.
fn simulated(bench: &Bench, args: &[&str]) -> (Output, Value) {
    let args: Vec<&str> = args.iter().copied().chain(["--runtime", "20s"]).collect();
    ab(bench, &args)
}

fn first_metric(result: &Value) -> &Value {
    &result["comparison"]["rows"][0]["metrics"][0]
}

#[test]
fn a_slower_drive_is_called_slower_and_the_other_way_round() {
    let bench = Bench::new();
    let (fast, slow) = ("sim:ssd?read_us=80", "sim:ssd?read_us=84");
    let (output, result) = simulated(&bench, &[fast, slow]);
    output.expect_status(7);
    assert_eq!(result["comparison"]["outcome"], "slower");
    assert_eq!(result["comparison"]["standing"], "proven");
    let change = first_metric(&result)["ratio"]["value"].as_f64().unwrap();
    assert!((change - 80.0 / 84.0).abs() < 0.005, "{change}");
    assert_eq!(first_metric(&result)["pairs"].as_array().unwrap().len(), 6);
    let factor = &result["comparison"]["declared"][0];
    assert_eq!(factor["field"], "target", "{factor}");
    assert_eq!(result["trials"].as_array().unwrap().len(), 12);
    let roles: Vec<&str> = result["trials"]
        .as_array()
        .unwrap()
        .iter()
        .map(|t| t["role"].as_str().unwrap())
        .collect();
    assert_eq!(&roles[..8], ["a", "b", "b", "a", "a", "b", "b", "a"]);

    let (output, result) = simulated(&bench, &[slow, fast]);
    output.expect_status(0);
    assert_eq!(result["comparison"]["outcome"], "faster");
    let args = [slow, fast, "--fail-on", "different"];
    simulated(&bench, &args).0.expect_status(8);
}

#[test]
fn equal_drives_are_equivalent() {
    let bench = Bench::new();
    let (output, result) = simulated(&bench, &["sim:ssd"]);
    output.expect_status(0).expect_in_stderr("the same");
    assert_eq!(result["comparison"]["outcome"], "equivalent");
}

#[test]
fn too_few_pairs_fail_only_a_gate_that_asks() {
    let bench = Bench::new();
    let args = ["sim:ssd?read_us=80", "sim:ssd?read_us=90", "--pairs", "4"];
    let (output, result) = simulated(&bench, &args);
    output
        .expect_status(0)
        .expect_in_stderr("fewer than 6 decide nothing");
    assert_eq!(result["comparison"]["outcome"], "inconclusive");
    let few = finding(&result["comparison"], "V51").expect("a finding");
    assert!(few["remedy"].to_string().contains("--pairs 6"), "{few}");
    assert!(!few["remedy"].to_string().contains("to its end"), "{few}");
    let args = [&args[..], &["--fail-on", "inconclusive,slower"]].concat();
    simulated(&bench, &args).0.expect_status(9);
}

#[test]
fn one_key_varies_and_plans_are_paired_by_label() {
    let bench = Bench::new();
    let (output, result) = simulated(&bench, &["sim:ssd", "--vary", "iodepth=1,4"]);
    output.expect_status(0);
    let declared = result["comparison"]["declared"].as_array().unwrap();
    assert_eq!(declared.len(), 1, "{declared:?}");
    assert_eq!(declared[0]["field"], "workload.queue_depth");
    assert_eq!(result["comparison"]["b"]["label"], "iodepth=4");
    let plan = |name: &str, rows: [&str; 2], depth: u32| {
        let workloads: String = rows
            .iter()
            .map(|rw| {
                format!("  - name: {rw}\n    rw: {rw}\n    iodepth: {depth}\n    runtime: 12s\n")
            })
            .collect();
        let text = format!("plan: 1\ntargets: sim:ssd\nworkloads:\n{workloads}");
        fs::write(bench.path().join(name), text).unwrap();
    };
    plan("a.yaml", ["randread", "randwrite"], 1);
    plan("b.yaml", ["randwrite", "randread"], 1);
    let (output, result) = bench.json(["ab", "a.yaml", "b.yaml", "--size", "1G", "--seed", "3"]);
    output.expect_status(0);
    let rows = result["comparison"]["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[0]["label"], "randread");
    assert_eq!(result["comparison"]["outcome"], "equivalent");
}

#[test]
fn a_comparison_is_shown_again_in_every_format() {
    let bench = Bench::new();
    let (_, result) = simulated(&bench, &["sim:ssd?read_us=80", "sim:ssd?read_us=84"]);
    let shown = bench.fathom(["runs", "show", "latest", "--json"]).json();
    assert_eq!(shown["comparison"], result["comparison"]);
    let text = bench.fathom(["runs", "show", "latest"]).stdout;
    assert!(text.contains("B is slower: ops/s -4."), "{text}");
    assert!(text.lines().all(|l| l.chars().count() <= 80), "{text}");
    let markdown = bench
        .fathom(["runs", "show", "latest", "--markdown"])
        .stdout;
    assert!(markdown.contains("| slower |"), "{markdown}");
    bench
        .fathom(["report", "latest", "-o", "r.html"])
        .expect_status(0);
    let page = fs::read_to_string(bench.path().join("r.html")).unwrap();
    assert!(page.contains("pair by pair") && page.contains("<circle class=\"ba\""));
}

/// Short trials on real files; what they give does not matter here.
const SHORT: [&str; 10] = [
    "--rw",
    "randread",
    "--size",
    "4M",
    "--runtime",
    "200ms",
    "--pairs",
    "2",
    "--control",
    "none",
];

#[test]
fn commands_run_before_each_trial_of_their_side() {
    let bench = Bench::new();
    let hooks = [
        "ab",
        "data",
        "--before-a",
        "echo $FATHOM_SIDE >> log; echo loud",
        "--before-b",
        "echo $FATHOM_SIDE >> log",
    ];
    let (output, result) = bench.json(hooks.iter().chain(&SHORT));
    output.expect_measured();
    let log = fs::read_to_string(bench.path().join("log")).unwrap();
    assert_eq!(log.split_whitespace().collect::<String>(), "ABBA");
    let before = result["comparison"]["a"]["before"].as_str().unwrap();
    assert!(before.contains("echo loud"), "{before}");
    output.expect_in_stderr("loud");
    assert!(bench.data_files().is_empty());

    let failing = ["ab", "data", "--before-b", "exit 3"];
    let (output, result) = bench.json(failing.iter().chain(&SHORT));
    output.expect_status(1);
    let reason = result["run"]["reason"].as_str().unwrap();
    assert!(
        reason.contains("--before-b") && reason.contains("exit 3"),
        "{reason}"
    );
    assert_eq!(
        result["trials"].as_array().unwrap().len(),
        1,
        "A was measured"
    );
    assert!(bench.data_files().is_empty());
}

#[test]
fn every_trial_has_its_control_which_is_no_result() {
    let bench = Bench::new();
    let args = ["sim:ssd", "--control", "null:", "--pairs", "2"];
    let (output, result) = simulated(&bench, &args);
    output.expect_status(0);
    let trials = result["trials"].as_array().unwrap();
    let roles: Vec<&str> = trials.iter().map(|t| t["role"].as_str().unwrap()).collect();
    let turns = [
        "control", "a", "control", "b", "control", "b", "control", "a",
    ];
    assert_eq!(roles, turns);
    let control = &result["comparison"]["control"];
    assert_eq!(control["target"], "null:");
    assert_eq!(control["metric"]["pairs"].as_array().unwrap().len(), 2);
}

#[test]
fn a_simulated_control_stays_and_the_difference_is_proven() {
    let bench = Bench::new();
    let drives = ["sim:ssd?read_us=80", "sim:ssd?read_us=90"];
    let (output, result) = simulated(&bench, &[drives[0], drives[1], "--control", drives[0]]);
    output.expect_status(7);
    assert_eq!(result["comparison"]["control"]["moved"], false);
    assert_eq!(result["comparison"]["standing"], "proven");
}

#[test]
fn an_interrupted_comparison_stays_readable() {
    let bench = Bench::new();
    let args = [
        "ab",
        "data",
        "--rw",
        "randread",
        "--size",
        "4M",
        "--runtime",
        "1s",
    ];
    let child = bench
        .command(args.iter().chain(&["--control", "none", "--json"]))
        .spawn()
        .expect("fathom starts");
    let seen = || {
        let shown = bench.fathom(["runs", "show", "latest", "--json"]);
        let shown: Option<Value> = serde_json::from_str(&shown.stdout).ok();
        shown.and_then(|s| Some(s["trials"].as_array()?.len()))
    };
    for _ in 0..600 {
        if seen() >= Some(3) {
            break;
        }
        sleep(Duration::from_millis(50));
    }
    let pid = Pid::from_raw(child.id() as i32).expect("a process id");
    kill_process(pid, Signal::INT).expect("the child lives");
    let output = finish(child);
    output.expect_status(5);
    let result = output.json();
    let comparison = &result["comparison"];
    assert_eq!(comparison["outcome"], "inconclusive");
    let pairs = first_metric(&result)["pairs"].as_array().unwrap().len();
    assert!((1..6).contains(&pairs), "{comparison:#}");
    let text = bench.fathom(["runs", "show", "latest"]);
    text.expect_status(5);
    assert!(text.stdout.contains("INTERRUPTED"), "{}", text.stdout);
}

#[test]
fn stored_runs_and_files_are_compared_with_their_differences() {
    let bench = Bench::new();
    let io = |target: &str| {
        let args = ["io", target, "--runtime", "20s", "--iterations", "3"];
        bench.json(args.iter().chain(&READS)).1
    };
    let (first, _) = (io("sim:ssd?read_us=80"), io("sim:ssd?read_us=90"));
    let compared = bench.fathom(["compare", "latest~1", "latest"]);
    compared.expect_status(0);
    assert!(
        compared.stdout.contains("not measured in turns"),
        "{}",
        compared.stdout
    );
    assert!(compared.stdout.contains("V53"), "{}", compared.stdout);
    assert!(
        compared.stdout.lines().all(|l| l.chars().count() <= 80),
        "{}",
        compared.stdout
    );

    let mut other = first;
    other["host"]["kernel"] = "0.0.1-other".into();
    fs::write(bench.path().join("other.json"), other.to_string()).unwrap();
    let args = ["compare", "other.json", "latest", "--declare", "target"];
    let result = bench.fathom(args.iter().chain(&["--json"])).json();
    assert_eq!(result["schema"], "fathom.comparison/1");
    assert_eq!(result["standing"], "indicative");
    assert_eq!(result["outcome"], "slower");
    let undeclared = result["undeclared"].as_array().unwrap();
    assert_eq!(undeclared.len(), 1, "{undeclared:?}");
    assert_eq!(undeclared[0]["field"], "host.kernel");
    bench
        .fathom(args.iter().chain(&["--fail-on", "slower"]))
        .expect_status(7);
    let markdown = bench.fathom(args.iter().chain(&["--markdown"]));
    assert!(
        markdown.stdout.contains("| slower |"),
        "{}",
        markdown.stdout
    );
    bench
        .fathom(["compare", "other.json,latest", "latest,latest~1"])
        .expect_status(1)
        .expect_in_stderr("is on both sides ('other.json' and 'latest~1')");
    let twice = ["compare", "latest~1,other.json", "latest,latest"];
    let output = bench.fathom(twice.iter().chain(&["--json"]));
    output
        .expect_status(0)
        .expect_in_stderr("'latest~1' and 'other.json' are the same run")
        .expect_in_stderr("'latest' and 'latest' are the same run");
    let once = bench.fathom(["compare", "latest~1", "latest", "--json"]);
    assert_eq!(output.json(), once.json());

    fs::write(bench.path().join("odd.json"), "{}").unwrap();
    bench
        .fathom(["compare", "odd.json", "latest"])
        .expect_status(1)
        .expect_in_stderr("not a result of fathom");
}

#[test]
fn runs_without_a_row_in_common_end_with_a_status_of_their_own() {
    let bench = Bench::new();
    let io = |args: &[&str]| {
        let args = ["io", "sim:ssd", "--runtime", "5s"].iter().chain(args);
        bench.fathom(args).expect_status(0);
    };
    io(&["--rw", "randread", "--bs", "4k"]);
    io(&["--rw", "write", "--bs", "1M"]);
    let nothing = bench.fathom(["compare", "latest~1", "latest", "--json"]);
    nothing.expect_status(9);
    assert_eq!(nothing.json()["rows"].as_array().map(Vec::len), Some(0));
}

#[test]
fn wrong_calls_say_what_to_do() {
    let bench = Bench::new();
    fs::write(
        bench.path().join("a.yaml"),
        "plan: 1\nworkloads: [{rw: read}]\n",
    )
    .unwrap();
    let cases: [(&[&str], &str); 5] = [
        (&["ab", "a.yaml", "data"], "--vary target="),
        (&["ab", "sim:ssd", "--vary", "iodepth"], "iodepth=1,32"),
        (&["ab", "sim:ssd", "--vary", "iodpeth=1,2"], "iodpeth"),
        (&["ab", "sim:ssd", "--margin", "0%"], "margin"),
        (&["ab", "sim:ssd", "sim:nothing"], "no simulated drive"),
    ];
    for (args, text) in cases {
        let output = bench.fathom(args.iter().copied());
        assert!(
            matches!(output.status, Some(1 | 2)),
            "{args:?}: {}",
            output.stderr
        );
        output.expect_in_stderr(text);
    }
}

#[test]
fn several_runs_stand_beside_the_first() {
    let bench = Bench::new();
    for model in [
        "sim:ssd?read_us=80",
        "sim:ssd?read_us=160",
        "sim:ssd?read_us=240",
    ] {
        let args = ["io", model, "--runtime", "20s"];
        bench.fathom(args.iter().chain(&READS)).expect_status(0);
    }
    let compared = [
        "compare",
        "latest~2",
        "latest~1",
        "latest",
        "--declare",
        "target",
    ];
    let output = bench.fathom(compared);
    output.expect_status(0);
    let heads = ["A", "B", "C"];
    let head = output.stdout.lines().find(|line| line.contains("figure"));
    let head = head.unwrap_or_else(|| panic!("{}", output.stdout));
    assert!(heads.iter().all(|word| head.contains(word)), "{head}");
    assert!(
        output.stdout.matches("slower").count() >= 2,
        "{}",
        output.stdout
    );
    assert!(output.stdout.lines().all(|line| line.chars().count() <= 80));

    let result = bench.fathom(compared.iter().chain(&["--json"])).json();
    assert_eq!(result["schema"], "fathom.comparisons/1");
    let outcomes: Vec<&Value> = (0..2)
        .map(|side| &result["comparisons"][side]["outcome"])
        .collect();
    assert_eq!(outcomes, ["slower", "slower"]);
    let markdown = bench.fathom(compared.iter().chain(&["--markdown"]));
    let text = &markdown.stdout;
    assert_eq!(text.matches("### ").count(), 1, "{text}");
    assert!(text.contains("| workload | figure | A | B | C |"), "{text}");
}

#[test]
fn two_runs_are_compared_on_a_page() {
    let bench = Bench::new();
    for model in ["sim:ssd?read_us=80", "sim:ssd?read_us=120"] {
        let args = ["io", model, "--runtime", "20s"];
        bench.fathom(args.iter().chain(&READS)).expect_status(0);
    }
    let args = [
        "compare",
        "latest~1",
        "latest",
        "--declare",
        "target",
        "--html",
        "c.html",
    ];
    bench.fathom(args).expect_status(0);
    let page = fs::read_to_string(bench.path().join("c.html")).unwrap();
    for part in [
        "class=\"key-figure\"",
        "B is slower",
        "latency of both sides",
        "class=\"s-1\"",
    ] {
        assert!(page.contains(part), "{part}");
    }
}

#[test]
fn three_runs_are_compared_on_one_page_and_in_one_table() {
    let bench = Bench::new();
    for read_us in ["80", "120", "160"] {
        let model = format!("sim:ssd?read_us={read_us}");
        let args = ["io", &model, "--runtime", "20s"];
        bench.fathom(args.iter().chain(&READS)).expect_status(0);
    }
    let args = ["compare", "latest~2", "latest~1", "latest"];
    let shown = bench.fathom(args.iter().chain(&["--html", "c.html"]));
    shown.expect_status(0);
    for part in ["B: ", " on sim:ssd?read_us=120 (", "C is slower: ops/s -"] {
        assert!(shown.stdout.contains(part), "{part}");
    }
    assert!(shown.stdout.lines().all(|line| line.chars().count() <= 80));
    let page = fs::read_to_string(bench.path().join("c.html")).unwrap();
    for part in [
        "C is slower: ops/s -",
        "<h2 id=\"sides\">All sides</h2>",
        "<h2 id=\"side-b\">B against A</h2>",
        "<h2 id=\"side-c\">C against A</h2>",
        "latency of all sides",
        "class=\"s-2\"",
    ] {
        assert!(page.contains(part), "{part}");
    }
}

#[test]
fn runs_with_nothing_in_common_get_one_sentence() {
    let bench = Bench::new();
    for rw in ["randread", "randwrite"] {
        let args = ["io", "sim:ssd", "--rw", rw, "--runtime", "5s"];
        bench.fathom(args).expect_status(0);
    }
    let output = bench.fathom(["compare", "latest~1", "latest"]);
    output
        .expect_status(9)
        .expect_in_stderr("share no workload");
    assert_eq!(output.stdout, "");
}
