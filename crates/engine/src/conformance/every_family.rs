//! What holds for every load, whatever its operations are: blocks, files or
//! objects, on real targets and on the null target.

use std::path::Path;
use std::time::Duration;

use fathom_model::workload::{
    Bounds, CacheMode, EngineKind, KeySource, MetaTree, MetaWork, ObjectSizes, ObjectStore,
    ObjectWork, OnError, OpMix, Rate, RateUnit, Work,
};
use fathom_model::{Histogram, Job, OpKind, Phase, Target, Workload};
use fathom_s3::{Credentials, Script, StoreServer};

use super::group_level::{job as job_on_blocks, run_after};
use crate::group::EndReason;
use crate::object::give_credentials;
use crate::prepare::{NoHooks, prepare};
use crate::{Group, GroupEnd};

const MS: u64 = 1_000_000;
const KEYS: &str = "conformance";
const ENTRIES: u64 = 20;
const BYTES: u64 = 1000;

/// A family of operations, and where it works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Family {
    Blocks(EngineKind),
    Files,
    FilesOnNull,
    Objects,
    ObjectsOnNull,
}

const FAMILIES: [Family; 6] = [
    Family::Blocks(EngineKind::Psync),
    Family::Blocks(EngineKind::Null),
    Family::Files,
    Family::FilesOnNull,
    Family::Objects,
    Family::ObjectsOnNull,
];

/// A job that reads, and what it needs as long as it lasts.
struct Bench {
    family: Family,
    kind: OpKind,
    job: Job,
    dir: tempfile::TempDir,
    _server: Option<StoreServer>,
}

impl Bench {
    fn new(family: Family, change: impl FnOnce(&mut Workload)) -> Bench {
        Bench::scripted(family, "", change)
    }

    /// A bench whose store, if it has one, does what `script` says.
    fn scripted(family: Family, script: &str, change: impl FnOnce(&mut Workload)) -> Bench {
        let dir = tempfile::tempdir().unwrap();
        let server = (family == Family::Objects).then(|| {
            let any = ([127, 0, 0, 1], 0).into();
            StoreServer::start(any, 1 << 20, Script::parse(script).unwrap()).unwrap()
        });
        let endpoint = server.as_ref().map(StoreServer::endpoint);
        let (kind, job) = match family {
            Family::Blocks(engine) => {
                let job = job_on_blocks(engine, dir.path(), change);
                (OpKind::Read, job)
            }
            Family::Files | Family::FilesOnNull => {
                (OpKind::ReadFile, files(family, dir.path(), change))
            }
            Family::Objects | Family::ObjectsOnNull => {
                let endpoint = endpoint.unwrap_or_else(|| "http://127.0.0.1:1".to_owned());
                (OpKind::Get, objects(family, endpoint, change))
            }
        };
        Bench {
            family,
            kind,
            job,
            dir,
            _server: server,
        }
    }

    fn run(&self) -> GroupEnd {
        let end = run_after(&self.job, || ());
        assert_eq!(end.report.errors, [], "{:?}", self.family);
        self.check_sums(&end);
        end
    }

    /// Holds for every load, whatever it did.
    fn check_sums(&self, end: &GroupEnd) {
        for op in end.samples.iter().flat_map(|sample| &sample.ops) {
            assert_eq!(op.ops, op.service.count(), "{:?}", self.family);
            if op.kind == self.kind
                && let Some(response) = &op.response
            {
                assert_eq!(op.ops, response.count(), "{:?}", self.family);
                assert!(response.sum() >= op.service.sum(), "{:?}", self.family);
            }
        }
    }

    /// Operations of the bench's kind in the samples of a phase.
    fn ops_in(&self, end: &GroupEnd, phase: Phase) -> u64 {
        let samples = end.samples.iter().filter(|sample| sample.phase == phase);
        let of_kind = samples.filter_map(|sample| sample.op(self.kind));
        of_kind.map(|op| op.ops).sum()
    }

    fn errors(&self, end: &GroupEnd) -> u64 {
        let of_kind = end.samples.iter().filter_map(|s| s.op(self.kind));
        of_kind.map(|op| op.errors.total()).sum()
    }
}

