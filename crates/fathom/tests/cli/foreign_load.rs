//! Other users of the same storage and caches of the host, with a known truth:
//! what they do must be told from what the run does itself.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use serde_json::Value;

use crate::bench::{Bench, finding};
use crate::devices::{Loop, Mount, can_use_devices, sparse_file, tool};

/// Threads that do something again and again until they are dropped.
pub(crate) struct Neighbour {
    over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Neighbour {
    pub(crate) fn new(
        threads: usize,
        act: impl Fn(usize, u64) + Clone + Send + 'static,
    ) -> Neighbour {
        let over = Arc::new(AtomicBool::new(false));
        let start = |number: usize| {
            let (over, act) = (Arc::clone(&over), act.clone());
            thread::spawn(move || {
                let mut round = 0;
                while !over.load(Ordering::Relaxed) {
                    act(number, round);
                    round += 1;
                }
            })
        };
        Neighbour {
            threads: (0..threads).map(start).collect(),
            over,
        }
    }
}

impl Drop for Neighbour {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// A file system of its own on a loop device; goes when dropped, mount first.
pub(crate) struct Disk {
    mount: Option<Mount>,
    device: Loop,
    pub(crate) place: PathBuf,
}

impl Disk {
    pub(crate) fn new(bench: &Bench, kind: &str) -> Option<Disk> {
        let made = Command::new(format!("mkfs.{kind}")).arg("-V").output();
        if !can_use_devices() || made.is_err() {
            println!("skipped: mkfs.{kind} cannot be used");
            return None;
        }
        let image = bench.path().join(format!("{kind}.img"));
        sparse_file(&image, 400 << 20);
        let device = Loop::over(&image);
        tool(&format!("mkfs.{kind}"), &["-q", &device.device]);
        let place = bench.path().join(format!("mount-{kind}"));
        let mount = Mount::new(&[&device.device], &place);
        Some(Disk {
            mount: Some(mount),
            device,
            place,
        })
    }

    /// Takes the mount away and makes it again: nothing of it is cached then.
    pub(crate) fn remount(&mut self) {
        self.mount = None;
        self.mount = Some(Mount::new(&[&self.device.device], &self.place));
    }

