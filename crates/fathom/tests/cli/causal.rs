//! `fathom diagnose --causal` with the kernel's own limits: an application at
//! its cap, one far below it, and what is left after each kind of end.

use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::{Duration, Instant};

use fathom_lab::real::{LoopDevice, Throttle, or_skip};
use fathom_observe::{GroupLimit, Sysroot};
use rustix::process::{Pid, Signal, kill_process};

use crate::bench::{Bench, Output, finish};

const CAP: u64 = 200;

/// An application that reads a loop device, capped.
struct Application {
    child: Child,
    counter: PathBuf,
    limit: GroupLimit,
    device: LoopDevice,
    // Dropped last: what is in the group must be gone.
    _throttle: Throttle,
}

impl Application {
    /// `script` reads `$0` and writes how far it is into `$1`.
    fn start(bench: &Bench, script: &str) -> Option<Application> {
        let file = bench.path().join("disk");
        std::fs::write(&file, vec![7; 16 << 20]).unwrap();
        let device = or_skip(LoopDevice::over(&file, None))?;
        let number = device.number().unwrap();
        let throttle = or_skip(Throttle::iops(&number, CAP))?;
        let counter = bench.path().join("counter");
        std::fs::write(&counter, "0\n").unwrap();
        let child = throttle
            .command(Path::new("sh"))
            .args(["-c", script])
            .args([device.path(), &counter])
            .spawn()
            .unwrap();
        // It moves into its group by itself.
        let end = Instant::now() + Duration::from_secs(30);
        let limit = loop {
            match GroupLimit::of_process(&Sysroot::host(), child.id(), &number) {
                Ok(limit) => break limit,
                Err(why) => assert!(Instant::now() < end, "{why}"),
            }
            std::thread::sleep(Duration::from_millis(20));
        };
        Some(Application {
            child,
            counter,
            limit,
            device,
            _throttle: throttle,
        })
    }

    fn reads_limit(&self) -> Option<u64> {
        self.limit.now()[0]
    }

    fn test(&self, bench: &Bench) -> Child {
        let progress = format!("cat {}", self.counter.display());
        let name = self.device.path().file_name().unwrap().to_str().unwrap();
        let pid = self.child.id().to_string();
        bench
            .command(["diagnose", "--for", "3s", "--json", "--yes", "--causal"])
            .args(["--disk", name, "--ceiling-iops", "200", "--pid", &pid])
            .args(["--progress", &progress, "--blocks", "4", "--part", "2"])
            .spawn()
            .unwrap()
    }
}

impl Drop for Application {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads without a pause, ten at a time.
const AT_ITS_CAP: &str = "i=0; while :; do \
    dd if=\"$0\" of=/dev/null bs=4096 count=10 skip=$((i % 4000)) iflag=direct 2>/dev/null; \
    i=$((i + 10)); echo $i > \"$1.new\"; mv \"$1.new\" \"$1\"; done";

/// Reads one block, then sleeps for a twentieth of a second.
const BELOW_IT: &str = "i=0; while :; do \
    dd if=\"$0\" of=/dev/null bs=4096 count=1 skip=$((i % 4000)) iflag=direct 2>/dev/null; \
    i=$((i + 1)); echo $i > \"$1.new\"; mv \"$1.new\" \"$1\"; sleep 0.05; done";

fn tested(output: &Output) -> serde_json::Value {
    output.expect_status(0);
    let found = output.json();
    assert!(found["causal"].is_object(), "{found}");
    println!("{} {}", found["answer"], found["causal"]);
    found
}

#[test]
fn an_application_at_its_cap_is_slower_on_a_smaller_volume() {
    let bench = Bench::new();
    let Some(application) = Application::start(&bench, AT_ITS_CAP) else {
        return;
    };
    let found = tested(&finish(application.test(&bench)));
    let causal = &found["causal"];
    // On a machine that stands still the interval may be too wide to say yes.
    assert_ne!(causal["answer"], "no", "{causal}");
    assert!(causal["effect"].as_f64().unwrap() < 0.0, "{causal}");
    let operations = causal["operations_effect"].as_f64().unwrap();
    assert!((-0.3..0.0).contains(&operations), "{causal}");
    assert_eq!(application.reads_limit(), Some(CAP));
    assert!(!bench.path().join("changed-limits").exists());
}

#[test]
fn an_application_far_below_its_cap_is_never_blamed_on_the_volume() {
    let bench = Bench::new();
    let Some(application) = Application::start(&bench, BELOW_IT) else {
        return;
    };
    let found = tested(&finish(application.test(&bench)));
    assert_ne!(found["causal"]["answer"], "yes", "{}", found["causal"]);
    assert_ne!(found["answer"], "yes", "{found}");
    assert_eq!(application.reads_limit(), Some(CAP));
}

#[test]
fn the_old_limit_comes_back_after_every_end() {
    let bench = Bench::new();
    let Some(application) = Application::start(&bench, AT_ITS_CAP) else {
        return;
    };
    let limited = || {
        let end = Instant::now() + Duration::from_secs(60);
        while application.reads_limit() == Some(CAP) {
            assert!(Instant::now() < end, "it is never limited");
            std::thread::sleep(Duration::from_millis(10));
        }
        assert_eq!(application.reads_limit(), Some(CAP * 9 / 10));
    };
    let signal = |child: &Child, signal| kill_process(Pid::from_child(child), signal).unwrap();
    let test = application.test(&bench);
    limited();
    signal(&test, Signal::INT);
    finish(test).expect_status(0);
    assert_eq!(application.reads_limit(), Some(CAP));

    let test = application.test(&bench);
    limited();
    signal(&test, Signal::KILL);
    finish(test);
    assert_eq!(application.reads_limit(), Some(CAP * 9 / 10));
    let listed = bench.fathom(["clean"]);
    listed.expect_status(0);
    assert!(listed.stdout.contains("sets it back"), "{}", listed.stdout);
    let again = finish(application.test(&bench));
    let remarks = again.json()["remarks"].to_string();
    assert!(remarks.contains("fathom clean"), "{remarks}");
    bench.fathom(["clean", "--yes"]).expect_status(0);
    assert_eq!(application.reads_limit(), Some(CAP));
    assert!(!bench.path().join("changed-limits").exists());
}

#[test]
fn what_is_missing_for_the_test_is_said() {
    let bench = Bench::new();
    let own = std::process::id().to_string();
    let causal = ["diagnose", "--for", "2s", "--causal", "--pid", &own];
    bench
        .fathom(causal)
        .expect_status(2)
        .expect_in_stderr("a tenth less of what?");
    let with_ceiling = causal.iter().chain(&["--ceiling-iops", "100"]);
    bench
        .fathom(with_ceiling.clone())
        .expect_status(2)
        .expect_in_stderr("with --yes it does not ask");
    // This program shares its group with fathom, or there is no controller.
    bench
        .fathom(with_ceiling.chain(&["--yes"]))
        .expect_status(1)
        .expect_in_stderr("--causal: ");
    bench.fathom(["clean"]).expect_status(0);
}
