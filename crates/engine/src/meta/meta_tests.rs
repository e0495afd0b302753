//! Whole loads on real directories: what is counted is what was done, what was
//! made is removed, and what is a stranger's stays.

use std::path::Path;

use fathom_model::workload::{
    Bounds, CacheMode, EngineKind, FileSizes, MetaPaths, MetaShare, MetaTree, MetaWork, OnError,
    OpMix, Verify, Work, Workload,
};
use fathom_model::{Job, OpKind, Target};

use crate::prepare::{NoHooks, cleanup, prepare, remove_files_of_run};
use crate::target_file::BindMount;
use crate::{EndReason, Group, GroupEnd, Prepared};

fn job(dir: &Path, kinds: &[OpKind]) -> Job {
    let mut workload = Workload::example("meta");
    workload.engine = EngineKind::Meta;
    workload.mix = OpMix::NONE;
    workload.cache = CacheMode::Buffered;
    workload.workers = 2;
    workload.bounds = Bounds::default();
    workload.data_set.size_bytes = None;
    let tree = MetaTree {
        depth: 2,
        fan_out: 2,
        leaves: 4,
        record_bytes: 1000,
        ..MetaTree::flat(50, 4096)
    };
    let ops = kinds.iter().map(|kind| (*kind, 1));
    workload.work = Work::files(MetaWork::new(ops, tree));
    workload.verify = Some(Verify {
        on_read: true,
        ..Verify::default()
    });
    Job {
        workload,
        target: Target::Path(dir.to_owned()),
        seed: 3,
        run_tag: 77,
        destructive: false,
        keep_files: false,
        file_prefix: "fathom".to_owned(),
    }
}

fn of(job: &mut Job) -> &mut MetaWork {
    job.workload.files_work_mut().unwrap()
}

fn load(job: &Job) -> (Prepared, GroupEnd) {
    let prepared = prepare(job, &mut NoHooks).unwrap();
    let mut group = Group::start(job, &prepared).unwrap();
    group.go();
    let end = group.finish();
    assert!(end.report.errors.is_empty(), "{:?}", end.report.errors);
    (prepared, end)
}

fn ops(end: &GroupEnd, kind: OpKind) -> (u64, u64) {
    let of_kind = end.samples.iter().filter_map(|sample| sample.op(kind));
    of_kind.fold((0, 0), |(ops, bytes), op| {
        assert_eq!(op.service.count(), op.ops);
        (ops + op.ops, bytes + op.bytes)
    })
}