    fn name(&self) -> &str {
        self.device.device.trim_start_matches("/dev/")
    }
}

#[track_caller]
pub(crate) fn found<'a>(result: &'a Value, id: &str) -> (&'a str, &'a str) {
    let found = finding(&result["trials"][0]["verdict"], id);
    let found = found.unwrap_or_else(|| panic!("no {id} in {:#}", result["verdict"]));
    let text = |key: &str| found[key].as_str().unwrap_or_default();
    (text("status"), text("evidence"))
}

#[test]
fn dirty_pages_of_a_writer_beside_do_not_condemn_flushed_writes() {
    let bench = Bench::new();
    let elsewhere = bench.path().join("elsewhere");
    let file = Arc::new(File::create(&elsewhere).expect("a file"));
    let block = vec![7; 1 << 20];
    let neighbour = Neighbour::new(1, move |_, round| {
        file.write_all_at(&block, (round % 300) << 20)
            .expect("space");
    });
    let line = "--rw randwrite --bs 4k --direct 0 --fsync 32 --size 32m --runtime 2s";
    let data = bench.data().display().to_string();
    let io = ["io", data.as_str()].into_iter().chain(line.split(' '));
    let (output, result) = bench.json(io);
    drop(neighbour);
    output.expect_measured();
    let (status, evidence) = found(&result, "V07");
    assert!(
        !matches!(status, "caveat" | "invalid"),
        "{status}: {evidence}"
    );
    // Without a flush the pages are the run's own.
    let line = "--rw randwrite --bs 4k --direct 0 --size 32m --runtime 1s";
    let io = ["io", data.as_str()].into_iter().chain(line.split(' '));
    let (output, result) = bench.json(io);
    output.expect_measured();
    let (_, evidence) = found(&result, "V07");
    assert!(evidence.contains("still in memory"), "{evidence}");
}

fn committing(bench: &Bench, disk: &Disk) -> Value {
    let place = disk.place.display().to_string();
    let line = "--rw randwrite --bs 4k --direct 0 --fdatasync 1 --size 16m --runtime 3s";
    let io = ["io", place.as_str()].into_iter().chain(line.split(' '));
    let (output, result) = bench.json(io);
    output.expect_measured();
    result
}

#[test]
fn a_neighbour_that_commits_is_found_and_the_own_journal_is_not() {
    for kind in ["ext4", "xfs"] {
        let bench = Bench::new();
        let Some(disk) = Disk::new(&bench, kind) else {
            return;
        };
        let files: Vec<File> = (0..4)
            .map(|n| File::create(disk.place.join(format!("neighbour-{n}"))).expect("a file"))
            .collect();
        for file in &files {
            file.write_all_at(&vec![1; 1 << 20], 0).expect("space");
            file.sync_all().expect("a sync");
        }
        let alone = committing(&bench, &disk);
        let (_, evidence) = found(&alone, "V30");
        assert!(!evidence.contains("at least"), "{kind}: {evidence}");
        let files = Arc::new(files);
        let neighbour = Neighbour::new(4, move |number, round| {
            let file = &files[number];
            file.write_all_at(&[2; 4096], (round % 256) * 4096)
                .expect("a write");
            file.sync_data().expect("a sync");
        });
        let beside = committing(&bench, &disk);
        drop(neighbour);
        let (status, evidence) = found(&beside, "V30");
        assert!(matches!(status, "caveat" | "invalid"), "{kind}: {evidence}");
        // Somebody else on this host kept the disk below busier than the neighbour.
        let of_below = evidence.contains(" of others: ") && !evidence.contains(disk.name());
        if of_below || evidence.contains("were reads of others: ") {
            println!("skipped: {kind}: {evidence}");
            continue;
        }
        // Where others read the disk below, bytes can show still more.
        let counted = format!("that {} completed", disk.name());
        let by_count = evidence.contains("at least") && evidence.contains(&counted);
        assert!(by_count || evidence.contains("(9"), "{kind}: {evidence}");
    }
}

#[test]
fn small_records_that_are_flushed_show_what_they_cost() {
    let bench = Bench::new();
    let data = bench.data().display().to_string();
    let line =
        "--rw write --bs 2300 --direct 0 --fdatasync 1 --size 2300000 --runtime 1s --verbose";
    let io = ["io", data.as_str()].into_iter().chain(line.split(' '));
    let output = bench.fathom(io);
    output.expect_measured();
    for part in ["V09 caveat", "2300 B", "for each byte written"] {
        assert!(output.stdout.contains(part), "{part} in\n{}", output.stdout);
    }
    let job = format!(
        "--name=t --directory={data} --rw=write --ioengine=sync --fdatasync=1 --size=1m --bs=512"
    );
    let fio = bench.fathom(std::iter::once("fio").chain(job.split(' ')));
    fio.expect_measured();
    fio.expect_in_stderr("V09");
    let line = "--fdatasync --seq -s 512 --iops -p 1 -t 1 -u 1M --cached -f data";
    let tool = bench.fathom(std::iter::once("at_io_iops").chain(line.split(' ')));
    tool.expect_measured();
    tool.expect_in_stderr("V09");
}

#[test]
fn a_loop_device_in_memory_is_memory_and_a_hole_is_no_cache() {
    if !can_use_devices() {
        return;
    }
    let bench = Bench::new();
    let memory = Mount::new(&["-t", "tmpfs", "tmpfs"], &bench.path().join("memory"));
    let image = bench.path().join("memory/image");
    fs::write(&image, vec![5; 32 << 20]).expect("space in memory");
    let device = Loop::over(&image);
    let read = |target: &str| {
        let line = "--rw randread --bs 4k --size 32m --runtime 1s";
        let io = ["io", target].into_iter().chain(line.split(' '));
        let (output, result) = bench.json(io);
        output.expect_measured();
        result
    };
    let result = read(&device.device);
    assert_eq!(
        result["verdict"]["limiter"], "memory",
        "{:#}",
        result["verdict"]
    );
    let (_, evidence) = found(&result, "V06");
    assert!(evidence.contains("those of memory"), "{evidence}");
    drop(device);
    drop(memory);
    let hole = bench.path().join("hole");
    sparse_file(&hole, 32 << 20);
    let result = read(hole.to_str().expect("a UTF-8 path"));
    let limiter = &result["verdict"]["limiter"];
    assert_ne!(limiter, "cache", "{:#}", result["verdict"]);
    let (status, _) = found(&result, "V04");
    assert_eq!(status, "invalid");
}
