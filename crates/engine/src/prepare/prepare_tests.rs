//! Test files in directories, on real file systems.

use std::fs;
use std::os::unix::fs::{FileExt, MetadataExt};

use fathom_model::OpKind;
use fathom_model::workload::{
    Content, DataSet, Distribution, FileLayout, OpMix, Pattern, Payload, Precondition, Verify,
};
use tempfile::TempDir;

use super::*;
use crate::access::Access;
use crate::verify::{MismatchKind, Verifier, verify_after};

const MIB: u64 = 1 << 20;

/// Hooks that write down what they hear.
#[derive(Default)]
pub(super) struct Audience {
    pub(super) created: Vec<PathBuf>,
    pub(super) removed: Vec<PathBuf>,
    pub(super) progress: Vec<(String, u64, u64)>,
    /// Stop during the step of which this is a part of the name.
    pub(super) stop_during: Option<&'static str>,
    pub(super) forbid: bool,
}

impl PrepareHooks for Audience {
    fn progress(&mut self, p: PrepareProgress<'_>) {
        self.progress
            .push((p.what.to_owned(), p.done_bytes, p.total_bytes));
    }

    fn creating(&mut self, path: &Path) -> Result<(), CreationRefused> {
        assert!(!path.exists(), "{} was announced too late", path.display());
        self.created.push(path.to_owned());
        if self.forbid {
            Err(CreationRefused::NotNoted("no notes can be made".to_owned()))
        } else {
            Ok(())
        }
    }

    fn removed(&mut self, path: &Path) {
        assert!(!path.exists());
        self.removed.push(path.to_owned());
    }

    fn stop_requested(&self) -> bool {
        let now = self.progress.last().map_or("", |(what, _, _)| what);
        self.stop_during.is_some_and(|step| now.contains(step))
    }
}

pub(super) fn job(target: &Path, workload: Workload) -> Job {
    Job {
        workload,
        target: Target::Path(target.to_owned()),
        seed: 3,
        run_tag: 1,
        destructive: false,
        keep_files: false,
        file_prefix: "fathom".to_owned(),
    }
}

pub(super) fn reads(size_bytes: u64) -> Workload {
    Workload {
        data_set: DataSet::of_bytes(size_bytes),
        ..Workload::example("reads")
    }
}