fn names(dir: &Path) -> Vec<String> {
    let names = std::fs::read_dir(dir).unwrap();
    names
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

#[test]
fn every_operation_is_done_as_a_phase_and_verified() {
    use OpKind::*;
    let dir = tempfile::tempdir().unwrap();
    let phases = [
        Mkdir,
        Statdir,
        Create,
        Stat,
        Lookup,
        Open,
        ReadFile,
        Readdir,
        ReaddirStat,
        Overwrite,
        ReadFile,
        Chmod,
        Fsync,
        Link,
        Symlink,
        Readlink,
        Rename,
        Stat,
        Setxattr,
        Getxattr,
        Append,
        ReadFile,
        Truncate,
        Unlink,
        Rmdir,
    ];
    for kind in phases {
        let (prepared, end) = load(&job(dir.path(), &[kind]));
        let expected = match kind {
            Readdir | ReaddirStat => 8,
            _ => 100,
        };
        let (done, bytes) = ops(&end, kind);
        assert_eq!(done, expected, "{kind:?}");
        assert_eq!(bytes > 0, kind.moves_bytes(), "{kind:?}");
        assert_eq!(end.end_reason, EndReason::Ops);
        assert!(
            prepared.data.prepared_bytes == 0,
            "{kind:?} found what it needs"
        );
        let finishers = end.report.finishers.unwrap();
        assert_eq!(finishers.ops, expected);
        assert!(finishers.ops_at_first <= expected && finishers.first_ns <= finishers.last_ns);
    }
    remove_files_of_run(dir.path(), "fathom", 77, &mut NoHooks).unwrap();
    assert!(names(dir.path()).is_empty());
}

/// Every operation that needs nobody else.
fn alone() -> impl Iterator<Item = OpKind> {
    let own = |kind: &OpKind| kind.is_metadata() && *kind != OpKind::AwaitCreate;
    OpKind::ALL.into_iter().filter(own)
}

#[test]
fn every_operation_finds_what_it_needs_in_an_empty_directory() {
    for kind in alone() {
        for paths in [MetaPaths::Near, MetaPaths::Whole] {
            let dir = tempfile::tempdir().unwrap();
            let mut job = job(dir.path(), &[kind]);
            of(&mut job).paths = paths;
            of(&mut job).shift = 1;
            of(&mut job).tree.hashed = true;
            of(&mut job).tree.shared = true;
            let (mut prepared, end) = load(&job);
            let expected = match kind {
                OpKind::Readdir | OpKind::ReaddirStat => 4,
                _ => 100,
            };
            assert_eq!(ops(&end, kind).0, expected, "{kind:?} {paths:?}");
            cleanup(&mut prepared, false, &mut NoHooks).unwrap();
            assert!(names(dir.path()).is_empty(), "{kind:?}");
        }
    }
}

#[test]
fn mixes_of_everything_run_to_their_bound() {
    let dir = tempfile::tempdir().unwrap();
    let kinds: Vec<OpKind> = alone().collect();
    let mut job = job(dir.path(), &kinds);
    job.workload.bounds.ops = Some(20_000);
    of(&mut job).tree.sizes = FileSizes::Exponential {
        mean_bytes: 500,
        max_bytes: 4000,
    };
    let (_, end) = load(&job);
    let all: u64 = kinds.iter().map(|kind| ops(&end, *kind).0).sum();
    assert_eq!(all, 20_000);
    for kind in kinds {
        assert!(ops(&end, kind).0 > 100, "{kind:?}");
    }
    let (_, end) = load(&job);
    assert_eq!(end.end_reason, EndReason::Ops);
}

#[test]
fn an_open_loop_has_response_latency_and_ends_in_time() {
    let dir = tempfile::tempdir().unwrap();
    let mut job = job(dir.path(), &[OpKind::Stat]);
    of(&mut job).repeat = true;
    job.workload.bounds.time_ns = Some(200_000_000);
    job.workload.rate = Some(fathom_model::workload::Rate {
        per_second: 1000.0,
        unit: fathom_model::workload::RateUnit::Ops,
        arrival: Default::default(),
    });
    let (_, end) = load(&job);
    assert_eq!(end.end_reason, EndReason::Time);
    let sample = &end.samples[0];
    let op = sample.op(OpKind::Stat).unwrap();
    assert_eq!(op.response.as_ref().unwrap().count(), op.ops);
    assert!(op.ops <= 200 && op.ops > 0);
    assert!(sample.lateness.as_ref().unwrap().count() >= op.ops);
}

#[test]
fn wrong_sizes_contents_and_missing_names_are_found() {
    let dir = tempfile::tempdir().unwrap();
    load(&job(dir.path(), &[OpKind::Create]));
    let leaf = dir.path().join("fathom.tree/w1/n0/n0");
    std::fs::write(leaf.join("f-1-0"), "short").unwrap();
    let mut bytes = std::fs::read(leaf.join("f-1-1")).unwrap();
    bytes[2345] ^= 1;
    std::fs::write(leaf.join("f-1-1"), bytes).unwrap();
    std::fs::remove_file(leaf.join("f-1-2")).unwrap();
    let told = |kind: OpKind| {
        let mut job = job(dir.path(), &[kind]);
        job.workload.on_error = OnError::Continue;
        let prepared = prepare(&job, &mut NoHooks).unwrap();
        // As it was found: what follows is to find the same.
        let list = dir.path().join("fathom.tree/.fathom-tree");
        let mut group = Group::start(&job, &prepared).unwrap();
        group.go();
        let end = group.finish();
        let text = std::fs::read_to_string(&list).unwrap();
        assert!(text.contains("state open"), "it is not known what is there");
        let closed = text.replace("state open", "state closed");
        let ranks = "rank 0 0 0 0 0 0 50 0 0 0 0 0 0\n".repeat(2);
        std::fs::write(&list, closed + &ranks).unwrap();
        let messages = end.report.errors.iter().map(|error| error.message.clone());
        messages.collect::<Vec<String>>().join("\n")
    };
    let read = told(OpKind::ReadFile);
    assert!(read.contains("f-1-0: only 5 bytes were moved"), "{read}");
    assert!(
        read.contains("f-1-1: other contents than were written, from byte 2345"),
        "{read}"
    );
    assert!(read.contains("f-1-2: No such file"), "{read}");
    let stat = told(OpKind::Stat);
    assert!(
        stat.contains("f-1-0: 5 bytes long instead of 4096"),
        "{stat}"
    );
    let listed = told(OpKind::Readdir);
    assert!(
        listed.contains("n0: 12 entries in it instead of 13"),
        "{listed}"
    );
    assert_eq!(listed.lines().count(), 1, "{listed}");
}

#[test]
fn what_is_not_known_is_made_anew_and_other_shapes_as_well() {
    let dir = tempfile::tempdir().unwrap();
    load(&job(dir.path(), &[OpKind::Create]));
    let mut other = job(dir.path(), &[OpKind::Stat]);
    of(&mut other).tree.files = 7;
    let (prepared, end) = load(&other);
    assert_eq!(ops(&end, OpKind::Stat).0, 14);
    assert!(!prepared.data.reused);
    drop(prepared);
    let (prepared, _) = load(&other);
    assert!(prepared.data.reused);
    drop(prepared);
    let (_, end) = load(&job(dir.path(), &[OpKind::Create]));
    assert_eq!(ops(&end, OpKind::Create).0, 100);
}

#[test]
fn a_strangers_tree_or_file_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("fathom.tree")).unwrap();
    let refused = prepare(&job(dir.path(), &[OpKind::Create]), &mut NoHooks).unwrap_err();
    assert!(
        refused.to_string().contains("fathom did not make it"),
        "{refused}"
    );
    std::fs::remove_dir(dir.path().join("fathom.tree")).unwrap();

    let (mut prepared, _) = load(&job(dir.path(), &[OpKind::Create]));
    let thesis = dir.path().join("fathom.tree/w0/n1/n0/thesis.txt");
    std::fs::write(&thesis, "years").unwrap();
    let left = cleanup(&mut prepared, false, &mut NoHooks).unwrap_err();
    assert!(
        left.to_string()
            .contains("thesis.txt: fathom did not make it"),
        "{left}"
    );
    assert_eq!(std::fs::read_to_string(&thesis).unwrap(), "years");
    std::fs::remove_file(&thesis).unwrap();
    drop(prepared);
    remove_files_of_run(dir.path(), "fathom", 77, &mut NoHooks).unwrap();
    assert!(names(dir.path()).is_empty());
}

