//! A simulated application in a simulated control group.

use std::path::Path;

use fathom_model::diagnosis::Answer;
use fathom_studies::causal::Experiment;

use super::*;

const GROUP: &str = "sys/fs/cgroup/db";

/// A tree in which process 7 has a group with this limit.
fn tree(root: &Path, io_max: &str) -> GroupLimit {
    let files = [
        (
            "proc/self/mountinfo",
            "30 22 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
        ),
        ("proc/self/cgroup", "0::/user\n"),
        ("proc/7/cgroup", "0::/db\n"),
        ("sys/fs/cgroup/db/io.max", io_max),
    ];
    for (path, text) in files {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    GroupLimit::of_process(&Sysroot::at(root), 7, "254:0").unwrap()
}

/// An application that wants so many reads per second and computes between
/// them, on a volume that gives 1,000.
struct Application<'a> {
    group: GroupLimit,
    changed: &'a ChangedLimits,
    limits: [u64; 2],
    wants: f64,
    done: f64,
    seconds: f64,
    ends_at: f64,
}

impl Experiment for Application<'_> {
    type Error = io::Error;

    fn limit(&mut self, on: bool) -> Result<(), io::Error> {
        match on {
            true => self.group.set(self.limits[0], self.limits[1]),
            false => self.changed.write_back(),
        }
    }

    fn progress(&mut self) -> Result<f64, io::Error> {
        Ok(self.done)
    }

    fn operations(&mut self) -> Option<f64> {
        Some(self.done)
    }

    fn now_seconds(&mut self) -> f64 {
        self.seconds
    }

    fn wait(&mut self, seconds: f64) -> bool {
        // What the kernel would do with the limit in the tree.
        let limit = self.group.now()[0].map_or(1_000.0, |limit| limit as f64);
        let noise = 1.0 + 0.01 * (7.0 * self.seconds).sin();
        self.done += self.wants.min(limit).min(1_000.0) * noise * seconds;
        self.seconds += seconds;
        self.seconds < self.ends_at
    }
}

fn tested(io_max: &str, wants: f64, ends_at: f64) -> (CausalTest, String, bool) {
    let root = tempfile::tempdir().unwrap();
    let group = tree(root.path(), io_max);
    let store = root.path().join("fathom.db");
    let wrote = group.setting(900, 900);
    let changed = ChangedLimits::note(&store, group.set_back(), &wrote).unwrap();
    let design = CausalDesign {
        blocks: 8,
        part_seconds: 5.0,
        throttle: 0.1,
        seed: 1,
    };
    let mut application = Application {
        limits: [900, 900],
        group,
        changed: &changed,
        wants,
        done: 0.0,
        seconds: 0.0,
        ends_at,
    };
    let effect = experiment(&design, &mut application).unwrap();
    changed.set_back().unwrap();
    let subject = CausalSubject {
        group: "/db".to_owned(),
        limit: String::new(),
        progress: "reads".to_owned(),
        stands_for_all: true,
    };
    let left = std::fs::read_to_string(root.path().join(GROUP).join("io.max")).unwrap();
    let noted = root.path().join("changed-limits").exists();
    (causal_test(&design, subject, &effect), left, noted)
}

#[test]
fn an_application_at_the_ceiling_slows_down_and_one_below_it_does_not() {
    let (full, left, noted) = tested("", 5_000.0, f64::MAX);
    assert_eq!(full.answer, Answer::Yes);
    assert!((full.effect.unwrap() + 0.1).abs() < 0.01, "{}", full.words);
    assert_eq!((left.as_str(), noted), ("254:0 riops=max wiops=max", false));
    // A quarter of the volume, though all of it waits for its reads.
    let (below, ..) = tested("", 240.0, f64::MAX);
    assert_eq!(below.answer, Answer::No, "{}", below.words);
    assert!(below.effect.unwrap().abs() < 0.01);
}

#[test]
fn an_old_limit_comes_back_also_after_an_early_end() {
    let old = "254:0 rbps=max wbps=max riops=950 wiops=max";
    let (test, left, noted) = tested(old, 5_000.0, 31.0);
    assert_eq!(test.answer, Answer::NotProven);
    assert_eq!((left.as_str(), noted), ("254:0 riops=950 wiops=max", false));
}