pub(super) fn names(dir: &TempDir) -> Vec<String> {
    let entries = fs::read_dir(dir.path()).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// Prepares, keeps the files and forgets them, as an earlier run would.
pub(super) fn earlier_run(job: &Job) -> DataReport {
    prepare(job, &mut NoHooks).unwrap().data
}

#[test]
fn files_are_created_written_reported_and_removed() {
    let dir = tempfile::tempdir().unwrap();
    let mut workload = reads(12 * MIB + 8 * 4096);
    workload.workers = 2;
    workload.data_set.files.count = 2;
    let mut audience = Audience::default();
    let mut prepared = prepare(&job(dir.path(), workload), &mut audience).unwrap();
    let listed = [
        "fathom.0",
        "fathom.1",
        "fathom.2",
        "fathom.3",
        "fathom.manifest",
    ];
    assert_eq!(names(&dir), listed);
    assert_eq!(audience.created.len(), 5);
    let data = &prepared.data;
    assert_eq!(data.active_bytes, 12 * MIB + 8 * 4096);
    assert_eq!(data.prepared_bytes, data.active_bytes);
    assert!(!data.reused);
    assert_eq!(data.files.len(), 4);
    for n in 0..4 {
        let bytes = fs::read(dir.path().join(format!("fathom.{n}"))).unwrap();
        assert_eq!(bytes.len() as u64, 3 * MIB + 2 * 4096);
        assert!(bytes.chunks(4096).all(|page| page.iter().any(|b| *b != 0)));
    }
    let last = audience
        .progress
        .iter()
        .rfind(|p| p.0.contains("filling"))
        .unwrap();
    assert_eq!(
        (last.1, last.2),
        (prepared.data.active_bytes, prepared.data.active_bytes)
    );
    cleanup(&mut prepared, false, &mut audience).unwrap();
    assert!(names(&dir).is_empty());
    assert_eq!(audience.removed.len(), 5);
    cleanup(&mut prepared, false, &mut audience).unwrap();
}

#[test]
fn prepared_data_do_not_repeat_or_compress_and_come_from_the_seed() {
    let dir = tempfile::tempdir().unwrap();
    let mut the_job = job(dir.path(), reads(4 * MIB));
    earlier_run(&the_job);
    let bytes = fs::read(dir.path().join("fathom.0")).unwrap();
    assert!(lz4_flex::block::compress(&bytes).len() as f64 > 0.99 * bytes.len() as f64);
    let blocks: std::collections::HashSet<&[u8]> = bytes.chunks(4096).collect();
    assert_eq!(blocks.len(), 1024);
    the_job.workload.data_set.precondition = Precondition::Fill;
    earlier_run(&the_job);
    assert!(fs::read(dir.path().join("fathom.0")).unwrap() == bytes);
    the_job.workload.payload = Payload {
        content: Content::Bytes(b"xy".to_vec()),
        ..Payload::default()
    };
    earlier_run(&the_job);
    let bytes = fs::read(dir.path().join("fathom.0")).unwrap();
    assert!(bytes.chunks(2).all(|pair| pair == b"xy"));
}

#[test]
fn an_earlier_runs_files_are_reused_and_not_removed() {
    let dir = tempfile::tempdir().unwrap();
    let mut the_job = job(dir.path(), reads(2 * MIB));
    earlier_run(&the_job);
    the_job.run_tag = 2;
    let mut prepared = prepare(&the_job, &mut NoHooks).unwrap();
    assert!(prepared.data.reused);
    assert_eq!(prepared.data.prepared_bytes, 0);
    cleanup(&mut prepared, false, &mut NoHooks).unwrap();
    assert_eq!(names(&dir), ["fathom.0", "fathom.manifest"]);
}

#[test]
fn the_last_trial_of_a_run_removes_what_its_first_created() {
    let dir = tempfile::tempdir().unwrap();
    let the_job = job(dir.path(), reads(2 * MIB));
    let mut first = prepare(&the_job, &mut NoHooks).unwrap();
    cleanup(&mut first, true, &mut NoHooks).unwrap();
    drop(first);
    let mut second = prepare(&the_job, &mut NoHooks).unwrap();
    assert!(second.data.reused);
    cleanup(&mut second, false, &mut NoHooks).unwrap();
    assert!(names(&dir).is_empty());
}

#[test]
fn files_of_another_size_are_adjusted() {
    let dir = tempfile::tempdir().unwrap();
    earlier_run(&job(dir.path(), reads(2 * MIB)));
    let longer = earlier_run(&job(dir.path(), reads(5 * MIB)));
    assert!(longer.reused);
    assert_eq!(longer.prepared_bytes, 3 * MIB);
    let bytes = fs::read(dir.path().join("fathom.0")).unwrap();
    assert_eq!(bytes.len() as u64, 5 * MIB);
    assert!(bytes.chunks(4096).all(|page| page.iter().any(|b| *b != 0)));
    let shorter = earlier_run(&job(dir.path(), reads(MIB)));
    assert_eq!(shorter.prepared_bytes, 0);
    assert_eq!(
        fs::metadata(dir.path().join("fathom.0")).unwrap().len(),
        MIB
    );
}

#[test]
fn files_that_were_never_or_partly_written_are_written_before_a_read() {
    let dir = tempfile::tempdir().unwrap();
    let mut writes = reads(2 * MIB);
    writes.mix = OpMix::WRITE;
    let written = earlier_run(&job(dir.path(), writes));
    assert_eq!(written.prepared_bytes, 0);
    let data = earlier_run(&job(dir.path(), reads(2 * MIB)));
    assert_eq!(data.prepared_bytes, 2 * MIB);
    let file = fs::OpenOptions::new()
        .write(true)
        .open(dir.path().join("fathom.0"))
        .unwrap();
    let punch = rustix::fs::FallocateFlags::PUNCH_HOLE | rustix::fs::FallocateFlags::KEEP_SIZE;
    if rustix::fs::fallocate(&file, punch, MIB, 65536).is_err() {
        println!("skipped: no holes on the file system of the temporary files");
        return;
    }
    let data = earlier_run(&job(dir.path(), reads(2 * MIB)));
    assert_eq!(data.prepared_bytes, 2 * MIB);
}

#[test]
fn a_workload_that_trims_leaves_files_that_are_written_anew() {
    let dir = tempfile::tempdir().unwrap();
    let mut trims = reads(MIB);
    trims.mix = OpMix {
        read_percent: 50,
        write_percent: 30,
        trim_percent: 20,
    };
    earlier_run(&job(dir.path(), trims));
    assert_eq!(
        earlier_run(&job(dir.path(), reads(MIB))).prepared_bytes,
        MIB
    );
}

#[test]
fn preconditioning_writes_again() {
    let dir = tempfile::tempdir().unwrap();
    let mut workload = reads(2 * MIB);
    workload.pattern = Pattern::Random(Distribution::Uniform);
    workload.data_set.precondition = Precondition::RandomFill;
    let first = earlier_run(&job(dir.path(), workload.clone()));
    assert_eq!(first.prepared_bytes, 4 * MIB);
    let before = fs::read(dir.path().join("fathom.0")).unwrap();
    assert!(before.chunks(4096).all(|page| page.iter().any(|b| *b != 0)));
    workload.data_set.precondition = Precondition::Fill;
    assert_eq!(
        earlier_run(&job(dir.path(), workload)).prepared_bytes,
        2 * MIB
    );
    // The second pass of the first preparation had other data in every block.
    let after = fs::read(dir.path().join("fathom.0")).unwrap();
    assert!(
        before
            .chunks(4096)
            .zip(after.chunks(4096))
            .all(|(a, b)| a != b)
    );
}

#[test]
fn what_cannot_be_is_said_before_anything_is_created() {
    let dir = tempfile::tempdir().unwrap();
    let small = |w: &mut Workload| {
        w.workers = 4;
        w.data_set.files.shared = true;
        w.data_set.size_bytes = Some(2 * 4096);
    };
    type Change<'a> = &'a dyn Fn(&mut Workload);
    let cases: [(Change<'_>, &str); 5] = [
        (&|w| w.data_set.size_bytes = None, "give the size"),
        (
            &|w| w.data_set.size_bytes = Some(1_000_000),
            "nearest sizes are 999424",
        ),
        (&|w| w.data_set.size_bytes = Some(1 << 60), "free space"),
        (&small, "fewer workers"),
        (
            &|w| w.data_set.offset_bytes = 2 * MIB,
            "no room for one block",
        ),
    ];
    for (change, text) in cases {
        let mut workload = reads(MIB);
        change(&mut workload);
        let error = prepare(&job(dir.path(), workload), &mut NoHooks)
            .unwrap_err()
            .to_string();
        assert!(error.contains(text), "{error}");
        assert!(names(&dir).is_empty());
    }
    for prefix in ["", "../x", ".hidden", "a\nb"] {
        let mut the_job = job(dir.path(), reads(MIB));
        the_job.file_prefix = prefix.to_owned();
        let error = prepare(&the_job, &mut NoHooks).unwrap_err().to_string();
        assert!(error.contains("start of a file name"), "{error}");
    }
    let missing = dir.path().join("not/there");
    let error = prepare(&job(&missing, reads(MIB)), &mut NoHooks)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains(&format!("{} does", dir.path().display())),
        "{error}"
    );
}

#[test]
fn a_directory_without_permission_is_told() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o555)).unwrap();
    if rustix::process::geteuid().is_root() {
        println!("skipped: everything is permitted to root");
        return;
    }
    let error = prepare(&job(dir.path(), reads(MIB)), &mut NoHooks)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("not permitted") && error.contains("belongs to uid"),
        "{error}"
    );
}