#[test]
fn a_file_of_somebody_elses_under_a_name_of_fathoms_is_left_alone() {
    let hour = std::time::Duration::from_secs(3600);
    // Put there long after the run ended, and moved there with what it was.
    for is_older in [false, true] {
        let dir = tempfile::tempdir().unwrap();
        let (mut prepared, _) = load(&job(dir.path(), &[OpKind::Create]));
        let branch = dir.path().join("fathom.tree/w0/n0/n0");
        let thesis = branch.join(names(&branch).pop().unwrap());
        std::fs::write(&thesis, "years").unwrap();
        let file = std::fs::File::options().write(true).open(&thesis).unwrap();
        let now = file.metadata().unwrap().modified().unwrap();
        let changed = if is_older { now - hour } else { now + hour };
        file.set_modified(changed).unwrap();
        let left = cleanup(&mut prepared, false, &mut NoHooks).unwrap_err();
        let told = left.to_string();
        assert!(told.contains("while no run of fathom worked"), "{told}");
        assert_eq!(std::fs::read_to_string(&thesis).unwrap(), "years");
        drop(prepared);
        // The next run on the tree makes it anew, and leaves it alone as well.
        if is_older {
            let mut other = job(dir.path(), &[OpKind::Unlink]);
            of(&mut other).tree.fan_out = 3;
            let told = prepare(&other, &mut NoHooks).unwrap_err().to_string();
            assert!(told.contains("while no run of fathom worked"), "{told}");
            assert_eq!(std::fs::read_to_string(&thesis).unwrap(), "years");
        }
        file.set_modified(now).unwrap();
        remove_files_of_run(dir.path(), "fathom", 77, &mut NoHooks).unwrap();
        assert!(names(dir.path()).is_empty());
    }
}

#[test]
fn links_lead_nowhere_else() {
    let dir = tempfile::tempdir().unwrap();
    let secret = tempfile::tempdir().unwrap();
    std::fs::write(secret.path().join("f-0-0"), "secret").unwrap();
    std::os::unix::fs::symlink(secret.path(), dir.path().join("fathom.tree")).unwrap();
    assert!(prepare(&job(dir.path(), &[OpKind::Unlink]), &mut NoHooks).is_err());
    std::fs::remove_file(dir.path().join("fathom.tree")).unwrap();

    let (mut prepared, _) = load(&job(dir.path(), &[OpKind::Create]));
    let branch = dir.path().join("fathom.tree/w0/n0/n0");
    for name in names(&branch) {
        std::fs::remove_file(branch.join(name)).unwrap();
    }
    std::fs::remove_dir(&branch).unwrap();
    std::os::unix::fs::symlink(secret.path(), &branch).unwrap();
    assert!(cleanup(&mut prepared, false, &mut NoHooks).is_err());
    assert_eq!(names(secret.path()), ["f-0-0"]);
}

