//! `fathom kubernetes` and `kubectl fathom` with a stand-in for kubectl: what is
//! made, measured and compared, and that nothing of it stays.

use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use rustix::process::{Pid, Signal, kill_process};

use crate::bench::{Bench, finish};
use crate::fleet::{eventually, has_files, test_files};

/// Work that takes a second.
const WORK: [&str; 10] = [
    "--",
    "io",
    "--rw",
    "randwrite",
    "--bs",
    "4k",
    "--size",
    "8M",
    "--runtime",
    "1s",
];

/// A cluster of files.
struct FakeCluster<'b> {
    bench: &'b Bench,
    folder: PathBuf,
}

impl<'b> FakeCluster<'b> {
    /// `None`, and why, where there is no Python.
    fn up(bench: &'b Bench) -> Option<FakeCluster<'b>> {
        if Command::new("python3").arg("--version").output().is_err() {
            println!("skipped: python3 is missing");
            return None;
        }
        let folder = bench.path().join("cluster");
        std::fs::create_dir_all(folder.join("bin")).unwrap();
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/fake-kubectl.py");
        let text = std::fs::read_to_string(script).unwrap();
        crate::bench::program(&folder.join("bin/kubectl"), &text);
        Some(FakeCluster { bench, folder })
    }

    fn trouble(&self, what: &str) {
        std::fs::write(self.folder.join("trouble"), what).unwrap();
    }

    /// `fathom kubernetes` with volumes where the test files of the bench are.
    fn command(&self, at: &Path, words: &[&str]) -> Command {
        let mut command = self.bench.command(["kubernetes"]);
        self.settle(&mut command);
        command
            .arg("--at")
            .arg(at)
            .args(["--size", "64MiB", "--image", "fathom:test"]);
        command.args(words);
        command
    }

    fn settle(&self, command: &mut Command) {
        let path = std::env::var("PATH").unwrap_or_default();
        command
            .env(
                "PATH",
                format!("{}:{path}", self.folder.join("bin").display()),
            )
            .env("FAKE_CLUSTER", &self.folder)
            .env("FAKE_FATHOM", env!("CARGO_BIN_EXE_fathom"));
    }

    fn start(&self, words: &[&str]) -> Child {
        self.command(&self.bench.data(), words).spawn().unwrap()
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.folder.join("log")).unwrap_or_default()
    }

    /// Objects that are in the cluster.
    fn objects(&self) -> Vec<String> {
        let Ok(all) = std::fs::read_dir(self.folder.join("objects")) else {
            return Vec::new();
        };
        all.map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect()
    }

    #[track_caller]
    fn expect_empty(&self) {
        assert!(
            self.objects().is_empty(),
            "{:?}\n{}",
            self.objects(),
            self.log()
        );
        assert!(!has_files(self.bench), "test files stay");
    }
}

fn with_work<'w>(words: &[&'w str]) -> Vec<&'w str> {
    words.iter().copied().chain(WORK).collect()
}

#[test]
fn classes_are_measured_on_their_nodes_compared_and_removed() {
    let bench = Bench::new();
    let Some(cluster) = FakeCluster::up(&bench) else {
        return;
    };
    let words = [
        "--storage-class",
        "fast",
        "--storage-class",
        "slow",
        "--nodes",
        "n1,n2",
    ];
    let output = finish(cluster.start(&with_work(&words)));
    output.expect_measured();
    cluster.expect_empty();
    assert!(
        output.stdout.contains("Storage classes: A fast, B slow"),
        "{}",
        output.stdout
    );
    let log = cluster.log();
    let count = |what: &str| log.lines().filter(|line| line.starts_with(what)).count();
    // A Job and a claim for each class and node.
    assert_eq!(count("create"), 8, "{log}");
    assert_eq!(count("exec"), 4, "{log}");
    assert!(count("delete") >= 2, "{log}");
    // The results are here.
    let listed = bench.fathom(["runs", "list"]);
    for class in [
        "storage class fast, filesystem",
        "storage class slow, filesystem",
    ] {
        assert!(listed.stdout.contains(class), "{}", listed.stdout);
    }
}

#[test]
fn a_plugin_of_kubectl_measures_block_volumes_as_well() {
    let bench = Bench::new();
    let Some(cluster) = FakeCluster::up(&bench) else {
        return;
    };
    let link = bench.path().join("kubectl-fathom");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_fathom"), &link).unwrap();
    let device = bench.path().join("device");
    let mut plugin = Command::new(&link);
    cluster.settle(&mut plugin);
    plugin
        .env("FATHOM_STORE", bench.store())
        .current_dir(bench.path())
        .args([
            "--storage-class",
            "fast",
            "--mode",
            "block",
            "--image",
            "fathom:test",
        ])
        .args(["--size", "64MiB", "--at"])
        .arg(&device)
        .args(WORK)
        .arg("--json")
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    let output = finish(plugin.spawn().unwrap());
    output.expect_measured();
    let result = output.json();
    assert_eq!(
        result["run"]["label"], "storage class fast, block",
        "{}",
        output.stdout
    );
    assert_eq!(result["fleet"]["hosts"][0]["name"], "n1");
    cluster.expect_empty();
}