#[test]
fn null_and_simulated_targets_need_nothing() {
    let mut the_job = job(Path::new("/"), reads(MIB));
    the_job.target = Target::Null;
    the_job.workload.workers = 3;
    the_job.workload.data_set.files = FileLayout {
        count: 2,
        shared: false,
    };
    the_job.workload.data_set.size_bytes = Some(6 * MIB);
    let prepared = prepare(&the_job, &mut NoHooks).unwrap();
    assert_eq!(prepared.layout.files.len(), 6);
    assert_eq!(prepared.data.active_bytes, 6 * MIB);
    the_job.target = Target::Sim("ssd".to_owned());
    let prepared = prepare(&the_job, &mut NoHooks).unwrap();
    assert_eq!(
        (prepared.layout.kind, prepared.layout.files.len()),
        (TargetKind::Sim, 1)
    );
    the_job.workload.verify = Some(Verify {
        on_read: true,
        after: false,
        ..Verify::default()
    });
    let error = prepare(&the_job, &mut NoHooks).unwrap_err().to_string();
    assert!(error.contains("keeps no data"), "{error}");
}

#[test]
fn verified_trials_start_from_stamped_data_and_are_read_back() {
    let dir = tempfile::tempdir().unwrap();
    let mut workload = reads(3 * MIB);
    workload.block = BlockSizes::Fixed(12 << 10);
    workload.misalign_bytes = 512;
    workload.mix = OpMix {
        read_percent: 50,
        write_percent: 50,
        trim_percent: 0,
    };
    workload.verify = Some(Verify {
        on_read: true,
        after: true,
        ..Verify::default()
    });
    let the_job = job(dir.path(), workload.clone());
    earlier_run(&job(dir.path(), reads(3 * MIB)));
    let prepared = prepare(&the_job, &mut NoHooks).unwrap();
    assert_eq!(prepared.data.prepared_bytes, 3 * MIB);
    let ledger = prepared.ledger.clone().unwrap();
    let mut verifier = Verifier::new(&ledger, 1, 12 << 10);
    let path = &prepared.layout.files[0].path;
    let file = fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open(path)
        .unwrap();
    let mut stream = AccessStream::new(&workload, &prepared.layout, 0, 1).unwrap();
    let mut written = std::collections::HashSet::new();
    for _ in 0..400 {
        let access = stream.next();
        let mut block = vec![1; access.bytes as usize];
        verifier.begin(0, &access, &mut block);
        if access.kind == OpKind::Write {
            file.write_all_at(&block, access.offset).unwrap();
            written.insert(access.offset);
        } else {
            file.read_exact_at(&mut block, access.offset).unwrap();
        }
        verifier.finish(0, &access, &block, true).unwrap();
    }
    let report = verify_after(&the_job, &prepared, &mut NoHooks).unwrap();
    assert_eq!(report.checked_bytes, written.len() as u64 * (12 << 10));
    assert_eq!((report.mismatches, report.first.len()), (0, 0));
    let spoiled = *written.iter().next().unwrap();
    file.write_all_at(&[0; 4096], spoiled + 4096).unwrap();
    let report = verify_after(&the_job, &prepared, &mut NoHooks).unwrap();
    assert_eq!(report.mismatches, 1);
    assert_eq!(report.first[0].kind, MismatchKind::Zeroed);
    assert_eq!(report.first[0].offset, spoiled + 4096);
    let plain = job(dir.path(), reads(MIB));
    drop(prepared);
    let unverified = prepare(&plain, &mut NoHooks).unwrap();
    assert!(verify_after(&plain, &unverified, &mut NoHooks).is_err());
}

