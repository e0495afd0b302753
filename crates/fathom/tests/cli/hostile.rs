//! Directories in which others may write, and runs that are killed: what is
//! not fathom's stays as it is, and what is fathom's is found again.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use crate::bench::{Bench, finish, is_root};
use crate::devices::{Loop, Mount, can_use_devices, tool};

const NOBODY: u32 = 65_534;
const PRECIOUS: &[u8] = &[b'p'; 4 << 20];

fn io(runtime: &str) -> Vec<String> {
    let words = [
        "io",
        "data",
        "--rw",
        "randwrite",
        "--size",
        "4m",
        "--buffered",
        "--quiet",
    ];
    let words = words.into_iter().chain(["--runtime", runtime]);
    words.map(str::to_owned).collect()
}

fn eventually(what: &str, mut happened: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !happened() {
        assert!(begun.elapsed() < Duration::from_secs(60), "no {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A list that somebody else put there names a file elsewhere.
#[test]
fn a_planted_list_of_test_files_is_refused_and_nothing_is_touched() {
    let bench = Bench::new();
    let secret = bench.path().join("secret");
    fs::create_dir(&secret).unwrap();
    let important = secret.join("important");
    fs::write(&important, "data").unwrap();
    let inode = important.metadata().unwrap().ino();
    let list = bench.data().join("fathom-test.manifest");
    let text =
        format!("fathom test files 1\nwritten {inode} 0000000000000007 ../secret/important\n");
    let refused = |why: &str| {
        for command in [
            &io("1s")[..],
            &["meta", "data", "--files", "10"].map(str::to_owned),
        ] {
            let output = bench.fathom(command);
            output.expect_status(1).expect_in_stderr(why);
            output.expect_in_stderr("fathom-test.manifest");
        }
        assert_eq!(
            fs::read_to_string(&list).unwrap(),
            text,
            "it is left as it was"
        );
        assert_eq!(fs::read_to_string(&important).unwrap(), "data");
        assert_eq!(bench.data_files(), std::slice::from_ref(&list));
    };
    fs::write(&list, &text).unwrap();
    refused("names a file that fathom does not make");
    fs::set_permissions(&list, PermissionsExt::from_mode(0o666)).unwrap();
    refused("others may write to it");
    if is_root() {
        fs::set_permissions(&list, PermissionsExt::from_mode(0o600)).unwrap();
        std::os::unix::fs::chown(&list, Some(NOBODY), Some(NOBODY)).unwrap();
        refused("belongs to uid 65534");
    }
}

/// The list is made by others before the run, and lines are added during it.
#[test]
fn lines_that_are_added_to_the_list_during_a_run_remove_nothing() {
    let bench = Bench::new();
    let important = bench.path().join("important");
    fs::write(&important, "data").unwrap();
    let inode = important.metadata().unwrap().ino();
    let run = bench.command(io("2s")).spawn().unwrap();
    let list = bench.data().join("fathom-test.manifest");
    eventually("list", || {
        fs::read_to_string(&list).is_ok_and(|text| text.contains("allocated"))
    });
    let text = fs::read_to_string(&list).unwrap();
    let tag = text.lines().nth(1).unwrap().split(' ').nth(3).unwrap();
    let added = format!("{text}written {inode} {tag} ../important\n");
    fs::write(&list, &added).unwrap();
    let output = finish(run);
    // A result that is not trusted keeps its own status.
    assert!(
        matches!(output.status, Some(1 | 4)),
        "{}{}",
        output.stdout,
        output.stderr
    );
    output
        .expect_in_stderr("not all test data is removed")
        .expect_in_stderr("cannot be trusted");
    assert_eq!(fs::read_to_string(&important).unwrap(), "data");
    assert_eq!(fs::read_to_string(&list).unwrap(), added);
}

#[test]
fn a_test_file_that_is_swapped_for_a_link_during_a_run_leads_nowhere() {
    let bench = Bench::new();
    let victim = bench.path().join("victim");
    fs::write(&victim, PRECIOUS).unwrap();
    let before = victim.metadata().unwrap();
    let path = bench.data().join("fathom-test.0");
    let moved = bench.data().join("moved");
    let stop = AtomicBool::new(false);
    let mut swaps = 0;
    std::thread::scope(|scope| {
        let swapper = scope.spawn(|| {
            let mut swaps = 0;
            while !stop.load(Relaxed) {
                let _ = fs::rename(&path, &moved);
                let linked = match swaps % 2 {
                    0 => symlink(&victim, &path),
                    _ => fs::hard_link(&victim, &path),
                };
                std::thread::sleep(Duration::from_micros(swaps % 5 * 200));
                if linked.is_ok() {
                    swaps += 1;
                    let _ = fs::remove_file(&path);
                }
                let _ = fs::rename(&moved, &path);
                std::thread::sleep(Duration::from_micros(swaps % 7 * 300));
            }
            swaps
        });
        for _ in 0..6 {
            let _ = bench.fathom(io("200ms"));
            for file in bench.data_files() {
                let _ = fs::remove_file(file);
            }
        }
        stop.store(true, Relaxed);
        swaps = swapper.join().unwrap();
    });
    assert!(swaps > 10, "{swaps}");
    assert!(fs::read(&victim).unwrap() == PRECIOUS);
    let after = victim.metadata().unwrap();
    assert_eq!(
        (after.ino(), after.mtime_nsec()),
        (before.ino(), before.mtime_nsec())
    );
}

#[test]
fn test_files_that_others_take_away_during_a_run_are_reported() {
    let bench = Bench::new();
    let test_file = bench.data().join("fathom-test.0");
    let run = bench.command(io("4s")).spawn().unwrap();
    eventually("load", || is_loaded(&bench));
    fs::remove_file(&test_file).unwrap();
    let output = finish(run);
    // A result that is not trusted keeps its own status.
    assert!(matches!(output.status, Some(1 | 4)), "{}", output.stderr);
    output.expect_in_stderr("not there any more");
    assert!(bench.data_files().is_empty());
    // A directory that was moved is followed.
    let moved = bench.path().join("moved");
    let mut arguments = io("4s");
    arguments.retain(|word| word != "--quiet");
    let run = bench.command(arguments).spawn().unwrap();
    eventually("load", || is_loaded(&bench));
    fs::rename(bench.data(), &moved).unwrap();
    let output = finish(run);
    output.expect_in_stderr("moved or removed this directory");
    assert_eq!(fs::read_dir(&moved).unwrap().count(), 0);
    // One that is gone with all that was in it.
    fs::create_dir(bench.data()).unwrap();
    let run = bench.command(io("4s")).spawn().unwrap();
    eventually("load", || is_loaded(&bench));
    #[expect(
        clippy::disallowed_methods,
        reason = "what somebody else does to the folder"
    )]
    fs::remove_dir_all(bench.data()).unwrap();
    let output = finish(run);
    // A result that is not trusted keeps its own status.
    assert!(matches!(output.status, Some(1 | 4)), "{}", output.stderr);
    output.expect_in_stderr("not there any more");
}

/// Whether the latest run has measured for a second and goes on.
fn is_loaded(bench: &Bench) -> bool {
    let output = bench.fathom(["runs", "export", "latest"]);
    let Ok(run) = serde_json::from_str::<serde_json::Value>(&output.stdout) else {
        return false;
    };
    let samples = run["trials"][0]["samples"].as_array();
    run["run"]["state"] == "running"
        && samples.is_some_and(|all| all.iter().any(|sample| sample["phase"] == "measure"))
}

/// A job file for one job with files of its own.
fn fio_job(bench: &Bench, more: &str) -> String {
    let text = format!(
        "[global]\nsize=8m\nruntime=20\ntime_based\n{more}\n[a]\nrw=randwrite\nnrfiles=2\n\
         directory={}\n",
        bench.data().display()
    );
    let path = bench.path().join("job.fio");
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

fn kill_when(bench: &Bench, job: &str, files: usize) {
    let mut run = bench.command(["fio", job]).spawn().unwrap();
    eventually("files", || bench.data_files().len() == files);
    std::thread::sleep(Duration::from_millis(200));
    run.kill().unwrap();
    finish(run);
    assert_eq!(bench.data_files().len(), files);
}

#[test]
fn files_of_a_killed_fio_run_are_cleaned_and_nothing_else_is() {
    let bench = Bench::new();
    let foreign = bench.data().join("a.0.7");
    fs::write(&foreign, "mine").unwrap();
    let job = fio_job(&bench, "unlink=1");
    kill_when(&bench, &job, 3);
    let ours = [bench.data().join("a.0.0"), bench.data().join("a.0.1")];
    let listed = bench.fathom(["clean"]);
    listed.expect_status(0);
    for path in &ours {
        assert!(
            listed.stdout.contains(path.to_str().unwrap()),
            "{}",
            listed.stdout
        );
    }
    // One of them was replaced meanwhile.
    fs::remove_file(&ours[1]).unwrap();
    fs::write(&ours[1], "mine").unwrap();
    let cleaned = bench.fathom(["clean", "--yes"]);
    cleaned
        .expect_status(1)
        .expect_in_stderr("not the file that the run made");
    assert!(cleaned.stdout.contains("removed") && !ours[0].exists());
    assert_eq!(fs::read_to_string(&ours[1]).unwrap(), "mine");
    assert_eq!(fs::read_to_string(&foreign).unwrap(), "mine");
}

#[test]
fn files_of_a_killed_fio_run_are_used_again_and_kept_if_they_are_to_stay() {
    let bench = Bench::new();
    let job = fio_job(&bench, "");
    kill_when(&bench, &job, 2);
    let plain = bench.fathom(["clean", "--yes"]);
    plain.expect_status(0);
    assert!(plain.stdout.contains("clean --kept"), "{}", plain.stdout);
    assert_eq!(bench.data_files().len(), 2);
    let inode = |path: &Path| path.metadata().unwrap().ino();
    let before = inode(&bench.data().join("a.0.0"));
    let again = bench.fathom(["fio", &job, "--runtime=1"]);
    again.expect_status(0);
    assert_eq!(inode(&bench.data().join("a.0.0")), before);
    let kept = bench.fathom(["clean", "--kept", "--yes"]);
    kept.expect_status(0);
    assert!(bench.data_files().is_empty());
    assert!(
        bench
            .fathom(["clean", "--kept"])
            .stdout
            .contains("nothing to clean")
    );
    // What was there is nobody's to overwrite.
    fs::write(bench.data().join("a.0.0"), "mine").unwrap();
    let refused = bench.fathom(["fio", &job, "--runtime=1"]);
    refused
        .expect_status(1)
        .expect_in_stderr("fathom did not make it");
    assert_eq!(
        fs::read_to_string(bench.data().join("a.0.0")).unwrap(),
        "mine"
    );
}

#[test]
fn files_that_a_fio_run_unlinks_leave_no_note() {
    let bench = Bench::new();
    let job = fio_job(&bench, "unlink=1");
    bench.fathom(["fio", &job, "--runtime=1"]).expect_status(0);
    assert!(bench.data_files().is_empty());
    let listed = bench.fathom(["clean", "--kept"]);
    assert!(
        listed.stdout.contains("nothing to clean"),
        "{}",
        listed.stdout
    );
}

/// A kept test file is deleted, and a file of the user's gets its inode.
#[test]
fn a_users_file_with_the_inode_of_a_kept_one_stays() {
    let bench = Bench::new();
    let mut arguments = io("200ms");
    arguments.push("--keep-files".to_owned());
    bench.fathom(&arguments).expect_measured();
    let path = bench.data().join("fathom-test.0");
    let inode = path.metadata().unwrap().ino();
    fs::remove_file(&path).unwrap();
    std::thread::sleep(Duration::from_millis(30));
    let mine = (0..500).find_map(|n| {
        let mine = bench.path().join(format!("mine.{n}"));
        fs::write(&mine, "mine").unwrap();
        (mine.metadata().unwrap().ino() == inode).then_some(mine)
    });
    let Some(mine) = mine else {
        println!("skipped: this file system does not give inodes again");
        return;
    };
    fs::rename(mine, &path).unwrap();
    if path.metadata().unwrap().created().is_err() {
        println!("skipped: this file system keeps no birth times");
        return;
    }
    let run = bench.fathom(&arguments);
    run.expect_status(1)
        .expect_in_stderr("fathom did not make it");
    let cleaned = bench.fathom(["clean", "--kept", "--yes"]);
    cleaned.expect_status(1).expect_in_stderr("left alone");
    assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
}

/// The merged view of an overlay has a device and inodes of its own.
#[test]
fn a_mounted_image_is_refused_through_an_overlay_as_well() {
    if !can_use_devices() {
        println!("skipped: needs root and loop devices");
        return;
    }
    let bench = Bench::new();
    let upper = Mount::new(&["-t", "tmpfs", "tmpfs"], &bench.path().join("upper"));
    let folder = |name: &str| {
        let path = upper.place().join(name);
        fs::create_dir(&path).unwrap();
        path
    };
    let (layer, work, lower) = (folder("layer"), folder("work"), folder("lower"));
    let image = layer.join("image");
    fs::File::create(&image).unwrap().set_len(64 << 20).unwrap();
    let layers = format!(
        "lowerdir={},upperdir={},workdir={}",
        lower.display(),
        layer.display(),
        work.display()
    );
    let merged = bench.path().join("merged");
    let overlay = ["-t", "overlay", "-o", &layers, "overlay"];
    let _overlay = Mount::new(&overlay, &merged);
    let below = Loop::over(&image);
    tool("mkfs.ext4", &["-q", &below.device]);
    let _mounted = Mount::new(&[&below.device], &bench.path().join("mounted"));
    let above = Loop::over(&merged.join("image"));
    let file = merged.join("image").display().to_string();
    for target in [&above.device, &file] {
        let line = [
            "io",
            target,
            "--rw",
            "randwrite",
            "--runtime",
            "1s",
            "--destructive",
        ];
        let output = bench.fathom(line);
        assert_eq!(output.status, Some(1), "{}", output.stderr);
        assert!(output.stderr.contains("loop"), "{}", output.stderr);
    }
}

/// `--force` permits to replace a file, but never one that the run itself uses.
#[test]
fn the_store_and_the_target_of_a_run_are_not_replaced_by_its_report() {
    let bench = Bench::new();
    bench.fathom(["io", "null:", "--rw", "read", "--runtime", "100ms"]);
    let store = bench.store().display().to_string();
    let kept = fs::read(bench.store()).unwrap();
    let short = ["--rw", "randread", "--runtime", "100ms"];
    let over_store = [&["io", "null:", "--html", &store, "--force"][..], &short].concat();
    let output = bench.fathom(over_store);
    output.expect_status(1);
    assert!(
        output.stderr.contains("would replace the store"),
        "{}",
        output.stderr
    );
    let as_target = [&["io", &store, "--destructive"][..], &short].concat();
    let output = bench.fathom(as_target);
    output.expect_status(1);
    assert!(
        output.stderr.contains("is the store of this run"),
        "{}",
        output.stderr
    );
    assert_eq!(fs::read(bench.store()).unwrap(), kept);
    let file = bench.path().join("precious");
    fs::write(&file, PRECIOUS).unwrap();
    let name = file.display().to_string();
    let over_target = [&["io", &name, "--html", &name, "--force"][..], &short].concat();
    let output = bench.fathom(over_target);
    output.expect_status(1);
    assert!(fs::read(&file).unwrap() == PRECIOUS);
}

#[test]
fn a_store_that_is_an_address_is_refused_without_its_password() {
    let bench = Bench::new();
    let line = [
        "io",
        "null:",
        "--rw",
        "read",
        "--runtime",
        "100ms",
        "--store",
    ];
    let output = bench.fathom([&line[..], &["postgres://user:hunter2@host/db"]].concat());
    assert!(!output.stderr.contains("hunter2"), "{}", output.stderr);
    assert!(!output.stdout.contains("hunter2"), "{}", output.stdout);
    assert!(output.stderr.contains("is not a file"), "{}", output.stderr);
    assert!(!bench.path().join("postgres:").exists());
}