fn load(engine: EngineKind, work: Work, change: impl FnOnce(&mut Workload)) -> Workload {
    let mut workload = Workload::example("conformance");
    workload.engine = engine;
    workload.mix = OpMix::NONE;
    workload.cache = CacheMode::Buffered;
    workload.queue_depth = 8;
    workload.data_set.size_bytes = None;
    workload.work = work;
    workload.bounds = Bounds {
        ops: Some(500),
        ..Bounds::default()
    };
    change(&mut workload);
    workload
}

fn job(workload: Workload, target: Target) -> Job {
    Job {
        workload,
        target,
        seed: 3,
        run_tag: 4,
        destructive: false,
        keep_files: false,
        file_prefix: "conformance".to_owned(),
    }
}

fn files(family: Family, dir: &Path, change: impl FnOnce(&mut Workload)) -> Job {
    let work = MetaWork {
        repeat: true,
        ..MetaWork::new([(OpKind::ReadFile, 1)], MetaTree::flat(ENTRIES, BYTES))
    };
    let target = match family {
        Family::Files => Target::Path(dir.to_owned()),
        _ => Target::Null,
    };
    let workload = load(EngineKind::Meta, Work::files(work), |w| {
        w.queue_depth = 1;
        change(w);
    });
    job(workload, target)
}

fn objects(family: Family, endpoint: String, change: impl FnOnce(&mut Workload)) -> Job {
    give_credentials(KEYS, Credentials::default());
    let store = ObjectStore {
        region: "us-east-1".to_owned(),
        keys: KeySource::Given(KEYS.to_owned()),
        timeout_ns: 20_000 * MS,
        ..ObjectStore::new(vec![endpoint])
    };
    let work = ObjectWork {
        repeat: true,
        retries: 0,
        ..ObjectWork::new([(OpKind::Get, 1)], ENTRIES, ObjectSizes::Fixed(BYTES))
    };
    let target = match family {
        Family::Objects => Target::Bucket("bucket/conformance".to_owned()),
        _ => Target::Null,
    };
    job(
        load(EngineKind::S3, Work::objects(store, work), change),
        target,
    )
}

fn lateness(end: &GroupEnd) -> u64 {
    let recorded = end.samples.iter().filter_map(|s| s.lateness.as_ref());
    recorded.map(Histogram::count).sum()
}

#[test]
fn bounds_are_exact_and_samples_add_up() {
    for family in FAMILIES {
        for workers in [1, 3] {
            let bench = Bench::new(family, |w| w.workers = workers);
            let end = bench.run();
            assert_eq!(bench.ops_in(&end, Phase::Measure), 500, "{family:?}");
            assert_eq!(end.end_reason, EndReason::Ops, "{family:?}");
        }
    }
}

#[test]
fn what_began_in_the_warm_up_counts_against_the_bound_and_what_ended_there_does_not() {
    for family in FAMILIES {
        let bench = Bench::new(family, |w| {
            w.workers = 2;
            w.warmup_ns = 20 * MS;
        });
        let end = bench.run();
        assert!(bench.ops_in(&end, Phase::Warmup) > 0, "{family:?}");
        assert_eq!(bench.ops_in(&end, Phase::Measure), 500, "{family:?}");
        assert_eq!(end.end_reason, EndReason::Ops, "{family:?}");
    }
}

#[test]
fn every_worker_ends_at_its_own_bound() {
    for family in FAMILIES {
        let bench = Bench::new(family, |w| {
            w.workers = 3;
            w.bounds = Bounds::default();
            w.each_worker.ops = Some(40);
        });
        let end = bench.run();
        assert_eq!(bench.ops_in(&end, Phase::Measure), 120, "{family:?}");
        assert_eq!(end.end_reason, EndReason::Ops, "{family:?}");
    }
}

#[test]
fn time_is_cut_exactly() {
    for family in FAMILIES {
        let bench = Bench::new(family, |w| {
            w.warmup_ns = 30 * MS;
            w.bounds = Bounds {
                time_ns: Some(50 * MS),
                ..Bounds::default()
            };
        });
        let end = bench.run();
        let spans = end.samples.iter().filter(|s| s.phase != Phase::Settle);
        let spans: Vec<_> = spans
            .map(|s| (s.phase, s.start_ns, s.duration_ns))
            .collect();
        let expected = [
            (Phase::Warmup, 0, 30 * MS),
            (Phase::Measure, 30 * MS, 50 * MS),
        ];
        assert_eq!(spans, expected, "{family:?}");
        assert_eq!(end.end_reason, EndReason::Time, "{family:?}");
    }
}