#[test]
fn what_a_write_only_trial_wrote_is_read_back_without_preparation() {
    let dir = tempfile::tempdir().unwrap();
    let mut workload = reads(MIB);
    workload.mix = OpMix::WRITE;
    workload.verify = Some(Verify {
        on_read: false,
        after: true,
        ..Verify::default()
    });
    let the_job = job(dir.path(), workload);
    let prepared = prepare(&the_job, &mut NoHooks).unwrap();
    assert_eq!(prepared.data.prepared_bytes, 0);
    let mut verifier = Verifier::new(prepared.ledger.as_ref().unwrap(), 1, 4096);
    let access = Access {
        kind: OpKind::Write,
        file: 0,
        offset: 40960,
        bytes: 4096,
    };
    let mut block = vec![1; 4096];
    verifier.begin(0, &access, &mut block);
    let file = fs::OpenOptions::new()
        .write(true)
        .open(&prepared.layout.files[0].path)
        .unwrap();
    file.write_all_at(&block, 40960).unwrap();
    verifier.finish(0, &access, &block, true).unwrap();
    let report = verify_after(&the_job, &prepared, &mut NoHooks).unwrap();
    assert_eq!((report.checked_bytes, report.mismatches), (4096, 0));
    assert_eq!(file.metadata().unwrap().size(), MIB);
}