#[test]
fn what_is_mounted_in_a_tree_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let precious = tempfile::tempdir_in(dir.path()).unwrap();
    let (mut prepared, _) = load(&job(dir.path(), &[OpKind::Create]));
    let branch = dir.path().join("fathom.tree/w0/n0/n0");
    for name in names(&branch) {
        std::fs::write(precious.path().join(name), "precious").unwrap();
    }
    let files = names(precious.path()).len();
    assert!(files > 0);
    let Some(mount) = BindMount::make(precious.path(), &branch) else {
        return;
    };
    let left = cleanup(&mut prepared, false, &mut NoHooks).unwrap_err();
    drop(prepared);
    assert!(
        left.to_string()
            .contains("w0/n0/n0: something is mounted there"),
        "{left}"
    );
    let left = remove_files_of_run(dir.path(), "fathom", 77, &mut NoHooks).unwrap_err();
    assert!(left.to_string().contains("unmount it"), "{left}");
    assert_eq!(names(precious.path()).len(), files);
    drop(mount);
    precious.close().unwrap();
    remove_files_of_run(dir.path(), "fathom", 77, &mut NoHooks).unwrap();
    assert!(names(dir.path()).is_empty());
}

#[test]
fn a_load_does_not_enter_what_is_mounted_in_its_tree() {
    let dir = tempfile::tempdir().unwrap();
    let precious = tempfile::tempdir_in(dir.path()).unwrap();
    let (prepared, _) = load(&Job {
        keep_files: true,
        ..job(dir.path(), &[OpKind::Create])
    });
    drop(prepared);
    let branch = dir.path().join("fathom.tree/w0/n0/n0");
    for name in names(&branch) {
        std::fs::write(precious.path().join(name), "precious").unwrap();
    }
    let files = names(precious.path()).len();
    let Some(_mount) = BindMount::make(precious.path(), &branch) else {
        return;
    };
    let unlink = job(dir.path(), &[OpKind::Unlink]);
    let prepared = prepare(&unlink, &mut NoHooks).unwrap();
    let mut group = Group::start(&unlink, &prepared).unwrap();
    group.go();
    assert!(!group.finish().report.errors.is_empty());
    assert_eq!(names(precious.path()).len(), files);
}

#[test]
fn the_null_target_has_a_ceiling_for_every_operation() {
    for kind in alone().chain([OpKind::AwaitCreate]) {
        let mut job = job(Path::new("/nonexistent"), &[kind]);
        of(&mut job).tree.files = 1000;
        let ceiling = crate::measure_ceiling(&job, 10_000_000).unwrap();
        assert!(ceiling.ops_per_second > 0.0, "{kind:?} {ceiling:?}");
    }
}

#[test]
fn work_that_is_out_of_bounds_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let refused = |change: &dyn Fn(&mut MetaWork)| {
        let mut job = job(dir.path(), &[OpKind::Stat]);
        change(of(&mut job));
        prepare(&job, &mut NoHooks).unwrap_err().to_string()
    };
    assert!(refused(&|meta| meta.ops.clear()).contains("names no operation"));
    assert!(refused(&|meta| meta.ops[0].kind = OpKind::Read).contains("read is not an operation"));
    assert!(refused(&|meta| meta.tree.leaves = 5).contains("do not fit"));
    assert!(refused(&|meta| meta.tree.depth = 33).contains("32 levels"));
    assert!(refused(&|meta| meta.tree.record_bytes = 0).contains("records"));
    assert!(names(dir.path()).is_empty());
}

#[test]
fn files_that_somebody_else_makes_are_waited_for_and_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let mut waits = job(dir.path(), &[OpKind::AwaitCreate]);
    of(&mut waits).stamped = true;
    let waiting = std::thread::spawn(move || load(&waits).1);
    let mut makes = job(dir.path(), &[OpKind::Create]);
    of(&mut makes).stamped = true;
    makes.workload.think_ns = 100_000;
    let (mut prepared, made) = load(&makes);
    let end = waiting.join().unwrap();
    assert_eq!(ops(&made, OpKind::Create), (100, 100 * 4096));
    assert_eq!(ops(&end, OpKind::AwaitCreate), (100, 0));
    assert_eq!(end.end_reason, EndReason::Ops);
    assert!(dir.path().join("fathom.tree/w1/n0/n0/f-1-0").exists());
    cleanup(&mut prepared, false, &mut NoHooks).unwrap();
    assert!(names(dir.path()).is_empty());
}

#[test]
fn who_waits_for_what_never_comes_ends_in_time_and_counts_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let mut waits = job(dir.path(), &[OpKind::AwaitCreate]);
    waits.workload.bounds.time_ns = Some(50_000_000);
    let (_, end) = load(&waits);
    assert_eq!(ops(&end, OpKind::AwaitCreate), (0, 0));
    assert_eq!(end.end_reason, EndReason::Time);
    assert!(names(dir.path()).is_empty());
    of(&mut waits).ops.push(MetaShare {
        kind: OpKind::Stat,
        weight: 1,
    });
    let refused = prepare(&waits, &mut NoHooks).unwrap_err().to_string();
    assert!(refused.contains("not as a part of a mix"), "{refused}");
}