#[test]
fn an_open_loop_keeps_its_schedule_and_says_how_late_it_was() {
    for family in FAMILIES {
        let bench = Bench::new(family, |w| {
            w.workers = 2;
            w.bounds.ops = Some(200);
            w.rate = Some(Rate {
                per_second: 2000.0,
                unit: RateUnit::Ops,
                arrival: Default::default(),
            });
        });
        let end = bench.run();
        assert_eq!(bench.ops_in(&end, Phase::Measure), 200, "{family:?}");
        assert_eq!(lateness(&end), 200, "{family:?}");
        let lasted_ns: u64 = end.samples.iter().map(|s| s.duration_ns).sum();
        // The last is due half a millisecond before 100 ms are over, or, where the
        // workers do not do the same number, later.
        assert!(lasted_ns >= 99 * MS, "{family:?}: {lasted_ns}");
    }
}

#[test]
fn think_time_spaces_operations_of_a_slot() {
    for family in FAMILIES {
        let bench = Bench::new(family, |w| {
            w.queue_depth = w.queue_depth.min(4);
            w.think_ns = 5 * MS;
            w.bounds = Bounds {
                time_ns: Some(50 * MS),
                ..Bounds::default()
            };
        });
        let end = bench.run();
        let depth = u64::from(bench.job.workload.queue_depth);
        let read: u64 = end
            .samples
            .iter()
            .filter_map(|s| s.op(bench.kind))
            .map(|op| op.ops)
            .sum();
        // A slot has an operation at 0, and then at most one every 5 ms.
        assert!((1..=depth * 10).contains(&read), "{family:?}: {read}");
    }
}

#[test]
fn stopping_ends_an_unbounded_load() {
    for family in FAMILIES {
        let bench = Bench::new(family, |w| w.bounds = Bounds::default());
        let prepared = prepare(&bench.job, &mut NoHooks).unwrap();
        let mut group = Group::start(&bench.job, &prepared).unwrap();
        group.go();
        std::thread::sleep(Duration::from_millis(20));
        group.stop();
        let end = group.finish();
        assert_eq!(end.end_reason, EndReason::Stopped, "{family:?}");
        bench.check_sums(&end);
    }
}

/// Removes the files of a tree, so that each operation on them fails.
fn remove_files(dir: &Path) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            remove_files(&path);
        } else {
            std::fs::remove_file(path).unwrap();
        }
    }
}

#[test]
fn failures_use_up_the_bound_and_are_never_work() {
    for family in [Family::Files, Family::Objects] {
        for on_error in [OnError::Continue, OnError::Stop] {
            let bench = Bench::scripted(family, "GET:500@2", |w| {
                w.on_error = on_error;
                w.bounds.ops = Some(100);
            });
            let end = run_after(&bench.job, || {
                if family == Family::Files {
                    remove_files(bench.dir.path());
                }
            });
            bench.check_sums(&end);
            let (ops, errors) = (bench.ops_in(&end, Phase::Measure), bench.errors(&end));
            // A load that is broken off settles: what ends then is counted there.
            for op in end.samples.iter().filter_map(|s| s.op(bench.kind)) {
                assert_eq!(op.bytes, op.ops * BYTES, "{family:?}");
            }
            assert!(!end.report.errors.is_empty(), "{family:?}");
            if on_error == OnError::Continue {
                assert_eq!(ops + errors, 100, "{family:?}");
                assert!(errors >= 49, "{family:?}: {errors}");
                assert_eq!(end.end_reason, EndReason::Ops, "{family:?}");
            } else {
                let most = u64::from(bench.job.workload.queue_depth);
                assert!((1..=most).contains(&errors), "{family:?}: {errors}");
                assert_eq!(end.end_reason, EndReason::Error, "{family:?}");
            }
        }
    }
}
