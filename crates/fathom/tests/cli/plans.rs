//! `fathom plan` and `fathom run`.

use std::fs;

use crate::bench::Bench;

#[test]
fn every_template_checks_out() {
    let bench = Bench::new();
    let list = bench.fathom(["plan", "new"]);
    list.expect_status(0);
    let names: Vec<&str> = list
        .stdout
        .lines()
        .filter_map(|line| line.strip_prefix("  "))
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    for expected in ["general", "database", "backup", "vm", "etcd"] {
        assert!(names.contains(&expected), "{expected} is not in {names:?}");
    }
    for name in names {
        let plan = bench.fathom(["plan", "new", name]);
        plan.expect_status(0);
        fs::write(bench.path().join("plan.yaml"), &plan.stdout).unwrap();
        let check = bench.fathom(["plan", "check", "plan.yaml"]);
        check.expect_status(0);
        assert!(!check.stdout.is_empty(), "{name}: what it costs is said");
        bench.fathom(["plan", "show", "plan.yaml"]).expect_status(0);
        let json = bench
            .fathom(["plan", "show", "plan.yaml", "--json"])
            .expect_status(0)
            .json();
        assert!(!json["trials"].as_array().unwrap().is_empty(), "{name}");
    }
}

#[test]
fn a_plan_runs_its_matrix_and_iterations() {
    let bench = Bench::new();
    let plan = "
plan: 1
name: small
seed: 5
target: data
iterations: 2
order: interleaved
pause: {floor: 0s, ceiling: 0s}
workloads:
  - name: reads
    rw: randread
    size: 8M
    number_ios: 50
    matrix:
      numjobs: [1, 2]
      bs: [4k, 64k]
";
    fs::write(bench.path().join("plan.yaml"), plan).unwrap();
    let (output, result) = bench.json(["run", "plan.yaml"]);
    output.expect_measured();
    assert_eq!(result["trials"].as_array().unwrap().len(), 8);
    assert_eq!(result["rows"].as_array().unwrap().len(), 4);
    assert_eq!(result["run"]["seed"], 5);
    for row in result["rows"].as_array().unwrap() {
        assert_eq!(row["trials"].as_array().unwrap().len(), 2);
    }
}

#[test]
fn mistakes_are_all_shown_with_their_place_and_the_nearest_name() {
    let bench = Bench::new();
    let plan = "plan: 1\nname: wrong\nworkloads:\n  - name: one\n    rw: randraed\n    iodpeth: 4\n    runtime: 10 parsecs\n";
    fs::write(bench.path().join("wrong.yaml"), plan).unwrap();
    let output = bench.fathom(["run", "wrong.yaml"]);
    output.expect_status(2);
    for expected in [
        "wrong.yaml:5",
        "randread",
        "wrong.yaml:6",
        "iodepth",
        "wrong.yaml:7",
    ] {
        output.expect_in_stderr(expected);
    }
}

#[test]
fn the_schema_is_json() {
    let bench = Bench::new();
    let schema = bench.fathom(["plan", "schema"]);
    assert!(schema.expect_status(0).json()["properties"]["workloads"].is_object());
}

#[test]
fn an_unknown_word_of_a_known_list_comes_with_the_one_that_was_meant() {
    let bench = Bench::new();
    for (command, meant) in [
        (&["plan", "new", "databse"][..], "did you mean 'database'?"),
        (
            &["plan", "new", "nfs-randred"],
            "did you mean 'nfs-randread'?",
        ),
        (
            &["alarms", "explain", "mount-not-respnding"],
            "did you mean 'mount-not-responding'?",
        ),
        (
            &["io", "sim:entreprise", "--rw", "read"],
            "did you mean 'enterprise'?",
        ),
        (
            &["record", "export", "x.frec", "--kind", "dsk"],
            "did you mean 'disk'?",
        ),
        (
            &["at_io_parallel", "-a", "THRADS=4"],
            "did you mean 'THREADS'?",
        ),
        (
            &["io", ".", "--rw", "read", "--distribution", "ziph:1.2"],
            "did you mean 'zipf'?",
        ),
    ] {
        let output = bench.fathom(command.iter().copied());
        assert_ne!(output.status, Some(0), "{command:?}");
        let told: Vec<&str> = output.stderr.split_whitespace().collect();
        let told = told.join(" ");
        assert!(told.contains(meant), "{command:?}: {told}");
    }
}

#[test]
fn one_target_under_two_names_is_refused() {
    let bench = Bench::new();
    let inside = |name: &str| bench.path().join(name);
    fs::write(inside("a"), vec![7; 1 << 20]).unwrap();
    fs::hard_link(inside("a"), inside("hard")).unwrap();
    std::os::unix::fs::symlink("a", inside("soft")).unwrap();
    fs::write(inside("b"), vec![7; 1 << 20]).unwrap();
    for (other, status) in [("./a", 2), ("hard", 2), ("soft", 2), ("b", 0)] {
        let plan = format!(
            "plan: 1\ntargets: [a, {other}]\niterations: 1\npause: {{floor: 0s, ceiling: 0s}}\n\
             workloads:\n- {{rw: read, bs: 4k, number_ios: 10}}\n"
        );
        fs::write(inside("plan.yaml"), plan).unwrap();
        let output = bench.fathom(["run", "plan.yaml"]);
        match status {
            2 => {
                output
                    .expect_status(2)
                    .expect_in_stderr("are the same file");
            }
            _ => {
                output.expect_measured();
            }
        }
    }
}