#[test]
fn everything_is_removed_after_ctrl_c_and_when_a_run_fails() {
    let bench = Bench::new();
    let Some(cluster) = FakeCluster::up(&bench) else {
        return;
    };
    let long = [
        "--storage-class",
        "fast",
        "--",
        "io",
        "--rw",
        "randwrite",
        "--bs",
        "4k",
        "--size",
        "8M",
        "--runtime",
        "300s",
    ];
    let child = cluster.start(&long);
    eventually("the load", || test_files(&bench) == 1);
    assert_eq!(cluster.objects().len(), 3, "a Job, a claim and a pod");
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    kill_process(pid, Signal::INT).unwrap();
    finish(child).expect_status(5);
    cluster.expect_empty();
    // An image whose binary does not start.
    let words = with_work(&["--storage-class", "fast"]);
    let mut broken = cluster.command(&bench.data(), &words);
    broken.env("FAKE_FATHOM", "/bin/false");
    finish(broken.spawn().unwrap())
        .expect_status(1)
        .expect_in_stderr("n1");
    assert!(
        cluster.log().matches("create").count() > 2,
        "volumes were made"
    );
    cluster.expect_empty();
    // A killed one leaves its agents, which end, and what --cleanup finds.
    let mut child = cluster.start(&long);
    eventually("the load", || test_files(&bench) == 1);
    child.kill().unwrap();
    child.wait().unwrap();
    eventually("the cleaning up", || !has_files(&bench));
    let cleanup = |more: &[&str]| {
        let mut command = bench.command(["kubernetes", "--cleanup"]);
        cluster.settle(&mut command);
        finish(command.args(more).spawn().unwrap())
    };
    let listed = cleanup(&[]);
    listed.expect_status(0);
    assert!(
        listed.stdout.contains("persistentvolumeclaim/fathom-"),
        "{}",
        listed.stdout
    );
    cleanup(&["--yes"]).expect_status(0);
    cluster.expect_empty();
    assert!(cleanup(&[]).stdout.contains("nothing to clean"));
}

#[test]
fn what_is_in_the_way_is_named_and_what_was_made_is_removed() {
    let bench = Bench::new();
    let Some(cluster) = FakeCluster::up(&bench) else {
        return;
    };
    let words = with_work(&["--storage-class", "fast", "--wait", "1s"]);
    for (trouble, said) in [
        ("image", "the image cannot be pulled: ImagePullBackOff"),
        (
            "provisioner",
            "the volume cannot be made: storage pool is full",
        ),
        (
            "unscheduled",
            "cannot be scheduled: 0/3 nodes are available",
        ),
        (
            "refused",
            "the namespace refuses the pod: violates PodSecurity",
        ),
        (
            "forbidden",
            "docs/how-to/kubernetes.md has the Role that is needed",
        ),
        ("unreachable", "`kubectl get nodes` must work first"),
    ] {
        cluster.trouble(trouble);
        let output = finish(cluster.start(&words));
        output.expect_status(1).expect_in_stderr(said);
        cluster.trouble("");
        cluster.expect_empty();
    }
}

#[test]
fn nodes_with_a_taint_are_measured_where_it_is_tolerated() {
    let bench = Bench::new();
    let Some(cluster) = FakeCluster::up(&bench) else {
        return;
    };
    cluster.trouble("tainted");
    let words = ["--storage-class", "fast", "--wait", "1s"];
    finish(cluster.start(&with_work(&words)))
        .expect_status(1)
        .expect_in_stderr("untolerated taint {dedicated: storage}");
    let words = [
        "--storage-class",
        "fast",
        "--tolerate",
        "dedicated=storage:NoSchedule",
    ];
    finish(cluster.start(&with_work(&words))).expect_measured();
    cluster.expect_empty();
}

#[test]
fn what_is_typed_wrongly_is_refused_before_anything_is_made() {
    let bench = Bench::new();
    let Some(cluster) = FakeCluster::up(&bench) else {
        return;
    };
    let refused = |words: &[&str], said: &str| {
        let output = finish(cluster.start(words));
        assert!(matches!(output.status, Some(1 | 2)), "{:?}", output.status);
        output.expect_in_stderr(said);
        assert!(!cluster.log().contains("create"), "{}", cluster.log());
    };
    refused(
        &["--storage-class", "fats"],
        "no storage class 'fats'; name one of these: fast, slow",
    );
    refused(&["--storage-class=-o"], "is not a name in Kubernetes");
    refused(
        &["--storage-class", "fast", "--tolerate", "a:noexecute"],
        "'a:noexecute' is not a taint",
    );
    refused(
        &["--storage-class", "fast", "--", "clean"],
        "'clean' cannot be run in pods",
    );
    refused(
        &["--storage-class", "fast", "--storage-class", "fast"],
        "given twice",
    );
    refused(
        &["--storage-class", "fast", "--", "quick", "--hosts", "a"],
        "--nodes",
    );
    let mut nowhere = cluster.command(&bench.data(), &["--storage-class", "fast"]);
    nowhere.env("PATH", bench.data());
    finish(nowhere.spawn().unwrap())
        .expect_status(1)
        .expect_in_stderr("cannot start kubectl")
        .expect_in_stderr("install it, or put its folder into $PATH");
}
